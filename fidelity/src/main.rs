//! Measures how many of the lines that people marked in real outputs are shown in a preview.

mod labels;
mod plot;
mod score;

use anyhow::{Context as _, Result, anyhow};
use clap::Parser;
use labels::Log;
use offcut::cut::GapReason;
use offcut::strategy::{Group, Smart, StrategyName};
use offcut::{Context, Limits, Outcome, Profile, Rule, Truncator};
use plot::Measurement;
use score::{MissedFacts, Score};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Prints whole/facts/any in percent for each corpus, budget and strategy, over the logs larger than the budget.
#[derive(Parser)]
struct Arguments {
    /// Folders with labels.jsonl and logs
    #[arg(required = true)]
    directories: Vec<PathBuf>,
    /// Budgets in bytes, for example 8k
    #[arg(long, value_delimiter = ',', default_value = "4k,8k,16k,50k")]
    budget: Vec<String>,
    /// Strategies
    #[arg(long, value_delimiter = ',', default_value = "head,tail,head-tail,smart")]
    strategy: Vec<String>,
    /// Only logs whose file name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Print the facts that each preview misses
    #[arg(long)]
    missed: bool,
    /// Print the figures of `smart` without each group of its rules
    #[arg(long)]
    ablation: bool,
    /// Print each preview
    #[arg(long)]
    show: bool,
    /// Draw fidelity against budget into this file, as SVG
    #[arg(long)]
    plot: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let mut logs = Vec::new();
    for directory in &arguments.directories {
        logs.extend(labels::read(directory)?);
    }
    logs.retain(|log| log.labels.file.contains(&arguments.only));
    let strategies = arguments.strategy.iter().map(|name| strategy(name)).collect::<Result<Vec<_>>>()?;
    let mut measured = Vec::new();
    for budget in &arguments.budget {
        let bytes = offcut::limits::parse_size(budget)?;
        let mut table = BTreeMap::<&str, Vec<Score>>::new();
        for (column, &name) in strategies.iter().enumerate() {
            let truncator = truncator(name, bytes)?;
            for log in logs.iter().filter(|log| log.text.len() as u64 > bytes) {
                let shown = truncator.apply(&log.text, &Context::default());
                let missed = score::compare(log, shown.content());
                let row = table
                    .entry(&log.labels.corpus)
                    .or_insert_with(|| vec![Score::default(); strategies.len()]);
                row[column].add(log, &missed, gaps(&shown));
                if arguments.missed {
                    print_missed(log, &missed, budget, name);
                }
                if arguments.show {
                    println!("{}\n{}", log.labels.file, String::from_utf8_lossy(shown.content()));
                }
            }
        }
        print_table(budget, &strategies, &table);
        if arguments.ablation {
            print_ablation(budget, bytes, &logs)?;
        }
        let table = table.into_iter().map(|(corpus, row)| (corpus.to_owned(), row)).collect();
        measured.push(Measurement { bytes, table });
    }
    if let Some(path) = &arguments.plot {
        std::fs::write(path, plot::draw(&strategies, &measured))
            .with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

fn strategy(name: &str) -> Result<StrategyName> {
    StrategyName::ALL
        .iter()
        .copied()
        .find(|known| known.as_str() == name)
        .ok_or_else(|| anyhow!("unknown strategy {name}"))
}

fn truncator(strategy: StrategyName, bytes: u64) -> Result<Truncator> {
    let limits = Limits { bytes: Some(bytes), lines: Some(2000), ..Limits::default() };
    let rule = Rule { limits, strategy: Some(strategy), ..Rule::default() };
    Truncator::new(Profile::native()).rule(rule).context("invalid budget")
}

fn print_table(budget: &str, strategies: &[StrategyName], table: &BTreeMap<&str, Vec<Score>>) {
    print!("{:<24}{:>5}", format!("{budget}: whole/facts/any"), "logs");
    for name in strategies {
        print!("{:>14}", name.as_str());
    }
    println!();
    for (corpus, row) in table {
        print!("{corpus:<24}{:>5}", row.first().map_or(0, Score::logs));
        for score in row {
            print!("{score:>14}");
        }
        println!();
        print_row("  whole, 95% interval", row, |score| {
            let (low, high) = score.interval();
            format!("{low:.0}-{high:.0}")
        });
        print_row("  gaps, median/90%", row, |score| format!("{}/{}", score.gaps(50), score.gaps(90)));
    }
    println!();
}

fn print_row(title: &str, row: &[Score], figure: impl Fn(&Score) -> String) {
    print!("{title:<29}");
    for score in row {
        print!("{:>14}", figure(score));
    }
    println!();
}

/// The number of gaps that a reader of the preview meets. Hidden control sequences have no marker.
fn gaps(shown: &Outcome<'_>) -> usize {
    let gaps = shown.preview().map_or(&[][..], |preview| preview.gaps());
    gaps.iter().filter(|gap| gap.why != GapReason::Control).count()
}

/// Prints the scores of `smart` without each group of its rules.
fn print_ablation(budget: &str, bytes: u64, logs: &[Log]) -> Result<()> {
    let mut columns = vec![("all rules".to_owned(), Smart::default())];
    columns.extend(Group::ALL.map(|group| (format!("{group:?}").to_lowercase(), Smart::without(group))));
    println!("{budget}: smart with all rules, and without each group of them");
    for (name, strategy) in columns {
        let truncator = truncator(StrategyName::Smart, bytes)?.strategy(strategy);
        let mut scores = BTreeMap::<&str, Score>::new();
        for log in logs.iter().filter(|log| log.text.len() as u64 > bytes) {
            let shown = truncator.apply(&log.text, &Context::default());
            let missed = score::compare(log, shown.content());
            scores.entry(&log.labels.corpus).or_default().add(log, &missed, gaps(&shown));
        }
        print!("{name:<12}");
        for (corpus, score) in &scores {
            print!("  {corpus} {score}");
        }
        println!();
    }
    println!();
    Ok(())
}

fn print_missed(log: &Log, missed: &MissedFacts<'_>, budget: &str, strategy: StrategyName) {
    if missed.facts.is_empty() {
        return;
    }
    let (all, lost) = (log.labels.facts.len(), missed.facts.len());
    println!("{} at {budget} by {}: {lost} of {all} facts missed", log.labels.file, strategy.as_str());
    let lines: Vec<&[u8]> = log.text.split(|&byte| byte == b'\n').collect();
    for fact in &missed.facts {
        println!("  {}", fact.name);
        let alternative = fact.alternatives.first().map_or(&[][..], |first| &first.lines);
        for &number in alternative.iter().take(3) {
            let text = number.checked_sub(1).and_then(|index| lines.get(index)).copied().unwrap_or_default();
            let text = String::from_utf8_lossy(&score::plain(text)).chars().take(160).collect::<String>();
            println!("    {number}: {text}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against regressions.
    #[test]
    fn every_fact_of_the_generated_cases_is_shown() {
        let logs = labels::read(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")).unwrap();
        assert!(logs.len() >= 26);
        let mut wrong = Vec::new();
        let names = [StrategyName::Smart, StrategyName::Auto];
        for (name, bytes) in names.into_iter().flat_map(|name| [(name, 4000), (name, 8000)]) {
            let truncator = truncator(name, bytes).unwrap();
            for log in &logs {
                let shown = truncator.apply(&log.text, &Context::default());
                let missed = score::compare(log, shown.content());
                wrong.extend(
                    missed
                        .facts
                        .iter()
                        .map(|fact| format!("{} at {bytes} by {name:?}: {}", log.labels.file, fact.name)),
                );
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// A label with a wrong line number would count as a line that every preview misses.
    #[test]
    fn labels_of_the_outputs_are_lines_with_text() {
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("outputs");
        for half in ["tuned", "held"] {
            let logs = labels::read(&directory.join(half)).unwrap();
            assert!(logs.len() >= 40, "{half}");
            for log in &logs {
                let lines: Vec<&[u8]> = log.text.split(|&byte| byte == b'\n').collect();
                let alternatives = log.labels.facts.iter().flat_map(|fact| &fact.alternatives);
                for &number in alternatives.flat_map(|alternative| &alternative.lines) {
                    let line = number.checked_sub(1).and_then(|index| lines.get(index));
                    assert!(
                        line.is_some_and(|line| !score::plain(line).is_empty()),
                        "{}:{number}",
                        log.labels.file
                    );
                }
            }
        }
    }
}
