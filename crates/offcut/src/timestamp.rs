//! Times as text: RFC 3339 in UTC, such as `2026-02-23T15:30:45.123Z`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The end of the year 9999, in seconds since 1970. RFC 3339 has no later years.
const END: u64 = 253_402_300_800;

/// The text of a time, with as many digits of the second as necessary. A time before 1970 or after 9999 becomes 1970.
pub(crate) fn format(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).ok().filter(|since| since.as_secs() < END);
    let text = humantime::format_rfc3339_nanos(UNIX_EPOCH + since.unwrap_or_default()).to_string();
    format!("{}Z", text.trim_end_matches(['0', 'Z']).trim_end_matches('.'))
}

/// The time that a text means.
pub(crate) fn parse(text: &str) -> Option<SystemTime> {
    humantime::parse_rfc3339(text).ok()
}

/// The end of a day that is written as `20260223`.
pub(crate) fn end_of_day(digits: &str) -> Option<SystemTime> {
    let (year, month, day) = (digits.get(..4)?, digits.get(4..6)?, digits.get(6..)?);
    Some(parse(&format!("{year}-{month}-{day}T00:00:00Z"))? + Duration::from_secs(24 * 60 * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_and_reads_times() {
        let check = |since: Duration, expected: &str| {
            let time = UNIX_EPOCH + since;
            assert_eq!(format(time), expected);
            assert_eq!(parse(expected), Some(time));
        };
        check(Duration::ZERO, "1970-01-01T00:00:00Z");
        check(Duration::from_secs(1_771_860_640), "2026-02-23T15:30:40Z");
        check(Duration::from_millis(1_771_860_645_120), "2026-02-23T15:30:45.12Z");
        check(Duration::new(1_709_251_199, 1), "2024-02-29T23:59:59.000000001Z");
        check(Duration::from_secs(END - 1), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn writes_1970_for_times_without_text() {
        for time in [UNIX_EPOCH - Duration::from_nanos(1), UNIX_EPOCH + Duration::from_secs(END)] {
            assert_eq!(format(time), "1970-01-01T00:00:00Z");
        }
    }

    #[test]
    fn rejects_other_texts() {
        for text in ["", "yesterday", "2026-02-23", "2026-02-30T00:00:00Z", "2026-02-23T24:00:00Z"] {
            assert_eq!(parse(text), None, "{text}");
        }
        for digits in ["", "2026", "20261301", "2026022漢"] {
            assert_eq!(end_of_day(digits), None, "{digits}");
        }
    }
}
