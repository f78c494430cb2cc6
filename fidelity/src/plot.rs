//! Draws fidelity against budget, a panel for each corpus.

use crate::score::Score;
use offcut::strategy::StrategyName;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The results at one budget: for each corpus, the scores of all strategies.
pub(crate) struct Measurement {
    pub(crate) bytes: u64,
    pub(crate) table: BTreeMap<String, Vec<Score>>,
}

const PANEL: (f64, f64) = (200.0, 150.0);
const MARGIN: (f64, f64) = (44.0, 40.0);
const PER_ROW: usize = 3;

/// Text and grid follow the colour scheme of the page; the lines are readable on light and dark.
const STYLE: &str = "\
text { font: 12px system-ui, sans-serif; fill: #24292f } .small { font-size: 10px } .title { font-weight: 600 } \
.grid { stroke: #8c959f; stroke-opacity: .35 } \
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }";

/// A colour and a dash pattern for each strategy, so that colour is not the only difference.
const LINES: [(&str, &str); 6] = [
    ("#8c959f", "2 3"),
    ("#bf8700", "6 3"),
    ("#8250df", "1 4"),
    ("#1a7f37", "none"),
    ("#cf222e", "8 2 2 2"),
    ("#0969da", "4 4"),
];

/// An SVG of the share of logs of which every fact is shown.
pub(crate) fn draw(strategies: &[StrategyName], measured: &[Measurement]) -> String {
    let mut corpora: Vec<&str> =
        measured.iter().flat_map(|budget| budget.table.keys().map(String::as_str)).collect();
    corpora.sort_unstable();
    corpora.dedup();
    let columns = corpora.len().clamp(1, PER_ROW);
    let rows = corpora.len().div_ceil(PER_ROW);
    let (step_x, step_y) = (PANEL.0 + MARGIN.0, PANEL.1 + MARGIN.1 + 16.0);
    let (width, height) = (columns as f64 * step_x + 20.0, rows as f64 * step_y + 44.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"Logs of which every fact is shown, in percent, by budget\">\n<style>{STYLE}</style>\n"
    );
    for (at, name) in strategies.iter().enumerate() {
        let x = MARGIN.0 + at as f64 * 110.0;
        svg += &line(at, &format!("M{x} 16h26"));
        svg += &text(x + 32.0, 20.0, "start", "", name.as_str());
    }
    for (at, corpus) in corpora.iter().enumerate() {
        let (x, y) = ((at % PER_ROW) as f64 * step_x + MARGIN.0, (at / PER_ROW) as f64 * step_y + 52.0);
        svg += &panel(x, y, corpus, strategies, measured);
    }
    svg += "</svg>\n";
    svg
}

fn panel(x: f64, y: f64, corpus: &str, strategies: &[StrategyName], measured: &[Measurement]) -> String {
    let mut svg = text(x, y - 8.0, "start", "title", corpus);
    let height = |percent: f64| y + PANEL.1 * (1.0 - percent / 100.0);
    // Budgets double from tick to tick, so the axis is logarithmic.
    let positions: Vec<f64> = measured.iter().map(|budget| (budget.bytes.max(1) as f64).ln()).collect();
    let (least, most) =
        (positions.iter().copied().fold(f64::MAX, f64::min), positions.iter().copied().fold(0.0, f64::max));
    let position =
        |at: usize| x + PANEL.0 * if most > least { (positions[at] - least) / (most - least) } else { 0.5 };
    for percent in [0.0, 50.0, 100.0] {
        let y = height(percent);
        let _ = writeln!(svg, "<path class=\"grid\" d=\"M{x:.1} {y:.1}h{}\"/>", PANEL.0);
        svg += &text(x - 6.0, y + 4.0, "end", "small", &percent.to_string());
    }
    for (at, budget) in measured.iter().enumerate() {
        let label = format!("{} kB", budget.bytes / 1000);
        svg += &text(position(at), y + PANEL.1 + 16.0, "middle", "small", &label);
    }
    for column in 0..strategies.len() {
        let points = measured.iter().enumerate().filter_map(|(at, budget)| {
            let score = budget.table.get(corpus)?.get(column)?;
            Some(format!("{:.1} {:.1}", position(at), height(score.whole())))
        });
        let points: Vec<String> = points.collect();
        if !points.is_empty() {
            svg += &line(column, &format!("M{}", points.join("L")));
        }
    }
    svg
}

fn line(strategy: usize, path: &str) -> String {
    let (colour, dash) = LINES[strategy % LINES.len()];
    format!(
        "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\" stroke-dasharray=\"{dash}\"/>\n"
    )
}

fn text(x: f64, y: f64, anchor: &str, class: &str, words: &str) -> String {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{words}</text>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_a_line_per_strategy_in_each_panel() {
        let strategies = [StrategyName::Tail, StrategyName::Smart];
        let table = || {
            BTreeMap::from([
                ("one".to_owned(), vec![Score::default(); 2]),
                ("<two>".to_owned(), vec![Score::default(); 2]),
            ])
        };
        let measured = [4000, 8000].map(|bytes| Measurement { bytes, table: table() });
        let svg = draw(&strategies, &measured);
        // In each of two panels and in the legend.
        assert_eq!(svg.matches("stroke-dasharray").count(), 6);
        assert!(svg.contains("&lt;two>") && svg.contains(">8 kB<") && !svg.contains("NaN"));
    }
}
