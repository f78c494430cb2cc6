//! Every file in `rules/` is tested by its transcript.

use super::super::{FILES, Rule, annotated_role, role_name};
use super::*;
use std::collections::BTreeSet;

struct TranscriptLine {
    /// `cargo.txt:12`
    place: String,
    file: usize,
    role: String,
    text: String,
}

fn transcripts() -> Vec<TranscriptLine> {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    let read = |name: &str| std::fs::read_to_string(directory.join(format!("{name}.txt")));
    let lines = |(file, name): (usize, &str)| {
        let text = read(name).unwrap_or_else(|error| panic!("rules/{name}.txt: {error}"));
        let line = |(number, line): (usize, &str)| {
            let (role, text) =
                line.split_once('|').unwrap_or_else(|| panic!("{name}.txt: no bar in {line:?}"));
            let text = text.strip_prefix(' ').unwrap_or(text).to_owned();
            TranscriptLine {
                place: format!("{name}.txt:{}", number + 1),
                file,
                role: role.trim().to_owned(),
                text,
            }
        };
        text.lines().enumerate().map(line).collect::<Vec<_>>()
    };
    FILES.iter().map(|file| file.name).enumerate().flat_map(lines).collect()
}

/// All rules that match, whether or not a keyword was found.
fn all_rules(line: &str) -> Vec<usize> {
    (0..RULES.len()).filter(|&rule| matches(rule, content_of(line).as_bytes())).collect()
}

fn content_of(line: &str) -> String {
    let mut buffer = Vec::new();
    let content = crate::strategy::content::content(line.as_bytes(), &mut buffer);
    String::from_utf8(content[..content.len().min(MATCHED_BYTES)].to_vec()).expect("transcripts are text")
}

fn describe(rule: usize) -> String {
    let Rule { file, role, pattern, .. } = RULES[rule];
    format!("{} in {}.toml ({})", pattern, FILES[usize::from(file)].name, role_name(role))
}

#[track_caller]
fn assert_none(wrong: impl Iterator<Item = String>) {
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn lines_of_transcripts_get_their_roles() {
    assert_none(transcripts().into_iter().filter_map(|TranscriptLine { place, role, text, .. }| {
        let found = annotated_role(text.as_bytes());
        (found != role).then(|| format!("{place}: {text:?} is {found:?}, not {role:?}"))
    }));
}

#[test]
fn every_rule_decides_a_line_of_its_transcript() {
    let decided = |line: TranscriptLine| {
        let rule = Matcher::default().first_rule(content_of(&line.text).as_bytes())?;
        (usize::from(RULES[rule].file) == line.file).then_some(rule)
    };
    let decided: BTreeSet<usize> = transcripts().into_iter().filter_map(decided).collect();
    assert_none(
        (0..RULES.len())
            .filter(|rule| !decided.contains(rule))
            .map(|rule| format!("{} decides no line of its transcript", describe(rule))),
    );
}

/// Otherwise the names of the files would decide.
#[test]
fn files_of_the_same_tier_do_not_disagree() {
    assert_none(transcripts().into_iter().filter_map(|line| {
        let rules = all_rules(&line.text);
        let (&first, others) = rules.split_first()?;
        let other = others.iter().copied().find(|&other| {
            let (first, other) = (&RULES[first], &RULES[other]);
            first.tier == other.tier && first.file != other.file && first.role != other.role
        })?;
        Some(format!("{}: {:?} matches {} and {}", line.place, line.text, describe(first), describe(other)))
    }));
}

#[test]
fn no_match_is_lost_by_looking_for_keywords_first() {
    assert_none(transcripts().into_iter().flat_map(|line| {
        let mut candidates = BTreeSet::new();
        keywords::rules_for(content_of(&line.text).as_bytes()).find(|rule| {
            candidates.insert(rule);
            false
        });
        let lost = all_rules(&line.text).into_iter().filter(move |rule| !candidates.contains(rule));
        lost.map(move |rule| format!("{}: {} lacks a keyword of {:?}", line.place, describe(rule), line.text))
    }));
}
