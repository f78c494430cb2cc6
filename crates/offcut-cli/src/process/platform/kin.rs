//! The processes that a command has started, where it has no group of its own by which to reach them.

use rustix::process::{Pid, PidfdFlags, Signal, getpgrp, pidfd_open, pidfd_send_signal};
use std::collections::HashMap;
use std::os::fd::OwnedFd;

/// Those that the command started, and those that they started, as far as they are in our group.
///
/// They are held by handles: a number may belong to another process by the time it gets a signal.
#[derive(Default)]
pub(in crate::process) struct Kin(Vec<OwnedFd>);

impl Kin {
    /// Who they are now. Whoever was left behind by its own parent is not found.
    pub(in crate::process) fn of(leader: Pid) -> Kin {
        let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
        for process in all() {
            children.entry(process.parent).or_default().push(process);
        }
        let ours = getpgrp().as_raw_pid();
        let mut handles = Vec::new();
        let mut parents = vec![leader.as_raw_pid()];
        while let Some(parent) = parents.pop() {
            for process in children.remove(&parent).unwrap_or_default() {
                parents.push(process.number);
                if process.group == ours
                    && let Some(number) = Pid::from_raw(process.number)
                    && let Ok(handle) = pidfd_open(number, PidfdFlags::empty())
                {
                    handles.push(handle);
                }
            }
        }
        Kin(handles)
    }

    /// Sends a signal to each. That one is gone already is no error.
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

fn all() -> impl Iterator<Item = Process> {
    let listing = std::fs::read_dir("/proc").into_iter().flatten();
    listing.filter_map(|item| {
        let path = item.ok()?.path();
        let number = path.file_name()?.to_str()?.parse().ok()?;
        parse(number, &std::fs::read(path.join("stat")).ok()?)
    })
}

/// Reads `number (name) state parent group ...`; a name may hold anything, also parentheses.
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
    fn names_do_not_confuse() {
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
