//! Where things lie in the bucket.
//!
//! ```text
//! PREFIX/output/2026/11/15/ID.txt     the bytes, as they came
//! PREFIX/lines/2026/11/15/ID.json     the sparse line index of a large output
//! PREFIX/entry/2026/11/15/ID.c.588895.100000.native.bash.session.host.json     what is known about it
//! PREFIX/pin/ID                       there if the entry is pinned
//! ```
//!
//! The day is that of the id, so an id alone leads to its bytes, and a rule for a folder is a rule for what lies in
//! it. An entry exists when its description does, which is written last. What a listing shows and filters by stands in
//! the description's name: a listing costs one request for each thousand entries and reads none of them.

use jiff::{Timestamp, tz::TimeZone};
use object_store::path::Path;
use offcut::store::{Entry, EntryState, Id, Item, Pin, Selection, UploadState};

/// The longest that a field may be in a name; what is longer is cut, and told apart by a digest.
const LONGEST: usize = 64;

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

    /// Tells whether the server refuses to overwrite.
    pub(crate) fn probe(&self) -> Path {
        self.path("probe")
    }

    /// The folder of pins, with a slash.
    pub(crate) fn pins(&self) -> String {
        format!("{}pin/", self.root)
    }

    /// The folder of everything of this kind: `entry`, `output` or `lines`, with a slash.
    pub(crate) fn folder(&self, kind: &str) -> String {
        format!("{}{kind}/", self.root)
    }

    /// What the names of descriptions begin with whose ids begin like this; an id or the beginning of one.
    pub(crate) fn entries_like(&self, day: &str, beginning: &str) -> String {
        format!("{}entry/{day}/{beginning}", self.root)
    }

    pub(crate) fn entry(&self, entry: &Entry) -> Path {
        let state = match entry.completeness {
            EntryState::Complete => 'c',
            EntryState::Partial { .. } => 'p',
            EntryState::Abandoned | EntryState::Writing => 'a',
        };
        let lines = entry.lines().map_or_else(String::new, |lines| lines.to_string());
        let fields = [
            field(Some(&entry.profile)),
            field(entry.context.tool.as_deref()),
            field(entry.context.session.as_deref()),
            field(entry.host.as_deref()),
        ];
        let (id, bytes) = (entry.id, entry.bytes);
        self.path(&format!("entry/{}/{id}.{state}.{bytes}.{lines}.{}.json", day(&id), fields.join(".")))
    }

    /// What the name of a description tells; nothing if it is not one.
    pub(crate) fn item(&self, key: &str) -> Option<Listed> {
        let name = key.rsplit('/').next()?.strip_suffix(".json")?;
        let parts: Vec<&str> = name.split('.').collect();
        let [id, state, bytes, lines, profile, tool, session, host] = parts[..] else { return None };
        let id = Id::parse(id)?;
        let completeness = match state {
            "c" => EntryState::Complete,
            "p" => EntryState::Partial { reason: "`offcut show` tells why".to_owned() },
            _ => EntryState::Abandoned,
        };
        let item = Item {
            id,
            tool: text(tool),
            session: text(session),
            host: text(host),
            profile: text(profile).unwrap_or_default(),
            bytes: bytes.parse().ok()?,
            lines: lines.parse().ok(),
            completeness,
            pin: Pin::Loose,
            upload_state: UploadState::Uploaded,
        };
        let fields = [tool, session, host].map(str::to_owned);
        Some(Listed { item, fields })
    }

    fn path(&self, below: &str) -> Path {
        // All parts are of harmless characters, so nothing has to be encoded.
        Path::from(format!("{}{below}", self.root))
    }
}

/// An item, and its fields as they stand in the name.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) item: Item,
    fields: [String; 3],
}

impl Listed {
    /// Whether it is wanted. Names are compared as they are written, so that those that were cut are found too.
    pub(crate) fn is_wanted(&self, selection: &Selection) -> bool {
        let wanted = [&selection.tool, &selection.session, &selection.host];
        selection.covers(&self.item.id)
            && self
                .fields
                .iter()
                .zip(wanted)
                .all(|(found, wanted)| wanted.as_ref().is_none_or(|wanted| &field(Some(wanted)) == found))
    }
}

/// The folder of a day: `2026/11/15`.
pub(crate) fn day(id: &Id) -> String {
    day_of(id.time())
}

pub(crate) fn day_of(time: std::time::SystemTime) -> String {
    let timestamp = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    timestamp.to_zoned(TimeZone::UTC).strftime("%Y/%m/%d").to_string()
}

/// A text as a part of a name: letters, digits, `-` and `_` as they are, other bytes as `=2F`.
fn field(text: Option<&str>) -> String {
    let Some(text) = text else { return String::new() };
    let mut name = String::new();
    for byte in text.bytes() {
        let encoded = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
            byte => format!("={byte:02X}"),
        };
        if name.len() + encoded.len() > LONGEST {
            // No byte is written as two signs of equality.
            return format!("{name}=={:08x}", digest(text));
        }
        name += &encoded;
    }
    if name.is_empty() { "=".to_owned() } else { name }
}

/// The text that a part of a name stands for.
fn text(field: &str) -> Option<String> {
    let (name, cut) = match field.split_once("==") {
        Some((name, _)) => (name, "…"),
        None => (field, ""),
    };
    if name.is_empty() && cut.is_empty() {
        return None;
    }
    let mut bytes = Vec::new();
    let mut parts = name.split('=');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        match part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(&part.as_bytes()[2..]);
            }
            None => bytes.extend_from_slice(part.as_bytes()),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned() + cut)
}

/// FNV-1a: it tells long names apart, and protects nothing.
fn digest(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;
    use offcut::Context;
    use offcut::store::{Reading, contract};
    use std::time::{Duration, UNIX_EPOCH};

    fn entry(tool: Option<&str>, session: Option<&str>, host: Option<&str>) -> Entry {
        let summary = contract::summary(b"a\nb\n");
        Entry {
            id: Id::new(UNIX_EPOCH + Duration::from_secs(1_794_700_800), 7),
            path: None,
            created: UNIX_EPOCH,
            context: Context {
                tool: tool.map(str::to_owned),
                session: session.map(str::to_owned),
                ..Context::default()
            },
            profile: "native".to_owned(),
            reading: Reading::Plain,
            host: host.map(str::to_owned),
            bytes: 4,
            completeness: EntryState::Complete,
            pin: Pin::Loose,
            upload_state: UploadState::Uploaded,
            summary: Some(summary),
        }
    }

    /// One door: the fields of an entry, and its key.
    #[track_caller]
    fn check(tool: Option<&str>, session: Option<&str>, host: Option<&str>, expected: &str) {
        let layout = Layout::new("team/".to_owned());
        let entry = entry(tool, session, host);
        let key = layout.entry(&entry).to_string();
        assert_eq!(key, format!("team/entry/2026/11/15/{}.c.4.2.native.{expected}.json", entry.id));
        assert!(key.len() < 400);
        let listed = layout.item(&key).unwrap();
        let long = |text: Option<&str>| text.is_some_and(|text| text.len() > 20);
        if !long(tool) && !long(session) && !long(host) {
            assert_eq!(listed.item, Item::from(&entry));
        }
        let selection =
            |tool: Option<&str>| Selection { tool: tool.map(str::to_owned), ..Selection::default() };
        assert!(listed.is_wanted(&selection(tool)) && !listed.is_wanted(&selection(Some("another"))));
    }

    #[test]
    fn names_tell_what_a_listing_shows() {
        check(Some("bash"), Some("s-1"), Some("ci-7"), "bash.s-1.ci-7");
        check(None, None, None, "..");
        check(Some(""), None, Some("a.b"), "=..a=2Eb");
        check(Some("../x\n\0"), Some("漢"), None, "=2E=2E=2Fx=0A=00.=E6=BC=A2.");
        let long = "x".repeat(100);
        check(Some(&long), None, None, &format!("{}==ac246ad5..", "x".repeat(64)));
    }

    #[test]
    fn an_id_leads_to_its_bytes() {
        let layout = Layout::new(String::new());
        let id = Id::new(UNIX_EPOCH + Duration::from_secs(1_794_700_800), 7);
        assert_eq!(layout.output(&id).to_string(), format!("output/2026/11/15/{id}.txt"));
        assert!(layout.item("entry/2026/11/15/strange").is_none());
        assert!(layout.item(&format!("entry/2026/11/15/{id}.c.x.y.json")).is_none());
    }
}
