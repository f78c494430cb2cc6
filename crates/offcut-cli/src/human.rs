//! Ages, sizes, times and exit codes as people read them.

use jiff::{Timestamp, tz::TimeZone};
use offcut::store::Entry;
use std::time::{Duration, SystemTime};

/// The signals by which commands end, and their names.
const SIGNALS: &[(i32, &str)] = &[
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGINT, "SIGINT"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGKILL, "SIGKILL"),
    (libc::SIGUSR1, "SIGUSR1"),
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGUSR2, "SIGUSR2"),
    (libc::SIGPIPE, "SIGPIPE"),
    (libc::SIGALRM, "SIGALRM"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGXCPU, "SIGXCPU"),
    (libc::SIGXFSZ, "SIGXFSZ"),
    (libc::SIGSYS, "SIGSYS"),
];

/// How long ago a time is: `12 s`, `3 min`, `2 h`, `4 d`.
pub(crate) fn age(time: SystemTime) -> String {
    let age = SystemTime::now().duration_since(time).unwrap_or(Duration::ZERO).as_secs();
    match age {
        0..60 => format!("{age} s"),
        60..3600 => format!("{} min", age / 60),
        3600..172_800 => format!("{} h", age / 3600),
        _ => format!("{} d", age / 86_400),
    }
}

/// A size with two or three digits: `512 B`, `1.2 kB`, `12 kB`, `3.4 MB`.
pub(crate) fn size(bytes: u64) -> String {
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut amount = bytes as f64;
    let mut unit = "B";
    for larger in ["kB", "MB", "GB", "TB"] {
        // 999.5 would be printed as 1000.
        if amount < 999.5 {
            break;
        }
        (amount, unit) = (amount / 1000.0, larger);
    }
    if amount < 9.95 { format!("{amount:.1} {unit}") } else { format!("{amount:.0} {unit}") }
}

/// A time in the time zone of this machine.
pub(crate) fn local_time(time: SystemTime) -> String {
    let timestamp = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    timestamp.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// How the command of an entry ended: its exit code or the name of the signal; `-` if that is not known.
pub(crate) fn exit(entry: &Entry) -> String {
    let summary = entry.summary.as_ref();
    let code = summary.and_then(|summary| summary.exit_code);
    match summary.and_then(|summary| summary.signal) {
        Some(number) => signal(number),
        None => code.map_or_else(|| "-".to_owned(), |code| code.to_string()),
    }
}

/// The name of a signal.
fn signal(number: i32) -> String {
    let name = SIGNALS.iter().find(|(known, _)| *known == number).map(|(_, name)| (*name).to_owned());
    name.unwrap_or_else(|| format!("signal {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_at_most_three_digits() {
        for (bytes, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (9_949, "9.9 kB"),
            (9_950, "10 kB"),
            (12_345, "12 kB"),
            (999_499, "999 kB"),
            (999_500, "1.0 MB"),
            (3_400_000_000, "3.4 GB"),
            (u64::MAX, "18446744 TB"),
        ] {
            assert_eq!(size(bytes), expected, "{bytes}");
        }
    }

    #[test]
    fn ages_have_one_unit() {
        for (seconds, expected) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (3599, "59 min"),
            (3600, "1 h"),
            (172_799, "47 h"),
            (172_800, "2 d"),
        ] {
            // Time passes while the test runs.
            let time = SystemTime::now() - Duration::from_millis(seconds * 1000 + 100);
            assert_eq!(age(time), expected, "{seconds}");
        }
        assert_eq!(age(SystemTime::now() + Duration::from_secs(60)), "0 s", "a clock that was ahead");
    }
}
