//! Reads notices back: the inverse of `Display`.

use super::display::{
    BEGINNING, BEING_WRITTEN, BYTES_SEARCHED, CONTROL_NOT_SHOWN, GROWING, INCOMPLETE, LAST, LINES_SO_FAR,
    LISTING, LOCAL_ONLY, MATCHES, MODIFIED, MODIFIED_LATER, MORE, MORE_MATCHES, NAME, NO_MATCH, NOT_STORED,
    ONE_MATCH, ONE_SEARCHED_IN_PART, RUNNING_NOT_STORED, SEARCHED, SEARCHED_IN_PART, SECONDS, SO_FAR,
    STILL_RUNNING, STORED, STRUCTURE, STRUCTURE_PART, UNITS,
};
use super::{Access, Amount, Count, Message, Notice, Place, Running, Tag};
use crate::store::{EntryState, Id};

/// How a status of a command begins. Other text in place of a status is not taken for a notice.
const STATUSES: [&str; 3] = ["exit ", "killed by signal ", "timed out"];

impl Notice {
    /// The notice that `line` is, if it is one. Whether it is a real one depends on its tag: see [`Tag`].
    pub fn parse(line: &str) -> Option<Notice> {
        let inner = line.strip_prefix('[')?.strip_suffix(']')?;
        let Some(rest) = inner.strip_prefix(NAME) else {
            return Some(Notice { tag: Tag::None, message: gap(inner)? });
        };
        let (tag, text) = rest.split_once(": ")?;
        Some(Notice { tag: Tag::parse(tag)?, message: Message::parse(text)? })
    }
}

impl Tag {
    /// The tag whose text after `offcut` is `rest`.
    fn parse(rest: &str) -> Option<Tag> {
        if rest.is_empty() {
            return Some(Tag::Plain);
        }
        if let Some(variant) = rest.strip_prefix('-') {
            return variant.parse().ok().filter(char::is_ascii_lowercase).map(Tag::Variant);
        }
        let id = rest.strip_prefix(' ')?;
        Id::is_prefix(id).then(|| Tag::Entry(id.to_owned()))
    }
}

impl Message {
    fn parse(text: &str) -> Option<Message> {
        gap(text)
            .or_else(|| rest(text))
            .or_else(|| header(text))
            .or_else(|| binary(text))
            .or_else(|| structure(text))
            .or_else(|| progress(text))
            .or_else(|| page(text))
            .or_else(|| incomplete(text))
            .or_else(|| modified(text))
            .or_else(|| searched(text))
            .or_else(|| matches(text))
            .or_else(|| listing(text))
            .or_else(|| footer(text))
    }
}

/// `303:961`
fn range(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once(':')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

fn gap(text: &str) -> Option<Message> {
    if let Some(lines) = text.strip_prefix("chosen from lines ") {
        let (first, last) = range(lines)?;
        return Some(Message::ChosenFrom { first, last });
    }
    let (text, after) = text.split_once(" not shown")?;
    let contents = reason(after)?;
    if let Some(line) = text.strip_prefix("line ") {
        let line = line.parse().ok()?;
        return Some(Message::Lines { first: line, last: line, contents });
    }
    if let Some(lines) = text.strip_prefix("lines ") {
        let (first, last) = range(lines)?;
        return Some(Message::Lines { first, last, contents });
    }
    if let Some((_, lines)) = text.split_once(" similar lines ") {
        let (first, last) = range(lines)?;
        return Some(Message::Similar { first, last, contents });
    }
    if let Some(bytes) = text.strip_prefix("bytes ") {
        let (bytes, line) = match bytes.split_once(" of line ") {
            Some((bytes, line)) => (bytes, Some(line.parse().ok()?)),
            None => (bytes, None),
        };
        let (start, end) = range(bytes)?;
        return Some(Message::Bytes { start, end, line, contents });
    }
    if !after.is_empty() {
        return None;
    }
    count(text).map(Message::Count)
}

fn count(text: &str) -> Option<Count> {
    let (number, unit) = text.split_once(' ')?;
    let number = number.parse().ok()?;
    match unit {
        "line" | "lines" => Some(Count::Lines(number)),
        "bytes" => Some(Count::Bytes(number)),
        _ => None,
    }
}

/// The text after `: `, or nothing.
fn reason(text: &str) -> Option<String> {
    if text.is_empty() { Some(String::new()) } else { text.strip_prefix(": ").map(str::to_owned) }
}

fn access(text: &str) -> Option<Access> {
    match text.strip_prefix(" and not stored") {
        Some(why) => Some(Access::NotStored { reason: reason(why)? }),
        None => text.strip_prefix(": ").map(|access| Access::By(access.to_owned())),
    }
}

fn rest(text: &str) -> Option<Message> {
    if let Some(after) = text.strip_prefix(CONTROL_NOT_SHOWN) {
        return access(after).map(Message::Control);
    }
    let (amount, after) = text.split_once(" not shown")?;
    let count = count(amount)?;
    let (detail, after) = match after.strip_prefix(" (") {
        Some(detail) => detail.split_once(')')?,
        None => ("", after),
    };
    Some(Message::Rest { count, detail: detail.to_owned(), access: access(after)? })
}

fn header(text: &str) -> Option<Message> {
    let (amounts, mut rest) = text.split_once("; ")?;
    let (shown, total) = amounts_shown(amounts)?;
    let mut details = Vec::new();
    loop {
        if let Some(place) = place(rest) {
            return Some(Message::Header { shown, total, details, place });
        }
        let (detail, after) = rest.split_once("; ")?;
        details.push(detail.to_owned());
        rest = after;
    }
}

/// `138 of 797 lines shown (8 of 61 kB)` or `8 of 61 kB shown`
fn amounts_shown(text: &str) -> Option<(Amount, Amount)> {
    let (lines, sizes) = match text.split_once(" lines shown (") {
        Some((lines, sizes)) => {
            let (shown, total) = lines.split_once(" of ")?;
            ((shown.parse().ok()?, total.parse().ok()?), sizes.strip_suffix(')')?)
        }
        None => ((1, 1), text.strip_suffix(" shown")?),
    };
    let (part, total) = sizes.split_once(" of ")?;
    let (total, unit) = total.split_once(' ')?;
    let (part, part_unit) = part.split_once(' ').unwrap_or((part, unit));
    let (part, total) = (size(part, part_unit)?, size(total, unit)?);
    Some((Amount { lines: lines.0, bytes: part }, Amount { lines: lines.1, bytes: total }))
}

/// `8.2` and `kB`
fn size(number: &str, unit: &str) -> Option<u64> {
    let unit = UNITS.into_iter().find(|known| known.name == unit)?.bytes;
    let (whole, tenths) = number.split_once('.').unwrap_or((number, "0"));
    let tenths = tenths.parse::<u64>().ok().filter(|tenths| *tenths < 10)?;
    whole.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(unit / 10 * tenths)
}

fn place(text: &str) -> Option<Place> {
    if let Some(location) = text.strip_prefix(STORED) {
        return Some(match location.split_once(LOCAL_ONLY) {
            Some((location, why)) => Place::LocalOnly { location: location.to_owned(), reason: reason(why)? },
            None => Place::Stored(location.to_owned()),
        });
    }
    if let Some(location) = text.strip_prefix(GROWING) {
        return Some(Place::Growing(location.to_owned()));
    }
    if let Some(location) = text.strip_prefix(INCOMPLETE) {
        return Some(Place::Incomplete(location.to_owned()));
    }
    if let Some(beginning) = text.strip_prefix(BEGINNING) {
        let (bytes, why) = beginning.split_once(" bytes were stored")?;
        return Some(Place::Beginning { bytes: bytes.parse().ok()?, reason: reason(why)? });
    }
    Some(Place::NotStored { reason: reason(text.strip_prefix(NOT_STORED)?)? })
}

fn binary(text: &str) -> Option<Message> {
    let (what, place_text) = text.strip_prefix("binary output")?.split_once(" bytes, not shown; ")?;
    let (media_type, bytes) = what.rsplit_once(", ")?;
    let media_type = match media_type {
        "" => None,
        known => Some(known.strip_prefix(" (")?.strip_suffix(')')?.to_owned()),
    };
    Some(Message::Binary { media_type, bytes: bytes.parse().ok()?, place: place(place_text)? })
}

fn structure(text: &str) -> Option<Message> {
    let (bytes, after) = text.strip_prefix(STRUCTURE)?.split_once(STRUCTURE_PART)?;
    let (not_shown, after) = match after.strip_prefix(" (") {
        Some(not_shown) => not_shown.split_once(" not shown)")?,
        None => ("", after),
    };
    let (bytes, not_shown) = (bytes.parse().ok()?, not_shown.to_owned());
    Some(Message::Structure { bytes, not_shown, access: access(after)? })
}

fn progress(text: &str) -> Option<Message> {
    let (seconds, rest) = text.split_once(SECONDS)?;
    let (lines, rest) = rest.split_once(LINES_SO_FAR)?;
    let last = if rest.is_empty() { "" } else { rest.strip_prefix(LAST)? };
    Some(Message::Progress {
        seconds: seconds.parse().ok()?,
        lines: lines.parse().ok()?,
        last: last.to_owned(),
    })
}

fn page(text: &str) -> Option<Message> {
    let (place, more) = text.strip_prefix("page ends at byte ")?.split_once("; ")?;
    let (end, total) = place.split_once(" of ")?;
    let more = more.strip_prefix(MORE)?.to_owned();
    Some(Message::Page { end: end.parse().ok()?, total: total.parse().ok()?, more })
}

fn incomplete(text: &str) -> Option<Message> {
    if let Some(bytes) = text.strip_prefix(BEING_WRITTEN) {
        let bytes = bytes.strip_suffix(SO_FAR)?.parse().ok()?;
        return Some(Message::Incomplete { state: EntryState::Running, bytes });
    }
    let (name, after) = text.split_once(" after ")?;
    let (bytes, why) = after.split_once(" bytes: ")?;
    let reason = why.to_owned();
    let state = match name {
        "capped" => EntryState::Capped { reason },
        "damaged" => EntryState::Damaged { reason },
        "abandoned" => EntryState::Abandoned,
        _ => return None,
    };
    Some(Message::Incomplete { state, bytes: bytes.parse().ok()? })
}

fn modified(text: &str) -> Option<Message> {
    let (start, end) = range(text.strip_prefix(MODIFIED)?.strip_suffix(MODIFIED_LATER)?)?;
    Some(Message::Modified { start, end })
}

fn searched(text: &str) -> Option<Message> {
    if text == ONE_SEARCHED_IN_PART {
        return Some(Message::SearchedInPart { outputs: 1 });
    }
    if let Some(outputs) = text.strip_suffix(SEARCHED_IN_PART) {
        return Some(Message::SearchedInPart { outputs: outputs.parse().ok()? });
    }
    let (bytes, reason) = text.strip_prefix(SEARCHED)?.split_once(BYTES_SEARCHED)?;
    Some(Message::Searched { bytes: bytes.parse().ok()?, reason: reason.to_owned() })
}

fn matches(text: &str) -> Option<Message> {
    match text {
        NO_MATCH => return Some(Message::Matches { shown: 0, total: 0 }),
        ONE_MATCH => return Some(Message::Matches { shown: 1, total: 1 }),
        _ => {}
    }
    let (count, after) = text.split_once(MATCHES)?;
    let (shown, total) = match after {
        "" => (count, count),
        MORE_MATCHES => count.split_once(" of ")?,
        _ => return None,
    };
    Some(Message::Matches { shown: shown.parse().ok()?, total: total.parse().ok()? })
}

fn listing(text: &str) -> Option<Message> {
    let (shown, total) = text.strip_suffix(LISTING)?.split_once(" of ")?;
    Some(Message::Listing { shown: shown.parse().ok()?, total: total.parse().ok()? })
}

fn footer(text: &str) -> Option<Message> {
    let (head, more) = match text.strip_prefix(MORE) {
        Some(more) => ("", Some(more.to_owned())),
        None => match text.split_once(&format!("; {MORE}")) {
            Some((head, more)) => (head, Some(more.to_owned())),
            None => (text, None),
        },
    };
    let (mut status, mut running) = (None, None);
    for part in head.split("; ").filter(|part| !part.is_empty()) {
        match part {
            STILL_RUNNING => running = Some(Running::Stored),
            part if part.starts_with(RUNNING_NOT_STORED) => {
                running = Some(Running::NotStored { reason: reason(&part[RUNNING_NOT_STORED.len()..])? });
            }
            part if STATUSES.iter().any(|status| part.starts_with(status)) => status = Some(part.to_owned()),
            _ => return None,
        }
    }
    let is_empty = status.is_none() && running.is_none() && more.is_none();
    (!is_empty).then_some(Message::Footer { status, running, more })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each notice as text, which is read back and written again.
    #[test]
    fn parse_reverses_display() {
        for line in [
            "[offcut: 138 of 797 lines shown (8 of 61 kB); nothing is lost: /tmp/a; b.txt]",
            "[offcut: 0 of 3 lines shown (0.4 of 61 MB); 212 matches in 14 files; terminal control not shown; stored so far: offcut://1q2h]",
            "[offcut: 2 of 9 lines shown (812 of 9602 bytes); a part may be lost; stored as received: /tmp/a.txt]",
            "[offcut: 812 of 9602 bytes shown; the rest was not stored: No space left on device: disk full]",
            "[offcut-b: 2 of 9 lines shown (812 of 9602 bytes); only the first 20 bytes were stored]",
            "[offcut: 1 of 2 lines shown (1.7 kB of 12 GB); nothing is lost: /tmp/a.txt, only on this machine so far: timed out]",
            "[offcut: lines 303:961 not shown]",
            "[lines 303:961 not shown]",
            "[offcut: line 7 not shown]",
            "[offcut 1q2hzv0gep704m32: 594 similar lines 303:896 not shown]",
            "[offcut: 594 similar lines 303:896 not shown: score 0…9987]",
            "[offcut: bytes 567:98867 of line 1 not shown]",
            "[bytes 567:98867 not shown]",
            "[bytes 567:98867 of line 1 not shown: 12 elements]",
            "[offcut: chosen from lines 1:900]",
            "[offcut: 1 line not shown]",
            "[offcut: 99885 lines not shown: offcut read 1q2hzv0gep --lines 60:259]",
            "[offcut: 40 bytes not shown (212 matches) and not stored: disk full]",
            "[offcut: 27 lines not shown and not stored]",
            "[offcut: terminal control not shown: offcut://1q2hzv0gep]",
            "[offcut: binary output (image/png), 48211 bytes, not shown; nothing is lost: /tmp/a.png]",
            "[offcut: binary output, 48211 bytes, not shown; the rest was not stored]",
            "[offcut 1q2hzv0gep: exit 0 after 2.5 s; more: offcut read 1q2hzv0gep --lines 303:502, or offcut grep PATTERN 1q2hzv0gep]",
            "[offcut 1q2hzv0gep: more: offcut read 1q2hzv0gep]",
            "[offcut 1q2hzv0gep: structuredContent of 5100000 bytes is shown in part: more: offcut_read {}]",
            "[offcut: structuredContent of 5100000 bytes is shown in part and not stored: disk full]",
            "[offcut: exit 1 after 0.1 s; still running, later output is not stored: disk full]",
            "[offcut 1q2hzv0gep: killed by signal 9 after 3.0 s; still running, later output is added; more: offcut read 1q2hzv0gep]",
            "[offcut 1q2hzv0gep: still being written; 812 bytes so far]",
            "[offcut 1q2hzv0gep: capped after 2000 bytes: No space left on device: disk full]",
            "[offcut 1q2hzv0gep: abandoned after 0 bytes: the writing process ended early]",
            "[offcut 1q2hzv0gep: damaged after 20 bytes: the file is missing]",
            "[offcut 1q2hzv0gep: checksum mismatch in bytes 1048576:2097152: the file was modified after it was stored]",
            "[offcut 1q2hzv0gep: only 812 bytes searched: still being written]",
            "[offcut 1q2hzv0gep: only 812 bytes searched: capped, No space left on device: disk full]",
            "[offcut: 12 outputs were not searched as a whole]",
            "[offcut: 1 output was not searched as a whole]",
            "[offcut: 27 of 100000 matching lines shown; narrow the pattern, or read around a line]",
            "[offcut: 0 of 1 matching lines shown; narrow the pattern, or read around a line]",
            "[offcut: 27 matching lines]",
            "[offcut: 1 matching line]",
            "[offcut: no line matches]",
            "[offcut: 20 of 140 stored outputs, newest first]",
            "[offcut 1q2hzv0gep: still running, later output is added; more: offcut read 1q2hzv0gep --lines -50:]",
            "[offcut 1q2hzv0gep: 120 s, 5400 lines so far; last: [12/40] Compiling a; last: b]",
            "[offcut: 1 s, 0 lines so far]",
            "[offcut 1q2hzv0gep: page ends at byte 8000 of 588895; more: offcut read 1q2hzv0gep --lines 303:502]",
        ] {
            let notice = Notice::parse(line).unwrap_or_else(|| panic!("not a notice: {line}"));
            assert_eq!(notice.to_string(), line);
        }
    }

    #[test]
    fn entry_is_in_the_tag_or_the_location() {
        for (line, id) in [
            ("[offcut 1q2hzv0gep: exit 0]", Some("1q2hzv0gep")),
            (
                "[offcut: 1 of 2 lines shown (8 of 61 kB); nothing is lost: /a b/1q2hzv0gep704m32.txt]",
                Some("1q2hzv0gep704m32"),
            ),
            ("[offcut: 3 lines not shown: offcut://1q2hzv0gep]", Some("1q2hzv0gep")),
            ("[offcut: lines 303:961 not shown]", None),
        ] {
            assert_eq!(Notice::parse(line).unwrap().entry(), id, "{line}");
        }
    }

    #[test]
    fn parse_rejects_other_text() {
        for line in [
            "",
            "[",
            "[]",
            "[offcut]",
            "[offcut: ]",
            "[offcut: everything is fine]",
            "[offcut ../etc/passwd: more: x]",
            "[warning: lines 1:2 not shown]",
            "[exit 0]",
            "offcut: lines 1:2 not shown",
            "[offcut: lines 1 to 2 not shown]",
            "[offcut: 138 of 797 lines shown (8 of 61 kB); see below]",
            "[offcut: 27 matching lines of 30]",
            "[offcut: complete after 20 bytes: enough]",
            "[offcut: capped after some bytes: disk full]",
            "[offcut: 20 stored outputs, newest first]",
            "[offcut: 18446744073709551616 lines not shown]",
            "[offcut: 1 of 18446744073709551615 GB shown; the rest was not stored]",
        ] {
            assert_eq!(Notice::parse(line), None, "{line}");
        }
    }
}
