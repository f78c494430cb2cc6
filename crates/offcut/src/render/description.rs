//! The preview of an output that is not text: what it is, how large, its first bytes, and where it is.

use crate::binary::{self, Kind};
use crate::cut::Size;
use crate::render::Reach;
use crate::render::next::{self, NEXT_PAGE_BYTES, Next};
use crate::render::{native, words};
use crate::shown::{Kept, Part};
use crate::store::UploadState;

/// A reason longer than this is cut.
const LONGEST_REASON: usize = 160;

/// All that is known of an output that is not text.
pub(crate) struct Description<'a> {
    pub(crate) kind: Kind,
    pub(crate) opening: &'a [u8],
    pub(crate) original: Size,
    pub(crate) kept: &'a Kept,
    /// What there is to say about the command, with a line feed; nothing if empty.
    pub(crate) trailer: String,
}

/// Describes the output, as fully as fits.
pub(crate) fn describe(reach: &Reach, description: &Description<'_>, fits: &dyn Fn(&str) -> bool) -> String {
    let candidates = [
        [8, 4, 2, 1].map(|rows| description.full(reach, rows)),
        [4, 2, 1, 0].map(|rows| description.least(reach, rows)),
    ];
    let last = description.least(reach, 0);
    candidates.into_iter().flatten().find(|text| fits(text)).unwrap_or(last)
}

impl Description<'_> {
    fn full(&self, reach: &Reach, rows: usize) -> String {
        let Size { bytes, .. } = self.original;
        let (what, hex, trailer) = (self.what(), binary::hex(self.opening, rows), &self.trailer);
        match self.kept {
            Kept::Whole(entry) | Kept::Open(entry) => {
                let (id, path) = (entry.id, entry.path.as_deref().and_then(next::printable));
                let next = Next::Bytes(0, bytes.min(NEXT_PAGE_BYTES as u64));
                // The trailer has a pointer of its own.
                let pointer = next::command(reach, &id, path.as_deref(), &next)
                    .filter(|_| trailer.is_empty())
                    .map(|command| format!("[offcut {id}: next: {command}]\n"))
                    .unwrap_or_default();
                let mut place = path.unwrap_or_else(|| entry.uri());
                if let UploadState::LocalOnly { reason } = &entry.upload_state {
                    place += &format!("{}: {}", native::ONLY_LOCAL, words::clip(reason, LONGEST_REASON));
                }
                let all = if matches!(self.kept, Kept::Open(_)) { "output so far" } else { "full output" };
                let digest = entry.summary.as_ref().map_or("", |summary| &summary.digest);
                format!(
                    "[offcut {id}: {what}, {bytes} bytes, blake3 {digest}; described, not shown; {all}: \
                     {place}]\n{hex}{pointer}{trailer}"
                )
            }
            Kept::NotWhole { error, part } => {
                let error = words::clip(error, LONGEST_REASON);
                let kept = part.map_or("not kept".to_owned(), |Part { id, bytes }| {
                    format!("only the first {bytes} bytes were kept (offcut://{id}), the rest was not kept")
                });
                format!(
                    "[offcut: {what}, {bytes} bytes; described, not shown; {kept}: {error}]\n{hex}{trailer}"
                )
            }
            Kept::Off => {
                format!("[offcut: {what}, {bytes} bytes; described, not shown; not kept]\n{hex}{trailer}")
            }
        }
    }

    fn least(&self, reach: &Reach, rows: usize) -> String {
        let Size { bytes, .. } = self.original;
        let (what, hex, trailer) = (self.what(), binary::hex(self.opening, rows), &self.trailer);
        match self.kept {
            Kept::Whole(entry) | Kept::Open(entry) => {
                format!("[{what}, {bytes} bytes: {}]\n{hex}{trailer}", next::entry(reach, &entry.id))
            }
            Kept::NotWhole { .. } | Kept::Off => {
                format!("[offcut: {what}, {bytes} bytes, not kept]\n{hex}{trailer}")
            }
        }
    }

    fn what(&self) -> String {
        match self.kind {
            Kind::Known(media) => format!("binary output ({media})"),
            Kind::Unknown => "binary output".to_owned(),
        }
    }
}
