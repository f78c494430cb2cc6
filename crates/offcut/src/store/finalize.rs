//! Completes the metadata of an entry from its file, when the first writer could not: it died, or another process
//! continued the output.

use crate::cut::{Gap, GapReason, LinePosition, Size};
use crate::measure;
use crate::store::fs::{open_file, save};
use crate::store::{Digester, Entry, EntryState, FsStore, Id, Store, StoreError, platform};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

const BLOCK: usize = 256 << 10;

impl FsStore {
    /// Closes an entry that another process continued: size, lines and digests are those of its file now.
    ///
    /// What is known already stays: how the command ended, and what was shown.
    pub fn finalize(&self, id: &Id, state: EntryState) -> Result<Entry, StoreError> {
        let (entry, path) = self.load_supported(id)?;
        let file = open_file(&path).map_err(StoreError::io("open", &path))?;
        let scan = scan(&file, u64::MAX, previewed(&entry)).map_err(StoreError::io("read", &path))?;
        save(&self.metadata_path(id), &scan.complete(entry, state), &path)?;
        self.entry(id)
    }

    /// An abandoned entry with what its file contains. The metadata is replaced if the store can be written.
    ///
    /// Several processes may do this at once: all of them write the same.
    pub(super) fn repair(&self, entry: Entry, path: &Path, file: &File) -> Entry {
        match abandoned(&entry, file) {
            Err(_) => entry.with_state(EntryState::Abandoned),
            Ok(repaired) => {
                let _ = save(&self.metadata_path(&repaired.id), &repaired, path);
                repaired
            }
        }
    }
}

/// An entry whose writer has died, with what its file contains now: a hostile process may add to the file without end.
pub(super) fn abandoned(entry: &Entry, file: &File) -> io::Result<Entry> {
    let scan = scan(file, file.metadata()?.len(), previewed(entry))?;
    Ok(scan.complete(entry.clone(), EntryState::Abandoned))
}

/// The size of the output when its preview was made, if there was one.
fn previewed(entry: &Entry) -> Option<u64> {
    entry.summary.as_ref().map(|summary| summary.original.bytes)
}

/// What a file contains.
struct Scan {
    bytes: u64,
    lines: u64,
    digester: Digester,
    /// What came after the preview.
    after_preview: Option<Gap>,
}

impl Scan {
    fn complete(self, entry: Entry, state: EntryState) -> Entry {
        let Scan { bytes, lines, digester, after_preview } = self;
        let mut summary = entry.summary.clone().unwrap_or_default();
        if entry.summary.is_none() || bytes > summary.original.bytes {
            summary.original = Size { bytes, lines, chars: None, tokens: None };
        }
        summary.lines = lines;
        (summary.digest, summary.block_digests) = digester.finish();
        summary.gaps.extend(after_preview);
        entry.committed(bytes, state, summary)
    }
}

/// Reads the first `length` bytes of a file once. `previewed` is the size of the output when its preview was made.
fn scan(file: &File, length: u64, previewed: Option<u64>) -> io::Result<Scan> {
    let mut digester = Digester::new();
    let mut block = vec![0; BLOCK];
    let (mut newlines, mut last) = (0, b'\n');
    // The line feeds before the end of the preview, and the byte there.
    let mut preview_end = (0, b'\n');
    loop {
        let rest = usize::try_from(length - digester.count()).unwrap_or(BLOCK).min(BLOCK);
        let chunk = match platform::read_at(file, &mut block[..rest], digester.count()) {
            Ok(0) => break,
            Ok(count) => &block[..count],
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if let Some(within) =
            previewed.and_then(|end| usize::try_from(end.checked_sub(digester.count())?).ok())
            && let Some(before) = chunk.get(..within).filter(|before| !before.is_empty())
        {
            preview_end = (newlines + measure::newlines(before), before[within - 1]);
        }
        digester.update(chunk);
        newlines += measure::newlines(chunk);
        last = chunk[chunk.len() - 1];
    }
    let (bytes, lines) = (digester.count(), newlines + u64::from(last != b'\n'));
    let after_preview = previewed.filter(|&end| end < bytes).map(|start| Gap {
        start,
        end: bytes,
        first_line: preview_end.0 + 1,
        last_line: lines,
        from: if preview_end.1 == b'\n' { LinePosition::Start } else { LinePosition::Inside },
        to: LinePosition::Start,
        why: GapReason::Omitted,
    });
    Ok(Scan { bytes, lines, digester, after_preview })
}

#[cfg(test)]
mod tests {
    use super::scan;
    use std::io::Write;

    /// Checks a file, the size of its preview, and where what came later starts, its first and its last line.
    #[track_caller]
    fn check(text: &str, previewed: u64, expected: Option<(u64, u64, u64)>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let found = scan(&file, u64::MAX, Some(previewed)).unwrap();
        let lines = text.lines().count() as u64;
        assert_eq!((found.bytes, found.lines), (text.len() as u64, lines), "{text:?}");
        let gap = found.after_preview.map(|gap| (gap.start, gap.first_line, gap.last_line));
        assert_eq!(found.digester.finish().0, blake3::hash(text.as_bytes()).to_hex().as_str());
        assert_eq!(gap, expected, "{text:?}");
    }

    #[test]
    fn gap_after_the_preview_has_the_right_lines() {
        check("a\nb\nc\n", 6, None);
        check("a\nb\nc\n", 4, Some((4, 3, 3)));
        check("a\nb\nc\nd", 3, Some((3, 2, 4)));
        check("a\nb\n", 0, Some((0, 1, 2)));
        check("", 0, None);
        let long = "line\n".repeat(200_000);
        check(&long, 500_000, Some((500_000, 100_001, 200_000)));
    }
}
