//! The lines at both ends of a text, as units without a value.

use super::Ends;
use super::lines::{Coverage, Extent};
use super::select::Unit;
use crate::boundary;
use crate::cut::{LinePosition, Piece, PieceKind};
use std::borrow::Cow;

/// The lines at the beginning that may be shown, as far as the room reaches.
pub(super) fn head_lines<'t>(ends: &'t Ends, bytes: u64, max_line_bytes: usize) -> Vec<Unit<'t>> {
    let opening = ends.opening();
    let reach = opening.len().min(usize::try_from(bytes).unwrap_or(usize::MAX));
    let reach = memchr::memrchr(b'\n', &opening[..reach]).map_or(0, |feed| feed + 1);
    whole_lines(ends.first(reach), max_line_bytes)
}

/// The lines at the end that may be shown, as far as the room reaches.
pub(super) fn tail_lines<'t>(ends: &'t Ends, bytes: u64, max_line_bytes: usize) -> Vec<Unit<'t>> {
    let closing = ends.closing();
    let from = closing.len().saturating_sub(usize::try_from(bytes).unwrap_or(usize::MAX));
    let all = ends.last(0).first().is_some_and(|piece| piece.start == 0) && from == 0;
    let first = match all {
        true => 0,
        false => memchr::memchr(b'\n', &closing[from..]).map_or(closing.len(), |feed| from + feed + 1),
    };
    whole_lines(ends.last(first), max_line_bytes)
}

/// The lines of some pieces, without values.
fn whole_lines<'t>(pieces: Vec<Piece<'t>>, max_line_bytes: usize) -> Vec<Unit<'t>> {
    let mut units = Vec::new();
    for piece in pieces {
        // The engine keeps the ends of a text, so its pieces are borrowed.
        let Cow::Borrowed(text) = piece.text else { continue };
        let mut add = |line: &'t [u8], start: u64, end: u64, number: u64| {
            let (text, coverage) = clip(line, Coverage::Whole, max_line_bytes);
            let (begins, form) = (LinePosition::Start, piece.form);
            let extent = Extent { start, begins, end, number, coverage, form };
            units.push(Unit { text, extent, value: 0, order: start as i64, repeated: 0 });
        };
        match (piece.form, piece.part) {
            (PieceKind::Verbatim, LinePosition::Start) => {
                let mut start = piece.start;
                for (line, number) in text.split_inclusive(|&byte| byte == b'\n').zip(piece.line..) {
                    let end = start + line.len() as u64;
                    add(line, start, end, number);
                    start = end;
                }
            }
            (PieceKind::Rendered, LinePosition::Start) => add(text, piece.start, piece.end, piece.line),
            // The rest of a line that starts in another piece.
            _ => {}
        }
    }
    units
}

/// Cuts a long line to its beginning.
pub(super) fn clip(line: &[u8], coverage: Coverage, max_bytes: usize) -> (&[u8], Coverage) {
    if coverage == Coverage::Whole && line.len() <= max_bytes {
        return (line, coverage);
    }
    // Enough bytes must follow the cut to see whether it is inside a character.
    let end = max_bytes.min(line.len().saturating_sub(4));
    (&line[..boundary::floor(line, end)], Coverage::Beginning)
}
