//! Attacks on the real binary, with random numbers from a seed. `scripts/torture` runs them for minutes; the ordinary tests run
//! each for two seconds with a fixed seed.
//!
//! An attack is a function that runs one round and panics if a promise of docs/guarantees.md is broken. The first round has the
//! seed of the run, and each later one a seed that follows from it, so the seed of a failed round repeats that round at once.
//!
//! | variable | meaning |
//! |---|---|
//! | `OFFCUT_TORTURE_SECONDS` | for how long each attack runs |
//! | `OFFCUT_TORTURE_SEED` | the seed of the run |
//!
//! Arguments are names of attacks; without any, all run.

#![expect(clippy::unwrap_used, reason = "attacks fail by panicking")]

#[path = "../cli/harness.rs"]
#[expect(dead_code, reason = "shared with the other tests, which use more of it")]
mod harness;

mod clock;
mod cuts;
mod disk;
mod entries;
mod http;
mod kill;
mod mcp;
mod project;
mod random;
mod s3;
mod shell;
mod signals;
mod syscalls;

use random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

struct Attack {
    name: &'static str,
    /// What the attack needs and this machine does not have.
    missing: fn() -> Option<String>,
    /// One round; returns how many commands of offcut it really hit: killed, refused a call, and so on.
    round: fn(&mut Random) -> u64,
}

const ATTACKS: &[Attack] = &[
    Attack { name: "kill", missing: nothing, round: kill::round },
    Attack { name: "disk", missing: nothing, round: disk::round },
    Attack { name: "syscalls", missing: syscalls::missing, round: syscalls::round },
    Attack { name: "signals", missing: nothing, round: signals::round },
    Attack { name: "clock", missing: clock::missing, round: clock::round },
    Attack { name: "bash", missing: nothing, round: shell::bash },
    Attack { name: "dash", missing: || shell::missing("dash"), round: shell::dash },
    Attack { name: "zsh", missing: || shell::missing("zsh"), round: shell::zsh },
    Attack { name: "cuts", missing: nothing, round: cuts::round },
    Attack { name: "mcp", missing: nothing, round: mcp::round },
    Attack { name: "http", missing: nothing, round: http::round },
    Attack { name: "project", missing: nothing, round: project::round },
    Attack { name: "s3", missing: s3::missing, round: s3::round },
];

fn nothing() -> Option<String> {
    None
}

fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} is not a number: {value}")))
}

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let time = Duration::from_secs(number("OFFCUT_TORTURE_SECONDS", 2));
    let seed = number("OFFCUT_TORTURE_SEED", 1);
    println!("torture: seed {seed}, {} s for each attack", time.as_secs());
    let mut failed = false;
    for attack in
        ATTACKS.iter().filter(|attack| names.is_empty() || names.iter().any(|name| name == attack.name))
    {
        match (attack.missing)() {
            Some(reason) => println!("{:<10}skipped: {reason}", attack.name),
            None => failed |= !run(attack, seed, time),
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs rounds until the time is up or one fails.
fn run(attack: &Attack, seed: u64, time: Duration) -> bool {
    let (name, started) = (attack.name, Instant::now());
    let (mut seed, mut rounds, mut commands) = (seed, 0, 0);
    while rounds == 0 || started.elapsed() < time {
        let mut random = Random::new(seed);
        let Ok(count) = catch_unwind(AssertUnwindSafe(|| (attack.round)(&mut random))) else {
            println!("{name:<10}FAILED after {rounds} rounds: scripts/torture --only {name} --seed {seed}");
            return false;
        };
        seed = Random::new(seed).number();
        rounds += 1;
        commands += count;
    }
    // An attack that hits nothing finds nothing.
    if commands == 0 && rounds >= 50 {
        println!("{name:<10}FAILED: none of {rounds} rounds hit a command");
        return false;
    }
    println!("{name:<10}{rounds:>7} rounds {commands:>8} commands {:>6} s", started.elapsed().as_secs());
    true
}
