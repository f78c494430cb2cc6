//! File names made from a profile's template.

use crate::context::Context;
use crate::store::Id;
use jiff::Timestamp;
use jiff::tz::Offset;
use std::time::SystemTime;

/// Longer parts are cut, so that a name stays well below the limit of file systems.
const LONGEST_PART: usize = 64;

/// Expands `{id} {tool} {call_id} {date} {second} {ms} {seconds} {random}` in a file name template.
///
/// `attempt` counts from 1. From 2 on it is inserted before the extension, for templates without a random part. The
/// result is always one harmless path component.
pub(crate) fn expand(template: &str, context: &Context, id: &Id, time: SystemTime, attempt: u32) -> String {
    let timestamp = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    let utc = Offset::UTC.to_datetime(timestamp);
    let mut name = template.to_owned();
    for (placeholder, value) in [
        ("{id}", id.to_string()),
        ("{date}", format!("{:04}{:02}{:02}", utc.year(), utc.month(), utc.day())),
        ("{time}", format!("{:02}{:02}{:02}", utc.hour(), utc.minute(), utc.second())),
        ("{ms}", timestamp.as_millisecond().to_string()),
        ("{seconds}", timestamp.as_second().to_string()),
        // The last characters of an id are random. Its base 32 digits are also valid base 36 digits.
        ("{random}", id.as_str()[Id::WIDTH - 6..].to_owned()),
        ("{tool}", harmless(context.tool.as_deref())),
        ("{call_id}", harmless(context.call_id.as_deref())),
    ] {
        name = name.replace(placeholder, &value);
    }
    if attempt > 1 {
        let dot = name.rfind('.').unwrap_or(name.len());
        name.insert_str(dot, &format!("_{attempt}"));
    }
    name
}

/// Replaces everything except ASCII letters, digits, `_` and `-` with `_`, as the source documents do.
fn harmless(part: Option<&str>) -> String {
    let cleaned: String = part
        .unwrap_or("unknown")
        .chars()
        .take(LONGEST_PART)
        .map(|char| if char.is_ascii_alphanumeric() || char == '_' || char == '-' { char } else { '_' })
        .collect();
    // A program that gets only the file name would take a leading dash for an option.
    match cleaned.strip_prefix('-') {
        Some(rest) => format!("_{rest}"),
        None if cleaned.is_empty() => "unknown".to_owned(),
        None => cleaned,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[track_caller]
    fn check(template: &str, tool: &str, call_id: &str, attempt: u32, expected: &str) {
        let time = UNIX_EPOCH + Duration::from_millis(1_771_860_645_123);
        let context =
            Context { tool: Some(tool.into()), call_id: Some(call_id.into()), ..Context::default() };
        assert_eq!(expand(template, &context, &Id::new(time, 0x12_3456_789a), time, attempt), expected);
    }

    #[test]
    fn templates() {
        check("tool_{date}_{random}", "bash", "", 1, "tool_20260223_t5cy4t");
        check("{tool}_{ms}_{random}.txt", "my tool!", "", 1, "my_tool__1771860645123_t5cy4t.txt");
        check("tool_{date}_{time}_{tool}.json", "Read", "", 1, "tool_20260223_153045_Read.json");
        check("tool_{date}_{time}_{tool}.json", "Read", "", 3, "tool_20260223_153045_Read_3.json");
        check("{tool}-{call_id}-{seconds}.txt", "", "c1", 2, "unknown-c1-1771860645_2.txt");
    }

    #[test]
    fn hostile_parts_stay_one_component() {
        check("{tool}.txt", "../../x", "", 1, "______x.txt");
        check("{tool}.txt", "-rf", "", 1, "_rf.txt");
        check("{tool}.txt", "a\n\0b漢/", "", 1, "a__b__.txt");
        check("{tool}.txt", "{call_id}{id}", "x", 1, "_call_id__id_.txt");
        check("{tool}.txt", &"x".repeat(2000), "", 1, &format!("{}.txt", "x".repeat(64)));
    }
}
