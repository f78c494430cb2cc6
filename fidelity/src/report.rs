//! Sums up measurements into the rows of a table.

use crate::bootstrap;
use crate::measure::Measured;
use crate::score::{Counts, Score};
use crate::table::{Format, Table};
use crate::used::ALL;
use offcut::strategy::StrategyName;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// One of the figures of a score, in percent.
type Figure = fn(&Score) -> f64;

/// How far the figures of another set of the same kind may differ.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interval {
    /// Outputs are independent of each other.
    Wilson,
    /// Outputs of one session are not independent.
    Bootstrap,
}

/// What the tables of a kind of set look like.
pub(crate) struct Layout {
    /// The names of a row: what the groups of a sample are.
    pub(crate) names: &'static [&'static str],
    pub(crate) interval: Interval,
    /// The smallest number of outputs in a row. Sums over all classes have a row in any case.
    pub(crate) least: usize,
    /// Whether classes have a row for each agent, or only one for all agents together.
    pub(crate) pooled: bool,
}

/// The outputs of one row. A column is a strategy; the last one is the agents' own hosts.
#[derive(Default)]
struct Cell {
    /// The scores of each session, in the order of the set, for each column.
    sessions: Vec<Vec<Score>>,
    /// Where in `sessions` a session is.
    places: BTreeMap<String, usize>,
    /// Outputs of which a simple strategy shows more than `auto`.
    auto_worse: usize,
}

impl Cell {
    fn add(&mut self, measured: &Measured<'_>, strategies: &[StrategyName]) {
        let columns: Vec<Option<&Counts>> =
            measured.strategies.iter().map(Some).chain([measured.host.as_ref()]).collect();
        let place = *self.places.entry(measured.sample.session()).or_insert_with(|| {
            self.sessions.push(vec![Score::default(); columns.len()]);
            self.sessions.len() - 1
        });
        for (score, counts) in self.sessions[place].iter_mut().zip(columns) {
            if let Some(counts) = counts {
                score.add(counts);
            }
        }
        self.auto_worse += usize::from(!measured.better_than_auto(strategies).is_empty());
    }

    fn column(&self, column: usize) -> Vec<&Score> {
        self.sessions.iter().map(|session| &session[column]).collect()
    }

    fn sum(&self, column: usize) -> Score {
        let mut sum = Score::default();
        self.column(column).into_iter().for_each(|session| sum.merge(session));
        sum
    }

    fn outputs(&self) -> usize {
        self.sum(0).outputs()
    }

    /// The ends of the 95% interval of a figure, in percent.
    fn interval(&self, column: usize, kind: Interval, figure: Figure) -> String {
        let (low, high) = match kind {
            Interval::Wilson => self.sum(column).wilson_interval(),
            Interval::Bootstrap => bootstrap::interval(&self.column(column), figure),
        };
        format!("{low:.0}-{high:.0}")
    }
}

/// The figures of each row, whole/share/any in percent.
///
/// Text has the intervals and gaps of every strategy in lines of their own; Markdown has those of the last strategy.
pub(crate) fn table(
    title: String,
    measured: &[Measured<'_>],
    strategies: &[StrategyName],
    layout: &Layout,
    format: Format,
) -> Table {
    let cells = cells(measured, strategies, layout);
    let has_host = cells.iter().any(|(_, cell)| cell.sum(strategies.len()).outputs() > 0);
    let last = strategies.len().saturating_sub(1);
    let columns = strategies.len() + usize::from(has_host);
    let mut header: Vec<String> = layout.names.iter().map(|&name| name.to_owned()).collect();
    header.push("n".to_owned());
    header.extend(strategies.iter().map(|name| name.as_str().to_owned()));
    header.extend(has_host.then(|| "host".to_owned()));
    let last_name = strategies.get(last).map_or("", |name| name.as_str());
    if format == Format::Markdown {
        header.extend([format!("{last_name} whole, 95%"), format!("{last_name} gaps, median/90%")]);
    }
    header.extend([format!("{last_name} fill"), "auto worse".to_owned()]);
    let mut rows = Vec::new();
    for (names, cell) in &cells {
        let mut row: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        row.push(cell.outputs().to_string());
        row.extend((0..columns).map(|column| cell.sum(column).to_string()));
        let gaps = |column: usize| {
            let score = cell.sum(column);
            format!("{}/{}", score.gaps(50), score.gaps(90))
        };
        if format == Format::Markdown {
            row.extend([cell.interval(last, layout.interval, Score::whole), gaps(last)]);
        }
        row.extend([format!("{:.2}", cell.sum(last).fill()), cell.auto_worse.to_string()]);
        rows.push(row);
        if format == Format::Text {
            let line = |title: &str, columns: usize, figure: &dyn Fn(usize) -> String| {
                let mut line = vec![String::new(); layout.names.len() + 1];
                line[layout.names.len() - 1] = format!("  {title}");
                line.extend((0..columns).map(figure));
                line
            };
            let figures: [(&str, Figure); 3] =
                [("whole, 95%", Score::whole), ("share, 95%", Score::share), ("any, 95%", Score::any)];
            // Wilson's interval is one of yes and no, which a share is not.
            let known = if layout.interval == Interval::Wilson { 1 } else { figures.len() };
            for (title, figure) in &figures[..known] {
                rows.push(line(title, columns, &|column| cell.interval(column, layout.interval, *figure)));
            }
            rows.push(line("gaps, median/90%", strategies.len(), &gaps));
        }
    }
    Table { title, names: layout.names.len(), header, rows }
}

/// The cells of the table in order: all agents last, all classes of an agent first, then from many outputs to few.
fn cells<'a>(
    measured: &'a [Measured<'_>],
    strategies: &[StrategyName],
    layout: &Layout,
) -> Vec<(Vec<&'a str>, Cell)> {
    let mut groups = BTreeMap::<Vec<&str>, Cell>::new();
    for one in measured {
        for names in one.sample.groups() {
            groups.entry(names).or_default().add(one, strategies);
        }
    }
    let mut cells: Vec<(Vec<&str>, Cell)> = groups.into_iter().collect();
    cells.retain(|(names, cell)| {
        let is_sum = names.last() == Some(&ALL);
        (is_sum || cell.outputs() >= layout.least)
            && (is_sum || !layout.pooled || names[0] == ALL || names.len() == 1)
    });
    cells.sort_by_key(|(names, cell)| {
        (names[0] == ALL, names[0], names.last() != Some(&ALL), Reverse(cell.outputs()))
    });
    cells
}

/// For each set, the scores of all strategies: what the plot shows.
pub(crate) fn by_set(measured: &[Measured<'_>]) -> BTreeMap<String, Vec<Score>> {
    let mut sets = BTreeMap::<String, Vec<Score>>::new();
    for one in measured {
        let scores = sets
            .entry(one.sample.set().to_owned())
            .or_insert_with(|| vec![Score::default(); one.strategies.len()]);
        scores.iter_mut().zip(&one.strategies).for_each(|(score, counts)| score.add(counts));
    }
    sets
}
