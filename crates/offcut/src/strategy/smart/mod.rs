//! The `smart` strategy: shows the lines that matter.
//!
//! It reads the text once, line by line, with bounded memory:
//!
//! 1. [`lines`](super::lines) assembles lines and computes their fingerprints.
//! 2. [`line_tables`] recognises lines that were seen before. A new line is matched against the [`rules`], as far as
//!    [`match_budget`] allows; [`marks`] finds the failures of unknown runners.
//! 3. [`value`] says what the line is worth, by its role and by the lines around it. The numbers are in [`weights`].
//!    [`repeats`] finds lines to fold, [`fields`] the unusual ones among them, and [`ranges`] what their numbers are.
//! 4. [`window`] keeps the last lines, whose values can still be raised; [`candidates`] keeps the best of the others.
//! 5. At the end, [`units`] adds the lines at both ends, and [`select`] takes the best units that fit. [`gap_notes`] says what is
//!    known about the rest.
//!
//! A line that no rule matches and that is unlike all others is worth showing, too.

mod candidates;
mod fields;
mod gap_notes;
mod important_lines;
mod line_classifier;
mod line_tables;
mod marks;
mod match_budget;
mod message_code;
mod number;
mod ranges;
mod repeats;
mod units;
mod value;
mod weights;
mod window;

use super::lines::{Coverage, Line, Lines};
use super::names::{Names, PLAIN_VALUE};
use super::rules::{self, Group, Matcher};
use super::select::{self, MarkerCost};
use super::{BothEnds, Ends, Room, Selection, Selector, Split, Strategy, content, fingerprint};
use crate::cut::{Piece, Segment};
use crate::profile::Settings;
use candidates::{Candidate, Candidates, LineText, Occurrence};
use line_tables::{KnownLine, LineCache, LineInfo, Opening, TemplateCounts};
use marks::{LineMark, Marks};
use match_budget::{MatchBudget, Surroundings};
use message_code::MessageCode;
use repeats::Repeats;
use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};
use value::{Value, Values};
use window::Window;

pub(crate) use important_lines::ImportantLines;
pub(super) use line_classifier::LineClassifier;

/// A text of at most this many lines, or of lines that are too long to show, is shown by its ends.
const FEW_LINES: u64 = 4;

/// About how many bytes a token has, before the text is known.
const BYTES_PER_TOKEN: u64 = 4;

/// A larger budget is used as if it were this, because memory grows with it.
const MAX_BUDGET: usize = 8 << 20;

/// Of a longer line only the beginning is shown: one part in this many of the budget, within these bounds.
const BUDGET_PER_LINE: usize = 6;
const LINE_BYTES: RangeInclusive<usize> = 200..=4096;

/// How many bytes after the end of what is shown of a line are kept: they say whether it ends inside a character.
const LOOKAHEAD: usize = 8;

/// How many times the budget the candidates may need, because most of them are not shown in the end; and the least budget for which
/// this is enough.
const CANDIDATES_PER_BUDGET: usize = 4;
const MIN_BUDGET: usize = 2048;

/// How much of a line that is not matched is read.
const UNMATCHED_BYTES: usize = 64;

/// How the room is divided where there is nothing to choose among. The end more often says how a command ended.
const ENDS: Split = Split { head: 1, tail: 2 };

/// Shows the lines that matter: failures with their details, lines unlike the others, and both ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Smart {
    disabled: Option<Group>,
}

impl Smart {
    /// The strategy without one group of its rules, to measure what the group contributes.
    pub fn without(group: Group) -> Smart {
        Smart { disabled: Some(group) }
    }
}

impl Strategy for Smart {
    fn start(&self, settings: &Settings) -> Box<dyn Selector> {
        let max_bytes = usize::try_from(settings.keep.ceiling()).unwrap_or(MAX_BUDGET).min(MAX_BUDGET);
        let by_tokens =
            settings.keep.tokens.map_or(u64::MAX, |tokens| tokens.saturating_mul(BYTES_PER_TOKEN));
        let shown_bytes = usize::try_from(by_tokens).map_or(max_bytes, |bytes| bytes.min(max_bytes));
        let max_line_bytes = (max_bytes / BUDGET_PER_LINE).clamp(*LINE_BYTES.start(), *LINE_BYTES.end());
        Box::new(SmartSelector {
            lines: Lines::with_fingerprints(max_line_bytes + LOOKAHEAD),
            reader: LineReader {
                cache: LineCache::new(),
                counts: TemplateCounts::new(),
                names: Names::new(),
                repeats: Repeats::new(),
                values: Values::new(shown_bytes),
                window: Window::new(),
                candidates: Candidates::new(CANDIDATES_PER_BUDGET * max_bytes.max(MIN_BUDGET)),
                buffer: Vec::new(),
                budget: MatchBudget::new(),
                matcher: Matcher::without(self.disabled),
                marks: Marks::new(),
                unread: Vec::new(),
            },
            candidates: Vec::new(),
            max_line_bytes,
        })
    }
}

struct SmartSelector {
    lines: Lines,
    reader: LineReader,
    candidates: Vec<Candidate>,
    max_line_bytes: usize,
}

struct LineReader {
    cache: LineCache,
    counts: TemplateCounts,
    names: Names,
    repeats: Repeats,
    values: Values,
    window: Window,
    candidates: Candidates,
    buffer: Vec<u8>,
    budget: MatchBudget,
    matcher: Matcher,
    marks: Marks,
    /// Where lines are that were not analysed, because too many are new.
    unread: Vec<Range<u64>>,
}

/// The number of ranges of lines that were not analysed. If there are more, the last one covers the rest.
const MAX_UNREAD: usize = 64;

impl LineReader {
    #[inline]
    fn read(&mut self, line: &Line<'_>, segment: &[u8]) {
        self.budget.add(line.text.len());
        match self.cache.get(line.fingerprint) {
            Some(known) => {
                let template = self.repeats.observe(known, line, None, &self.counts);
                let info = LineInfo { template, ..known.info };
                let before = self.counts.add(template);
                self.skip_or_add(line, segment, &info, before, 0);
            }
            None => self.read_new(line, segment),
        }
    }

    /// Skips a plain line, adds any other. `before` is how often its template occurred before.
    #[inline(always)]
    fn skip_or_add(&mut self, line: &Line<'_>, segment: &[u8], info: &LineInfo, before: u32, names: i32) {
        // True for nearly every line of nearly every text: no rule matches, and its template is not new.
        let is_plain = info.role.is_none() && before > 0 && names == 0 && self.values.are_idle();
        if is_plain && self.window.add_to_quiet_run(line, info) {
            self.values.skip(before);
        } else {
            self.add(line, segment, info, before, names);
        }
    }

    /// Computes the value of a line and adds it to the window.
    #[inline(never)]
    fn add(&mut self, line: &Line<'_>, segment: &[u8], info: &LineInfo, before: u32, names: i32) {
        self.window.expand();
        let Value { own, value, role } = self.values.value(info, before, line.text.len(), &mut self.window);
        // Kept for now: only at the end it is known whether the line is rare, or the first of many.
        let is_unimportant = role.is_some_and(rules::Role::is_unimportant);
        let may_be_rare = info.opening != Opening::Blank && !role.is_some_and(rules::Role::is_never_rare);
        let is_first = before == 0 && may_be_rare;
        let candidate = Candidate {
            text: match line.offset {
                Some(start) => LineText::InSegment(start..start + line.text.len()),
                None => LineText::Copied(line.text.to_vec()),
            },
            extent: line.extent,
            own,
            value: value.max(i32::from(is_first)).max(if is_unimportant { 0 } else { names }),
            occurrence: if is_first { Occurrence::First } else { Occurrence::Later },
            template: info.template,
            role,
            indent: info.indent,
            opening: info.opening,
        };
        if let Some(oldest) = self.window.push(candidate) {
            self.candidates.add(oldest, segment, &self.counts);
        }
    }

    /// Reads a line whose fingerprint is new.
    #[inline(never)]
    fn read_new(&mut self, line: &Line<'_>, segment: &[u8]) {
        let surroundings = match self.values.are_near_trouble() {
            true => Surroundings::Important,
            false => Surroundings::Ordinary,
        };
        if self.budget.spend(line.text, surroundings) {
            return self.analyse(line, segment);
        }
        self.counts.add_unmatched();
        let is_full = self.unread.len() == MAX_UNREAD;
        match self.unread.last_mut() {
            Some(last) if last.end == line.extent.start || is_full => last.end = line.extent.end,
            _ => self.unread.push(line.extent.start..line.extent.end),
        }
        // Whether its template occurred before is unknown here. 1 means that the line does not count as rare.
        let info = minimal_info(line);
        self.repeats.observe(&mut KnownLine::new(line.fingerprint, info), line, None, &self.counts);
        self.skip_or_add(line, segment, &info, 1, 0);
    }

    /// Analyses a new line and adds it to the cache.
    #[inline(never)]
    fn analyse(&mut self, line: &Line<'_>, segment: &[u8]) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let content = content::matched(line.text, &mut buffer);
        let info = self.analyse_content(content);
        let known = self.cache.put(KnownLine::new(line.fingerprint, info));
        let template = self.repeats.observe(known, line, Some(content), &self.counts);
        let info = LineInfo { template, ..info };
        let before = self.counts.add(template);
        let value = self.names.count(line.text).value(line.text.len(), 1);
        // What plain words would be worth is nothing: such lines may be skipped, depending on the chunks of the text.
        let names = if value > PLAIN_VALUE { value } else { 0 };
        self.skip_or_add(line, segment, &info, before, names);
        self.buffer = buffer;
    }

    /// Matches the content of a line against the rules and computes its template.
    fn analyse_content(&mut self, content: &[u8]) -> LineInfo {
        let (template, has_fields) = self.repeats.template(content);
        let role = match (self.matcher.find(content), self.marks.count(content)) {
            (None | Some(rules::Role::Suspect | rules::Role::Title), LineMark::Rare) => {
                Some(rules::Role::Failed)
            }
            (role, _) => role,
        };
        let code = match role {
            Some(rules::Role::Diagnostic | rules::Role::Warning) => MessageCode::of(content),
            _ => None,
        };
        LineInfo { template, role, indent: indent(content), opening: Opening::of(content), code, has_fields }
    }
}

/// What is known of a line without matching it.
fn minimal_info(line: &Line<'_>) -> LineInfo {
    let text = &line.text[..line.text.len().min(UNMATCHED_BYTES)];
    let opening = if text.trim_ascii().is_empty() { Opening::Blank } else { Opening::Text };
    LineInfo { template: line.fingerprint.max(1), indent: indent(text), opening, ..LineInfo::default() }
}

fn indent(content: &[u8]) -> u8 {
    u8::try_from(content::indent(content)).unwrap_or(u8::MAX)
}

/// The templates of all lines that are shown.
fn shown_templates(pieces: &[Piece<'_>]) -> HashSet<u64> {
    let mut buffer = Vec::new();
    let lines = pieces.iter().flat_map(|piece| piece.text.split_inclusive(|&byte| byte == b'\n'));
    lines.map(|line| fingerprint::template(content::matched(line, &mut buffer)).max(1)).collect()
}

impl Selector for SmartSelector {
    fn observe(&mut self, segment: Segment<'_>) {
        let SmartSelector { lines, reader, .. } = self;
        lines.observe(segment, &mut |line| reader.read(&line, segment.text));
        reader.window.end_segment(segment.text);
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        let SmartSelector { lines, reader, candidates, max_line_bytes } = self;
        lines.flush(&mut |line| reader.read(&line, &[]));
        let (number, start) = lines.next();
        reader.repeats.finish(number, start);
        *candidates = reader.candidates.take_all(&mut reader.window);
        let units = units::collect(candidates, reader, ends, room, *max_line_bytes);
        let reserved = gap_notes::cost(&reader.repeats, room);
        let less = Room { limits: room.limits.less(reserved), ..*room };
        let shown = select::select(units, ends, &less, MarkerCost::of_engine(room));
        let pieces = select::pieces(&shown);
        let is_visible = pieces.iter().any(|piece| !piece.text.trim_ascii().is_empty());
        let is_cut = shown.iter().any(|unit| unit.extent.coverage == Coverage::Beginning);
        let has_problem = candidates.iter().any(|line| line.role.is_some_and(rules::Role::is_problem));
        let are_long = ends.lines() <= FEW_LINES || ends.bytes() / ends.lines() > *max_line_bytes as u64;
        let are_parts = is_cut && are_long && !has_problem;
        if is_visible && !are_parts {
            let mut templates = shown_templates(&pieces);
            templates.extend(gap_notes::templates(&shown, candidates));
            let repeats = reader.repeats.with_templates_shown(&templates, &reader.counts);
            let notes = gap_notes::of_gaps(&shown, candidates, reader, ends, room, reserved);
            return Selection { pieces, repeats, notes, ..Selection::default() };
        }
        // There is nothing to choose among, or only parts of long lines.
        BothEnds(ENDS).choose_at_least_something(ends, room).into()
    }
}

/// Whether a line is the CI runner's housekeeping or reports success.
fn is_routine(line: &[u8], matcher: &Matcher) -> bool {
    let mut buffer = Vec::new();
    let role = matcher.find(content::content(line, &mut buffer));
    role.is_some_and(rules::Role::is_unimportant)
}
