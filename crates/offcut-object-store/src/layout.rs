//! The keys of the objects in the bucket.
//!
//! ```text
//! PREFIX/output/2026/11/15/ID.txt     the bytes of an output
//! PREFIX/lines/2026/11/15/ID.json     the sparse line index of a large output
//! PREFIX/entry/2026/11/15/ID.c.588895.100000.native.bash.session.host.json     its metadata
//! PREFIX/pin/ID                       exists if the entry is pinned
//! ```
//!
//! The day is that of the id, so an id is enough to find its bytes. An entry exists when its metadata does, which is
//! written last. What a listing shows and filters by is in the key of the metadata: a listing makes one request per
//! thousand entries and reads none of them.

use jiff::{Timestamp, tz::TimeZone};
use object_store::path::Path;
use offcut::Context;
use offcut::store::{Entry, EntryFilter, EntryState, Id};

/// The longest that a field of a key may be; a longer one is cut and gets a digest. The second length is for keys that
/// would have a longer name than a server accepts with the first.
const MAX_FIELDS: [usize; 2] = [64, 32];

/// The longest name that servers on top of a file system accept.
const MAX_NAME: usize = 255;

/// The keys of one store.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    root: String,
}

impl Layout {
    pub(crate) fn new(root: String) -> Layout {
        Layout { root }
    }

    pub(crate) fn output(&self, id: &Id) -> Path {
        self.path(&format!("output/{}/{id}.txt", day(id)))
    }

    pub(crate) fn lines(&self, id: &Id) -> Path {
        self.path(&format!("lines/{}/{id}.json", day(id)))
    }

    pub(crate) fn pin(&self, id: &Id) -> Path {
        self.path(&format!("pin/{id}"))
    }

    /// An object that shows whether the server refuses to overwrite.
    pub(crate) fn probe(&self) -> Path {
        self.path("probe")
    }

    /// The prefix of all objects of this kind: `entry`, `output`, `lines` or `pin`, with a slash.
    pub(crate) fn folder(&self, kind: &str) -> String {
        format!("{}{kind}/", self.root)
    }

    /// The key of an entry's metadata up to the end of its id.
    pub(crate) fn entry_start(&self, id: &Id) -> String {
        format!("{}entry/{}/{id}", self.root, day(id))
    }

    /// The prefix of an entry's metadata: one object or none has it.
    pub(crate) fn entry_prefix(&self, id: &Id) -> String {
        self.entry_start(id) + "."
    }

    pub(crate) fn entry(&self, entry: &Entry) -> Path {
        let state = match entry.state {
            EntryState::Complete => 'c',
            EntryState::Capped { .. } => 'p',
            EntryState::Damaged { .. } => 'd',
            EntryState::Abandoned | EntryState::Running | EntryState::Unsupported { .. } => 'a',
        };
        let lines = entry.lines.map_or_else(String::new, |lines| lines.to_string());
        let (id, bytes) = (entry.id, entry.bytes);
        let texts = [
            Some(&entry.profile),
            entry.context.tool.as_ref(),
            entry.context.session.as_ref(),
            entry.host.as_ref(),
        ];
        let [name, shorter] = MAX_FIELDS.map(|most| {
            let fields = texts.map(|text| field(text.map(String::as_str), most));
            format!("{id}.{state}.{bytes}.{lines}.{}.json", fields.join("."))
        });
        let name = if name.len() <= MAX_NAME { name } else { shorter };
        self.path(&format!("entry/{}/{name}", day(&id)))
    }

    /// What the key of an entry's metadata says; nothing if it is not one.
    pub(crate) fn item(key: &str) -> Option<Entry> {
        let name = key.rsplit('/').next()?.strip_suffix(".json")?;
        let parts: Vec<&str> = name.split('.').collect();
        let [id, state, bytes, lines, profile, tool, session, host] = parts[..] else { return None };
        // The key does not contain the reason.
        let reason = "see `offcut show`".to_owned();
        let state = match state {
            "c" => EntryState::Complete,
            "p" => EntryState::Capped { reason },
            "d" => EntryState::Damaged { reason },
            "a" => EntryState::Abandoned,
            // Another letter is from a newer version. Its number is in the metadata, which a listing does not read.
            _ => EntryState::Unsupported { version: 0 },
        };
        Some(Entry {
            context: Context { tool: text(tool), session: text(session), ..Context::default() },
            host: text(host),
            profile: text(profile).unwrap_or_default(),
            bytes: bytes.parse().ok()?,
            lines: lines.parse().ok(),
            ..Entry::unknown(Id::parse(id)?, state)
        })
    }

    /// Whether the key of an entry's metadata has the tool, session and host of the selection. They are compared as
    /// encoded, so that those that were cut match too.
    pub(crate) fn is_selected(key: &str, selection: &EntryFilter) -> bool {
        let expected = [&selection.tool, &selection.session, &selection.host];
        let fields = key.rsplit('/').next().unwrap_or_default().split('.').skip(5);
        let is_found =
            |found: &str, text: &str| MAX_FIELDS.iter().any(|&most| field(Some(text), most) == found);
        fields.zip(expected).all(|(found, text)| text.as_ref().is_none_or(|text| is_found(found, text)))
    }

    fn path(&self, below: &str) -> Path {
        // No part contains a character that has to be encoded.
        Path::from(format!("{}{below}", self.root))
    }
}

/// The day of an id as a part of keys: `2026/11/15`.
fn day(id: &Id) -> String {
    let timestamp = Timestamp::try_from(id.time()).unwrap_or(Timestamp::UNIX_EPOCH);
    timestamp.to_zoned(TimeZone::UTC).strftime("%Y/%m/%d").to_string()
}

/// Encodes a text for a key: letters, digits, `-` and `_` as they are, other bytes as `=2F`. At most `most` bytes, and a digest.
fn field(text: Option<&str>, most: usize) -> String {
    let Some(text) = text else { return String::new() };
    let mut name = String::new();
    for byte in text.bytes() {
        let encoded = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
            byte => format!("={byte:02X}"),
        };
        if name.len() + encoded.len() > most {
            // No encoded byte contains `==`.
            return format!("{name}=={:08x}", digest(text));
        }
        name += &encoded;
    }
    if name.is_empty() { "=".to_owned() } else { name }
}

/// Decodes a field of a key.
fn text(field: &str) -> Option<String> {
    let (name, ellipsis) = field.split_once("==").map_or((field, ""), |(name, _)| (name, "…"));
    let mut parts = name.split('=');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let byte = part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.extend(byte);
        bytes.extend_from_slice(&part.as_bytes()[if byte.is_some() { 2 } else { 0 }..]);
    }
    (!field.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned() + ellipsis)
}

/// FNV-1a, to distinguish long texts; not a protection against collisions made on purpose.
fn digest(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;
    use offcut::store::{NewEntry, contract};
    use std::time::{Duration, UNIX_EPOCH};

    fn entry(tool: Option<&str>, session: Option<&str>, host: Option<&str>) -> Entry {
        let context = Context {
            tool: tool.map(str::to_owned),
            session: session.map(str::to_owned),
            ..Context::default()
        };
        let id = Id::new(UNIX_EPOCH + Duration::from_secs(1_794_700_800), 7);
        let entry = Entry::new(id, id.time(), &NewEntry::new(&context, "native"));
        Entry { host: host.map(str::to_owned), ..entry }.committed(
            4,
            EntryState::Complete,
            contract::summary(b"a\nb\n"),
        )
    }

    /// Checks the key of an entry with these fields, and that it decodes to the same item.
    #[track_caller]
    fn check(tool: Option<&str>, session: Option<&str>, host: Option<&str>, expected: &str) {
        let layout = Layout::new("team/".to_owned());
        let entry = entry(tool, session, host);
        let key = layout.entry(&entry).to_string();
        assert_eq!(key, format!("team/entry/2026/11/15/{}.c.4.2.native.{expected}.json", entry.id));
        assert!(key.rsplit('/').next().unwrap().len() <= 255);
        let item = Layout::item(&key).unwrap();
        let long = |text: Option<&str>| text.is_some_and(|text| text.len() > 20);
        if !long(tool) && !long(session) && !long(host) {
            assert_eq!(item, Entry { summary: None, ..entry });
        }
        let selection =
            |tool: Option<&str>| EntryFilter { tool: tool.map(str::to_owned), ..EntryFilter::default() };
        assert!(Layout::is_selected(&key, &selection(tool)));
        assert!(!Layout::is_selected(&key, &selection(Some("another"))));
    }

    #[test]
    fn keys_contain_what_a_listing_shows() {
        check(Some("bash"), Some("s-1"), Some("ci-7"), "bash.s-1.ci-7");
        check(None, None, None, "..");
        check(Some(""), None, Some("a.b"), "=..a=2Eb");
        check(Some("../x\n\0"), Some("漢"), None, "=2E=2E=2Fx=0A=00.=E6=BC=A2.");
        let long = "x".repeat(100);
        check(Some(&long), None, None, &format!("{}==ac246ad5..", "x".repeat(64)));
        let shorter = format!("{}==ac246ad5", "x".repeat(32));
        check(Some(&long), Some(&long), Some(&long), &[&*shorter; 3].join("."));
    }

    #[test]
    fn output_key_follows_from_the_id() {
        let layout = Layout::new(String::new());
        let id = Id::new(UNIX_EPOCH + Duration::from_secs(1_794_700_800), 7);
        assert_eq!(layout.output(&id).to_string(), format!("output/2026/11/15/{id}.txt"));
        assert!(Layout::item("entry/2026/11/15/strange").is_none());
        assert!(Layout::item(&format!("entry/2026/11/15/{id}.c.x.y.json")).is_none());
    }
}
