//! Computes how much of the original can be shown within the budget.

use crate::boundary;
use crate::cut::{Cut, Gap, GapReason, LinePosition, Piece};
use crate::limits::{Limits, PerUnit};
use crate::measure::{self, Conventions, CountTokens};
use crate::strategy::Edges;

/// The room for the original: the budget less everything that offcut adds except gap markers.
#[derive(Clone, Copy)]
pub struct Room<'a> {
    /// What is left for the original and for gap markers.
    pub limits: Limits,
    /// The original is already shown up to this offset. A piece before it is not shown again.
    pub start: u64,
    /// The highest cost of one marker. A strategy must reserve it for each gap between its pieces.
    pub marker: Cost,
    /// The same for a gap of whole lines, whose marker is shorter.
    pub line_marker: Cost,
    /// How lines and characters are counted.
    pub conventions: Conventions,
    /// Where a piece may begin and end.
    pub edges: Edges,
    /// The token counter.
    pub tokens: &'a dyn CountTokens,
}

/// The size of a text in each unit.
pub type Cost = PerUnit<u64>;

impl Cost {
    /// The cost of `text`. Only units that have a limit are counted.
    pub fn of(text: &[u8], limits: &Limits, conventions: Conventions, tokens: &dyn CountTokens) -> Cost {
        Cost {
            bytes: text.len() as u64,
            lines: limits.lines.map_or(0, |_| measure::lines(text, conventions.lines)),
            chars: limits.chars.map_or(0, |_| measure::chars(text, conventions.chars)),
            tokens: limits.tokens.map_or(0, |_| tokens.count(text)),
        }
    }

    /// The cost beyond `other`, per unit; at least 0.
    pub fn beyond(self, other: Cost) -> Cost {
        self.zip_with(other, u64::saturating_sub)
    }

    /// The cost `times` times.
    pub fn times(self, times: u64) -> Cost {
        self.map(|cost| cost * times)
    }
}

impl std::ops::Add for Cost {
    type Output = Cost;
    fn add(self, other: Cost) -> Cost {
        self.zip_with(other, |this, other| this + other)
    }
}

impl Limits {
    /// Whether `cost` is within the limits.
    pub(crate) fn afford(&self, cost: Cost) -> bool {
        let within = self.zip_with(cost, |limit, cost| limit.is_none_or(|limit| cost <= limit));
        within.each().into_iter().all(|(_, is_within)| is_within)
    }

    /// A length of at most `length` whose part of the text is within the token limit, close to the greatest one.
    pub(crate) fn within_tokens<'t>(
        &self,
        length: usize,
        tokens: &dyn CountTokens,
        part: impl Fn(usize) -> &'t [u8],
    ) -> usize {
        let Some(most) = self.tokens else { return length };
        let mut length = length;
        // Tokens are not additive, so the length is estimated by proportion. Each estimate is smaller than the last.
        for _ in 0..16 {
            let counted = tokens.count(part(length));
            if counted <= most {
                return length;
            }
            let scaled = (length as u128 * u128::from(most) / u128::from(counted)) as usize;
            length = scaled.min(length - 1);
        }
        // A token has at least one byte.
        length.min(usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// The limits less `cost`.
    pub(crate) fn less(self, cost: Cost) -> Limits {
        self.zip_with(cost, |limit, cost| limit.map(|limit| limit.saturating_sub(cost)))
    }
}

impl<'a> Room<'a> {
    fn with(&self, limits: Limits) -> Room<'a> {
        Room { limits, ..*self }
    }

    /// The room left when `text` is shown.
    pub fn less(&self, text: &[u8]) -> Room<'a> {
        self.with(self.limits.less(self.cost(text)))
    }

    /// The cost of `text`.
    pub(crate) fn cost(&self, text: &[u8]) -> Cost {
        Cost::of(text, &self.limits, self.conventions, self.tokens)
    }

    /// The highest cost of the marker of a gap.
    pub(crate) fn marker_of(&self, gap: &Gap) -> Cost {
        match (gap.from, gap.to, gap.why) {
            (LinePosition::Start, LinePosition::Start, GapReason::Omitted) => self.line_marker,
            (LinePosition::Start, _, GapReason::Repeated) => self.line_marker,
            _ => self.marker,
        }
    }

    /// The room left when this much of it is reserved.
    #[cfg(feature = "smart")]
    pub(crate) fn less_cost(&self, cost: Cost) -> Room<'a> {
        self.with(self.limits.less(cost))
    }

    /// The room left when `gaps` gaps are marked.
    pub fn less_gaps(&self, gaps: u64) -> Room<'a> {
        self.with(self.limits.less(self.marker.times(gaps)))
    }

    /// The room left when the notice includes `remark`.
    pub fn less_remark(&self, remark: &str) -> Room<'a> {
        if remark.is_empty() { *self } else { self.less(format!(" ({remark})").as_bytes()) }
    }

    /// What a marker costs more that says what its gap contains.
    pub(crate) fn cost_of_contents(&self, contents: &str) -> Cost {
        match contents {
            "" => Cost::default(),
            contents => Cost { lines: 0, ..self.cost(format!(": {contents}").as_bytes()) },
        }
    }

    /// The cut, without what a custom strategy chose beyond the room.
    pub(crate) fn bounded<'t>(&self, cut: Cut<'t>, total: u64, lines: u64) -> Cut<'t> {
        let markers = cut.missing().fold(Cost::default(), |sum, gap| {
            sum + self.marker_of(gap) + self.cost_of_contents(cut.contents(gap))
        });
        let cost = cut.pieces().iter().fold(markers, |sum, piece| sum + self.cost(&piece.text));
        if self.limits.afford(cost) {
            return cut;
        }
        let pieces = cut.into_pieces();
        let mut left = self.less_gaps(pieces.len() as u64 + 1);
        let shorten = |piece: Piece<'t>| {
            let length = left.head(&piece.text);
            left = left.less(&piece.text[..length]);
            piece.slice(0..length)
        };
        Cut::new(pieces.into_iter().map(shorten).collect(), total, lines)
    }

    /// The room for a text whose lines a strategy made itself.
    pub(crate) fn for_own_lines(&self) -> Room<'a> {
        self.with(Limits { lines: None, ..self.limits })
    }

    /// About how many bytes can be shown of a text of which a part costs `part`, by all limits.
    #[cfg(feature = "smart")]
    pub(crate) fn estimated_bytes(&self, part: Cost) -> u64 {
        let scaled = |limit: u64, cost: u64| {
            u64::try_from(u128::from(limit) * u128::from(part.bytes.max(1)) / u128::from(cost.max(1))).ok()
        };
        let bytes = self.limits.zip_with(part, |limit, cost| limit.and_then(|limit| scaled(limit, cost)));
        bytes.each().into_iter().filter_map(|(_, bytes)| bytes).min().unwrap_or(u64::MAX)
    }

    /// Whether nothing more can be shown.
    pub fn is_spent(&self) -> bool {
        self.limits.each().into_iter().any(|(_, limit)| limit == Some(0))
    }

    /// A little more room, for when nothing fits: a preview is never empty.
    ///
    /// If the only line that fits is empty, the next one is shown, too. If the only character is wider than the byte
    /// limit, it is shown nevertheless.
    pub(crate) fn for_something(&self) -> Room<'a> {
        self.with(Limits {
            lines: self.limits.lines.map(|lines| lines + 1),
            bytes: self.limits.bytes.map(|bytes| bytes.max(4)),
            ..self.limits
        })
    }

    /// The share of the room with weight `this` against weight `other`.
    pub fn share(&self, this: u32, other: u32) -> Room<'a> {
        let (this, whole) = (u128::from(this), u128::from(this) + u128::from(other));
        let part =
            |limit: u64| u64::try_from((u128::from(limit) * this + whole / 2) / whole).unwrap_or(limit);
        self.with(self.limits.map(|limit| limit.map(part)))
    }

    /// Whether the whole `text` fits.
    pub fn fits(&self, text: &[u8]) -> bool {
        self.limits.fit(text, self.conventions, self.tokens)
    }

    /// The length of the longest prefix within the limits of bytes, characters and tokens.
    pub(crate) fn prefix(&self, text: &[u8]) -> usize {
        let bytes = self.limits.bytes.map_or(text.len(), |most| clamp(most, text.len()));
        let end = self
            .limits
            .chars
            .map_or(bytes, |most| boundary::prefix_of_chars(&text[..bytes], most, self.conventions.chars));
        let end = self.limits.within_tokens(end, self.tokens, |length| &text[..length]);
        boundary::floor(text, end)
    }

    /// The start of the longest suffix within the limits of bytes, characters and tokens.
    pub(crate) fn suffix(&self, text: &[u8]) -> usize {
        let bytes = self.limits.bytes.map_or(0, |most| text.len() - clamp(most, text.len()));
        let start = self.limits.chars.map_or(bytes, |most| {
            bytes + boundary::suffix_of_chars(&text[bytes..], most, self.conventions.chars)
        });
        let from_end = |length: usize| &text[text.len() - length..];
        let length = self.limits.within_tokens(text.len() - start, self.tokens, from_end);
        boundary::ceil(text, text.len() - length)
    }
}

fn clamp(most: u64, length: usize) -> usize {
    usize::try_from(most).map_or(length, |most| most.min(length))
}

#[cfg(all(test, feature = "smart"))]
mod tests {
    use super::*;
    use crate::measure::EstimatedTokens;

    #[test]
    fn bytes_are_estimated_by_every_limit() {
        let part = "one line of a text\n".repeat(20);
        for (limits, expected) in [
            (Limits { bytes: Some(800), ..Limits::default() }, 800),
            (Limits { lines: Some(10), ..Limits::default() }, 190),
            (Limits { chars: Some(100), ..Limits::default() }, 100),
            (Limits { tokens: Some(50), ..Limits::default() }, 200),
            (Limits { bytes: Some(800), tokens: Some(50), ..Limits::default() }, 200),
            (Limits { bytes: Some(u64::MAX), ..Limits::default() }, u64::MAX),
            (Limits::default(), u64::MAX),
        ] {
            let room = Room {
                limits,
                start: 0,
                marker: Cost::default(),
                line_marker: Cost::default(),
                conventions: Conventions::default(),
                edges: Edges::default(),
                tokens: &EstimatedTokens,
            };
            assert_eq!(room.estimated_bytes(room.cost(part.as_bytes())), expected, "{limits:?}");
            room.estimated_bytes(Cost::default());
        }
    }
}
