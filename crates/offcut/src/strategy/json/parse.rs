//! The positions of the values in a JSON text that may have holes and may be cut off.
//!
//! It checks the grammar of the tokens that [`Lexer`] finds, in one loop with a stack on the heap, so neither depth nor
//! length can break it. What programs often print although the grammar forbids it (`NaN`, control characters, invalid
//! UTF-8) is accepted and reported as [`Grammar::Lenient`].

use super::buffer::Buffer;
use crate::json::{Lexer, Token, TokenKind};

/// The kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The text: one document, or several in a row.
    Documents,
    Object,
    Array,
    String,
    /// A number, `true`, `false` or `null`.
    Scalar,
    /// Values that are not in memory.
    Hole,
    /// A line before, between or after documents that is no JSON: a command, a header, a separator.
    OtherLine,
}

/// The most bytes of other lines, which are always shown whole.
const MAX_OTHER_BYTES: usize = 2048;

/// At most one in this many bytes of a JSON text is in other lines.
const BYTES_PER_OTHER_BYTE: u64 = 4;

/// Whether a value ended before the text did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Closed,
    Open,
}

/// A value. The values in it follow it in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) state: State,
    /// The position of its key, or of the value if it has no key.
    pub(super) from: usize,
    /// The position of the value.
    pub(super) value: usize,
    pub(super) to: usize,
    /// The index in the tree after everything in it.
    pub(super) next: usize,
    /// The number of values a hole replaces; otherwise one.
    pub(super) values: u64,
    /// For an item of an array: whether it differs from the others.
    pub(super) rarity: Rarity,
}

/// Whether an item differs from the others of its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rarity {
    Usual,
    /// It differs from nearly all others; this many items share the difference.
    Outlier(u64),
}

/// How strictly the text follows the grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Grammar {
    #[default]
    Strict,
    /// It violates the grammar in a way that most readers accept.
    Lenient,
}

/// The values of a text, each before the values in it.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) grammar: Grammar,
    /// The number of values that are open at the end of the text.
    pub(super) open: usize,
    /// The indices of the items that differ from the others, in order.
    pub(super) outliers: Vec<usize>,
}

/// Whether more text follows the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Last,
    More,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrClose,
    Key,
    KeyOrClose,
    Colon,
    CommaOrClose,
}

/// The tree of a text that is JSON or the beginning of it; nothing for any other text.
pub(super) fn parse(buffer: &Buffer, end: End) -> Option<Tree> {
    let grammar = match std::str::from_utf8(&buffer.text) {
        Ok(_) => Grammar::Strict,
        Err(error) if error.error_len().is_none() && end == End::More => Grammar::Strict,
        Err(_) => Grammar::Lenient,
    };
    let root = Node {
        kind: Kind::Documents,
        state: State::Closed,
        from: 0,
        value: 0,
        to: buffer.text.len(),
        next: 0,
        values: 1,
        rarity: Rarity::Usual,
    };
    let mut parser = Parser {
        buffer,
        end,
        hole: 0,
        key: None,
        open: vec![0],
        nodes: vec![root],
        document: 0,
        other: 0,
        grammar,
    };
    parser.run()?;
    parser.finish()
}

struct Parser<'h> {
    buffer: &'h Buffer,
    end: End,
    /// The first hole that the parser has not reached.
    hole: usize,
    /// The position of the key whose value comes next.
    key: Option<usize>,
    /// The open containers, outermost first, by their index in the tree.
    open: Vec<usize>,
    nodes: Vec<Node>,
    /// The index of the last document.
    document: usize,
    /// The bytes in other lines.
    other: usize,
    grammar: Grammar,
}

impl Parser<'_> {
    fn run(&mut self) -> Option<()> {
        let mut lexer = Lexer::new(&self.buffer.text);
        let mut expect = Expect::Value;
        loop {
            let at = lexer.skip_blanks();
            let wants_value =
                matches!(expect, Expect::Value | Expect::ValueOrClose | Expect::Key | Expect::KeyOrClose);
            if wants_value && self.key.is_none() && self.take_hole(at) {
                expect = self.after_value();
                continue;
            }
            let Some(token) = lexer.next() else { return Some(()) };
            expect = match self.take(expect, token) {
                Some(expect) => expect,
                None => {
                    lexer.skip_to(self.take_other_line(token)?);
                    Expect::Value
                }
            };
        }
    }

    /// Takes a token, and returns what may follow; nothing if the token cannot be there.
    fn take(&mut self, expect: Expect, token: Token) -> Option<Expect> {
        Some(match (expect, token.kind) {
            (Expect::Value | Expect::ValueOrClose, TokenKind::ObjectStart) => {
                self.enter(Kind::Object, token, Expect::KeyOrClose)
            }
            (Expect::Value | Expect::ValueOrClose, TokenKind::ArrayStart) => {
                self.enter(Kind::Array, token, Expect::ValueOrClose)
            }
            (Expect::ValueOrClose | Expect::CommaOrClose, TokenKind::ArrayEnd) => {
                self.leave(Kind::Array, token)?
            }
            (Expect::KeyOrClose | Expect::CommaOrClose, TokenKind::ObjectEnd) => {
                self.leave(Kind::Object, token)?
            }
            (Expect::CommaOrClose, TokenKind::Comma) => match self.container() {
                Kind::Object => Expect::Key,
                _ => Expect::Value,
            },
            (Expect::Key | Expect::KeyOrClose, TokenKind::String | TokenKind::OpenString) => {
                self.key = Some(token.start);
                // After an open string there is no token.
                self.string(token);
                Expect::Colon
            }
            (Expect::Colon, TokenKind::Colon) => Expect::Value,
            (Expect::Value | Expect::ValueOrClose, TokenKind::String | TokenKind::OpenString) => {
                let state = self.string(token);
                self.push(Kind::String, state, token.start, token.end);
                self.after_value()
            }
            (Expect::Value | Expect::ValueOrClose, TokenKind::Word) if self.open.len() > 1 => {
                let state = self.word(token)?;
                self.push(Kind::Scalar, state, token.start, token.end);
                self.after_value()
            }
            _ => return None,
        })
    }

    /// Takes the line of a token that cannot be there as an other line, and returns where it ends; nothing if a document
    /// begins before the line and continues in it, or if there are too many such lines.
    fn take_other_line(&mut self, token: Token) -> Option<usize> {
        let text = &self.buffer.text;
        let start = memchr::memrchr(b'\n', &text[..token.start]).map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', &text[token.start..]).map_or(text.len(), |at| token.start + at);
        let document = self.nodes[self.document];
        let is_inside = self.document > 0 && document.from < start;
        if is_inside && (document.state == State::Open || document.to > start) {
            return None;
        }
        let has_hole = self.buffer.holes_in(&(start..end)).iter().any(|hole| hole.at > start);
        self.other += end - start;
        if has_hole || self.other > MAX_OTHER_BYTES {
            return None;
        }
        let is_before = |node: &Node| node.from < start || matches!(node.kind, Kind::Documents | Kind::Hole);
        let count = self.nodes.iter().rposition(is_before).map_or(1, |at| at + 1);
        self.nodes.truncate(count);
        self.open.truncate(1);
        self.key = None;
        self.push(Kind::OtherLine, State::Closed, start, end);
        Some(end)
    }

    fn container(&self) -> Kind {
        self.open.last().map_or(Kind::Documents, |&at| self.nodes[at].kind)
    }

    fn after_value(&self) -> Expect {
        if self.open.len() == 1 { Expect::Value } else { Expect::CommaOrClose }
    }

    /// Adds the hole before this position, if there is one.
    fn take_hole(&mut self, at: usize) -> bool {
        // White space may follow the hole.
        let Some(hole) = self.buffer.holes.get(self.hole).filter(|hole| hole.at <= at) else {
            return false;
        };
        self.push(Kind::Hole, State::Closed, hole.at, hole.at);
        if let Some(node) = self.nodes.last_mut() {
            node.values = hole.values;
        }
        self.hole += 1;
        true
    }

    /// Adds a value, with its key if it has one.
    fn push(&mut self, kind: Kind, state: State, value: usize, to: usize) {
        let (from, next) = (self.key.take().unwrap_or(value), self.nodes.len() + 1);
        if self.open.len() == 1 {
            self.document = self.nodes.len();
        }
        self.nodes.push(Node { kind, state, from, value, to, next, values: 1, rarity: Rarity::Usual });
    }

    fn enter(&mut self, kind: Kind, token: Token, expect: Expect) -> Expect {
        let at = self.nodes.len();
        self.push(kind, State::Open, token.start, token.end);
        self.open.push(at);
        expect
    }

    fn leave(&mut self, kind: Kind, token: Token) -> Option<Expect> {
        let (at, next) = (self.open.pop()?, self.nodes.len());
        let node = &mut self.nodes[at];
        (node.state, node.to, node.next) = (State::Closed, token.end, next);
        (node.kind == kind).then(|| self.after_value())
    }

    /// Checks a string, and takes the holes in it.
    fn string(&mut self, token: Token) -> State {
        let state = if token.kind == TokenKind::String { State::Closed } else { State::Open };
        if !is_strict(&self.buffer.text[token.start + 1..token.end]) {
            self.grammar = Grammar::Lenient;
        }
        let holes = &self.buffer.holes[self.hole..];
        self.hole += holes.iter().take_while(|hole| hole.at < token.end || state == State::Open).count();
        state
    }

    /// Checks a number or a literal; nothing if the text is not JSON.
    fn word(&mut self, token: Token) -> Option<State> {
        let is_last = token.end == self.buffer.text.len();
        if is_last && self.end == End::More {
            return Some(State::Open);
        }
        match &self.buffer.text[token.start..token.end] {
            b"true" | b"false" | b"null" => {}
            word if is_number(word) => {}
            b"NaN" | b"Infinity" | b"-Infinity" | b"undefined" => self.grammar = Grammar::Lenient,
            _ if is_last && self.open.len() > 1 => return Some(State::Open),
            _ => return None,
        }
        Some(State::Closed)
    }

    fn finish(mut self) -> Option<Tree> {
        let text = self.buffer.text.len();
        if let Some(key) = self.key {
            self.push(Kind::Scalar, State::Open, key, text);
        }
        let end = self.nodes.len();
        for &at in &self.open {
            self.nodes[at].next = end;
            self.nodes[at].to = text;
        }
        let open = self.open.len() - 1
            + usize::from(self.nodes.last().is_some_and(|node| {
                node.state == State::Open && matches!(node.kind, Kind::String | Kind::Scalar)
            }));
        let tree = Tree { nodes: self.nodes, grammar: self.grammar, open, outliers: Vec::new() };
        let documents = || tree.children(0).map(|at| tree.nodes[at].kind);
        let (count, first) = (documents().count(), documents().next());
        let is_structure = |kind: Kind| matches!(kind, Kind::Object | Kind::Array | Kind::Hole);
        let bytes = self.buffer.bytes_of(&(0..text));
        let are_structures = documents().any(is_structure)
            && documents().all(|kind| is_structure(kind) || kind == Kind::OtherLine)
            && self.other as u64 * BYTES_PER_OTHER_BYTE <= bytes;
        // A text that begins with a quotation mark is a document only if the string is complete.
        let is_string = first == Some(Kind::String)
            && count == 1
            && (self.end == End::More || (open == 0 && tree.grammar == Grammar::Strict));
        (are_structures || is_string).then_some(tree)
    }
}

impl Tree {
    /// Whether a container has an item that differs from the others, at any depth.
    pub(super) fn has_outlier_in(&self, at: usize) -> bool {
        let first = self.outliers.partition_point(|&outlier| outlier <= at);
        self.outliers.get(first).is_some_and(|&outlier| outlier < self.nodes[at].next)
    }

    /// The values in a container, by their index in the tree.
    pub(super) fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[at].next;
        let first = (at + 1 < end).then_some(at + 1);
        std::iter::successors(first, move |&at| Some(self.nodes[at].next).filter(|&next| next < end))
    }
}

/// Whether the rest of a string after its opening quote has only valid escapes and no control characters.
pub(super) fn is_strict(mut text: &[u8]) -> bool {
    if text.iter().fold(u8::MAX, |least, &byte| least.min(byte)) < b' ' {
        return false;
    }
    while let Some(at) = memchr::memchr(b'\\', text) {
        text = match &text[at + 1..] {
            [] => return true,
            [b'u', after @ ..] if after.iter().take(4).all(u8::is_ascii_hexdigit) => after,
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', after @ ..] => after,
            _ => return false,
        };
    }
    true
}

pub(super) fn is_number(word: &[u8]) -> bool {
    let digits = |word: &[u8]| word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = word.strip_prefix(b"-").unwrap_or(word);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = exponent.strip_prefix(b"+").or(exponent.strip_prefix(b"-")).unwrap_or(exponent);
        return !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks whether a text is JSON, how strictly it follows the grammar, and how many values are open at its end.
    #[track_caller]
    fn check(text: &[u8], expected: Option<(Grammar, usize)>) {
        let buffer = Buffer { text: text.to_vec(), holes: Vec::new() };
        let found = parse(&buffer, End::Last).map(|tree| (tree.grammar, tree.open));
        assert_eq!(found, expected, "{}", text.escape_ascii());
    }

    #[test]
    fn accepts_strict_and_lenient_json() {
        let strict = Some((Grammar::Strict, 0));
        check(b"{}", strict);
        check(b" [ ] ", strict);
        check(
            b"[1, -0.5e+9, true, false, null, \"\\u00e9\\n\", [[]], {\"a\": {\"a\": 1, \"a\": 2}}]\n",
            strict,
        );
        check(b"{\"a\":1}\n{\"a\":2}\n", strict);
        check(b"\"a string\"", strict);
        check(b"[\"\\ud800\"]", strict);
        check(b"[NaN, Infinity, -Infinity]", Some((Grammar::Lenient, 0)));
        check(b"[\"\x01\"]", Some((Grammar::Lenient, 0)));
        check(b"[\"\xFF\"]", Some((Grammar::Lenient, 0)));
        check(b"[\"\\x\"]", Some((Grammar::Lenient, 0)));
    }

    #[test]
    fn accepts_json_that_is_cut_off() {
        check(b"[1, 2", Some((Grammar::Strict, 1)));
        check(b"[[{\"a\"", Some((Grammar::Strict, 4)));
        check(b"[[{\"a\": ", Some((Grammar::Strict, 4)));
        check(b"[\"abc", Some((Grammar::Strict, 2)));
        check(b"[\"abc\\", Some((Grammar::Strict, 2)));
        check(b"[tru", Some((Grammar::Strict, 2)));
        check(&b"[".repeat(300_000), Some((Grammar::Strict, 300_000)));
    }

    #[test]
    fn rejects_text_that_is_not_json() {
        for text in [
            &b""[..],
            b"  ",
            b"1\n2\n3\n",
            b"hello",
            b"{a: 1}",
            b"[1 2]",
            b"[1,]",
            b"{\"a\"}",
            b"[1}",
            b"]",
            b"{\"a\":1} done",
            b"[INFO] building",
            b"[01]",
            b"[1.]",
            b"[+1]",
            b"[1e]",
            b"[\0]",
            b"{\"a\" 1}",
            b"\" a quotation",
            b"\"two\nlines\"",
        ] {
            check(text, None);
        }
    }
}
