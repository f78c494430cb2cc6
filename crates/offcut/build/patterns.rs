//! Compiles the patterns of the `smart` strategy's rules to automata, so that nothing is compiled at run time.

#[expect(dead_code, unreachable_pub, reason = "only the patterns are needed here")]
#[path = "../src/strategy/smart/rules/mod.rs"]
mod rules;

use regex_automata::dfa::{StartKind, dense};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::syntax;
use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The largest automaton. A pattern that needs more should be rewritten.
const MAX_AUTOMATON_BYTES: usize = 256 << 10;

/// Writes `patterns.bin`, all automata one after the other, and `patterns.rs`, the offset and the length of each.
pub(super) fn compile() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=src/strategy/smart/rules");
    let is_little_endian = std::env::var("CARGO_CFG_TARGET_ENDIAN").is_ok_and(|endian| endian == "little");
    let (mut bytes, mut ranges) = (Vec::new(), String::from("[\n"));
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
            .determinize_size_limit(Some(16 * MAX_AUTOMATON_BYTES))
            .dfa_size_limit(Some(MAX_AUTOMATON_BYTES));
        let dense = dense::Builder::new()
            .configure(config)
            .build_from_nfa(&nfa)
            .map_err(|error| format!("{}: {error}", rule.name))?;
        let dfa = dense.to_sparse()?;
        let automaton =
            if is_little_endian { dfa.to_bytes_little_endian() } else { dfa.to_bytes_big_endian() };
        writeln!(ranges, "({}, {}, {anchored}),", bytes.len(), automaton.len())?;
        bytes.extend_from_slice(&automaton);
    }
    ranges.push(']');
    let directory = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(directory.join("patterns.bin"), bytes)?;
    std::fs::write(directory.join("patterns.rs"), ranges)?;
    Ok(())
}
