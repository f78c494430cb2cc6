//! Compiles the rules in `rules/*.toml`, so that nothing is parsed or compiled at run time.

#[expect(unreachable_pub, reason = "a part of the library")]
#[path = "../src/strategy/rules/role.rs"]
mod role;

use crate::literals::{self, Strings};
use regex_automata::Anchored;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::{start, syntax};
use role::{Group, Role};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The largest automaton that is compiled. A pattern that needs more should be rewritten.
const MAX_AUTOMATON_BYTES: usize = 256 << 10;

/// The states that end a search: the pattern matches, or it cannot match any more.
const MATCH: u16 = u16::MAX - 1;
const DEAD: u16 = u16::MAX;

/// A file in `rules/`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    #[serde(skip)]
    path: PathBuf,
    about: String,
    kind: Group,
    #[serde(default)]
    tier: Tier,
    rules: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    role: Role,
    tier: Option<Tier>,
    pattern: String,
}

/// A row in its place among all rows.
struct Rule {
    tier: Tier,
    file: usize,
    row: Row,
}

/// A rule of an earlier tier is tried before those of all later ones.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Tier {
    /// Looks like a problem and is none.
    Harmless,
    /// Only this tool prints it.
    #[default]
    Tool,
    /// A format that many tools use.
    Format,
    /// A phrase, anywhere in a line.
    Phrase,
    /// A word, anywhere in a line.
    Word,
}

/// Writes `automata.bin`, all automata one after the other, and `rules.rs`, the tables of rules and keywords.
pub(super) fn compile() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=rules");
    println!("cargo::rerun-if-changed=src/strategy/rules/role.rs");
    let files = read(&PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("rules"))?;
    let mut source = format!("static FILES: [RuleFile; {}] = [\n", files.len());
    for RuleFile { path, about, .. } in &files {
        let name = path.file_stem().unwrap_or_default();
        writeln!(source, "RuleFile {{ name: {name:?}, about: {about:?}, text: include_str!({path:?}) }},")?;
    }
    let places: Vec<(String, Group)> =
        files.iter().map(|file| (file.path.display().to_string(), file.kind)).collect();
    let rules = by_precedence(files);
    writeln!(source, "];\nstatic RULES: [Rule; {}] = [", rules.len())?;
    let (mut automata, mut keywords) = (Vec::new(), BTreeMap::<Vec<u8>, Vec<usize>>::new());
    let mut first_bytes = Vec::new();
    for (number, Rule { tier, file, row: Row { role, pattern, .. } }) in rules.iter().enumerate() {
        let (path, kind) = &places[*file];
        let context = |error: Box<dyn Error>| format!("{path}: pattern {pattern}: {error}");
        let automaton = automaton(pattern).map_err(context)?;
        let (start, length) = (automata.len(), automaton.len());
        let group = if *tier == Tier::Harmless { &Group::Quiet } else { kind };
        let tier = *tier as u8;
        writeln!(
            source,
            "Rule {{ #[cfg(test)] pattern: {pattern:?}, #[cfg(test)] tier: {tier}, file: {file}, \
             group: Group::{group:?}, role: Role::{role:?}, automaton: ({start}, {length}) }},"
        )?;
        automata.extend(automaton);
        match needed(pattern).map_err(context)? {
            Needed::Keywords(texts) => {
                texts.into_iter().for_each(|text| keywords.entry(text).or_default().push(number));
            }
            Needed::FirstByte(bytes) => first_bytes.extend(bytes.into_iter().map(|byte| (byte, number))),
        }
    }
    writeln!(source, "];\nstatic FIRST_BYTES: [(u8, u16); {}] = {first_bytes:?};", first_bytes.len())?;
    write_keywords(&mut source, &keywords)?;
    let directory = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(directory.join("automata.bin"), automata)?;
    std::fs::write(directory.join("rules.rs"), source)?;
    Ok(())
}

/// The files, by name.
fn read(directory: &Path) -> Result<Vec<RuleFile>, Box<dyn Error>> {
    let entries = std::fs::read_dir(directory)?.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let read = |path: PathBuf| {
        let file = toml::from_str(&std::fs::read_to_string(&path)?);
        let file: RuleFile = file.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(RuleFile { path, ..file })
    };
    paths.into_iter().map(read).collect()
}

/// All rows: by tier, then by file, then as in their file.
fn by_precedence(files: Vec<RuleFile>) -> Vec<Rule> {
    let rows = |(file, RuleFile { tier, rules, .. })| {
        let rule = move |row: Row| Rule { tier: row.tier.unwrap_or(tier), file, row };
        rules.into_iter().map(rule)
    };
    let mut rules: Vec<Rule> = files.into_iter().enumerate().flat_map(rows).collect();
    rules.sort_by_key(|rule| rule.tier);
    rules
}

/// What a line has to contain to be tried.
enum Needed {
    Keywords(Strings),
    FirstByte(BTreeSet<u8>),
}

fn needed(pattern: &str) -> Result<Needed, Box<dyn Error>> {
    let parsed = syntax::parse_with(pattern, &syntax_config())?;
    let first_bytes = || literals::first_bytes(&parsed).map(Needed::FirstByte);
    literals::keywords(&parsed).map(Needed::Keywords).or_else(first_bytes).ok_or_else(|| {
        "needs three characters in a row that every match contains, or a first character after ^".into()
    })
}

/// Writes each keyword as ranges of two lists, because pointers would have to be relocated when the program starts.
fn write_keywords(source: &mut String, keywords: &BTreeMap<Vec<u8>, Vec<usize>>) -> std::fmt::Result {
    let (mut texts, mut numbers) = (Vec::<u8>::new(), Vec::<usize>::new());
    writeln!(source, "static KEYWORDS: [Keyword; {}] = [", keywords.len())?;
    for (text, rules) in keywords {
        let (start, length) = (texts.len(), text.len());
        let (first, count) = (numbers.len(), rules.len());
        writeln!(
            source,
            "Keyword {{ start: {start}, length: {length}, first_rule: {first}, rules: {count} }},"
        )?;
        texts.extend(text);
        numbers.extend(rules);
    }
    writeln!(source, "];\nstatic KEYWORD_TEXTS: [u8; {}] = {texts:?};", texts.len())?;
    writeln!(source, "static KEYWORD_RULES: [u16; {}] = {numbers:?};", numbers.len())
}

fn syntax_config() -> syntax::Config {
    syntax::Config::new().unicode(false).utf8(false)
}

/// The automaton of a pattern, in the form that `matcher.rs` searches: the class of each byte, then for each state the
/// states that follow it, by class and at the end of the line. Numbers are little-endian; a state is the position of its
/// row.
fn automaton(pattern: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let nfa = NFA::compiler()
        .configure(thompson::Config::new().utf8(false).which_captures(WhichCaptures::None))
        .syntax(syntax_config())
        .build(pattern)?;
    let anchored = if nfa.is_always_start_anchored() { Anchored::Yes } else { Anchored::No };
    let config = dense::Config::new()
        .minimize(true)
        .accelerate(false)
        .start_kind(if anchored == Anchored::Yes { StartKind::Anchored } else { StartKind::Unanchored })
        .determinize_size_limit(Some(16 * MAX_AUTOMATON_BYTES))
        .dfa_size_limit(Some(MAX_AUTOMATON_BYTES));
    let dfa = dense::Builder::new().configure(config).build_from_nfa(&nfa)?;
    let classes = dfa.byte_classes();
    let bytes: Vec<u8> = classes.representatives(0..=u8::MAX).filter_map(|unit| unit.as_u8()).collect();
    let mut automaton: Vec<u8> = (0..=u8::MAX).map(|byte| classes.get(byte)).collect();
    let mut states = vec![dfa.start_state(&start::Config::new().anchored(anchored))?];
    let mut rows = BTreeMap::from([(states[0], 0)]);
    let mut at = 0;
    while let Some(&state) = states.get(at) {
        at += 1;
        let end = dfa.next_eoi_state(state);
        for next in bytes.iter().map(|&byte| dfa.next_state(state, byte)).chain([end]) {
            let row = match next {
                _ if dfa.is_dead_state(next) => DEAD,
                _ if dfa.is_match_state(next) => MATCH,
                _ => *rows.entry(next).or_insert_with(|| {
                    states.push(next);
                    ((states.len() - 1) * (bytes.len() + 1)) as u16
                }),
            };
            automaton.extend(row.to_le_bytes());
        }
    }
    if states.len() * (bytes.len() + 1) >= usize::from(MATCH) {
        return Err("has too many states".into());
    }
    Ok(automaton)
}
