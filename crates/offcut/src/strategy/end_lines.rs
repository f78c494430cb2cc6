//! The lines at both ends of a text, as units without a value.

use super::Ends;
use super::lines::{Coverage, Division, Extent, first_division};
use super::select::Unit;
use crate::boundary;
use crate::cut::{LinePosition, Piece, PieceKind};
use std::borrow::Cow;

/// The ends of a text whose lines may be shown.
#[derive(Clone, Copy)]
pub(super) struct EndLines<'t> {
    pub(super) ends: &'t Ends,
    pub(super) division: Division,
    /// How far each end reaches.
    pub(super) bytes: u64,
    /// Of a longer line only the beginning is shown.
    pub(super) max_line_bytes: usize,
}

impl<'t> EndLines<'t> {
    /// The lines at the beginning.
    pub(super) fn head(self) -> Vec<Unit<'t>> {
        let opening = self.ends.opening();
        let opening = &opening[..opening.len().min(self.reach())];
        let mut end = 0;
        while let Some(length) = first_division(&opening[end..], self.division) {
            end += length;
        }
        self.lines(self.ends.first(end))
    }

    /// The lines at the end.
    pub(super) fn tail(self) -> Vec<Unit<'t>> {
        let closing = self.ends.closing();
        let from = closing.len().saturating_sub(self.reach());
        let is_all = self.ends.last(0).first().is_some_and(|piece| piece.start == 0) && from == 0;
        let first = match first_division(&closing[from..], self.division) {
            _ if is_all => 0,
            Some(length) => from + length,
            None => closing.len(),
        };
        self.lines(self.ends.last(first))
    }

    fn reach(self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }

    /// The lines of some pieces, without values.
    fn lines(self, pieces: Vec<Piece<'t>>) -> Vec<Unit<'t>> {
        let mut units = Vec::new();
        for piece in pieces {
            // The engine keeps the ends of a text, so its pieces are borrowed.
            let Cow::Borrowed(text) = piece.text else { continue };
            let Piece { start, end, form, line: number, part: begins, .. } = piece;
            let extent = Extent { start, begins, end, number, coverage: Coverage::Whole, form };
            match (form, begins, self.division) {
                (PieceKind::Verbatim, LinePosition::Start, _) | (PieceKind::Verbatim, _, Division::Tags) => {
                    self.divide(text, extent, &mut units);
                }
                (PieceKind::Rendered, LinePosition::Start, _) => units.push(self.unit(text, extent)),
                // The rest of a line that starts in another piece.
                _ => {}
            }
        }
        units
    }

    /// Adds the lines of a text.
    fn divide(self, mut text: &'t [u8], mut extent: Extent, units: &mut Vec<Unit<'t>>) {
        while !text.is_empty() {
            let length = first_division(text, self.division).unwrap_or(text.len());
            let (line, rest) = text.split_at(length);
            extent.end = extent.start + length as u64;
            units.push(self.unit(line, extent));
            let ends_line = line.ends_with(b"\n");
            extent.number += u64::from(ends_line);
            extent.begins = if ends_line { LinePosition::Start } else { LinePosition::Inside };
            (text, extent.start) = (rest, extent.end);
        }
    }

    fn unit(self, line: &'t [u8], extent: Extent) -> Unit<'t> {
        let (text, coverage) = clip(line, Coverage::Whole, self.max_line_bytes);
        let extent = Extent { coverage, ..extent };
        Unit { text, extent, value: 0, order: extent.start as i64, repeated: 0 }
    }
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
