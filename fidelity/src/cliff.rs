//! Measures cliffs: how much less a preview shows of an output that is one line longer.

use crate::strategies::truncator;
use crate::table::Table;
use crate::texts::{KINDS, Kind};
use anyhow::Result;
use offcut::strategy::StrategyName;
use offcut::{Context, Truncator};

const BUDGET: u64 = 8192;
/// More than any text has: only bytes count.
const LINES: u64 = 1_000_000;
/// How many sizes are compared, of which this many are within the limit.
const SIZES: usize = 200;
const SIZES_WITHIN: usize = 20;

/// How many bytes of an output are shown.
#[derive(Clone, Copy)]
struct Shown {
    of: usize,
    bytes: u64,
}

/// The share that is lost from one size to the next, in percent.
fn fall((before, after): (Shown, Shown)) -> f64 {
    100.0 * before.bytes.saturating_sub(after.bytes) as f64 / before.bytes.max(1) as f64
}

/// For each kind of text, the largest fall of shown bytes between neighbouring sizes.
pub(crate) fn table() -> Result<Table> {
    let truncator = truncator(StrategyName::Auto, BUDGET, LINES)?;
    let mut rows = Vec::new();
    for kind in &KINDS {
        let sizes = shown(kind, &truncator);
        let steps = sizes.windows(2).map(|pair| (pair[0], pair[1]));
        let Some(largest) = steps.max_by(|one, other| fall(*one).total_cmp(&fall(*other))) else { continue };
        let (before, after) = largest;
        let cut = sizes.iter().filter(|shown| shown.of as u64 > BUDGET);
        let least = cut.map(|shown| shown.bytes).min().unwrap_or_default();
        let figures =
            [before.of as u64, after.of as u64, before.bytes, after.bytes].map(|bytes| bytes.to_string());
        let mut row = vec![kind.name.to_owned(), format!("{:.0}%", fall(largest))];
        row.extend(figures);
        row.push(least.to_string());
        rows.push(row);
    }
    let header =
        ["text", "largest fall", "from size", "to size", "shown before", "shown after", "least shown"];
    let title = format!("{BUDGET} bytes, `auto`: bytes shown when an output grows by one line");
    Ok(Table { title, names: 1, header: header.map(str::to_owned).to_vec(), rows })
}

/// What is shown of texts around the limit, each one line longer than the one before.
fn shown(kind: &Kind, truncator: &Truncator) -> Vec<Shown> {
    let within = (0..).take_while(|&lines| kind.text(lines).len() as u64 <= BUDGET).count();
    let first = within.saturating_sub(SIZES_WITHIN);
    let sizes = (first..first + SIZES).map(|lines| {
        let text = kind.text(lines);
        let outcome = truncator.apply(&text, &Context::default());
        let bytes = outcome.preview().map_or(text.len() as u64, |preview| preview.shown().bytes);
        Shown { of: text.len(), bytes }
    });
    sizes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_grow_and_reach_both_sides_of_the_limit() {
        let truncator = truncator(StrategyName::Tail, BUDGET, LINES).unwrap();
        for kind in &KINDS {
            let sizes = shown(kind, &truncator);
            assert!(sizes.windows(2).all(|pair| pair[0].of < pair[1].of), "{}", kind.name);
            assert!(sizes[0].of as u64 <= BUDGET && sizes[SIZES - 1].of as u64 > BUDGET, "{}", kind.name);
        }
    }
}
