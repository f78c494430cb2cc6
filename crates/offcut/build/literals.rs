//! Derives from a pattern what every line that matches it contains, so that most lines need not be matched at all.

use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use std::collections::BTreeSet;

/// A set of strings, with ASCII letters in lower case.
pub(super) type Strings = BTreeSet<Vec<u8>>;

/// The shortest keyword: lines are scanned three bytes at a time.
const MIN_LENGTH: usize = 3;

/// The largest set that is made by joining strings.
const MAX_STRINGS: usize = 32;

/// The largest class of characters that is worth a string for each of them.
const MAX_CLASS: usize = 16;

/// Keywords, one of which occurs in every line that matches, in upper or lower case.
pub(super) fn keywords(pattern: &Hir) -> Option<Strings> {
    let strings = analyse(pattern).required.filter(|strings| shortest(strings) >= MIN_LENGTH)?;
    // `failed` makes `failed to solve` superfluous.
    let contains = |long: &[u8], short: &[u8]| long.windows(short.len()).any(|part| part == short);
    let is_needed = |one: &&Vec<u8>| !strings.iter().any(|other| other != *one && contains(one, other));
    Some(strings.iter().filter(is_needed).cloned().collect())
}

/// The bytes with which a line that matches can begin, after white space.
pub(super) fn first_bytes(pattern: &Hir) -> Option<BTreeSet<u8>> {
    let HirKind::Concat(parts) = pattern.kind() else { return None };
    let (anchor, rest) = parts.split_first()?;
    let is_space = |part: &&Hir| match part.kind() {
        HirKind::Repetition(some) => {
            analyse(&some.sub).exact.is_some_and(|all| all.iter().flatten().all(|byte| *byte <= b' '))
        }
        _ => false,
    };
    let rest = Hir::concat(rest.iter().skip_while(is_space).cloned().collect());
    let starts = Extractor::new().extract(&rest);
    let starts = starts.literals().filter(|_| *anchor.kind() == HirKind::Look(Look::Start))?;
    starts.iter().map(|start| start.as_bytes().first().copied()).collect()
}

struct Analysis {
    /// All strings that match, if they are few.
    exact: Option<Strings>,
    /// The best set of strings of which one occurs in every match.
    required: Option<Strings>,
}

impl Analysis {
    fn of(exact: Option<Strings>) -> Analysis {
        Analysis { required: exact.clone(), exact }
    }
}

fn analyse(expression: &Hir) -> Analysis {
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => Analysis::of(Some([vec![]].into())),
        HirKind::Literal(literal) => Analysis::of(Some([literal.0.to_ascii_lowercase()].into())),
        HirKind::Class(Class::Bytes(class)) => {
            let bytes = class.iter().flat_map(|range| range.start()..=range.end());
            let strings: Strings = bytes.map(|byte| vec![byte.to_ascii_lowercase()]).collect();
            Analysis::of(Some(strings).filter(|strings| strings.len() <= MAX_CLASS))
        }
        HirKind::Class(Class::Unicode(class)) => {
            let letters = class.iter().flat_map(|range| range.start()..=range.end());
            let strings = letters.map(|letter| letter.to_string().to_ascii_lowercase().into());
            Analysis::of(Some(strings.collect()).filter(|strings: &Strings| strings.len() <= MAX_CLASS))
        }
        HirKind::Capture(capture) => analyse(&capture.sub),
        HirKind::Concat(parts) => concatenation(parts),
        HirKind::Alternation(choices) => {
            let choices: Vec<Analysis> = choices.iter().map(analyse).collect();
            let union = |of: fn(&Analysis) -> Option<&Strings>| {
                let sets: Option<Vec<&Strings>> = choices.iter().map(of).collect();
                Some(sets?.into_iter().flatten().cloned().collect::<Strings>())
            };
            Analysis {
                exact: union(|choice| choice.exact.as_ref()).filter(|all| all.len() <= MAX_STRINGS),
                required: union(|choice| choice.required.as_ref()),
            }
        }
        HirKind::Repetition(some) if (some.min, some.max) == (0, Some(1)) => {
            let exact = analyse(&some.sub).exact;
            Analysis::of(exact.map(|strings| strings.into_iter().chain([vec![]]).collect()))
        }
        HirKind::Repetition(_) => concatenation(std::slice::from_ref(expression)),
    }
}

/// Joins the strings of neighbouring parts to longer ones.
fn concatenation(parts: &[Hir]) -> Analysis {
    let (mut current, mut is_exact): (Strings, bool) = ([vec![]].into(), true);
    let mut sets = Vec::new();
    for part in parts {
        // `x{2,5}` begins and ends with `xx`, and anything may be between them.
        let (part, is_exact_part) = match part.kind() {
            HirKind::Repetition(some) if some.min == 0 && some.max != Some(1) => (Analysis::of(None), false),
            HirKind::Repetition(some) if some.min > 0 => {
                let copies: Vec<Hir> = (0..some.min).map(|_| (*some.sub).clone()).collect();
                (concatenation(&copies), some.max == Some(some.min))
            }
            _ => (analyse(part), true),
        };
        let joined = part.exact.as_ref().map(|ends| join(&current, ends));
        let joined = joined.filter(|strings| strings.len() <= MAX_STRINGS);
        is_exact &= is_exact_part && joined.is_some();
        sets.extend(joined.iter().chain(&part.required).cloned());
        current = joined.filter(|_| is_exact_part).or(part.exact).unwrap_or_else(|| [vec![]].into());
    }
    Analysis {
        exact: is_exact.then_some(current),
        required: sets.into_iter().min_by(|one, other| cost(one).total_cmp(&cost(other))),
    }
}

fn join(starts: &Strings, ends: &Strings) -> Strings {
    starts.iter().flat_map(|start| ends.iter().map(move |end| [&start[..], end].concat())).collect()
}

fn shortest(strings: &Strings) -> usize {
    strings.iter().map(Vec::len).min().unwrap_or(0)
}

/// How often one of the strings occurs by chance: each letter makes a string about six times as rare.
fn cost(strings: &Strings) -> f64 {
    let is_usable = shortest(strings) >= MIN_LENGTH;
    let frequency: f64 = strings.iter().map(|string| 6_f64.powi(-(string.len() as i32))).sum();
    if is_usable { frequency } else { 1.0 + frequency }
}
