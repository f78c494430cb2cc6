//! Reads the labelled logs: which lines of each log a reader needs.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::io::Read as _;
use std::path::Path;

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
    let path = directory.join("labels.jsonl");
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
