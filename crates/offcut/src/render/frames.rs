//! The wording of the profiles' source documents around a preview.

use crate::cut::{Cut, LinePosition, Piece, PieceKind};
use crate::limits::{PerUnit, Unit};
use crate::measure;
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
    let hint = fill(hint, &|name| match name {
        "path" => Some(Content::added(path.clone())),
        "error" => Some(Content::added(error.clone())),
        _ => None,
    });
    let frame = match (&frames.not_saved, facts.saved) {
        (Some(not_saved), Saved::Failed { .. } | Saved::Disabled) => &not_saved.frame,
        _ if is_beginning(facts) => &frames.head,
        _ => &frames.tail,
    };
    let (head, tail) = ends(facts.cut);
    let chars = |content: &Content| {
        Content::added(measure::chars(&content.text, facts.settings.conventions.chars).to_string())
    };
    fill(frame, &|name| match name {
        "preview" => Some(preview(frames, remark, facts.cut)),
        "head" => Some(head.clone()),
        "tail" => Some(tail.clone()),
        "head_chars" => Some(chars(&head)),
        "tail_chars" => Some(chars(&tail)),
        "removed" => Some(Content::added(removed.to_string())),
        "unit" => Some(Content::added(unit.to_string())),
        "hint" => Some(hint.clone()),
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

fn preview(frames: &Frames, remark: &str, cut: &Cut<'_>) -> Content {
    let mut text = Content::default();
    if !remark.is_empty() {
        text.add(format!("[{remark}]\n"));
    }
    for (place, piece) in cut.pieces().iter().enumerate() {
        if place > 0
            && let Some(gap) = cut.missing().find(|gap| gap.end == piece.start)
            && !cut.is_marked(gap)
        {
            // If a gap begins with the line feed of a line that is shown, that line is not missing.
            let lines = gap.last_line + u64::from(gap.from == LinePosition::Start) - gap.first_line;
            text.append(fill(&frames.join, &|name| {
                (name == "gap_lines").then(|| Content::added(lines.to_string()))
            }));
        }
        text.place(piece);
    }
    text
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
    let Facts { settings, original, shown, cut, ends, .. } = facts;
    if rule == Removed::Chars {
        let chars = original.chars.unwrap_or_default().saturating_sub(shown.chars.unwrap_or_default());
        return PerUnit { chars: Some(chars), ..PerUnit::default() };
    }
    // The source documents' loops stop at the line limit or at the byte limit, and take only whole lines.
    let whole_lines = cut.shown().all(|piece| {
        let ends_line = usize::try_from(piece.end)
            .ok()
            .and_then(|end| ends.opening().get(end))
            .is_none_or(|&next| next == b'\n');
        piece.part == LinePosition::Start && (piece.start > 0 || ends_line)
    });
    let kept_lines: u64 =
        cut.shown().map(|piece| measure::lines(&piece.text, settings.conventions.lines)).sum();
    let stopped_by_lines = whole_lines && settings.keep.lines.is_some_and(|most| kept_lines >= most);
    let over_in_total = settings.limits.bytes.is_some_and(|most| original.bytes > most);
    let in_bytes = match rule {
        Removed::Loop => !stopped_by_lines,
        Removed::LoopOrTotal => !stopped_by_lines || over_in_total,
        Removed::Chars => false,
    };
    match in_bytes {
        true => PerUnit { bytes: Some(original.bytes - shown.bytes), ..PerUnit::default() },
        false => PerUnit { lines: Some(original.lines.saturating_sub(kept_lines)), ..PerUnit::default() },
    }
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
