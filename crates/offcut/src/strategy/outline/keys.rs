//! Configuration by its keys: YAML and TOML. The keys at the left margin come first, and deeper ones follow.

use super::code::strip_number;
use super::definitions::is_section;
use super::failures::Failures;
use super::{Contents, Format, Gaps, Row, count, is_majority};
use crate::strategy::content;

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
    /// What the lines belong to that follow.
    inside: Inside,
    /// Whether the last section is a table of an array.
    is_table: bool,
    /// The indentation of `metadata:`, if its keys follow.
    metadata: Option<usize>,
    is_settled: bool,
}

/// What has begun in an earlier line and has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    Nothing,
    /// A text that is indented more than its key, and whether a line of it was read.
    Block { indent: usize, has_begun: bool },
    /// An array with this many open brackets.
    Array(i32),
    /// A text between three quotes.
    Quotes,
    /// A table of an array, before so many keys that name it: `[[package]]`.
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
const TABLE: i32 = 60;

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

/// What comments are worth more, and texts of several lines.
const COMMENT: i32 = -30;
const TEXT: i32 = -30;

/// The length of the key of a line of YAML, and what follows it: `name: CI`, `"a b":`, `app.kubernetes.io/name: web`.
fn yaml_key(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-\"'./$<>*@".contains(byte);
    let end = text.iter().position(|byte| !is_name(byte))?;
    let value = match &text[end..] {
        [b':'] => &b""[..],
        [b':', b' ', value @ ..] => value,
        _ => return None,
    };
    (end > 0).then_some((&text[..end], value))
}

/// What is assigned in a line of TOML: `name = "a"`.
fn toml_value(text: &[u8]) -> Option<&[u8]> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-\"'.".contains(byte);
    let end = text.iter().position(|byte| !is_name(byte)).filter(|end| *end > 0)?;
    text[end..].trim_ascii_start().strip_prefix(b"=").map(<[u8]>::trim_ascii)
}

/// How many more brackets a value opens than it closes.
fn balance(value: &[u8]) -> i32 {
    value.iter().fold(0, |open, byte| match byte {
        b'[' | b'{' => open + 1,
        b']' | b'}' => open - 1,
        _ => open,
    })
}

/// How often three quotes begin or end a text.
fn quotes(value: &[u8]) -> usize {
    memchr::memmem::find_iter(value, b"\"\"\"").count() + memchr::memmem::find_iter(value, b"'''").count()
}

/// Whether a text of several lines follows this value: `|`, `>-`.
fn is_block(value: &[u8]) -> bool {
    matches!(value, [b'|' | b'>'] | [b'|' | b'>', b'-' | b'+' | b'0'..=b'9'])
}

impl Keys {
    /// Reads a line of a value that began in an earlier line; `None` if there is no such value.
    fn read_inside(&mut self, text: &[u8], indent: usize) -> Option<Row> {
        let (next, row) = match self.inside {
            Inside::Block { indent: outer, has_begun } if indent > outer => {
                let row = if has_begun { Row::part() } else { Row::unit(TEXT) };
                self.yaml += 1;
                return self.stay(Inside::Block { indent: outer, has_begun: true }, row);
            }
            Inside::Array(open) => match open + balance(text) {
                open if open > 0 => (Inside::Array(open), Row::part()),
                _ => (Inside::Nothing, Row::part()),
            },
            Inside::Quotes if quotes(text).is_multiple_of(2) => (Inside::Quotes, Row::part()),
            Inside::Quotes => (Inside::Nothing, Row::part()),
            Inside::Nothing | Inside::Block { .. } | Inside::Table(_) => return None,
        };
        self.toml += 1;
        self.stay(next, row)
    }

    fn stay(&mut self, inside: Inside, row: Row) -> Option<Row> {
        self.inside = inside;
        Some(row)
    }

    /// Reads `[section]` or `[[table]]`.
    fn read_section(&mut self, line: &[u8]) -> Row {
        self.toml += 1;
        self.sections += 1;
        self.top += 1;
        self.is_table = line.starts_with(b"[[");
        if self.is_table {
            self.inside = Inside::Table(TABLE_KEYS);
            return Row::valued(TABLE);
        }
        self.inside = Inside::Nothing;
        let dots = memchr::memchr_iter(b'.', line).count().min(3) as i32;
        Row::valued(TOP - PER_DOT * dots)
    }

    /// Reads `name = value`.
    fn read_assignment(&mut self, value: &[u8], indent: usize) -> Row {
        self.toml += 1;
        let named = match self.inside {
            Inside::Table(keys) => keys,
            _ => 0,
        };
        self.inside = match balance(value) {
            _ if !quotes(value).is_multiple_of(2) => Inside::Quotes,
            open if open > 0 && matches!(value.first(), Some(b'[' | b'{')) => Inside::Array(open),
            _ if named > 1 => Inside::Table(named - 1),
            _ => Inside::Nothing,
        };
        match self.sections {
            _ if named > 0 => Row::part(),
            0 => self.key(indent),
            _ if self.is_table => Row::unit(TABLE_KEY),
            _ => Row::unit(0),
        }
    }

    /// Reads a line of YAML: a key, an item of a list, or something else.
    fn read_yaml(&mut self, text: &[u8], indent: usize) -> Row {
        self.inside = Inside::Nothing;
        if matches!(text, b"---" | b"...") {
            self.yaml += 1;
            self.documents += u64::from(self.yaml > 1 && text == b"---");
            return Row::unit(0);
        }
        let item = text.strip_prefix(b"- ").map(<[u8]>::trim_ascii_start);
        let indent = indent + item.map_or(0, |item| text.len() - item.len());
        let Some((key, value)) = yaml_key(item.unwrap_or(text)) else {
            self.yaml += u64::from(item.is_some() || text == b"-" || indent > 0);
            return self.key(indent.max(2));
        };
        self.yaml += 1;
        self.keys += 1;
        self.nested += u64::from(indent > 0);
        self.top += u64::from(indent == 0);
        if is_block(value) {
            self.inside = Inside::Block { indent, has_begun: false };
        }
        let is_name = match self.metadata {
            Some(outer) if indent <= outer => {
                self.metadata = None;
                false
            }
            Some(_) => key == b"name",
            None => key == b"kind" && indent <= 2,
        };
        if key == b"metadata" && indent <= 2 {
            self.metadata = Some(indent);
        }
        if is_name { Row::valued(DOCUMENT_NAME) } else { self.key(indent) }
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
        let line = strip_number(line);
        let text = line.trim_ascii();
        if text.is_empty() {
            return Row::part();
        }
        let indent = content::indent(line);
        let is_comment = matches!(text, [b'#' | b';'] | [b'#' | b';', b' ' | b'#', ..]);
        if is_comment && !matches!(self.inside, Inside::Block { .. } | Inside::Quotes) {
            return Row::unit(COMMENT);
        }
        self.lines += 1;
        if let Some(row) = self.read_inside(text, indent) {
            return row;
        }
        let row = match toml_value(text) {
            _ if is_section(line) => self.read_section(line),
            Some(value) => self.read_assignment(value, indent),
            None => self.read_yaml(text, indent),
        };
        // A report may be written as YAML, too.
        let is_failure = !self.is_settled && self.failures.read(line);
        if is_failure { Row::irregular() } else { row }
    }

    fn is_match(&self) -> bool {
        let has = |lines: u64, percent| is_majority(lines, self.lines, percent);
        let is_yaml = has(self.yaml, REGULAR_PERCENT)
            && has(self.keys, KEY_PERCENT)
            && has(self.nested, NESTED_PERCENT);
        let is_toml = has(self.toml, REGULAR_PERCENT) && self.sections > 0;
        (is_yaml || is_toml) && !self.failures.outweigh(self.lines, 0)
    }

    fn can_match(&self, lines_left: u64) -> bool {
        let regular = self.yaml.max(self.toml) + lines_left;
        regular * 100 >= (self.lines + lines_left) * REGULAR_PERCENT
    }

    fn settle(&mut self) {
        self.is_settled = true;
    }

    fn remark(&self) -> String {
        match (self.sections, self.documents) {
            (0, 0) => format!("configuration with {} at the top", count(self.top, "key", "keys")),
            (0, documents) => format!("configuration of {} documents", documents + 1),
            (sections, _) => format!("configuration with {}", count(sections, "section", "sections")),
        }
    }

    fn contents(&self) -> Contents {
        [self.top, self.documents, 0, 0, 0]
    }

    fn describe(&self, [top, documents, ..]: Contents) -> String {
        match (self.sections, top, documents) {
            (_, 0, 0) => String::new(),
            (0, top, 0) => count(top, "key", "keys"),
            (0, _, documents) => count(documents, "document", "documents"),
            (_, sections, _) => count(sections, "section", "sections"),
        }
    }

    fn gaps(&self) -> Gaps {
        Gaps::AsNeeded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::outline::{Place, Worth};

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
    fn table_is_shown_with_the_keys_that_name_it() {
        let text = "[[package]]\nname = \"a\"\nversion = \"1\"\nsource = \"b\"\n[a.b]\nc = 1";
        assert_eq!(worths(text), ["=60", ".", ".", "-90", "=280", "+0"]);
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
