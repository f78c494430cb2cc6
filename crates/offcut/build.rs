//! Compiles the patterns of `smart`'s rules, so that no output has to wait for it.

#[expect(dead_code, unreachable_pub, reason = "only the patterns are needed here")]
#[path = "src/strategy/smart/rules/mod.rs"]
mod rules;

use regex_automata::dfa::{StartKind, dense};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::syntax;
use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;

/// A pattern that needs more is written badly.
const MOST_BYTES: usize = 256 << 10;

/// Writes `patterns.bin`, every pattern as a machine, and `patterns.rs`, where each of them stands.
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=src/strategy/smart/rules");
    let little = std::env::var("CARGO_CFG_TARGET_ENDIAN").is_ok_and(|endian| endian == "little");
    let (mut bytes, mut places) = (Vec::new(), String::from("[\n"));
    for rule in rules::RULES.iter() {
        let nfa = NFA::compiler()
            .configure(thompson::Config::new().utf8(false).which_captures(WhichCaptures::None))
            .syntax(syntax::Config::new().unicode(false).utf8(false))
            .build(rule.pattern)
            .map_err(|error| format!("{}: {error}", rule.name))?;
        let (start, anchored) = match nfa.is_always_start_anchored() {
            true => (StartKind::Anchored, "Anchored::Yes"),
            false => (StartKind::Unanchored, "Anchored::No"),
        };
        let config = dense::Config::new()
            .minimize(true)
            .accelerate(false)
            .start_kind(start)
            .determinize_size_limit(Some(16 * MOST_BYTES))
            .dfa_size_limit(Some(MOST_BYTES));
        let dense = dense::Builder::new()
            .configure(config)
            .build_from_nfa(&nfa)
            .map_err(|error| format!("{}: {error}", rule.name))?;
        let dfa = dense.to_sparse()?;
        let machine = if little { dfa.to_bytes_little_endian() } else { dfa.to_bytes_big_endian() };
        writeln!(places, "({}, {}, {anchored}),", bytes.len(), machine.len())?;
        bytes.extend_from_slice(&machine);
    }
    places.push(']');
    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(folder.join("patterns.bin"), bytes)?;
    std::fs::write(folder.join("patterns.rs"), places)?;
    Ok(())
}
