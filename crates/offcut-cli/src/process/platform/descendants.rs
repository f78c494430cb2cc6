//! The processes to stop after a timeout.

use rustix::process::{Pid, PidfdFlags, Signal, getpgrp, getpid, pidfd_open, pidfd_send_signal};
use std::collections::HashMap;
use std::os::fd::OwnedFd;

/// The command and its descendants, as far as they are in the process group of offcut.
///
/// They are held as pidfds: a process number may belong to another process by the time a signal is sent.
pub(in crate::process) struct Descendants(Vec<OwnedFd>);

impl Descendants {
    /// Finds the descendants of offcut, which has adopted those whose own parent has ended.
    pub(in crate::process) fn of(_command: Pid) -> Descendants {
        let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
        for process in all_processes() {
            children.entry(process.parent).or_default().push(process);
        }
        let own_group = getpgrp().as_raw_pid();
        let mut handles = Vec::new();
        let mut parents = vec![getpid().as_raw_pid()];
        while let Some(parent) = parents.pop() {
            for process in children.remove(&parent).unwrap_or_default() {
                parents.push(process.number);
                if process.group == own_group
                    && let Some(number) = Pid::from_raw(process.number)
                    && let Ok(handle) = pidfd_open(number, PidfdFlags::empty())
                {
                    handles.push(handle);
                }
            }
        }
        Descendants(handles)
    }

    /// Sends a signal to each. It is not an error if one has ended.
    pub(in crate::process) fn send(&self, signal: Signal) {
        for handle in &self.0 {
            let _ = pidfd_send_signal(handle, signal);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    number: i32,
    parent: i32,
    group: i32,
}

fn all_processes() -> impl Iterator<Item = Process> {
    let listing = std::fs::read_dir("/proc").into_iter().flatten();
    listing.filter_map(|item| {
        let path = item.ok()?.path();
        let number = path.file_name()?.to_str()?.parse().ok()?;
        parse(number, &std::fs::read(path.join("stat")).ok()?)
    })
}

/// Parses `number (name) state parent group ...`; the name can contain anything, including parentheses.
fn parse(number: i32, stat: &[u8]) -> Option<Process> {
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    let mut fields = std::str::from_utf8(&stat[end + 1..]).ok()?.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some(Process { number, parent, group })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_handles_parentheses_in_names() {
        let process = Some(Process { number: 7, parent: 3, group: 5 });
        for (stat, expected) in [
            (&b"7 (sh) S 3 5 5 0 -1"[..], process),
            (b"7 (a) R 1 (b\xFF) S 3 5 5", process),
            (b"7 ()) S 3 5", process),
            (b"7 (sh) S 3", None),
            (b"7 (sh", None),
            (b"", None),
        ] {
            assert_eq!(parse(7, stat), expected, "{}", String::from_utf8_lossy(stat));
        }
    }
}
