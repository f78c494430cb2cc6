//! Measures what each group of the rules of `smart` adds.

use crate::measure::Budget;
use crate::sample::Sample;
use crate::score::{Counts, Score};
use crate::strategies::{gaps, truncator};
use crate::table::Table;
use anyhow::Result;
use offcut::Context;
use offcut::strategy::{Group, Smart, StrategyName};
use std::collections::BTreeMap;

/// The figures of `smart` for each set, with all rules and without each group of them.
pub(crate) fn table(samples: &[&dyn Sample], budget: Budget) -> Result<Table> {
    let mut variants = vec![("nothing".to_owned(), Smart::default())];
    variants.extend(Group::ALL.map(|group| (format!("{group:?}").to_lowercase(), Smart::without(group))));
    let (mut header, mut rows) = (vec!["without".to_owned()], Vec::new());
    for (name, strategy) in variants {
        let truncator = truncator(StrategyName::Smart, budget.bytes, budget.lines)?.strategy(strategy);
        let mut scores = BTreeMap::<&str, Score>::new();
        for sample in samples.iter().filter(|sample| sample.text().len() as u64 > budget.bytes) {
            let shown = truncator.apply(sample.text(), &Context::default());
            let facts = sample.facts();
            let fill = shown.content().len() as f64 / budget.bytes as f64;
            let missed = sample.missed(shown.content()).len();
            let counts = Counts { facts, shown: facts - missed, gaps: gaps(&shown), fill };
            scores.entry(sample.set()).or_default().add(&counts);
        }
        header.truncate(1);
        header.extend(scores.keys().map(|&set| set.to_owned()));
        let mut row = vec![name];
        row.extend(scores.values().map(Score::to_string));
        rows.push(row);
    }
    Ok(Table { title: format!("{} bytes, `smart`", budget.bytes), names: 1, header, rows })
}
