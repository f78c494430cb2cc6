//! Computes how much of the beginning and the end of a text fits into the room.

use crate::strategy::Room;
use serde::Deserialize;

/// Where a shown piece may begin and end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edges {
    /// At line edges, except that a line longer than half the room is cut, so that the room is used.
    #[default]
    FillLongLines,
    /// At line edges, unless nothing visible would be shown.
    WholeLines,
    /// Between any two characters.
    Exact,
}

impl Room<'_> {
    /// The length of the beginning of `text` that fits.
    pub fn head(&self, text: &[u8]) -> usize {
        let lines = self.conventions.lines;
        let by_lines = self.limits.lines.map_or(text.len(), |most| lines.prefix(text, most));
        let reach = self.prefix(text);
        if by_lines <= reach {
            return by_lines;
        }
        let whole = lines.end_before(text, reach);
        let cut_line = match self.edges {
            Edges::Exact => true,
            Edges::WholeLines => is_blank(&text[..whole]),
            Edges::FillLongLines => {
                let next = lines.start_after(text, reach + 1);
                whole == 0 || (next - whole) * 2 > reach
            }
        };
        if cut_line { reach } else { whole }
    }

    /// The offset from which the end of `text` fits.
    pub fn tail(&self, text: &[u8]) -> usize {
        let lines = self.conventions.lines;
        let by_lines = self.limits.lines.map_or(0, |most| lines.suffix(text, most));
        let reach = self.suffix(text);
        if by_lines >= reach {
            return by_lines;
        }
        let whole = lines.start_after(text, reach);
        let cut_line = match self.edges {
            Edges::Exact => true,
            Edges::WholeLines => is_blank(&text[whole..]),
            Edges::FillLongLines => {
                let start = lines.end_before(text, reach);
                whole == text.len() || (whole - start) * 2 > text.len() - reach
            }
        };
        if cut_line { reach } else { whole }
    }
}

/// Whether a text is invisible: a preview of it would look empty.
fn is_blank(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_whitespace)
}
