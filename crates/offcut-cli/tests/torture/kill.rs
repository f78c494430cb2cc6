//! `kill -9` at a random time: no entry claims to be complete unless it is, and a preview that was printed is correct.

use crate::entries;
use crate::harness::{Sandbox, finish};
use crate::random::Random;
use std::fs::File;
use std::process::{Command, Stdio};
use std::time::Duration;

pub(crate) fn round(random: &mut Random) -> u64 {
    let sandbox = Sandbox::new();
    let mut texts = Vec::new();
    let (mut finished, mut hit) = (0, 0);
    for number in 0..8 {
        let lines = 1500 + random.size(200_000);
        let text = random.lines(lines).into_bytes();
        let input = sandbox.path().join(format!("input{number}"));
        std::fs::write(&input, &text).unwrap();
        let command = match random.below(3) {
            0 => command(&sandbox, &["cut"], File::open(&input).unwrap().into()),
            1 => command(&sandbox, &["run", "--", "/bin/cat"], File::open(&input).unwrap().into()),
            _ => {
                let line = format!("cat {}", input.display());
                command(&sandbox, &["shell", "-c", &line], Stdio::null())
            }
        };
        texts.push(text.clone());
        let (killed, shown) = kill_after(command, Duration::from_micros(random.size(60_000) as u64));
        if killed {
            hit += 1;
        } else {
            finished += 1;
            entries::check_preview(&sandbox, &shown, &text);
        }
    }
    // The first reader repairs what was left; it can be killed too.
    for _ in 0..2 {
        let list = command(&sandbox, &["ls", "--all"], Stdio::null());
        hit += u64::from(kill_after(list, Duration::from_micros(random.size(20_000) as u64)).0);
    }
    let complete = entries::check(&sandbox, &texts);
    assert!(complete >= finished, "{finished} processes ended normally, {complete} entries are complete");
    hit
}

fn command(sandbox: &Sandbox, arguments: &[&str], input: Stdio) -> Command {
    let mut command = sandbox.command();
    command
        .args(arguments)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env("PATH", "/usr/bin:/bin");
    command
}

/// Returns whether the process was killed before its end, and what it printed.
fn kill_after(mut command: Command, time: Duration) -> (bool, Vec<u8>) {
    let mut child = command.spawn().unwrap();
    std::thread::sleep(time);
    let _ = child.kill();
    let ran = finish(child);
    (ran.signal.is_some(), ran.stdout)
}
