//! Chooses among the lines that are held, for the room there is.

use super::counts::Counts;
use super::held::{Candidate, Order, RECENCY, rarity};
use super::is_aside;
use super::lines::Held;
use super::matcher::Matcher;
use super::repeats::Repeats;
use super::rules::Role;
use super::told::told_again;
use crate::boundary;
use crate::cut::{LinePosition, Piece, PieceKind};
use crate::strategy::{Cost, Ends, Room};
use std::borrow::Cow;
use std::ops::Range;

/// A line that may be shown, wherever it is held.
struct Choice<'t> {
    text: &'t [u8],
    start: u64,
    end: u64,
    number: u64,
    /// Whether the text is all of the line.
    held: Held,
    form: PieceKind,
    score: i32,
    /// Which of two equals goes first: the earlier one, or at the end the later one.
    turn: i64,
    chosen: bool,
}

/// What a line is worth for standing at an end, by the share of the room that lies between it and the end.
const TAIL: [(f64, i32); 5] = [(0.06, 900), (0.20, 660), (0.35, 520), (0.65, 460), (1.0, 140)];
const HEAD: [(f64, i32); 4] = [(0.02, 850), (0.05, 450), (0.12, 160), (1.0, 20)];

/// From here on a line is more than filling.
const MATTERS: i32 = 320;

/// From here on a line is worth something for what it says.
const TELLING: i32 = 60;

/// So often is chosen anew without the small holes of the last choice.
const ROUNDS: u32 = 3;

fn worth(shares: &[(f64, i32)], share: f64) -> i32 {
    shares.iter().find(|(most, _)| share <= *most).map_or(0, |&(_, worth)| worth)
}

/// What is said near the end is more often why it ended.
fn recency(line: &Candidate, total: u64, bytes: u64) -> i32 {
    let distance = (total - line.start) as f64 / bytes as f64;
    if line.score < TELLING { 0 } else { ((1.0 - distance / 4.0) * f64::from(RECENCY)).max(0.0) as i32 }
}

/// From here on things are otherwise: the first of many lines that are alike, not at the beginning.
fn onset(line: &Candidate, counts: &Counts, total: u64) -> i32 {
    let is_onset = line.order == Order::First
        && line.start > total / 20
        && counts.of(line.template) >= MANY
        && !line.role.is_some_and(Role::is_unimportant);
    if is_onset { ONSET } else { 0 }
}

/// What it is worth to be the first of so many.
const ONSET: i32 = 150;
const MANY: u32 = 8;

/// How much less it is worth what is told again.
const TOLD_AGAIN: i32 = 300;

/// The pieces to show, or none if lines are not what this text is made of.
pub(super) fn choose<'t>(
    held: &'t [Candidate],
    counts: &Counts,
    repeats: &Repeats,
    ends: &'t Ends,
    room: &Room<'_>,
    most_line: usize,
) -> Vec<Piece<'t>> {
    let bytes = room.limits.bytes.unwrap_or(u64::MAX).min(ends.bytes());
    let mut choices = collect(held, counts, repeats, ends, bytes, most_line);
    close_holes(&mut choices);
    let total = ends.bytes();
    let mut order = admit_best(&mut choices, total, room);
    // What was chosen shows where small holes are; it reads better without them.
    for _ in 0..ROUNDS {
        save_markers(&mut choices, room.line_marker.bytes);
        choices.iter_mut().for_each(|choice| choice.chosen = false);
        order = admit_best(&mut choices, total, room);
    }
    let mut pieces = pieces(&choices);
    // Tokens do not add up exactly: if the sum was wrong, the weakest go.
    while !pieces.is_empty() && !affordable(&pieces, total, room) {
        order.retain(|&at| choices[at].chosen);
        for weakest in order.split_off(order.len() * 7 / 8) {
            choices[weakest].chosen = false;
        }
        pieces = self::pieces(&choices);
    }
    pieces
}

/// Shows the best lines that there is room for; returns all lines in the order of their worth.
fn admit_best(choices: &mut [Choice<'_>], total: u64, room: &Room<'_>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..choices.len()).collect();
    order.sort_by_key(|&at| (-choices[at].score, choices[at].turn));
    let mut spent = room.line_marker;
    // Lines between two that are shown cost less than the marker that would stand for them, so there are rounds.
    for _ in 0..2 {
        for &at in &order {
            admit(choices, at, total, room, &mut spent);
        }
        bridge(choices, total, room, &mut spent);
    }
    order
}

fn affordable(pieces: &[Piece<'_>], total: u64, room: &Room<'_>) -> bool {
    let behind = pieces.iter().map(|piece| piece.start).skip(1).chain([total]);
    let leaves_gap =
        |(piece, next): &(&Piece<'_>, u64)| piece.end < *next || piece.form == PieceKind::RenderedStart;
    let before_gaps = || pieces.iter().zip(behind.clone()).filter(leaves_gap);
    let gaps = before_gaps().count() as u64 + u64::from(pieces.first().is_some_and(|piece| piece.start > 0));
    let inside = before_gaps().filter(|(piece, _)| !piece.text.ends_with(b"\n")).count() as u64;
    // One marker is always paid for: where all is shown, a line of ours says what a terminal would not show.
    let markers = room.line_marker.times(gaps.max(1)) + inside_line(room).times(inside);
    let cost = pieces.iter().fold(markers, |sum, piece| sum + cost(&piece.text, room));
    room.limits.afford(cost)
}

/// How much more a marker costs inside a line.
fn inside_line(room: &Room<'_>) -> Cost {
    room.marker.beyond(room.line_marker)
}

fn cost(text: &[u8], room: &Room<'_>) -> Cost {
    Cost::of(text, &room.limits, room.conventions, room.tokens)
}

fn touches(choices: &[Choice<'_>], left: usize, right: usize) -> bool {
    choices[left].end == choices[right].start
}

/// Shows a line if there is room for it and for the gap that it may open.
fn admit(choices: &mut [Choice<'_>], at: usize, total: u64, room: &Room<'_>, spent: &mut Cost) {
    let choice = &choices[at];
    if choice.chosen {
        return;
    }
    let joins_left = choice.start == 0 || (at > 0 && choices[at - 1].chosen && touches(choices, at - 1, at));
    let joins_right = choice.end == total
        || (at + 1 < choices.len() && choices[at + 1].chosen && touches(choices, at, at + 1));
    // A caret or a brace says nothing by itself.
    if !joins_left
        && !joins_right
        && !choice.text.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)
    {
        return;
    }
    // A line that is cut leaves a gap of its own behind it.
    let whole = choice.held == Held::Whole;
    let gaps = 1 + u64::from(!whole && joins_right) - u64::from(joins_left);
    let sum = *spent + cost(choice.text, room) + room.line_marker.times(gaps);
    let sum = match (whole, joins_right) {
        (true, true) => sum.beyond(room.line_marker),
        (true, false) => sum,
        (false, _) => sum + inside_line(room),
    };
    if room.limits.afford(sum) {
        *spent = sum;
        choices[at].chosen = true;
    }
}

/// Shows what lies between two lines that are shown where that is cheaper than a marker.
fn bridge(choices: &mut [Choice<'_>], total: u64, room: &Room<'_>, spent: &mut Cost) {
    let mut last: Option<usize> = None;
    for at in 0..choices.len() {
        if !choices[at].chosen {
            continue;
        }
        if let Some(from) = last
            && at > from + 1
            && choices[from].held == Held::Whole
            && (from..at).all(|left| touches(choices, left, left + 1))
        {
            let between: u64 = choices[from + 1..at].iter().map(|choice| choice.text.len() as u64).sum();
            if between <= room.line_marker.bytes {
                for middle in from + 1..at {
                    admit(choices, middle, total, room, spent);
                }
            }
        }
        last = Some(at);
    }
}

/// Raises what little lies between two lines that matter: a text with holes is hard to read.
fn close_holes(choices: &mut [Choice<'_>]) {
    for Hole { lines, bytes, worth } in holes(choices, |choice| choice.score >= MATTERS) {
        let worth = match bytes {
            0..=200 => worth * 85 / 100,
            201..=450 => worth * 65 / 100,
            _ => 0,
        };
        for choice in &mut choices[lines] {
            choice.score = choice.score.max(worth);
        }
    }
}

/// Raises what lies in small holes between lines that were chosen: it costs so much less as the marker costs that
/// would stand for it.
fn save_markers(choices: &mut [Choice<'_>], marker: u64) {
    for Hole { lines, bytes, worth } in holes(choices, |choice| choice.chosen) {
        if bytes <= 4 * marker {
            let cost = bytes.saturating_sub(marker).max(bytes * 2 / 3).max(1);
            for choice in &mut choices[lines] {
                let raised = u64::try_from(choice.score).unwrap_or(0) * bytes / cost;
                choice.score = choice.score.max(worth.min(raised as i32));
            }
        }
    }
}

/// The lines between two others.
struct Hole {
    lines: Range<usize>,
    bytes: u64,
    /// What the lesser of the two others is worth.
    worth: i32,
}

/// The lines between every two that `matter`, where all of them are held.
fn holes(choices: &[Choice<'_>], matter: impl Fn(&Choice<'_>) -> bool) -> Vec<Hole> {
    let mut holes = Vec::new();
    let mut last: Option<usize> = None;
    for at in 0..choices.len() {
        if at > 0 && !touches(choices, at - 1, at) {
            last = None;
        }
        if !matter(&choices[at]) {
            continue;
        }
        if let Some(from) = last.filter(|&from| at > from + 1) {
            let lines = from + 1..at;
            let bytes = choices[lines.clone()].iter().map(|choice| choice.text.len() as u64).sum();
            holes.push(Hole { lines, bytes, worth: choices[from].score.min(choices[at].score) });
        }
        last = Some(at);
    }
    holes
}

/// Every line that may be shown, once, in the order of the text.
fn collect<'t>(
    held: &'t [Candidate],
    counts: &Counts,
    repeats: &Repeats,
    ends: &'t Ends,
    bytes: u64,
    most_line: usize,
) -> Vec<Choice<'t>> {
    let mut choices: Vec<Choice<'t>> = Vec::new();
    let told_again = told_again(held);
    for line in held.iter().filter(|line| line.score >= TELLING || !repeats.folds(line.number)) {
        let (text, held) = clip(&line.text, line.held, most_line);
        choices.push(Choice {
            text,
            start: line.start,
            end: line.end,
            number: line.number,
            held,
            form: line.form,
            score: line.score.max(rarity(counts, line)).max(onset(line, counts, ends.bytes()))
                + recency(line, ends.bytes(), bytes)
                - if told_again.contains(&line.number) { TOLD_AGAIN } else { 0 },
            turn: line.start as i64,
            chosen: false,
        });
    }
    let opening = ends.opening();
    let reach = opening.len().min(usize::try_from(bytes).unwrap_or(usize::MAX));
    let reach = memchr::memrchr(b'\n', &opening[..reach]).map_or(0, |feed| feed + 1);
    let mut read = 0;
    for mut choice in whole_lines(ends.first(reach), most_line) {
        if repeats.folds(choice.number) {
            continue;
        }
        read += choice.text.len();
        choice.score = worth(&HEAD, read as f64 / bytes as f64);
        choices.push(choice);
    }
    let closing = ends.closing();
    let from = closing.len().saturating_sub(usize::try_from(bytes).unwrap_or(usize::MAX));
    let all = ends.last(0).first().is_some_and(|piece| piece.start == 0) && from == 0;
    let first = match all {
        true => 0,
        false => memchr::memchr(b'\n', &closing[from..]).map_or(closing.len(), |feed| from + feed + 1),
    };
    let last = choices.len();
    // The same over and over does not count as the end, and what stands before it is near.
    choices.extend(
        whole_lines(ends.last(first), most_line).into_iter().filter(|choice| !repeats.folds(choice.number)),
    );
    // Chores that a runner does after everything else do not count as the end, nor do tests that went well.
    let matcher = Matcher::default();
    let mut said = 0.0;
    for choice in choices[last..].iter_mut().rev() {
        let aside = is_aside(choice.text, &matcher);
        said += choice.text.len() as f64 / if aside { 4.0 } else { 1.0 };
        let worth = worth(&TAIL, said / bytes as f64);
        choice.score = if aside { worth / 6 } else { worth };
        choice.turn = -(choice.start as i64);
    }
    choices.sort_by_key(|choice| (choice.start, -choice.score));
    choices.dedup_by(|again, first| {
        if again.start != first.start {
            return false;
        }
        if again.turn < 0 && first.score < MATTERS {
            first.turn = again.turn;
        }
        first.score = first.score.max(again.score);
        true
    });
    choices
}

/// The lines that these pieces are made of; each is worth nothing yet.
fn whole_lines<'t>(pieces: Vec<Piece<'t>>, most_line: usize) -> Vec<Choice<'t>> {
    let mut choices = Vec::new();
    for piece in pieces {
        // The ends of a text are held by the engine, and what it gives is borrowed from there.
        let Cow::Borrowed(text) = piece.text else { continue };
        let mut choice = |line: &'t [u8], start: u64, end: u64, number: u64| {
            let (text, held) = clip(line, Held::Whole, most_line);
            let turn = start as i64;
            choices.push(Choice {
                text,
                start,
                end,
                number,
                held,
                form: piece.form,
                score: 0,
                turn,
                chosen: false,
            });
        };
        match (piece.form, piece.part) {
            (PieceKind::Verbatim, LinePosition::Start) => {
                let mut start = piece.start;
                for (line, number) in text.split_inclusive(|&byte| byte == b'\n').zip(piece.line..) {
                    let end = start + line.len() as u64;
                    choice(line, start, end, number);
                    start = end;
                }
            }
            (PieceKind::Rendered, LinePosition::Start) => choice(text, piece.start, piece.end, piece.line),
            // The rest of a line whose beginning is a piece of its own.
            _ => {}
        }
    }
    choices
}

/// What is shown of a long line is its beginning.
fn clip(line: &[u8], held: Held, most: usize) -> (&[u8], Held) {
    if held == Held::Whole && line.len() <= most {
        return (line, held);
    }
    // Behind the place there must be bytes enough to see whether it lies inside a character.
    let end = most.min(line.len().saturating_sub(4));
    (&line[..boundary::floor(line, end)], Held::Beginning)
}

fn pieces<'t>(choices: &[Choice<'t>]) -> Vec<Piece<'t>> {
    let mut pieces: Vec<Piece<'t>> = Vec::new();
    for choice in choices.iter().filter(|choice| choice.chosen && !choice.text.is_empty()) {
        // A line as a terminal would show it stands for all of its bytes.
        let (form, end) = match (choice.form, choice.held) {
            (PieceKind::Verbatim, _) => (PieceKind::Verbatim, choice.start + choice.text.len() as u64),
            (_, Held::Whole) => (PieceKind::Rendered, choice.end),
            (_, Held::Beginning) => (PieceKind::RenderedStart, choice.end),
        };
        match pieces.last_mut() {
            Some(before)
                if before.end == choice.start
                    && (before.form, form) == (PieceKind::Verbatim, PieceKind::Verbatim) =>
            {
                before.text.to_mut().extend_from_slice(choice.text);
                before.end = end;
            }
            _ => pieces.push(Piece {
                start: choice.start,
                end,
                form,
                line: choice.number,
                part: LinePosition::Start,
                text: Cow::Borrowed(choice.text),
            }),
        }
    }
    pieces
}
