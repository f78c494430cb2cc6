//! Small words of a notice, and where they stand.

use crate::cut::{Cut, Gap, GapReason, LinePosition, Piece, PieceKind};
use crate::render::native::Rung;
use crate::store::Id;

/// Lines with their noun.
pub(super) fn count(lines: u64) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }
}

/// A number with its digits in groups: `4,812`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The end of a drawn line stands behind the gap that holds the line, its beginning before it.
pub(super) fn stands_before(gap: &Gap, piece: &Piece<'_>) -> bool {
    gap.start < piece.start || (gap.start == piece.start && piece.form == PieceKind::RenderedEnd)
}

/// What stands in place of a gap.
pub(super) fn marker(tag: &str, rung: Rung, gap: &Gap) -> String {
    let Gap { start, end, first_line, last_line, .. } = *gap;
    let bytes = end - start;
    if rung != Rung::Full {
        return match (gap.why, last_line + 1 - first_line) {
            (GapReason::Line, _) => format!("[{tag} +{bytes} bytes]"),
            (_, lines) => format!("[{tag} +{}]", count(lines)),
        };
    }
    match (gap.why, gap.from) {
        (GapReason::Opaque, _) => {
            format!("[{tag}: chosen from lines {first_line}:{last_line}]")
        }
        (GapReason::Line, _) => {
            format!("[{tag}: bytes {start}:{end} of line {first_line} missing]")
        }
        (_, LinePosition::Inside) => {
            format!("[{tag}: bytes {start}:{end} missing]")
        }
        (GapReason::Repeated, _) if first_line < last_line => {
            let lines = grouped(last_line + 1 - first_line);
            format!("[{tag}: ×{lines} similar, lines {first_line}:{last_line}]")
        }
        (_, LinePosition::Start) if first_line == last_line => {
            format!("[{tag}: line {first_line} missing]")
        }
        (_, LinePosition::Start) => {
            format!("[{tag}: lines {first_line}:{last_line} missing]")
        }
    }
}

/// What stands in each line of ours.
pub(super) fn tag_of(id: &Id) -> String {
    format!("offcut {id}")
}

/// The first tag that nothing shown could be taken for.
pub(super) fn unused_tag(cut: &Cut<'_>) -> String {
    let is_used = |tag: &str| {
        let opening = format!("[{tag}");
        cut.pieces.iter().any(|piece| memchr::memmem::find(&piece.text, opening.as_bytes()).is_some())
    };
    // Every tag begins with the first one: if that is not there, none is.
    if !is_used("offcut") {
        return "offcut".to_owned();
    }
    (2..=9999)
        .map(|number| format!("offcut-{number}"))
        .find(|tag| !is_used(tag))
        .unwrap_or("offcut-0".to_owned())
}

/// The beginning of a text that is too long.
pub(super) fn clip(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most.saturating_sub(3)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    if most < 3 { String::new() } else { format!("{}...", &text[..end]) }
}
