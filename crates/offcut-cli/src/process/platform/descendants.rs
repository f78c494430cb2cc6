//! The processes to stop after a timeout.

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
use std::collections::HashMap;

/// Sends a signal to all descendants of offcut except the command itself. offcut has adopted those whose own parent has
/// ended. It is not an error if one of them has ended.
pub(in crate::process) fn send_to_descendants(signal: Signal, command: Option<Pid>) {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for Process { number, parent } in all_processes() {
        children.entry(parent).or_default().push(number);
    }
    let mut found = Vec::new();
    let mut parents = vec![getpid().as_raw_pid()];
    while let Some(parent) = parents.pop() {
        let numbers = children.remove(&parent).unwrap_or_default();
        parents.extend(&numbers);
        found.extend(numbers.into_iter().filter_map(Pid::from_raw).filter(|&number| Some(number) != command));
    }
    // A process number may belong to another process by the time a signal is sent; a pidfd does not.
    let handles: Vec<_> =
        found.into_iter().filter_map(|number| pidfd_open(number, PidfdFlags::empty()).ok()).collect();
    for handle in handles {
        let _ = pidfd_send_signal(handle, signal);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    number: i32,
    parent: i32,
}

fn all_processes() -> impl Iterator<Item = Process> {
    let listing = std::fs::read_dir("/proc").into_iter().flatten();
    listing.filter_map(|item| {
        let path = item.ok()?.path();
        let number = path.file_name()?.to_str()?.parse().ok()?;
        parse(number, &std::fs::read(path.join("stat")).ok()?)
    })
}

/// Parses `number (name) state parent ...`; the name can contain anything, including parentheses.
fn parse(number: i32, stat: &[u8]) -> Option<Process> {
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    let mut fields = std::str::from_utf8(&stat[end + 1..]).ok()?.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    Some(Process { number, parent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_handles_parentheses_in_names() {
        let process = Some(Process { number: 7, parent: 3 });
        for (stat, expected) in [
            (&b"7 (sh) S 3 5 5 0 -1"[..], process),
            (b"7 (a) R 1 (b\xFF) S 3 5 5", process),
            (b"7 ()) S 3 5", process),
            (b"7 (sh) S", None),
            (b"7 (sh", None),
            (b"", None),
        ] {
            assert_eq!(parse(7, stat), expected, "{}", String::from_utf8_lossy(stat));
        }
    }
}
