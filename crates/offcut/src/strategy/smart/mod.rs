//! `smart`: the lines that matter.
//!
//! One pass. Each line is recognised by its fingerprint; one that is unlike those before is matched against the
//! [`rules`] once, as long as [`looks`] can be afforded. [`blocks`] says what it is worth, by its role and by where it stands; [`held`] keeps the best lines
//! within a few times the budget; at the end [`choose`] takes the best for the room there is. A line that nothing
//! knows and that is unlike all the others is worth showing too.

mod blocks;
mod choose;
mod constants;
pub(super) mod content;
mod counts;
pub(super) mod fingerprint;
mod held;
pub(super) mod lines;
mod looks;
mod matcher;
mod repeats;
mod rules;
mod told;
mod window;
mod words_in;

use super::{BothEnds, Ends, Room, Selection, Selector, Split, Strategy};
use crate::cut::{Piece, Segment};
use blocks::Blocks;
use constants::{Constants, Places};
use counts::{Counts, Known, Memory, Opening, Remembered};
use held::{Candidate, Order, Store};
use lines::{Line, Lines};
use looks::{Looks, Surroundings};
use matcher::Matcher;
use repeats::Repeats;
use std::collections::HashSet;
use window::{Place, Window};

pub use rules::Group;

/// How many lines before and after one that matters are held with it.
const NEARBY: usize = 8;

/// A text of so few lines is shown by its ends, if its lines are too long to be shown.
const FEW_LINES: u64 = 4;

/// Shows the lines that matter: failures with what belongs to them, what is unlike the rest, and both ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Smart {
    left_out: Option<Group>,
}

impl Smart {
    /// The strategy without a group of its rules, to measure what the group adds.
    pub fn without(group: Group) -> Smart {
        Smart { left_out: Some(group) }
    }
}

impl Strategy for Smart {
    fn start(&self, most_bytes: u64) -> Box<dyn Selector> {
        let most = usize::try_from(most_bytes).unwrap_or(usize::MAX / 16).min(8 << 20);
        // A line may take a quarter of what is shown; the rest of it is told to be missing.
        let most_line = (most / 6).clamp(200, 4096);
        Box::new(Watcher {
            lines: Lines::new(most_line + 8),
            reader: Reader {
                memory: Memory::new(),
                constants: Constants::default(),
                counts: Counts::new(),
                repeats: Repeats::new(),
                blocks: Blocks::new(),
                window: Window::new(),
                store: Store::new(4 * most.max(2048)),
                buffer: Vec::new(),
                nearby: (0, 0),
                looks: Looks::new(),
                matcher: Matcher::without(self.left_out),
            },
            held: Vec::new(),
            most_line,
        })
    }
}

struct Watcher {
    lines: Lines,
    reader: Reader,
    held: Vec<Candidate>,
    most_line: usize,
}

struct Reader {
    memory: Memory,
    constants: Constants,
    counts: Counts,
    repeats: Repeats,
    blocks: Blocks,
    window: Window,
    store: Store,
    buffer: Vec<u8>,
    /// How many lines are still next to one that matters, and what they are worth for it.
    nearby: (usize, i32),
    looks: Looks,
    matcher: Matcher,
}

impl Reader {
    #[inline]
    fn read(&mut self, line: &Line<'_>, run: &[u8]) {
        self.looks.earn(line.text.len());
        match self.memory.get(line.fingerprint) {
            // The same once more.
            Some(Remembered { known, places, .. })
                if places.are_none()
                    && self.counts.was_last(known.template)
                    && self.repeats.expects(known.template, line) =>
            {
                let known = *known;
                let before = self.counts.add_last();
                self.repeats.note(known.template);
                self.take(line, run, &known, before);
            }
            Some(_) => self.recognise(line, run),
            None => self.meet(line, run),
        }
    }

    /// Reads a line that was looked at before.
    #[inline(never)]
    fn recognise(&mut self, line: &Line<'_>, run: &[u8]) {
        let Some(Remembered { known, places, .. }) = self.memory.get(line.fingerprint) else { return };
        let mut known = *known;
        if !places.are_none() {
            known.template = self.constants.kind(known.template, line.text, places);
        }
        let before = self.counts.add(known.template);
        self.repeats.see(&known, line);
        self.take(line, run, &known, before);
    }

    /// Passes a line by, or weighs it.
    #[inline(always)]
    fn take(&mut self, line: &Line<'_>, run: &[u8], known: &Known, before: u32) {
        // Nearly every line of nearly every text: no rule knows it, and there were others like it.
        let is_plain = known.role.is_none() && before > 0 && self.nearby.0 == 0 && self.blocks.are_closed();
        if is_plain && self.window.passes(line, known) {
            self.blocks.pass(before);
        } else {
            self.weigh(line, run, known, before);
        }
    }

    /// Takes a line in with what it is worth.
    #[inline(never)]
    fn weigh(&mut self, line: &Line<'_>, run: &[u8], known: &Known, before: u32) {
        self.window.expand();
        let score = self.blocks.score(known, before, &mut self.window);
        let score = self.with_neighbours(score);
        // Held for now: whether it is rare, or the first of many, is known at the end.
        let is_idle = known.role.is_some_and(rules::Role::is_unimportant);
        let is_first = before == 0 && known.opening != Opening::Blank && !is_idle;
        self.store.take_from(&mut self.window, run, &self.counts);
        let candidate = Candidate {
            text: line.place.map_or(Place::Copied, |start| Place::Segment { start, length: line.text.len() }),
            start: line.start,
            end: line.end,
            number: line.number,
            held: line.held,
            form: line.form,
            score: score.max(i32::from(is_first)),
            order: if is_first { Order::First } else { Order::Later },
            context: self.blocks.context,
            template: known.template,
            role: known.role,
            indent: known.indent,
            opening: known.opening,
        };
        self.window.push(candidate, line.text);
    }

    /// Reads a line that is new.
    #[inline(never)]
    fn meet(&mut self, line: &Line<'_>, run: &[u8]) {
        let surroundings = match self.nearby.0 > 0 || self.blocks.are_open() {
            true => Surroundings::Telling,
            false => Surroundings::Ordinary,
        };
        if self.looks.afford(line.text, surroundings) {
            return self.look(line, run);
        }
        self.counts.add_unlooked();
        // Nobody knows whether there were others like it; that it is rare would say nothing here.
        let known = glance_at(line);
        self.repeats.see(&known, line);
        self.take(line, run, &known, 1);
    }

    /// Finds out what there is to know about a line.
    #[inline(never)]
    fn look(&mut self, line: &Line<'_>, run: &[u8]) {
        let (mut known, mut places) = look_at(line, &mut self.buffer, &self.matcher, &mut self.constants);
        let template = known.template;
        if !places.are_none() {
            known.template = self.constants.kind(template, line.text, &mut places);
        }
        self.memory.put(line.fingerprint, Known { template, ..known }, places);
        let before = self.counts.add(known.template);
        self.repeats.see(&known, line);
        self.take(line, run, &known, before);
    }

    /// Holds the lines next to one that matters too: where little is missing between two that are shown, a marker
    /// costs more than what it stands for.
    fn with_neighbours(&mut self, score: i32) -> i32 {
        let least = score / 10;
        if least > 9 {
            for back in 1..=NEARBY {
                if let Some(line) = self.window.recent(back) {
                    line.score = line.score.max(least);
                }
            }
            self.nearby = (NEARBY, least);
        } else if self.nearby.0 > 0 {
            self.nearby.0 -= 1;
            return score.max(self.nearby.1);
        }
        score
    }
}

/// What a line is as far as a short look tells.
fn glance_at(line: &Line<'_>) -> Known {
    let text = &line.text[..line.text.len().min(64)];
    let (opening, indent) = match text.first() {
        Some(first) if first.is_ascii_graphic() => (Opening::Text, 0),
        _ if text.trim_ascii().is_empty() => (Opening::Blank, content::indent(text).min(255) as u8),
        _ => (Opening::Text, content::indent(text).min(255) as u8),
    };
    Known { template: line.fingerprint.max(1), role: None, indent, opening }
}

fn look_at(
    line: &Line<'_>,
    buffer: &mut Vec<u8>,
    matcher: &Matcher,
    constants: &mut Constants,
) -> (Known, Places) {
    if content::is_binary(line.text) {
        return (glance_at(line), Places::default());
    }
    let line = line.text;
    let content = matched(line, buffer);
    let trimmed = content.trim_ascii();
    let opening = match trimmed {
        [] => Opening::Blank,
        [mark @ (b'=' | b'-' | b'*' | b'#' | b'_' | b'~'), rest @ ..]
            if rest.len() >= 3 && rest.iter().all(|byte| byte == mark) =>
        {
            Opening::Divider
        }
        [b'|' | b'^' | b'~', ..] => Opening::Continuation,
        _ if trimmed.starts_with(b"-->")
            || trimmed.starts_with(b"= ")
            || trimmed.starts_with(b"note:")
            || trimmed.starts_with(b"help:") =>
        {
            Opening::Continuation
        }
        _ if is_numbered(trimmed) => Opening::Continuation,
        _ => Opening::Text,
    };
    let template = fingerprint::template(content).max(1);
    let places = match content::place(line, content) {
        Some(offset) => constants.places(template, content, offset),
        None => Places::default(),
    };
    let indent = content::indent(content).min(255) as u8;
    (Known { template, role: matcher.find(content), indent, opening }, places)
}

/// The part of a line that is looked at.
fn matched<'a>(line: &'a [u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
    let content = content::content(line, buffer);
    &content[..content.len().min(rules::MATCHED_BYTES)]
}

/// The templates of all lines that are shown.
fn kinds(pieces: &[Piece<'_>]) -> HashSet<u64> {
    let mut buffer = Vec::new();
    let lines = pieces.iter().flat_map(|piece| piece.text.split_inclusive(|&byte| byte == b'\n'));
    lines.map(|line| fingerprint::template(matched(line, &mut buffer)).max(1)).collect()
}

/// `12 | let a = 1;`, as compilers quote a source.
fn is_numbered(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && text[digits..].trim_ascii_start().starts_with(b"|")
}

impl Selector for Watcher {
    fn observe(&mut self, run: Segment<'_>) {
        let Watcher { lines, reader, .. } = self;
        lines.observe(run, &mut |line| reader.read(&line, run.text));
        reader.window.settle(run.text);
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        let Watcher { lines, reader, held, most_line } = self;
        lines.flush(&mut |line| reader.read(&line, &[]));
        let (number, start) = lines.next();
        reader.repeats.finish(number, start);
        *held = reader.store.lines(&mut reader.window);
        let pieces = choose::choose(held, &reader.counts, &reader.repeats, ends, room, *most_line);
        let shown: usize = pieces.iter().map(|piece| piece.text.trim_ascii().len()).sum();
        let room_is_left = room.limits.bytes.is_some_and(|bytes| (shown as u64) < bytes / 2);
        let is_trouble = held.iter().any(|line| line.role.is_some_and(rules::Role::is_problem));
        if shown > 0 && !(room_is_left && ends.lines() <= FEW_LINES && !is_trouble) {
            let repeats = reader.repeats.of_shown(&kinds(&pieces));
            return Selection { pieces, repeats, ..Selection::default() };
        }
        // So few and so long lines leave nothing to choose.
        BothEnds(Split { head: 1, tail: 2 }).choose_or_something(ends, room).into()
    }
}

/// Looks at single lines, for strategies that choose by other means.
#[derive(Default)]
pub(super) struct Judge {
    buffer: Vec<u8>,
    matcher: Matcher,
}

impl Judge {
    /// The kind of a line, and whether lines of that kind tell of trouble.
    pub(super) fn judge(&mut self, line: &[u8]) -> (u64, bool) {
        let content = matched(line, &mut self.buffer);
        let role = self.matcher.find(content);
        (fingerprint::template(content), role.is_some_and(rules::Role::is_problem))
    }
}

/// Whether a line tells of what a runner does for itself, or that something went well.
fn is_aside(line: &[u8], matcher: &Matcher) -> bool {
    let mut buffer = Vec::new();
    let role = matcher.find(content::content(line, &mut buffer));
    matches!(role, Some(rules::Role::Housekeeping | rules::Role::Passed))
}
