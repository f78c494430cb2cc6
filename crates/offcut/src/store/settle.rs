//! Writing down what a file holds, when its first writer could not: it died, or left the rest to another process.

use crate::cut::{Gap, GapReason, LinePosition};
use crate::measure;
use crate::store::format::{Found, Metadata};
use crate::store::fs::replace;
use crate::store::{Entry, EntryState, FsStore, Id, Store, StoreError};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;

const BLOCK: usize = 256 << 10;

impl FsStore {
    /// Ends an entry that another process went on with: its size, lines and digest are what the file holds now.
    ///
    /// What is known already stays: the exit code, and what was shown.
    pub fn settle(&self, id: &Id, completeness: &EntryState) -> Result<Entry, StoreError> {
        let metadata = self.read_metadata(id)?;
        let path = self.directory().join(&metadata.file);
        let file = self.open_file(&metadata).map_err(StoreError::io("open", &path))?;
        let found = scan(&file, metadata.previewed()).map_err(StoreError::io("read", &path))?;
        let metadata_path = self.metadata_path(id);
        replace(&metadata_path, &metadata.settled(found, completeness))
            .map_err(StoreError::io("write the metadata", &metadata_path))?;
        self.entry(id)
    }

    /// The metadata of an abandoned entry with what its file holds, written down if that is possible.
    ///
    /// Several processes may do this at once: all of them write the same.
    pub(super) fn repaired(&self, id: &Id, metadata: Metadata, file: &File) -> Metadata {
        let Ok(found) = scan(file, metadata.previewed()) else { return metadata };
        let repaired = metadata.settled(found, &EntryState::Abandoned);
        // A store that cannot be written is repaired in memory, each time.
        let _ = replace(&self.metadata_path(id), &repaired);
        repaired
    }
}

/// Reads a file once. `previewed` is how many of its bytes there were when a preview was made.
fn scan(file: &File, previewed: Option<u64>) -> io::Result<Found> {
    let mut hasher = blake3::Hasher::new();
    let mut block = vec![0; BLOCK];
    let (mut bytes, mut newlines, mut last) = (0, 0, b'\n');
    // The line feeds before the end of the preview, and the byte there.
    let mut seam = (0, b'\n');
    loop {
        let chunk = match file.read_at(&mut block, bytes) {
            Ok(0) => break,
            Ok(count) => &block[..count],
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(chunk);
        if let Some(within) = previewed.and_then(|end| usize::try_from(end.checked_sub(bytes)?).ok())
            && let Some(before) = chunk.get(..within).filter(|before| !before.is_empty())
        {
            seam = (newlines + measure::newlines(before), before[within - 1]);
        }
        newlines += measure::newlines(chunk);
        last = chunk[chunk.len() - 1];
        bytes += chunk.len() as u64;
    }
    let lines = newlines + u64::from(last != b'\n');
    let unseen = previewed.filter(|&end| end < bytes).map(|start| Gap {
        start,
        end: bytes,
        first_line: seam.0 + 1,
        last_line: lines,
        from: if seam.1 == b'\n' { LinePosition::Start } else { LinePosition::Inside },
        why: GapReason::Omitted,
    });
    Ok(Found { bytes, lines, digest: hasher.finalize().to_hex().to_string(), unseen })
}

#[cfg(test)]
mod tests {
    use super::scan;
    use std::io::Write;

    /// One door: a file, how much of it was previewed, and the first and last line that came later.
    #[track_caller]
    fn check(text: &str, previewed: u64, unseen: Option<(u64, u64, u64)>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let found = scan(&file, Some(previewed)).unwrap();
        let lines = text.lines().count() as u64;
        assert_eq!((found.bytes, found.lines), (text.len() as u64, lines), "{text:?}");
        assert_eq!(found.digest, blake3::hash(text.as_bytes()).to_hex().as_str());
        let gap = found.unseen.map(|gap| (gap.start, gap.first_line, gap.last_line));
        assert_eq!(gap, unseen, "{text:?}");
    }

    #[test]
    fn what_came_later() {
        check("a\nb\nc\n", 6, None);
        check("a\nb\nc\n", 4, Some((4, 3, 3)));
        check("a\nb\nc\nd", 3, Some((3, 2, 4)));
        check("a\nb\n", 0, Some((0, 1, 2)));
        check("", 0, None);
        let long = "line\n".repeat(200_000);
        check(&long, 500_000, Some((500_000, 100_001, 200_000)));
    }
}
