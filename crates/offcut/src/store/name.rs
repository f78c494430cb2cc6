//! File names made from a profile's template, and read back with one.

use crate::context::Context;
use crate::store::Id;
use crate::timestamp;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Longer parts are cut, so that a name stays well below the limit of file systems.
const LONGEST_PART: usize = 64;

/// Expands `{id} {tool} {call_id} {date} {time} {ms} {seconds} {random}` in a file name template.
///
/// `attempt` counts from 1. From 2 on it is inserted before the extension, for templates without a random part. The
/// result is always one harmless path component.
pub(crate) fn expand(template: &str, context: &Context, id: &Id, time: SystemTime, attempt: u32) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let utc = timestamp::format(time);
    let mut name = template.to_owned();
    for (placeholder, value) in [
        ("{id}", id.to_string()),
        ("{date}", utc[..10].replace('-', "")),
        ("{time}", utc[11..19].replace(':', "")),
        ("{ms}", since.as_millis().to_string()),
        ("{seconds}", since.as_secs().to_string()),
        // Base 32 digits are also valid base 36 digits.
        ("{random}", id.random_part().to_owned()),
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

/// The parts of a file name: the placeholder of each, and its text.
pub(super) struct NameParts<'a>(Vec<(&'a str, &'a str)>);

/// Divides a name into the parts of a template, if it was made from that template.
pub(super) fn parse<'a>(template: &'a str, name: &'a str) -> Option<NameParts<'a>> {
    let mut parts = Vec::new();
    divide(template, name, &mut parts).then_some(NameParts(parts))
}

fn divide<'a>(template: &'a str, name: &'a str, parts: &mut Vec<(&'a str, &'a str)>) -> bool {
    let Some((literal, (placeholder, template))) =
        template.split_once('{').and_then(|(literal, rest)| Some((literal, rest.split_once('}')?)))
    else {
        return template == name;
    };
    let Some(name) = name.strip_prefix(literal) else { return false };
    let (width, is_allowed): (Option<usize>, fn(&u8) -> bool) = match placeholder {
        "date" => (Some(8), u8::is_ascii_digit),
        "time" => (Some(6), u8::is_ascii_digit),
        "ms" => (Some(13), u8::is_ascii_digit),
        "seconds" => (Some(10), u8::is_ascii_digit),
        "ascending" => (Some(12), u8::is_ascii_hexdigit),
        "id" | "random" => (None, u8::is_ascii_alphanumeric),
        "tool" | "call_id" => (None, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')),
        _ => return false,
    };
    let longest = name.bytes().take_while(is_allowed).count();
    (1..=longest).rev().filter(|&length| width.is_none_or(|width| width == length)).any(|length| {
        let (part, rest) = name.split_at(length);
        parts.push((placeholder, part));
        let is_whole = divide(template, rest, parts);
        if !is_whole {
            parts.pop();
        }
        is_whole
    })
}

impl NameParts<'_> {
    /// The time in the name. A date counts as its end.
    pub(super) fn time(&self, now: SystemTime) -> Option<SystemTime> {
        self.0.iter().find_map(|&(placeholder, part)| match placeholder {
            "ms" => Some(UNIX_EPOCH + Duration::from_millis(part.parse().ok()?)),
            "seconds" => Some(UNIX_EPOCH + Duration::from_secs(part.parse().ok()?)),
            "ascending" => time_of_identifier(u64::from_str_radix(part, 16).ok()?, now),
            "date" => timestamp::end_of_day(part),
            _ => None,
        })
    }
}

/// The time in an ascending identifier of opencode: the last 36 bits of the milliseconds since 1970, then a counter of 12
/// bits. Such times repeat after about 26 months, so it is the last one before tomorrow.
fn time_of_identifier(number: u64, now: SystemTime) -> Option<SystemTime> {
    const PERIOD: u64 = 1 << 36;
    let tomorrow = now + Duration::from_secs(24 * 60 * 60);
    let latest = u64::try_from(tomorrow.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()?;
    let age = latest.wrapping_sub(number >> 12) % PERIOD;
    Some(UNIX_EPOCH + Duration::from_millis(latest.checked_sub(age)?))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// Checks the parts of a name, and the time in it in milliseconds since 1970.
    #[track_caller]
    fn check_parse(template: &str, name: &str, expected: Option<(&[&str], Option<u64>)>) {
        let now = UNIX_EPOCH + Duration::from_millis(1_771_860_645_123);
        let parsed = parse(template, name).map(|parts| {
            let time =
                parts.time(now).map(|time| time.duration_since(UNIX_EPOCH).unwrap().as_millis() as u64);
            (parts.0.iter().map(|&(_, part)| part).collect::<Vec<_>>(), time)
        });
        let parsed = parsed.as_ref().map(|(parts, time)| (parts.as_slice(), *time));
        assert_eq!(parsed, expected, "{name}");
    }

    #[test]
    fn parses_names_made_from_template() {
        let opencode = "tool_{date}_{random}";
        let end = Some(1_740_096_000_000); // 2025-02-21, midnight
        check_parse(opencode, "tool_20250220_abc123", Some((&["20250220", "abc123"], end)));
        check_parse(opencode, "tool_20251399_abc123", Some((&["20251399", "abc123"], None)));
        check_parse(opencode, "tool_2025022_abc123", None);
        check_parse(opencode, "tool_20250220_abc123.txt", None);
        check_parse(opencode, "tool_", None);
        let agent = "{tool}_{ms}_{random}.txt";
        let time = Some(1_771_860_645_123);
        check_parse(
            agent,
            "my_tool_1771860645123_t5cy4t.txt",
            Some((&["my_tool", "1771860645123", "t5cy4t"], time)),
        );
        check_parse(agent, "my_own_notes.txt", None);
        check_parse(agent, "x_1771860645123_.txt", None);
        check_parse("{unknown}", "x", None);
        check_parse("漢{tool}", "漢é", None);
    }

    #[test]
    fn reads_time_of_ascending_identifier() {
        let identifier = |ms: u64| format!("tool_{:012x}DFGHJKlmnpqrst", (ms << 12 | 1) & 0xffff_ffff_ffff);
        let check = |ms: u64, expected: u64| {
            let name = identifier(ms);
            let parts = ["tool_".len(), 17, name.len()];
            let parts = [&name[parts[0]..parts[1]], &name[parts[1]..parts[2]]];
            check_parse("tool_{ascending}{random}", &name, Some((&parts, Some(expected))));
        };
        let (now, day) = (1_771_860_645_123, 24 * 60 * 60 * 1000);
        for age in [0, 1, 7 * day, 365 * day, 794 * day] {
            check(now - age, now - age);
        }
        // The clock of the other program may be ahead. A time before the last period looks like a later one.
        check(now + day, now + day);
        check(now - (1 << 36), now);
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
