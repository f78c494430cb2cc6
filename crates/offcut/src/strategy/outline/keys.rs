//! Configuration by its keys: YAML and TOML. The keys at the left margin come first, and deeper ones follow.

use super::code::strip_number;
use super::columns::Values;
use super::definitions::is_section;
use super::failures::Failures;
use super::{Contents, Format, Gaps, Place, Row, count, is_majority, later};
use crate::strategy::words::ByteSet;
use crate::strategy::{content, fingerprint};

/// Lines with a key and a value, nested by indentation or below sections.
#[derive(Default)]
pub(super) struct Keys {
    /// Lines that are neither blank nor comments; those of YAML and those of TOML among them.
    lines: u64,
    yaml: u64,
    toml: u64,
    /// Keys of YAML, and those that are indented. Messages such as `disk: started` are not.
    keys: u64,
    nested: u64,
    sections: u64,
    /// Keys at the left margin, or sections; and documents after the first.
    top: u64,
    documents: u64,
    failures: Failures,
    /// The last key of YAML, and the values of each key so far, by a hash of the key and its indentation.
    last_key: u64,
    values: Values,
    /// What the lines belong to that follow.
    inside: Inside,
    /// How many sections are tables of an array, and whether the last one is.
    tables: u64,
    is_table: bool,
    /// How many keys had an unusual value.
    unusual: u64,
    /// The indentation of `metadata:`, if its keys follow, and theirs, once one was read.
    metadata: Option<(usize, Option<usize>)>,
    is_settled: bool,
}

/// What has begun in an earlier line and has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    Nothing,
    /// A text that is indented more than its key, and whether a line of it was read.
    Block { indent: usize, has_begun: bool },
    /// An array with this many open brackets, over at most this many more lines.
    Array { open: i32, lines_left: u32 },
    /// A text that ends with this mark, over at most this many more lines.
    Quotes { mark: &'static [u8], lines_left: u32 },
    /// A table of an array (`[[package]]`) of which this many more keys are shown with it.
    Table(u32),
}

/// At least these percentages of the lines have the format; are keys of YAML; are indented keys.
const REGULAR_PERCENT: u64 = 90;
const KEY_PERCENT: u64 = 40;
const NESTED_PERCENT: u64 = 20;

/// The value of keys at the left margin and sections, of those that name a document, and of tables of an array: the names in
/// them do not count, so that all are shown or none.
const TOP: i32 = 340;
const DOCUMENT_NAME: i32 = 400;
const TABLE: i32 = 150;

/// How much less a section is worth for each dot in its name.
const PER_DOT: i32 = 60;

/// What other keys are worth more, and how much less for each column; what the deepest are worth more.
const NESTED: i32 = 72;
const PER_COLUMN: i32 = 10;
const DEEPEST: i32 = -60;

/// What keys of a table are worth more, except the first.
const TABLE_KEY: i32 = -90;

/// How many keys of a table are shown with it: the first are those that name it.
const TABLE_KEYS: u32 = 2;

/// An array or a text between three quotes has at most this many lines: its end may be missing.
const MAX_VALUE_LINES: u32 = 1000;

/// The value of the first key whose value is unlike those of the same key before: more than that of a name, so that it is shown
/// among any number of documents.
const UNUSUAL: i32 = 450;

/// What comments are worth more, and texts of several lines.
const COMMENT: i32 = -30;
const TEXT: i32 = -30;

/// Divides a line after its key, if it has one: `name: CI`, `"a b":`, `app.kubernetes.io/name: web`, `name = "a"`.
fn split_key(text: &[u8]) -> (&[u8], &[u8]) {
    static NAME: ByteSet = ByteSet::alphanumeric_and(b"_-\"'./$<>*@");
    NAME.split(text)
}

/// The value of a key of YAML, from what follows the key.
fn yaml_value<'t>(key: &[u8], rest: &'t [u8]) -> Option<&'t [u8]> {
    match rest {
        _ if key.is_empty() => None,
        [b':'] => Some(b""),
        [b':', b' ', value @ ..] => Some(value),
        _ => None,
    }
}

/// What is assigned to a key of TOML, from what follows the key.
fn toml_value<'t>(key: &[u8], rest: &'t [u8]) -> Option<&'t [u8]> {
    let value = rest.trim_ascii_start().strip_prefix(b"=")?;
    let is_key = !key.is_empty() && !key.iter().any(|byte| b"/$<>*@".contains(byte));
    is_key.then(|| value.trim_ascii())
}

/// Distinguishes keys, and the same key at another indentation.
fn hash(key: &[u8], indent: usize) -> u64 {
    fingerprint::mix(fingerprint::exact(key), indent as u64)
}

/// How many more brackets a value opens than it closes, outside of its quoted texts.
fn balance(value: &[u8]) -> i32 {
    let mut quote = None;
    value.iter().fold(0, |open, &byte| {
        match (quote, byte) {
            (Some(mark), _) if mark == byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'[' | b'{') => return open + 1,
            (None, b']' | b'}') => return open - 1,
            _ => {}
        }
        open
    })
}

/// The mark that ends the text of several lines that begins in this value.
fn end_of_text(value: &[u8]) -> Option<&'static [u8]> {
    let marks: [&[u8]; 2] = [b"\"\"\"", b"'''"];
    marks.into_iter().find(|mark| {
        let text = value.strip_prefix(*mark);
        text.is_some_and(|text| memchr::memmem::find(text, mark).is_none())
    })
}

/// Whether a text of several lines follows this value: `|`, `>-`.
fn is_block(value: &[u8]) -> bool {
    matches!(value, [b'|' | b'>'] | [b'|' | b'>', b'-' | b'+' | b'0'..=b'9'])
}

impl Keys {
    /// Reads a line of a value that began in an earlier line; `None` if there is no such value.
    fn read_inside(&mut self, text: &[u8], indent: usize) -> Option<Row> {
        let next = match self.inside {
            Inside::Block { indent: outer, has_begun } if indent > outer => {
                self.yaml += 1;
                self.inside = Inside::Block { indent: outer, has_begun: true };
                return Some(if has_begun { Row::part() } else { Row::unit(TEXT) });
            }
            Inside::Array { open, lines_left: 1.. } if open + balance(text) <= 0 => Inside::Nothing,
            Inside::Array { open, lines_left: left @ 1.. } => {
                Inside::Array { open: open + balance(text), lines_left: left - 1 }
            }
            Inside::Quotes { mark, lines_left: 1.. } if memchr::memmem::find(text, mark).is_some() => {
                Inside::Nothing
            }
            Inside::Quotes { mark, lines_left: left @ 1.. } => Inside::Quotes { mark, lines_left: left - 1 },
            _ => return None,
        };
        self.toml += 1;
        self.inside = next;
        Some(Row::part())
    }

    /// Reads `[section]` or `[[table]]`.
    fn read_section(&mut self, line: &[u8]) -> Row {
        self.toml += 1;
        self.sections += 1;
        self.top += 1;
        self.is_table = line.starts_with(b"[[");
        if self.is_table {
            self.inside = Inside::Table(TABLE_KEYS);
            self.tables += 1;
            // There may be hundreds, of which the first are shown.
            return Row::valued(TABLE - later(self.tables));
        }
        self.inside = Inside::Nothing;
        let dots = memchr::memchr_iter(b'.', line).count().min(3) as i32;
        Row::valued(TOP - PER_DOT * dots)
    }

    /// Reads `name = value`.
    fn read_assignment(&mut self, key: &[u8], value: &[u8], indent: usize) -> Row {
        self.toml += 1;
        let is_unusual = !self.is_settled && self.values.add(hash(key, indent), value);
        let named = match self.inside {
            Inside::Table(keys) => keys,
            _ => 0,
        };
        let lines_left = MAX_VALUE_LINES;
        self.inside = match (end_of_text(value), balance(value)) {
            (Some(mark), _) => Inside::Quotes { mark, lines_left },
            (None, open @ 1..) if matches!(value[0], b'[' | b'{') => Inside::Array { open, lines_left },
            _ if named > 1 => Inside::Table(named - 1),
            _ => Inside::Nothing,
        };
        match self.sections {
            // A table with such a value among its first keys is shown with its name.
            _ if is_unusual && named > 0 => Row { place: Place::Continues, ..self.unusual() },
            _ if is_unusual => self.unusual(),
            _ if named > 0 => Row::part(),
            0 => self.key(indent),
            _ if self.is_table => Row::unit(TABLE_KEY),
            _ => Row::unit(0),
        }
    }

    /// Reads a line of YAML: a key, an item of a list, or something else.
    fn read_yaml(&mut self, text: &[u8], (key, rest): (&[u8], &[u8]), indent: usize) -> Row {
        self.inside = Inside::Nothing;
        if matches!(text, b"---" | b"...") {
            self.yaml += 1;
            self.documents += u64::from(self.yaml > 1 && text == b"---");
            self.metadata = None;
            return Row::unit(0);
        }
        let item = text.strip_prefix(b"- ").map(<[u8]>::trim_ascii_start);
        let indent = indent + item.map_or(0, |item| text.len() - item.len());
        let (key, rest) = item.map_or((key, rest), split_key);
        let Some(value) = yaml_value(key, rest) else {
            self.yaml += u64::from(item.is_some() || text == b"-" || indent > 0);
            return self.key(indent.max(2));
        };
        let is_unusual = !self.is_settled && self.examine(key, value, indent, item.is_some());
        self.top += u64::from(indent == 0);
        if is_block(value) {
            self.inside = Inside::Block { indent, has_begun: false };
        }
        if self.metadata.is_some_and(|(outer, _)| indent <= outer) {
            self.metadata = None;
        }
        let is_name = match &mut self.metadata {
            Some((_, inner)) => *inner.get_or_insert(indent) == indent && key == b"name",
            None => key == b"kind" && indent <= 2,
        };
        if key == b"metadata" && indent <= 2 {
            self.metadata = Some((indent, None));
        }
        match is_name {
            true => Row::valued(DOCUMENT_NAME),
            false if is_unusual => self.unusual(),
            false => self.key(indent),
        }
    }

    /// Counts what says whether the text is YAML. Returns whether the value of this key is unusual.
    fn examine(&mut self, key: &[u8], value: &[u8], indent: usize, is_item: bool) -> bool {
        // A mapping does not have a key twice: lines such as `inflating: a.txt` are messages.
        let hash = hash(key, indent);
        let is_again = std::mem::replace(&mut self.last_key, hash) == hash && !is_item;
        self.yaml += u64::from(!is_again);
        self.keys += 1;
        self.nested += u64::from(indent > 0);
        self.values.add(hash, value)
    }

    /// A key with an unusual value.
    fn unusual(&mut self) -> Row {
        self.unusual += 1;
        Row::valued(UNUSUAL - later(self.unusual))
    }

    /// A key with this indentation. Documents of one text have the same keys at the margin.
    fn key(&self, indent: usize) -> Row {
        match indent {
            0 if self.documents == 0 => Row::valued(TOP),
            indent => Row::unit((NESTED - PER_COLUMN * indent as i32).max(DEEPEST)),
        }
    }
}

impl Format for Keys {
    fn read(&mut self, line: &[u8]) -> Row {
        let (line, text) = strip_number(line);
        if text.is_empty() {
            return Row::part();
        }
        let indent = content::indent(line);
        if matches!(text[0], b'#' | b';') {
            match self.inside {
                Inside::Block { .. } | Inside::Quotes { .. } => {}
                Inside::Table(_) => return Row::part(),
                Inside::Nothing | Inside::Array { .. } => return Row::unit(COMMENT),
            }
        }
        self.lines += 1;
        let inside = self.read_inside(text, indent);
        // A report may be written as YAML, too. What a script in it prints is not counted as a failure.
        let is_failure = match inside {
            _ if self.is_settled => false,
            Some(_) => self.failures.is_failure(line),
            None => self.failures.read(line),
        };
        let row = inside.unwrap_or_else(|| {
            let (key, rest) = split_key(text);
            match toml_value(key, rest) {
                _ if is_section(line) => self.read_section(line),
                Some(value) => self.read_assignment(key, value, indent),
                None => self.read_yaml(text, (key, rest), indent),
            }
        });
        if is_failure { Row::irregular() } else { row }
    }

    fn can_match(&self, lines_left: u64) -> bool {
        let has = |lines: u64, percent| is_majority(lines + lines_left, self.lines + lines_left, percent);
        let is_yaml = has(self.yaml, REGULAR_PERCENT)
            && has(self.keys, KEY_PERCENT)
            && has(self.nested, NESTED_PERCENT);
        let is_toml = has(self.toml, REGULAR_PERCENT) && self.sections + lines_left > 0;
        (is_yaml || is_toml) && !self.failures.outweigh(self.lines, lines_left)
    }

    fn settle(&mut self) {
        self.is_settled = true;
    }

    fn remark(&self) -> String {
        match (self.sections, self.documents) {
            (0, 0) => format!("configuration with {} at the top", count(self.top, "key")),
            (0, documents) => format!("configuration of {} documents", documents + 1),
            (sections, _) => format!("configuration with {}", count(sections, "section")),
        }
    }

    fn contents(&self) -> Contents {
        [self.top, 0, 0, 0, 0]
    }

    fn nouns(&self) -> &'static [&'static str] {
        match (self.sections, self.documents) {
            (0, 0) => &["key"],
            // Documents have the same keys, so their number says little.
            (0, _) => &[],
            _ => &["section"],
        }
    }

    fn gaps(&self) -> Gaps {
        Gaps::AsNeeded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::outline::Worth;

    /// What the lines of a text are worth, and `.` for each that continues a unit.
    fn worths(text: &str) -> Vec<String> {
        let mut keys = Keys::default();
        let rows = text.lines().map(|line| keys.read(line.as_bytes()));
        rows.map(|row| match (row.place, row.worth) {
            (Place::Continues, _) => ".".to_owned(),
            (_, Worth::Exactly(value)) => format!("={value}"),
            (_, Worth::More(more)) => format!("{more:+}"),
            (_, other) => format!("{other:?}"),
        })
        .collect()
    }

    #[test]
    fn keys_are_worth_less_the_deeper_they_are() {
        assert_eq!(worths("a: 1\nb:\n  c:\n    - d: 2"), ["=340", "=340", "+52", "+12"]);
    }

    #[test]
    fn kind_and_name_of_a_document_are_worth_more_than_its_other_keys() {
        let document = "kind: Pod\nmetadata:\n  name: a\nspec:\n  name: b";
        assert_eq!(worths(document), ["=400", "=340", "=400", "=340", "+52"]);
        let second = &worths(&format!("{document}\n---\n{document}"))[5..];
        assert_eq!(second, ["+0", "=400", "+72", "=400", "+72", "+52"]);
    }

    #[test]
    fn texts_and_arrays_of_several_lines_are_units() {
        assert_eq!(worths("run: |\n  one: 1\n  two\nb: 2"), ["=340", "-30", ".", "=340"]);
        assert_eq!(
            worths("[a]\nb = [\n 1,\n]\nc = \"\"\"\nd = 1\n\"\"\""),
            ["=340", "+0", ".", ".", "+0", ".", "."]
        );
    }

    #[test]
    fn brackets_and_quotes_in_strings_open_nothing() {
        assert_eq!(worths("[a]\nb = [\"[\"]\nc = \"'''\"\nd = 1"), ["=340", "+0", "+0", "+0"]);
        let unclosed = format!("[a]\nb = [\n{}[c]", "1,\n".repeat(MAX_VALUE_LINES as usize));
        assert_eq!(worths(&unclosed).last().map(String::as_str), Some("=340"));
    }

    #[test]
    fn only_the_name_of_a_document_is_worth_as_much_as_its_kind() {
        let document = "metadata:\n  labels:\n    name: a\n  name: b\nkind: Pod";
        assert_eq!(worths(document), ["=340", "+52", "+32", "=400", "=400"]);
    }

    #[test]
    fn settings_that_are_commented_out_are_comments() {
        assert_eq!(worths("[a]\n#b = 1\n;c=2\nd = 3"), ["=340", "-30", "-30", "+0"]);
        assert_eq!(worths("[[a]]\n# note\nb = 1\nc = 1\nd = 1"), ["=150", ".", ".", ".", "-90"]);
    }

    #[test]
    fn failure_in_a_text_of_several_lines_is_irregular() {
        let text = "a:\n  stderr: |-\n    error: connection refused";
        assert_eq!(worths(text), ["=340", "+52", "Irregular"]);
    }

    #[test]
    fn table_is_shown_with_the_keys_that_name_it() {
        let text = "[[package]]\nname = \"a\"\nversion = \"1\"\nsource = \"b\"\n[a.b]\nc = 1";
        assert_eq!(worths(text), ["=150", ".", ".", "-90", "=280", "+0"]);
    }

    #[test]
    fn configuration_is_recognised() {
        let is_match = |text: String| {
            let mut keys = Keys::default();
            for line in text.lines() {
                keys.read(line.as_bytes());
            }
            keys.is_match()
        };
        assert!(is_match("jobs:\n  test:\n    steps:\n      - run: a b\n".repeat(9)));
        assert!(is_match("[a]\nb = 1\n".repeat(9)));
        assert!(!is_match("disk: started\n".repeat(20)));
        assert!(!is_match("let a = b;\n  call(a);\n".repeat(20)));
        assert!(!is_match("A=1\n".repeat(20)));
    }
}
