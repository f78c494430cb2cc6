//! Measures what previews show: lines that people marked in real outputs, and facts that agents used of tool results.

mod ablation;
mod bootstrap;
mod cliff;
mod labels;
mod marked_lines;
mod measure;
mod plot;
mod report;
mod sample;
mod score;
mod strategies;
mod table;
mod texts;
mod tokens;
mod used;

use anyhow::{Context as _, Result};
use clap::Parser;
use measure::{Budget, Details};
use offcut::strategy::StrategyName;
use plot::Measurement;
use report::{Interval, Layout};
use sample::Sample;
use std::path::PathBuf;
use table::Format;

/// Prints whole/share/any in percent for each set, budget and strategy, over the outputs larger than the budget.
#[derive(Parser)]
struct Arguments {
    /// Folders with labels.jsonl and logs, or with tool results in *.jsonl or *.jsonl.gz
    #[arg(required_unless_present = "cliff")]
    directories: Vec<PathBuf>,
    /// Budgets in bytes, for example 8k [default: 4k,8k,16k,50k; for tool results 4096,8192,9500,30000]
    #[arg(long, value_delimiter = ',')]
    budget: Vec<String>,
    /// Strategies; tables have the interval of the last one
    #[arg(long, value_delimiter = ',', default_value = "head,tail,head-tail,smart,auto")]
    strategy: Vec<String>,
    /// Only outputs whose file name or id contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Print the facts that each preview misses, and the simple strategies that show more than `auto`
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
    /// Print tables as Markdown
    #[arg(long)]
    markdown: bool,
    /// Omit rows with fewer outputs
    #[arg(long, default_value_t = 1)]
    least: usize,
    /// Print classes of tool results for all agents together
    #[arg(long)]
    pooled: bool,
    /// Print by how much previews shrink when an output grows by one line
    #[arg(long)]
    cliff: bool,
}

/// A kind of set.
struct Kind {
    names: &'static [&'static str],
    interval: Interval,
    budgets: &'static [&'static str],
    lines: u64,
}

const LABELLED: Kind =
    Kind { names: &["set"], interval: Interval::Wilson, budgets: &["4k", "8k", "16k", "50k"], lines: 2000 };

const USED: Kind = Kind {
    names: &["agent", "class"],
    interval: Interval::Bootstrap,
    // Those of the script that comes with the set, so that figures can be compared.
    budgets: &["4096", "8192", "9500", "30000"],
    // Agents limit bytes or tokens, so lines do not count.
    lines: 1_000_000,
};

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let format = if arguments.markdown { Format::Markdown } else { Format::Text };
    if arguments.cliff {
        cliff::table()?.print(format);
    }
    let (mut labelled, mut used) = (Vec::new(), Vec::new());
    for directory in &arguments.directories {
        if directory.join(labels::FILE).exists() {
            labelled.extend(labels::read(directory)?);
        } else {
            used.extend(used::read(directory)?);
        }
    }
    print(&LABELLED, labelled.iter().map(|log| log as &dyn Sample).collect(), &arguments, format)?;
    print(&USED, used.iter().map(|item| item as &dyn Sample).collect(), &arguments, format)
}

/// Measures the samples of one kind and prints the tables.
fn print(kind: &Kind, mut samples: Vec<&dyn Sample>, arguments: &Arguments, format: Format) -> Result<()> {
    samples.retain(|sample| sample.name().contains(&arguments.only));
    if samples.is_empty() {
        return Ok(());
    }
    let names: Vec<StrategyName> =
        arguments.strategy.iter().map(|name| strategies::parse(name)).collect::<Result<_>>()?;
    let given: Vec<&str> = arguments.budget.iter().map(String::as_str).collect();
    let budgets = if given.is_empty() { kind.budgets } else { &given };
    let layout = Layout {
        names: kind.names,
        interval: kind.interval,
        least: arguments.least,
        pooled: arguments.pooled,
    };
    let details = Details { missed: arguments.missed, show: arguments.show };
    let mut plotted = Vec::new();
    for budget in budgets {
        let budget = Budget { bytes: offcut::limits::parse_size(budget)?, lines: kind.lines };
        if arguments.ablation {
            ablation::table(&samples, budget)?.print(format);
            continue;
        }
        let measured = measure::measure(&samples, budget, &names, details)?;
        let title = format!("{} bytes, whole/share/any in percent", budget.bytes);
        report::table(title, &measured, &names, &layout, format).print(format);
        plotted.push(Measurement { bytes: budget.bytes, table: report::by_set(&measured) });
    }
    if let Some(path) = &arguments.plot {
        std::fs::write(path, plot::draw(&names, &plotted))
            .with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}
