//! Reads sets of tool results with the facts that an agent then used.

use crate::sample::Sample;
use crate::tokens::tokens;
use anyhow::{Context as _, Result, bail};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The name of the row over all agents or all classes.
pub(crate) const ALL: &str = "all";

/// What the lines that offcut adds begin with. The reader of a preview does not learn the facts of the output from them.
const NOTICE: &[u8] = b"[offcut";

/// One tool result: one line of a file of the set.
#[derive(Deserialize)]
pub(crate) struct Item {
    id: String,
    agent: String,
    class: String,
    repo: String,
    session: String,
    text: String,
    facts: Vec<String>,
    host_shown: Option<HostShown>,
}

/// What the agent's own host shows of the result.
#[derive(Deserialize)]
#[serde(untagged)]
enum HostShown {
    /// `"all"`
    Word(String),
    /// From which character to which, the end not included.
    Ranges(Vec<(usize, usize)>),
}

/// The files of a directory that contain items, compressed or not, in order.
pub(crate) fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(directory).with_context(|| format!("read {}", directory.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|path| {
        let name = path.to_string_lossy();
        name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")
    });
    files.sort_unstable();
    if files.is_empty() {
        bail!("{} has neither labels.jsonl nor other files *.jsonl or *.jsonl.gz", directory.display());
    }
    Ok(files)
}

/// Reads every item of `directory`.
pub(crate) fn read(directory: &Path) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    for path in files(directory)? {
        let text = read_text(&path).with_context(|| format!("read {}", path.display()))?;
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let item =
                serde_json::from_str(line).with_context(|| format!("{}:{}", path.display(), number + 1))?;
            items.push(item);
        }
    }
    Ok(items)
}

fn read_text(path: &Path) -> Result<String> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return Ok(std::fs::read_to_string(path)?);
    }
    let mut text = String::new();
    MultiGzDecoder::new(std::fs::File::open(path)?).read_to_string(&mut text)?;
    Ok(text)
}

impl Sample for Item {
    fn name(&self) -> &str {
        &self.id
    }

    fn set(&self) -> &str {
        &self.agent
    }

    fn groups(&self) -> Vec<Vec<&str>> {
        let (agent, class) = (self.agent.as_str(), self.class.as_str());
        vec![vec![agent, class], vec![agent, ALL], vec![ALL, class], vec![ALL, ALL]]
    }

    fn session(&self) -> String {
        format!("{} {}", self.repo, self.session)
    }

    fn text(&self) -> &[u8] {
        self.text.as_bytes()
    }

    fn facts(&self) -> usize {
        self.facts.len()
    }

    fn missed(&self, preview: &[u8]) -> Vec<usize> {
        let lines = preview.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(NOTICE));
        let shown: std::collections::HashSet<&[u8]> = lines.flat_map(tokens).collect();
        (0..self.facts.len()).filter(|&fact| !shown.contains(self.facts[fact].as_bytes())).collect()
    }

    fn fact(&self, fact: usize) -> (String, Vec<usize>) {
        let name = &self.facts[fact];
        let line = self.text.lines().position(|line| line.contains(name.as_str()));
        (name.clone(), line.map(|index| index + 1).into_iter().collect())
    }

    fn shown_by_host(&self) -> Option<Vec<u8>> {
        let ranges = match self.host_shown.as_ref()? {
            HostShown::Word(word) if word == ALL => return Some(self.text.clone().into_bytes()),
            HostShown::Word(_) => return None,
            HostShown::Ranges(ranges) => ranges,
        };
        let parts = ranges.iter().map(|&(from, to)| {
            self.text.chars().skip(from).take(to.saturating_sub(from)).collect::<String>()
        });
        Some(parts.collect::<Vec<_>>().join("\n").into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    const ITEM: &str = r#"{"id": "a-1", "agent": "a", "class": "tests", "repo": "r", "session": "s", "bytes": 36,
        "text": "é src/one.rs\nsrc/two.rs\n[offcut src/x]", "facts": ["src/one.rs", "src/two.rs"], "host_shown": [[0, 12]]}"#;

    #[test]
    fn facts_are_missed_unless_a_line_of_the_output_shows_them() {
        let item: Item = serde_json::from_str(ITEM).unwrap();
        assert!(item.missed(item.text()).is_empty());
        assert_eq!(item.missed(b"src/two.rs"), [0]);
        assert_eq!(item.missed(b"[offcut: src/one.rs src/two.rs]"), [0, 1]);
        assert_eq!(item.missed(b"src/two.rs.orig"), [0, 1]);
        assert_eq!(item.missed(&item.shown_by_host().unwrap()), [1]);
        assert_eq!(item.fact(1), ("src/two.rs".to_owned(), vec![2]));
    }

    #[test]
    fn reads_plain_and_compressed_files_in_order() {
        let directory = tempfile::tempdir().unwrap();
        assert!(read(directory.path()).is_err());
        let line = ITEM.replace('\n', " ");
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(line.replace("a-1", "a-2").as_bytes()).unwrap();
        std::fs::write(directory.path().join("b.jsonl.gz"), packed.finish().unwrap()).unwrap();
        std::fs::write(directory.path().join("a.jsonl"), line).unwrap();
        std::fs::write(directory.path().join("README.md"), "not an item").unwrap();
        let items = read(directory.path()).unwrap();
        assert_eq!(items.iter().map(Sample::name).collect::<Vec<_>>(), ["a-1", "a-2"]);
    }
}
