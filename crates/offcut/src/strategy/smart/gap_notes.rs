//! What the strategy knows about the gaps between the lines that it shows: the range of the number in which folded lines differ,
//! and whether anything in a gap matters.

use super::candidates::Candidate;
use super::repeats::Repeats;
use super::units::content_value;
use super::weights::INFORMATIVE;
use super::{LineReader, is_routine};
use crate::cut::{GapNote, Interest};
use crate::render::{NEXT_PAGE_BYTES, NEXT_PAGE_LINES};
use crate::strategy::end_lines::EndLines;
use crate::strategy::lines::Division;
use crate::strategy::rules::Role;
use crate::strategy::select::Unit;
use crate::strategy::{Cost, Ends, Room};
use std::ops::{Add, Range};

/// At most this many gaps are described. All descriptions together cost at most one part in this many of the room.
const MAX_DESCRIPTIONS: usize = 3;
const ROOM_PER_DESCRIPTIONS: u64 = 32;

/// The levels of messages that report no problem, and among how many words at the beginning of a line its level is.
const QUIET_LEVELS: [&[u8]; 7] = [b"INFO", b"DEBUG", b"TRACE", b"NOTICE", b"VERBOSE", b"INF", b"DBG"];
const WORDS_TO_LEVEL: usize = 5;

/// Whether a line says that it reports no problem: `12:00:01 INFO …`, `[debug] …`, `level=info …`, `{"level":"info",…`.
fn has_quiet_level(line: &[u8]) -> bool {
    let is_level = |word: &[u8]| {
        let end = |byte: &u8| byte.is_ascii_punctuation();
        let from = word.iter().position(|byte| !end(byte)).unwrap_or(word.len());
        let letters = word[from..].iter().take_while(|byte| !end(byte)).count();
        let level = &word[from..from + letters];
        // Without marks around it, a word in lower case is part of a sentence.
        let is_marked = letters < word.len();
        QUIET_LEVELS.iter().any(|&name| level == name || is_marked && level.eq_ignore_ascii_case(name))
    };
    let fields = |word: &'_ [u8]| {
        let at = memchr::memmem::find(word, b"level").map_or(word.len(), |at| at + b"level".len());
        is_level(&word[at..])
    };
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(WORDS_TO_LEVEL);
    words.any(|word| is_level(word) || fields(word))
}

/// What the descriptions of gaps cost at most, if that is a small part of the room.
pub(super) fn cost(repeats: &Repeats, room: &Room<'_>) -> Cost {
    let mut costs: Vec<Cost> =
        repeats.widest_descriptions().map(|text| room.cost_of_contents(&text)).collect();
    costs.sort_by_key(|cost| std::cmp::Reverse(cost.bytes));
    let cost = costs.into_iter().take(MAX_DESCRIPTIONS).fold(Cost::default(), Cost::add);
    if room.limits.afford(cost.times(ROOM_PER_DESCRIPTIONS)) { cost } else { Cost::default() }
}

/// The templates of the lines that are shown, as they were when the lines were read.
pub(super) fn templates<'a>(
    shown: &'a [Unit<'_>],
    candidates: &'a [Candidate],
) -> impl Iterator<Item = u64> + 'a {
    let is_shown =
        |line: &&Candidate| shown.binary_search_by_key(&line.extent.start, |unit| unit.extent.start).is_ok();
    candidates.iter().filter(is_shown).map(|line| line.template)
}

/// What is known about the gaps between these units. Their descriptions cost at most what is reserved.
pub(super) fn of_gaps(
    shown: &[Unit<'_>],
    candidates: &[Candidate],
    reader: &LineReader,
    ends: &Ends,
    room: &Room<'_>,
    mut reserved: Cost,
) -> Vec<GapNote> {
    let LineReader { counts, repeats, matcher, unread, .. } = reader;
    let all = EndLines { ends, division: Division::Lines, bytes: u64::MAX, max_line_bytes: usize::MAX };
    let opening = all.head();
    let is_routine = |line: &Unit<'_>| {
        repeats.folds(line.extent.number) || is_routine(line.text, matcher) || has_quiet_level(line.text)
    };
    let interest = |bytes: &Range<u64>| {
        // What a footer would offer of a gap at the beginning.
        let from = opening.partition_point(|line| line.extent.start < bytes.start);
        let most = (bytes.end - bytes.start).min(NEXT_PAGE_BYTES as u64);
        let (lines, end) = ends.page(bytes.start, most, NEXT_PAGE_LINES);
        let page = opening[from..].iter().take_while(|line| line.extent.end <= end);
        // The first line may begin before the gap.
        let known = page.clone().count() as u64;
        if known > 0 && known + 1 >= lines && page.clone().all(is_routine) {
            return Interest::Routine;
        }
        let from = candidates.partition_point(|line| line.extent.start < bytes.start);
        let lines = candidates[from..].iter().take_while(|line| line.extent.start < bytes.end);
        let lines = lines.filter(|line| !repeats.folds(line.extent.number));
        let value = lines.map(|line| match content_value(line, counts, ends.bytes()) {
            value if value >= INFORMATIVE => value,
            _ if line.role.is_some_and(Role::is_unimportant) || has_quiet_level(line.text.bytes()) => 0,
            value => value,
        });
        let value = value.max().unwrap_or_default();
        let is_unread = || unread.iter().any(|range| range.start < bytes.end && bytes.start < range.end);
        match value {
            INFORMATIVE.. => Interest::Notable,
            1.. => Interest::Unknown,
            _ if is_unread() || reader.candidates.has_dropped(bytes) || repeats.has_data(bytes) => {
                Interest::Unknown
            }
            _ => Interest::Routine,
        }
    };
    let mut notes = Vec::new();
    let mut add = |bytes: Range<u64>, first: u64, last: u64| {
        if bytes.start >= bytes.end {
            return;
        }
        let contents = repeats.describe(&(first..=last), counts).filter(|contents| {
            let cost = room.cost_of_contents(contents);
            let is_affordable = cost.beyond(reserved) == Cost::default();
            reserved = if is_affordable { reserved.beyond(cost) } else { reserved };
            is_affordable
        });
        let contents = contents.unwrap_or_default();
        notes.push(GapNote { interest: interest(&bytes), bytes, contents });
    };
    // Which line the room starts in is unknown, unless it is the first.
    let (mut start, mut first) = (room.start, if room.start == 0 { 1 } else { u64::MAX });
    for unit in shown.iter().filter(|unit| !unit.text.is_empty()) {
        add(start..unit.extent.start, first, unit.extent.number - 1);
        (start, first) = (unit.extent.end, unit.extent.number + 1);
    }
    add(start..ends.bytes(), first, ends.lines());
    notes
}
