//! Detects previews and pages that offcut wrote, so that nothing is cut or stored twice.
//!
//! Any program can print a line that looks like a notice. It counts only if the store has the entry that it names and
//! the text equals what was shown of the entry, or a page of it, byte for byte. How much else the text may have follows
//! from the entry, not from the text: its notices, with a marker for each gap and for nothing else. Every other text is
//! bounded. The check costs one read of what is shown.

use crate::cut::{Gap, GapReason};
use crate::limits::Limits;
use crate::notice::{Message, Notice, Tag};
use crate::retrieve::Source;
use crate::store::{Entry, Id, Store};
use crate::terminal::rendered;
use memchr::memmem;
use std::sync::Arc;

/// The most bytes that a host may have added around a preview.
const AROUND: usize = 512;

/// The most bytes of a header and a footer together, without the locations in them.
const HEADER_AND_FOOTER: usize = 1024;

/// The most times that the notices of a preview name where the output is: the header, and the commands of the footer.
const LOCATIONS: usize = 4;

/// The most bytes of a marker, or of what a strategy wrote into a gap.
const MARKER: usize = 128;

/// The longest line that is read as a notice.
const LONGEST_NOTICE: usize = 8 << 10;

/// The largest page, and the largest preview that passes although the limits are lower than those it was made with.
const LARGEST: usize = 64 << 10;

/// A longer range with terminal control sequences is not rendered again.
const MOST_CONTROL: usize = 16 << 20;

/// The most ids per text that are looked up: a preview has few.
const MOST_NAMES: usize = 4;

/// At how many lines like its first one a piece may begin.
const MOST_STARTS: usize = 16;

/// The number of newest entries among which a path in the text is looked up.
const NEWEST: usize = 256;

/// Words in the notices of the profiles that name a file.
const FRAMES: [&str; 2] = ["truncated", "截断"];

/// The size of the longest text that can be a preview under these limits, or a page.
pub(crate) fn longest(limits: &Limits) -> u64 {
    let added = (AROUND + HEADER_AND_FOOTER) as u64;
    limits.ceiling().saturating_add(added).max(LARGEST as u64)
}

/// Whether `text` is a preview or a page of an entry in `store`.
pub(crate) fn is_own_preview(text: &[u8], store: &Arc<dyn Store>, limits: &Limits) -> bool {
    let store = &**store;
    if text.len() as u64 > longest(limits) {
        return false;
    }
    let is_named = |entry: Entry| {
        let source = Source::unverified(store, &entry);
        source.is_ok_and(|source| is_preview(text, &source, &entry) || is_page(text, &source))
    };
    named_entries(text, store).into_iter().any(is_named) || is_framed(text, store)
}

/// Whether `text` is a preview that names its file, as in the profiles' notices: only the newest entries are compared.
fn is_framed(text: &[u8], store: &dyn Store) -> bool {
    if !FRAMES.iter().any(|word| memmem::find(text, word.as_bytes()).is_some()) {
        return false;
    }
    let is_named = |entry: &Entry| {
        // A path may be relative to the root of a project.
        let name = entry.path.as_ref().and_then(|path| path.file_name()?.to_str());
        name.is_some_and(|name| memmem::find(text, name.as_bytes()).is_some())
    };
    let ids = store.ids().unwrap_or_default();
    let newest = ids.iter().rev().take(NEWEST).filter_map(|id| store.entry(id).ok());
    let shows = |entry: Entry| {
        Source::unverified(store, &entry).is_ok_and(|source| is_preview(text, &source, &entry))
    };
    newest.filter(is_named).take(MOST_NAMES).any(shows)
}

/// The notices in the text, with the offset of each. A host may have put text before them on their line.
fn notices(text: &[u8]) -> impl Iterator<Item = (usize, Notice)> + '_ {
    memmem::find_iter(text, b"[offcut").filter_map(|start| {
        let line = &text[start..text.len().min(start + LONGEST_NOTICE)];
        let line = line.split(|&byte| byte == b'\n').next()?;
        Some((start, Notice::parse(std::str::from_utf8(line).ok()?.trim_end())?))
    })
}

/// The entries that the notices in the text name, each once.
fn named_entries(text: &[u8], store: &dyn Store) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (_, notice) in notices(text) {
        if entries.len() == MOST_NAMES {
            break;
        }
        let Some(entry) = notice.entry().and_then(|id| entry(id, store)) else { continue };
        if !entries.iter().any(|known| known.id == entry.id) {
            entries.push(entry);
        }
    }
    entries
}

/// The only entry whose id begins with `id`.
fn entry(id: &str, store: &dyn Store) -> Option<Entry> {
    let id = match Id::parse(id) {
        Some(id) => id,
        None => match store.ids_with_prefix(id).ok()?[..] {
            [only] => only,
            _ => return None,
        },
    };
    store.entry(&id).ok()
}

/// Whether the text contains everything that was shown of the entry, in order, and little else.
fn is_preview(text: &[u8], source: &Source<'_>, entry: &Entry) -> bool {
    let Some(summary) = &entry.summary else { return false };
    let (mut at, mut shown, mut from) = (0, 0, 0);
    let announced = announcement(text, entry);
    let mut find = |piece: &[u8]| {
        // Hosts trim white space at the ends, and offcut adds line ends inside a line.
        let piece = piece.trim_ascii();
        shown += piece.len();
        // What was printed while the command ran may end in the middle of a piece.
        let printed =
            announced.and_then(|end| text.get(at..end)).map_or(0, |early| common_start(early, piece));
        let (begin, rest) = match announced {
            Some(end) if (1..piece.len()).contains(&printed) => (end, piece[printed..].trim_ascii_start()),
            _ => (at, piece),
        };
        let found = memmem::find(&text[begin..], rest);
        at = begin + found.unwrap_or(0) + rest.len();
        found.is_some()
    };
    let read = |start: u64, end: u64, most: usize| {
        let length = usize::try_from(end.saturating_sub(start)).ok().filter(|&length| length <= most)?;
        let mut piece = vec![0; length];
        matches!(source.read(start, &mut piece), Ok(count) if count == length).then_some(piece)
    };
    for gap in &summary.gaps {
        let drawn = match gap.why {
            GapReason::Control => read(gap.start, gap.end, MOST_CONTROL).map(|bytes| rendered(&bytes)),
            _ => Some(Vec::new()),
        };
        let before = read(from, gap.start, text.len());
        if !before.is_some_and(|piece| find(&piece)) || !drawn.is_some_and(|piece| find(&piece)) {
            return false;
        }
        from = gap.end;
    }
    if !read(from, source.total, text.len()).is_some_and(|piece| find(&piece)) {
        return false;
    }
    // Lines that matter were also printed at once.
    let printed_twice = announced.map_or(0, |_| text.len() / 4);
    let names = names_in_marks(&summary.gaps, text).min(shown);
    let most = shown + most_added(entry, &summary.gaps) + names + printed_twice;
    shown > 0 && text.len() <= most && has_markers_of(&summary.gaps, text)
}

/// The most bytes that offcut adds to what is shown of the entry, and a host around that. Without a gap there is no preview.
fn most_added(entry: &Entry, gaps: &[Gap]) -> usize {
    let markers = gaps.iter().filter(|gap| gap.why != GapReason::Control).count();
    match gaps {
        [] => 0,
        _ => AROUND + HEADER_AND_FOOTER + LOCATIONS * entry.location().len() + MARKER * markers,
    }
}

/// How many bytes the marks of an outline have beyond [`MARKER`], because they name what they hide. A gap has one mark.
fn names_in_marks(gaps: &[Gap], text: &[u8]) -> usize {
    let is_long = |line: &&[u8]| line.len() > MARKER && line.starts_with(b"[line");
    let lines = text.split(|&byte| byte == b'\n').filter(is_long);
    let marks = lines.filter_map(|line| Some((Notice::parse(std::str::from_utf8(line).ok()?)?, line.len())));
    let mut next = 0;
    let names = marks.filter_map(|(mark, length)| {
        let gap = gaps[next..].iter().position(|gap| is_of_gap(&mark.message, gap))?;
        next += gap + 1;
        Some(length - MARKER)
    });
    names.sum()
}

/// Where the text says that the command still runs. What is before it was printed while the command ran.
fn announcement(text: &[u8], entry: &Entry) -> Option<usize> {
    let is_announcement = |notice: &Notice| {
        let is_of_entry = notice.entry().is_some_and(|id| entry.id.to_string().starts_with(id));
        is_of_entry && matches!(notice.message, Message::Footer { status: None, running: Some(_), .. })
    };
    notices(text).find(|(_, notice)| is_announcement(notice)).map(|(start, _)| start)
}

/// How many bytes at the start of `piece` the text ends with. What comes before them is what a host added, or a notice.
fn common_start(text: &[u8], piece: &[u8]) -> usize {
    let text = text.trim_ascii_end();
    let first = piece.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_line = |at: &usize| *at == 0 || text[at - 1] == b'\n';
    let mut starts = memmem::find_iter(text, first).filter(is_line).take(MOST_STARTS);
    starts.find(|&at| piece.starts_with(&text[at..])).map_or(0, |at| text.len() - at)
}

/// Whether every marker is that of a gap. The output contains none with the tag of the first notice that does not name the
/// entry.
fn has_markers_of(gaps: &[Gap], text: &[u8]) -> bool {
    let first = notices(text).find(|(_, notice)| !matches!(notice.tag, Tag::Entry(_)));
    let Some((_, Notice { tag, .. })) = first.or_else(|| notices(text).next()) else { return true };
    let is_marker = |message: &Message| {
        use Message::{Bytes, ChosenFrom, Lines, Similar};
        matches!(message, Lines { .. } | Similar { .. } | ChosenFrom { .. } | Bytes { .. })
    };
    let mut markers = notices(text).filter(|(_, notice)| notice.tag == tag && is_marker(&notice.message));
    markers.all(|(_, notice)| gaps.iter().any(|gap| is_of_gap(&notice.message, gap)))
}

/// Whether a marker is that of a gap.
fn is_of_gap(marker: &Message, gap: &Gap) -> bool {
    match *marker {
        Message::Lines { first, last, .. }
        | Message::Similar { first, last, .. }
        | Message::ChosenFrom { first, last } => (gap.first_line, gap.last_line) == (first, last),
        Message::Bytes { start, end, .. } => (gap.start, gap.end) == (start, end),
        _ => false,
    }
}

/// Whether the text is a page of the entry, whose last line says at which byte it ends.
fn is_page(text: &[u8], source: &Source<'_>) -> bool {
    let Some((start, Notice { message: Message::Page { end, .. }, .. })) = notices(text).last() else {
        return false;
    };
    let page = text[..start].trim_ascii_end();
    if page.is_empty() || text.len() > LARGEST || text.len() - start > AROUND || end >= source.total {
        return false;
    }
    // The line feed before the last line may be added, and a host may have removed blanks.
    let window = page.len() as u64 + 256;
    let mut stored = vec![0; window.min(end) as usize];
    let from = end - stored.len() as u64;
    matches!(source.read(from, &mut stored), Ok(count) if count == stored.len())
        && stored.trim_ascii_end().ends_with(page)
}

#[cfg(test)]
mod tests {
    use super::common_start;

    #[test]
    fn start_of_a_piece_is_found_at_the_end_of_a_text() {
        for (text, piece, expected) in [
            ("one\ntwo\n", "one\ntwo\nthree\n", "one\ntwo"),
            // The first line of the piece is also in what a host added, and in another line.
            ("> ok\nit is ok\nok\ntwo\n", "ok\ntwo\nthree\n", "ok\ntwo"),
            ("ok\nno\nok\n", "ok\nyes\n", "ok"),
            ("one\n", "two\n", ""),
            ("", "two\n", ""),
        ] {
            assert_eq!(common_start(text.as_bytes(), piece.as_bytes()), expected.len(), "{text:?} {piece:?}");
        }
    }
}
