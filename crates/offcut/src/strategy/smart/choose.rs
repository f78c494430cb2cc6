//! Chooses which candidates are shown, and returns them as pieces.
//!
//! Lines are taken by score as long as they fit, each at the price of its text and of the gap markers it adds or
//! removes. Then lines in small gaps are raised, because a text without small gaps is easier to read, and the choice is
//! repeated.

use super::candidates::{Candidate, MAX_RECENCY_BONUS, Occurrence, rarity};
use super::is_routine;
use super::line_tables::TemplateCounts;
use super::lines::Coverage;
use super::repeated_results::named_again_later;
use super::repeats::Repeats;
use super::rules::{Matcher, Role};
use super::variation;
use crate::boundary;
use crate::cut::{LinePosition, Piece, PieceKind};
use crate::strategy::{Cost, Ends, Room};
use std::borrow::Cow;
use std::ops::Range;

/// A line that may be shown: a candidate, or a line at an end of the text.
struct Choice<'t> {
    text: &'t [u8],
    start: u64,
    end: u64,
    number: u64,
    /// Whether `text` is the whole line.
    coverage: Coverage,
    form: PieceKind,
    score: i32,
    /// Of two lines with the same score, the lower goes first: the earlier line, or near the end the later one.
    tie_break: i64,
    chosen: bool,
}

/// The score of a line near an end of the text, by the share of the room between it and the end.
const TAIL_SCORES: [(f64, i32); 5] = [(0.06, 900), (0.20, 660), (0.35, 520), (0.65, 460), (1.0, 140)];
const HEAD_SCORES: [(f64, i32); 4] = [(0.02, 850), (0.05, 450), (0.12, 160), (1.0, 20)];

/// From this score on, a line is important.
const IMPORTANT: i32 = 320;

/// From this score on, a line has a score for its content, not only for its position.
const INFORMATIVE: i32 = 60;

/// The score of folded lines that are more than a repetition: they are shown if room is left.
const FOLDED_SCORE: i32 = -1;

/// How often the choice is repeated after lines in small gaps were raised.
const REFINEMENTS: u32 = 3;

fn score_at(scores: &[(f64, i32)], share: f64) -> i32 {
    scores.iter().find(|(up_to, _)| share <= *up_to).map_or(0, |&(_, score)| score)
}

/// The bonus of a line near the end, which more often says why the command ended.
fn recency(line: &Candidate, total: u64, bytes: u64) -> i32 {
    let distance = (total - line.start) as f64 / bytes as f64;
    if line.score < INFORMATIVE {
        0
    } else {
        ((1.0 - distance / 4.0) * f64::from(MAX_RECENCY_BONUS)).max(0.0) as i32
    }
}

/// The score of a line that starts something new: the first of many with its template, not at the start of the text.
fn onset(line: &Candidate, counts: &TemplateCounts, total: u64) -> i32 {
    let is_onset = line.occurrence == Occurrence::First
        && line.start > total / 20
        && counts.of(line.template) >= MIN_ONSET_LINES
        && !line.role.is_some_and(Role::is_unimportant);
    if is_onset { ONSET_SCORE } else { 0 }
}

/// The score of the first line of a template with at least [`MIN_ONSET_LINES`] lines.
const ONSET_SCORE: i32 = 150;
const MIN_ONSET_LINES: u32 = 8;

/// The penalty of a listed failure that is reported again later.
const NAMED_AGAIN_PENALTY: i32 = 300;

/// The pieces to show; none if no line fits.
pub(super) fn choose<'t>(
    candidates: &'t [Candidate],
    counts: &TemplateCounts,
    repeats: &Repeats,
    ends: &'t Ends,
    room: &Room<'_>,
    max_line_bytes: usize,
) -> Vec<Piece<'t>> {
    let bytes = shown_bytes(ends, room);
    let mut choices = collect(candidates, counts, repeats, ends, bytes, max_line_bytes);
    choices.retain(|choice| choice.end > room.start);
    raise_between_important(&mut choices);
    let total = ends.bytes();
    let mut order = admit_best(&mut choices, total, room);
    // The choice shows where small gaps are. The text reads better without them.
    for _ in 0..REFINEMENTS {
        raise_in_small_gaps(&mut choices, room.line_marker.bytes);
        choices.iter_mut().for_each(|choice| choice.chosen = false);
        order = admit_best(&mut choices, total, room);
    }
    let mut pieces = pieces(&choices);
    // Tokens do not add up exactly, and a line that renders to nothing leaves a gap. If the sum was too low, the weakest lines
    // are removed: one, then two, then four.
    let mut excess = 1;
    while !pieces.is_empty() && !affordable(&pieces, total, room) {
        order.retain(|&at| choices[at].chosen);
        for weakest in order.split_off(order.len().saturating_sub(excess)) {
            choices[weakest].chosen = false;
        }
        excess *= 2;
        pieces = self::pieces(&choices);
    }
    pieces
}

/// About how many bytes can be shown: what the byte limit allows, and the line limit for lines of average length. How far
/// both ends reach depends on it.
fn shown_bytes(ends: &Ends, room: &Room<'_>) -> u64 {
    let average = ends.bytes() / ends.lines().max(1) + 1;
    let by_lines = room.limits.lines.map_or(u64::MAX, |lines| lines.saturating_mul(average));
    room.limits.bytes.unwrap_or(u64::MAX).min(by_lines).min(ends.bytes())
}

/// Chooses the best lines that fit. Returns all lines, best first.
fn admit_best(choices: &mut [Choice<'_>], total: u64, room: &Room<'_>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..choices.len()).collect();
    order.sort_by_key(|&at| (-choices[at].score, choices[at].tie_break));
    let mut spent = room.line_marker;
    // Lines between two shown lines can cost less than the gap marker, so filling gaps makes room for a second round.
    for _ in 0..2 {
        for &at in &order {
            admit(choices, at, total, room, &mut spent);
        }
        fill_cheap_gaps(choices, total, room, &mut spent);
    }
    order
}

fn affordable(pieces: &[Piece<'_>], total: u64, room: &Room<'_>) -> bool {
    let next_starts = pieces.iter().map(|piece| piece.start).skip(1).chain([total]);
    let leaves_gap =
        |(piece, next): &(&Piece<'_>, u64)| piece.end < *next || piece.form == PieceKind::RenderedStart;
    let before_gaps = || pieces.iter().zip(next_starts.clone()).filter(leaves_gap);
    let gaps = before_gaps().count() as u64
        + u64::from(pieces.first().is_some_and(|piece| piece.start > room.start));
    let inside = before_gaps().filter(|(piece, _)| !piece.text.ends_with(b"\n")).count() as u64;
    // One marker is always paid for: where everything is shown, a notice says what a terminal would not show.
    let markers = room.line_marker.times(gaps.max(1)) + inside_line(room).times(inside);
    let cost = pieces.iter().fold(markers, |sum, piece| sum + cost(&piece.text, room));
    room.limits.afford(cost)
}

/// The extra cost of a marker inside a line.
fn inside_line(room: &Room<'_>) -> Cost {
    room.marker.beyond(room.line_marker)
}

fn cost(text: &[u8], room: &Room<'_>) -> Cost {
    Cost::of(text, &room.limits, room.conventions, room.tokens)
}

fn touches(choices: &[Choice<'_>], left: usize, right: usize) -> bool {
    choices[left].end == choices[right].start
}

/// Chooses a line if it fits together with the gap marker that it may add.
fn admit(choices: &mut [Choice<'_>], at: usize, total: u64, room: &Room<'_>, spent: &mut Cost) {
    let choice = &choices[at];
    if choice.chosen {
        return;
    }
    let joins_left =
        choice.start <= room.start || (at > 0 && choices[at - 1].chosen && touches(choices, at - 1, at));
    let joins_right = choice.end == total
        || (at + 1 < choices.len() && choices[at + 1].chosen && touches(choices, at, at + 1));
    // A caret or a brace means nothing on its own.
    if !joins_left
        && !joins_right
        && !choice.text.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)
    {
        return;
    }
    // A line that is cut is followed by a gap.
    let whole = choice.coverage == Coverage::Whole;
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

/// Chooses the lines between two chosen ones where they are cheaper than a gap marker.
fn fill_cheap_gaps(choices: &mut [Choice<'_>], total: u64, room: &Room<'_>, spent: &mut Cost) {
    let mut last: Option<usize> = None;
    for at in 0..choices.len() {
        if !choices[at].chosen {
            continue;
        }
        if let Some(from) = last
            && at > from + 1
            && choices[from].coverage == Coverage::Whole
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

/// Raises the lines in a small gap between two important ones: a text with many gaps is hard to read.
fn raise_between_important(choices: &mut [Choice<'_>]) {
    for InnerGap { lines, bytes, score } in inner_gaps(choices, |choice| choice.score >= IMPORTANT) {
        let score = match bytes {
            0..=200 => score * 85 / 100,
            201..=450 => score * 65 / 100,
            _ => 0,
        };
        for choice in &mut choices[lines] {
            choice.score = choice.score.max(score);
        }
    }
}

/// Raises the lines in small gaps between chosen ones, in proportion to what their marker would cost: showing them saves
/// the marker.
fn raise_in_small_gaps(choices: &mut [Choice<'_>], marker: u64) {
    for InnerGap { lines, bytes, score } in inner_gaps(choices, |choice| choice.chosen) {
        if bytes <= 4 * marker {
            let cost = bytes.saturating_sub(marker).max(bytes * 2 / 3).max(1);
            for choice in &mut choices[lines] {
                let raised = u64::try_from(choice.score).unwrap_or(0) * bytes / cost;
                choice.score = choice.score.max(score.min(raised as i32));
            }
        }
    }
}

/// The lines between two others.
struct InnerGap {
    lines: Range<usize>,
    bytes: u64,
    /// The lower score of the two others.
    score: i32,
}

/// The lines between every two that are `selected`, where none is missing from `choices`.
fn inner_gaps(choices: &[Choice<'_>], selected: impl Fn(&Choice<'_>) -> bool) -> Vec<InnerGap> {
    let mut inner_gaps = Vec::new();
    let mut last: Option<usize> = None;
    for at in 0..choices.len() {
        if at > 0 && !touches(choices, at - 1, at) {
            last = None;
        }
        if !selected(&choices[at]) {
            continue;
        }
        if let Some(from) = last.filter(|&from| at > from + 1) {
            let lines = from + 1..at;
            let bytes = choices[lines.clone()].iter().map(|choice| choice.text.len() as u64).sum();
            inner_gaps.push(InnerGap { lines, bytes, score: choices[from].score.min(choices[at].score) });
        }
        last = Some(at);
    }
    inner_gaps
}

/// Every line that may be shown, once, in text order.
fn collect<'t>(
    candidates: &'t [Candidate],
    counts: &TemplateCounts,
    repeats: &Repeats,
    ends: &'t Ends,
    bytes: u64,
    max_line_bytes: usize,
) -> Vec<Choice<'t>> {
    let mut choices: Vec<Choice<'t>> = Vec::new();
    let named_again_later = named_again_later(candidates);
    for line in candidates.iter().filter(|line| line.score >= INFORMATIVE || !repeats.folds(line.number)) {
        let (text, coverage) = clip(&line.text, line.coverage, max_line_bytes);
        choices.push(Choice {
            text,
            start: line.start,
            end: line.end,
            number: line.number,
            coverage,
            form: line.form,
            score: line.score.max(rarity(counts, line)).max(onset(line, counts, ends.bytes()))
                + recency(line, ends.bytes(), bytes)
                - if named_again_later.contains(&line.number) { NAMED_AGAIN_PENALTY } else { 0 },
            tie_break: line.start as i64,
            chosen: false,
        });
    }
    let (head, tail) = (head_lines(ends, bytes, max_line_bytes), tail_lines(ends, bytes, max_line_bytes));
    // In a short text, the ends overlap.
    let head_end = head.last().map_or(0, |choice| choice.number);
    let after_head = tail.iter().filter(|choice| choice.number > head_end);
    let near_ends = head.iter().chain(after_head).map(|choice| (choice.number, choice.text));
    let varying = variation::varying(near_ends, repeats);
    let mut read = 0;
    for mut choice in head {
        match repeats.folded(choice.number) {
            Some(stretch) if !varying.contains(&stretch) => continue,
            Some(_) => choice.score = FOLDED_SCORE,
            None => {
                read += choice.text.len();
                choice.score = score_at(&HEAD_SCORES, read as f64 / bytes as f64);
            }
        }
        choices.push(choice);
    }
    let last = choices.len();
    choices.extend(
        tail.into_iter()
            .filter(|choice| repeats.folded(choice.number).is_none_or(|stretch| varying.contains(&stretch))),
    );
    // A runner's housekeeping and passed tests count only in part as the end.
    let matcher = Matcher::default();
    let mut distance = 0.0;
    for choice in choices[last..].iter_mut().rev() {
        choice.tie_break = -(choice.start as i64);
        // Folded lines do not count as the end: what comes before them is near the end, too.
        if repeats.folds(choice.number) {
            choice.score = FOLDED_SCORE;
            continue;
        }
        let is_routine = is_routine(choice.text, &matcher);
        distance += choice.text.len() as f64 / if is_routine { 4.0 } else { 1.0 };
        let score = score_at(&TAIL_SCORES, distance / bytes as f64);
        choice.score = if is_routine { score / 6 } else { score };
    }
    choices.sort_by_key(|choice| (choice.start, -choice.score));
    choices.dedup_by(|again, first| {
        if again.start != first.start {
            return false;
        }
        if again.tie_break < 0 && first.score < IMPORTANT {
            first.tie_break = again.tie_break;
        }
        first.score = first.score.max(again.score);
        true
    });
    choices
}

/// The lines at the beginning that may be shown, as far as the room reaches.
fn head_lines<'t>(ends: &'t Ends, bytes: u64, max_line_bytes: usize) -> Vec<Choice<'t>> {
    let opening = ends.opening();
    let reach = opening.len().min(usize::try_from(bytes).unwrap_or(usize::MAX));
    let reach = memchr::memrchr(b'\n', &opening[..reach]).map_or(0, |feed| feed + 1);
    whole_lines(ends.first(reach), max_line_bytes)
}

/// The lines at the end that may be shown, as far as the room reaches.
fn tail_lines<'t>(ends: &'t Ends, bytes: u64, max_line_bytes: usize) -> Vec<Choice<'t>> {
    let closing = ends.closing();
    let from = closing.len().saturating_sub(usize::try_from(bytes).unwrap_or(usize::MAX));
    let all = ends.last(0).first().is_some_and(|piece| piece.start == 0) && from == 0;
    let first = match all {
        true => 0,
        false => memchr::memchr(b'\n', &closing[from..]).map_or(closing.len(), |feed| from + feed + 1),
    };
    whole_lines(ends.last(first), max_line_bytes)
}

/// The lines of some pieces, without scores.
fn whole_lines<'t>(pieces: Vec<Piece<'t>>, max_line_bytes: usize) -> Vec<Choice<'t>> {
    let mut choices = Vec::new();
    for piece in pieces {
        // The engine keeps the ends of a text, so its pieces are borrowed.
        let Cow::Borrowed(text) = piece.text else { continue };
        let mut choice = |line: &'t [u8], start: u64, end: u64, number: u64| {
            let (text, coverage) = clip(line, Coverage::Whole, max_line_bytes);
            let tie_break = start as i64;
            choices.push(Choice {
                text,
                start,
                end,
                number,
                coverage,
                form: piece.form,
                score: 0,
                tie_break,
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
            // The rest of a line that starts in another piece.
            _ => {}
        }
    }
    choices
}

/// Cuts a long line to its beginning.
fn clip(line: &[u8], coverage: Coverage, max_bytes: usize) -> (&[u8], Coverage) {
    if coverage == Coverage::Whole && line.len() <= max_bytes {
        return (line, coverage);
    }
    // Enough bytes must follow the cut to see whether it is inside a character.
    let end = max_bytes.min(line.len().saturating_sub(4));
    (&line[..boundary::floor(line, end)], Coverage::Beginning)
}

fn pieces<'t>(choices: &[Choice<'t>]) -> Vec<Piece<'t>> {
    let mut pieces: Vec<Piece<'t>> = Vec::new();
    for choice in choices.iter().filter(|choice| choice.chosen && !choice.text.is_empty()) {
        // A rendered line covers all bytes of the original line.
        let (form, end) = match (choice.form, choice.coverage) {
            (PieceKind::Verbatim, _) => (PieceKind::Verbatim, choice.start + choice.text.len() as u64),
            (_, Coverage::Whole) => (PieceKind::Rendered, choice.end),
            (_, Coverage::Beginning) => (PieceKind::RenderedStart, choice.end),
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
