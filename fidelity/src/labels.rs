//! The labelled set: which lines of which log a reader needs.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::path::Path;

/// One line of `labels.jsonl`.
#[derive(Debug, Deserialize)]
pub(crate) struct Labels {
    pub(crate) corpus: String,
    pub(crate) file: String,
    pub(crate) facts: Vec<Fact>,
}

/// Something a reader needs to know. It survives if every line of any one alternative is shown.
#[derive(Debug, Deserialize)]
pub(crate) struct Fact {
    pub(crate) name: String,
    pub(crate) alternatives: Vec<Alternative>,
}

/// Lines that tell the fact, counted from 1; they end at `\n`.
#[derive(Debug, Deserialize)]
pub(crate) struct Alternative {
    pub(crate) lines: Vec<usize>,
}

/// A log and what is marked in it.
pub(crate) struct Log {
    pub(crate) labels: Labels,
    pub(crate) text: Vec<u8>,
}

/// Reads `labels.jsonl` of `directory` and every log that it names.
pub(crate) fn read(directory: &Path) -> Result<Vec<Log>> {
    let place = directory.join("labels.jsonl");
    let labels = std::fs::read_to_string(&place).with_context(|| format!("read {}", place.display()))?;
    let mut logs = Vec::new();
    for (number, line) in labels.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let labels: Labels =
            serde_json::from_str(line).with_context(|| format!("{}:{}", place.display(), number + 1))?;
        let file = directory.join(&labels.file);
        let text = std::fs::read(&file).with_context(|| format!("read {}", file.display()))?;
        logs.push(Log { labels, text });
    }
    Ok(logs)
}
