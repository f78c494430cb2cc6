//! Reads the labelled logs: which lines of each log a reader needs.

use crate::marked_lines;
use crate::sample::Sample;
use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::io::Read as _;
use std::path::Path;

/// The name of the file with the labels of a directory.
pub(crate) const FILE: &str = "labels.jsonl";

/// The labels of one log: one line of `labels.jsonl`.
#[derive(Debug, Deserialize)]
pub(crate) struct Labels {
    pub(crate) corpus: String,
    pub(crate) file: String,
    pub(crate) facts: Vec<Fact>,
}

/// Something that a reader needs to know. It is shown if all lines of one alternative are.
#[derive(Debug, Deserialize)]
pub(crate) struct Fact {
    pub(crate) name: String,
    pub(crate) alternatives: Vec<Alternative>,
}

/// The numbers of the lines that state the fact, from 1. Lines end at `\n`.
#[derive(Debug, Deserialize)]
pub(crate) struct Alternative {
    pub(crate) lines: Vec<usize>,
}

/// A log and its labels.
pub(crate) struct Log {
    pub(crate) labels: Labels,
    pub(crate) text: Vec<u8>,
}

/// Reads `labels.jsonl` of `directory` and every log that it names.
pub(crate) fn read(directory: &Path) -> Result<Vec<Log>> {
    let path = directory.join(FILE);
    let labels = std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
    let mut logs = Vec::new();
    for (number, line) in labels.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let labels: Labels =
            serde_json::from_str(line).with_context(|| format!("{}:{}", path.display(), number + 1))?;
        let file = directory.join(&labels.file);
        let text = read_log(&file).with_context(|| format!("read {}", file.display()))?;
        logs.push(Log { labels, text });
    }
    Ok(logs)
}

/// Reads a log, which may be compressed.
fn read_log(path: &Path) -> Result<Vec<u8>> {
    let bytes = std::fs::read(path)?;
    if path.extension().is_none_or(|extension| extension != "zst") {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(bytes.as_slice())?.read_to_end(&mut text)?;
    Ok(text)
}

impl Sample for Log {
    fn name(&self) -> &str {
        &self.labels.file
    }

    fn set(&self) -> &str {
        &self.labels.corpus
    }

    fn groups(&self) -> Vec<Vec<&str>> {
        vec![vec![self.set()]]
    }

    fn session(&self) -> String {
        self.labels.file.clone()
    }

    fn text(&self) -> &[u8] {
        &self.text
    }

    fn facts(&self) -> usize {
        self.labels.facts.len()
    }

    fn missed(&self, preview: &[u8]) -> Vec<usize> {
        marked_lines::missed(self, preview)
    }

    fn fact(&self, fact: usize) -> (String, Vec<usize>) {
        let fact = &self.labels.facts[fact];
        let lines = fact.alternatives.first().map_or(&[][..], |first| &first.lines);
        (fact.name.clone(), lines.to_vec())
    }

    fn shown_by_host(&self) -> Option<Vec<u8>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marked_lines::{missed, plain};
    use crate::strategies::truncator;
    use offcut::Context;
    use offcut::strategy::StrategyName;

    const LINES: u64 = 2000;

    /// Guards against regressions.
    #[test]
    fn every_fact_of_the_generated_cases_is_shown() {
        let logs = read(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")).unwrap();
        assert!(logs.len() >= 26);
        let mut wrong = Vec::new();
        let names = [StrategyName::Smart, StrategyName::Auto];
        for (name, bytes) in names.into_iter().flat_map(|name| [(name, 4000), (name, 8000)]) {
            let truncator = truncator(name, bytes, LINES).unwrap();
            for log in &logs {
                let shown = truncator.apply(&log.text, &Context::default());
                for fact in missed(log, shown.content()) {
                    let fact = &log.labels.facts[fact].name;
                    wrong.push(format!("{} at {bytes} by {name:?}: {fact}", log.labels.file));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// A label with a wrong line number would count as a line that every preview misses.
    #[test]
    fn labels_of_the_outputs_are_lines_with_text() {
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("outputs");
        for half in ["tuned", "held"] {
            let logs = read(&directory.join(half)).unwrap();
            assert!(logs.len() >= 40, "{half}");
            for log in &logs {
                let lines: Vec<&[u8]> = log.text.split(|&byte| byte == b'\n').collect();
                let alternatives = log.labels.facts.iter().flat_map(|fact| &fact.alternatives);
                for &number in alternatives.flat_map(|alternative| &alternative.lines) {
                    let line = number.checked_sub(1).and_then(|index| lines.get(index));
                    assert!(line.is_some_and(|line| !plain(line).is_empty()), "{}:{number}", log.labels.file);
                }
            }
        }
    }
}
