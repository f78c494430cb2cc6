//! What is not shown of a value, and where it is in the stored output.

use crate::json::{Lexer, Node, Token, TokenKind, decoded_length};
use crate::measure;
use crate::retrieve::Range as StoredRange;
use crate::retrieve::readable::{CHUNK, Conversion};
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// A part of a value that is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The container or the string that it is in, such as `groups[3].rows`; empty for the whole value.
    pub path: String,
    /// What it is.
    pub content: GapContent,
    /// Its bytes in the document.
    pub(super) span: Range<usize>,
}

/// What a gap is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GapContent {
    /// Elements of an array, counted from 0, the end excluded.
    Items(Range<usize>),
    /// Members of an object, counted from 0, the end excluded.
    Members(Range<usize>),
    /// Bytes of the text of a string.
    Text {
        /// How many.
        bytes: u64,
    },
}

/// `rows[150:7121]`, `members 20:900 of names` or `40000 bytes of log`.
impl Display for Gap {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        let of = if path.is_empty() { "" } else { " of " };
        match &self.content {
            GapContent::Items(items) => write!(formatter, "{path}[{}:{}]", items.start, items.end),
            GapContent::Members(members) => {
                write!(formatter, "members {}:{}{of}{path}", members.start, members.end)
            }
            GapContent::Text { bytes } => write!(formatter, "{bytes} bytes{of}{path}"),
        }
    }
}

/// One step from a value to a value in it.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Member(Node<'a>),
    Item(usize),
}

/// A longer name is shortened in a path.
const LONGEST_NAME: usize = 40;

/// A path as most languages write it: `groups[3].rows`, `["a name with spaces"].rows`.
pub(super) fn path(steps: &[Step<'_>]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Item(index) => path += &format!("[{index}]"),
            Step::Member(name) => {
                let name = name.text().unwrap_or_default();
                let name = String::from_utf8_lossy(&name);
                let is_word = |name: &str| name.chars().all(|char| char.is_alphanumeric() || char == '_');
                let short: String = name.chars().take(LONGEST_NAME).collect();
                match short.len() == name.len() && !name.is_empty() && is_word(&name) {
                    true if path.is_empty() => path += &name,
                    true => path += &format!(".{name}"),
                    false if short.len() == name.len() => path += &format!("[{name:?}]"),
                    false => path += &format!("[{:?}]", short + "…"),
                }
            }
        }
    }
    path
}

/// What is stored of a value.
#[derive(Clone, Copy, Debug)]
pub enum StoredAs<'a> {
    /// The value, which is read in its readable form.
    Value,
    /// The same JSON as text, with other white space and other escapes in its strings.
    SameJson(&'a [u8]),
    /// The text of the only string in the value.
    OnlyString(&'a [u8]),
}

impl<'a> StoredAs<'a> {
    /// How a text has everything that a value has: it is the same JSON, or the value is an object with the text as its only
    /// member.
    pub fn text(text: &'a [u8], value: Node<'_>) -> Option<StoredAs<'a>> {
        let mut members = value.pairs();
        let is_only_string = match (members.next(), members.next()) {
            (Some((_, only)), None) => only.text().is_some_and(|only| only == text),
            _ => false,
        };
        match is_only_string {
            true => Some(StoredAs::OnlyString(text)),
            false => is_same_json(text, value.json().as_bytes()).then_some(StoredAs::SameJson(text)),
        }
    }
}

/// Whether two JSON texts differ only in white space and in the escapes of their strings.
fn is_same_json(left: &[u8], right: &[u8]) -> bool {
    let tokens = |text| Lexer::new(text).map(move |Token { kind, start, end }| (kind, &text[start..end]));
    let decoded = |string: &[u8]| Node::parse(std::str::from_utf8(string).ok()?).ok()?.text();
    let (mut left, mut right) = (tokens(left), tokens(right));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(left), Some(right)) if left == right => {}
            (Some((TokenKind::String, left)), Some((TokenKind::String, right))) => {
                let left = decoded(left);
                if left.is_none() || left != decoded(right) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// A position in a stored output.
#[derive(Clone, Copy)]
struct Place {
    offset: u64,
    /// Counted from 1.
    line: u64,
    /// Whether only white space is before it in its line.
    is_line_start: bool,
}

impl Place {
    const START: Place = Place { offset: 0, line: 1, is_line_start: true };

    /// The place after the next part of the text.
    fn after(self, text: &[u8]) -> Place {
        let last_line = memchr::memrchr(b'\n', text).map_or(text, |feed| &text[feed + 1..]);
        Place {
            offset: self.offset + text.len() as u64,
            line: self.line + measure::newlines(text),
            is_line_start: (self.is_line_start || last_line.len() < text.len())
                && last_line.trim_ascii().is_empty(),
        }
    }
}

/// Where each gap of a value is in the stored output: in lines if it begins a line, else in bytes.
pub(super) fn locate(value: Node<'_>, gaps: &[Gap], stored: StoredAs<'_>) -> Vec<StoredRange> {
    let (json, origin) = (value.json().as_bytes(), value.span().start);
    let spans: Vec<Range<usize>> =
        gaps.iter().map(|gap| gap.span.start - origin..gap.span.end - origin).collect();
    let places = match stored {
        StoredAs::Value => places_in_readable_form(json, &spans),
        StoredAs::SameJson(text) => places_in_text(text, spans_in_same_json(text, json, &spans)),
        StoredAs::OnlyString(text) => places_in_text(text, spans_in_only_string(value, &spans)),
    };
    let range = |(gap, (from, to)): (&Gap, (Place, Place))| match gap.content {
        GapContent::Items(_) | GapContent::Members(_) if from.is_line_start => {
            StoredRange::Lines { first: from.line, last: Some(to.line) }
        }
        _ => StoredRange::Bytes { start: from.offset, end: Some(to.offset.max(from.offset + 1)) },
    };
    gaps.iter().zip(places).map(range).collect()
}

fn places_in_readable_form(json: &[u8], spans: &[Range<usize>]) -> Vec<(Place, Place)> {
    let (mut conversion, mut text) = (Conversion::default(), Vec::new());
    let (mut at, mut place) = (0, Place::START);
    let mut advance = |to: usize| {
        for chunk in json[at..to].chunks(CHUNK) {
            text.clear();
            conversion.push(chunk, &mut text);
            place = place.after(&text);
        }
        at = to;
        place
    };
    spans.iter().map(|span| (advance(span.start), advance(span.end))).collect()
}

fn places_in_text(text: &[u8], spans: Option<Vec<Range<usize>>>) -> Vec<(Place, Place)> {
    let (mut at, mut place) = (0, Place::START);
    let mut advance = |to: usize| {
        place = place.after(&text[at..to]);
        at = to;
        place
    };
    spans.iter().flatten().map(|span| (advance(span.start), advance(span.end))).collect()
}

/// The spans of a JSON text in another one that differs from it only in white space and in the escapes of strings.
fn spans_in_same_json(text: &[u8], json: &[u8], spans: &[Range<usize>]) -> Option<Vec<Range<usize>>> {
    let mut found = Vec::with_capacity(spans.len());
    let mut tokens = Lexer::new(text).zip(Lexer::new(json)).peekable();
    for span in spans {
        // The token in which the span begins, then the one in which it ends.
        let (begins, begin) = skip(&mut tokens, |token| span.start < token.end)?;
        let (ends, end) = skip(&mut tokens, |token| span.end <= token.end)?;
        let is_same = |text_token: Token, token: Token| {
            text[text_token.start..text_token.end] == json[token.start..token.end]
        };
        let start = if is_same(begins, begin) { span.start.saturating_sub(begin.start) } else { 0 };
        let rest = if is_same(ends, end) { end.end - span.end } else { 0 };
        found.push(begins.start + start..ends.end - rest);
    }
    Some(found)
}

/// Moves on to the first pair of tokens whose second one fulfils a condition.
fn skip(
    tokens: &mut std::iter::Peekable<impl Iterator<Item = (Token, Token)>>,
    is_found: impl Fn(&Token) -> bool,
) -> Option<(Token, Token)> {
    while tokens.peek().is_some_and(|(_, token)| !is_found(token)) {
        tokens.next();
    }
    tokens.peek().copied()
}

/// The spans in the decoded text of the only string of an object.
fn spans_in_only_string(value: Node<'_>, spans: &[Range<usize>]) -> Option<Vec<Range<usize>>> {
    let (_, string) = value.pairs().next()?;
    let begin = string.span().start - value.span().start + 1;
    let json = value.json().as_bytes();
    let offset = |at: usize| json.get(begin..at).map(decoded_length);
    spans.iter().map(|span| Some(offset(span.start)?..offset(span.end)?)).collect()
}
