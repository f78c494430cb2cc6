//! The wording of the profiles' source documents around a preview.

use crate::cut::{Cut, Gap, LinePosition, Piece, PieceKind};
use crate::limits::{PerUnit, Unit};
use crate::measure::{self, LineConvention};
use crate::outcome::Saved;
use crate::profile::{Frames, Removed, TaskTool};
use crate::render::native::is_before;
use crate::render::{Content, Facts};
use crate::strategy::StrategyName;

pub(super) fn render(frames: &Frames, remark: &str, facts: &Facts<'_>) -> Content {
    let (removed, unit) = stated(facts.removed);
    let (hint, path, error) = match facts.saved {
        Saved::Complete(entry) => {
            let hint = match facts.settings.task {
                TaskTool::Available => frames.hint_task.as_ref().unwrap_or(&frames.hint),
                TaskTool::Absent => &frames.hint,
            };
            (hint, entry.location_from(facts.base), String::new())
        }
        Saved::Running(entry) => {
            let place = entry.location_from(facts.base);
            (&frames.hint_not_saved, String::new(), format!("it is still being captured in {place}"))
        }
        Saved::Failed { error, .. } => (&frames.hint_not_saved, String::new(), error.clone()),
        Saved::Disabled => (&frames.hint_not_saved, String::new(), "no store is set".to_owned()),
    };
    let reason = |name: &str| match name {
        "path" => Some(Content::added(path.clone())),
        "error" => Some(Content::added(error.clone())),
        _ => None,
    };
    let hint = fill(hint, &reason);
    let failure = match (&frames.not_saved, facts.saved) {
        (Some(not_saved), Saved::Failed { .. }) => fill(&not_saved.failure, &reason),
        _ => Content::default(),
    };
    let frame = match (&frames.not_saved, facts.saved) {
        (Some(not_saved), Saved::Failed { .. } | Saved::Disabled) => &not_saved.frame,
        _ if is_beginning(facts) => &frames.head,
        _ if gaps(facts).count() > 1 => frames.parts.as_ref().unwrap_or(&frames.tail),
        _ => &frames.tail,
    };
    let (head, tail) = ends(facts.cut);
    let chars = |content: &Content| {
        Content::added(measure::chars(&content.text, facts.settings.conventions.chars).to_string())
    };
    fill(frame, &|name| match name {
        "preview" => Some(preview(frames, remark, facts)),
        "parts" => Some(Content::added(facts.cut.shown().count().to_string())),
        "head" => Some(head.clone()),
        "tail" => Some(tail.clone()),
        "head_chars" => Some(chars(&head)),
        "tail_chars" => Some(chars(&tail)),
        "removed" => Some(Content::added(removed.to_string())),
        "unit" => Some(Content::added(unit.to_string())),
        "hint" => Some(hint.clone()),
        "failure" => Some(failure.clone()),
        _ => None,
    })
}

/// Whether the beginning is shown. A strategy's own text is what the settings ask for.
fn is_beginning(facts: &Facts<'_>) -> bool {
    let Some(first) = facts.cut.pieces().first() else { return false };
    if first.form == PieceKind::Opaque {
        return facts.settings.strategy != StrategyName::Tail;
    }
    first.start == 0 && facts.cut.missing().next().is_some_and(|gap| gap.end == facts.original.bytes)
}

/// What is shown before the first gap and after it.
fn ends(cut: &Cut<'_>) -> (Content, Content) {
    let gap = cut.missing().next();
    let is_head = |piece: &&Piece<'_>| gap.is_none_or(|gap| !is_before(gap, piece));
    let text = |pieces: Vec<&Piece<'_>>| {
        let mut content = Content::default();
        pieces.into_iter().for_each(|piece| content.place(piece));
        content
    };
    let (head, tail): (Vec<_>, Vec<_>) = cut.pieces().iter().partition(is_head);
    (text(head), text(tail))
}

/// The gaps that are marked: a line feed that ends the text is none.
fn gaps<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = &'f Gap> {
    let is_last_line_feed = |gap: &Gap| gap.end == facts.original.bytes && gap.bytes() == 1;
    facts.cut.missing().filter(move |gap| !is_last_line_feed(gap))
}

fn preview(frames: &Frames, remark: &str, facts: &Facts<'_>) -> Content {
    let mut text = Content::default();
    if !remark.is_empty() {
        text.add(format!("[{remark}]\n"));
    }
    let cut = facts.cut;
    // The frame counts what is not shown: it replaces the marker of a single gap at the beginning or at the end.
    let marks_ends = gaps(facts).count() > 1;
    for piece in cut.pieces() {
        let gap = gaps(facts).find(|gap| gap.end == piece.start && !cut.is_marked(gap));
        if let Some(gap) = gap.filter(|gap| marks_ends || gap.start > 0) {
            mark(&mut text, &marker(&frames.join, gap, Some(piece), facts));
        }
        text.place(piece);
    }
    let gap = gaps(facts).find(|gap| marks_ends && gap.end == facts.original.bytes && !cut.is_marked(gap));
    if let Some(gap) = gap {
        mark(&mut text, marker(&frames.join, gap, None, facts).trim_end());
    }
    text
}

/// Adds a marker, without an empty line more than it asks for.
fn mark(text: &mut Content, marker: &str) {
    text.add(match text.text.last() {
        None => marker.trim_start(),
        Some(b'\n') => marker.strip_prefix('\n').unwrap_or(marker),
        Some(_) => marker,
    });
}

/// The marker of a gap: how many lines are not shown at all, or, in one line, how many bytes.
fn marker(join: &str, gap: &Gap, next: Option<&Piece<'_>>, facts: &Facts<'_>) -> String {
    let last_line = match facts.settings.conventions.lines {
        LineConvention::Separated => facts.original.lines,
        LineConvention::Terminated | LineConvention::Universal => gap.last_line,
    };
    let first_line = gap.first_line + u64::from(gap.from == LinePosition::Inside);
    let lines = next.map_or(last_line + 1, |piece| piece.line).saturating_sub(first_line);
    let size = if lines > 0 { format!("{lines} lines") } else { format!("{} bytes", gap.bytes()) };
    join.replace("{gap}", &size).replace("{gap_lines}", &lines.to_string())
}

/// The count that a notice states, and its unit.
fn stated(removed: PerUnit<Option<u64>>) -> (u64, Unit) {
    match removed {
        PerUnit { chars: Some(chars), .. } => (chars, Unit::Chars),
        PerUnit { bytes: Some(bytes), .. } if bytes > 0 => (bytes, Unit::Bytes),
        PerUnit { lines, .. } => (lines.unwrap_or_default(), Unit::Lines),
    }
}

/// How much is not shown, in the unit that the source document would use.
pub(super) fn count_removed(rule: Removed, facts: &Facts<'_>) -> PerUnit<Option<u64>> {
    let Facts { settings, original, shown, .. } = facts;
    if rule == Removed::Chars {
        let chars = original.chars.unwrap_or_default().saturating_sub(shown.chars.unwrap_or_default());
        return PerUnit { chars: Some(chars), ..PerUnit::default() };
    }
    let over_in_total = settings.limits.bytes.is_some_and(|most| original.bytes > most);
    let lines = original.lines.saturating_sub(shown.lines);
    let is_loop = matches!(settings.strategy, StrategyName::Head | StrategyName::Tail);
    let in_bytes = match rule {
        Removed::Loop if is_loop => !stopped_by_lines(facts),
        Removed::LoopOrTotal if is_loop => !stopped_by_lines(facts) || over_in_total,
        Removed::Loop | Removed::LoopOrTotal => over_in_total,
        Removed::Chars => false,
    };
    match in_bytes || lines == 0 {
        true => PerUnit { bytes: Some(original.bytes - shown.bytes), ..PerUnit::default() },
        false => PerUnit { lines: Some(lines), ..PerUnit::default() },
    }
}

/// Whether the loop of the source documents, which takes whole lines from one end, stops at the line limit.
fn stopped_by_lines(facts: &Facts<'_>) -> bool {
    let is_whole = |piece: &Piece<'_>| {
        let end = usize::try_from(piece.end).ok();
        let next = end.and_then(|end| facts.ends.opening().get(end));
        piece.part == LinePosition::Start && (piece.start > 0 || next.is_none_or(|&next| next == b'\n'))
    };
    let is_full = facts.settings.keep.lines.is_some_and(|most| facts.shown.lines >= most);
    is_full && facts.cut.shown().all(is_whole)
}

/// Replaces `{name}` with its value, once: a value is not expanded again.
fn fill(template: &str, value: &dyn Fn(&str) -> Option<Content>) -> Content {
    let mut text = Content::default();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        text.add(&rest[..open]);
        rest = &rest[open..];
        let known = rest.find('}').and_then(|close| Some((close, value(&rest[1..close])?)));
        match known {
            Some((close, value)) => {
                text.append(value);
                rest = &rest[close + 1..];
            }
            None => {
                text.add(b"{");
                rest = &rest[1..];
            }
        }
    }
    text.add(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::{Content, fill};

    #[test]
    fn values_are_not_expanded_again() {
        let value = |name: &str| (name == "a").then(|| Content::added("{a}{b}"));
        assert_eq!(fill("x{a}y{b}{", &value).text, b"x{a}{b}y{b}{");
        assert_eq!(fill("", &value).text, b"");
    }
}
