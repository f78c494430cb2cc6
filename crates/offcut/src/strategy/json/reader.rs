//! Reads a JSON text that may have holes and may be cut off, into the positions of its values.
//!
//! One loop with a stack on the heap checks the grammar, so neither depth nor length can break it. What programs often
//! print although the grammar forbids it (`NaN`, control characters, invalid UTF-8) is accepted and reported as
//! [`Grammar::Lenient`]. Each complete value is counted at its path, so that outliers are found.

use super::buffer::Buffer;
use super::outliers::{ITEMS, Paths, class};
use super::tokens::{
    is_number, is_strict, plain_number, plain_string, skip_blanks, string_end, string_hash, word_end,
};
use super::tree::{Grammar, Kind, Node, Rarity, State, Tree};
use crate::strategy::fingerprint;

/// The most bytes of other lines, which are always shown whole.
const MAX_OTHER_BYTES: usize = 2048;

/// At most one in this many bytes of a JSON text is in other lines.
const BYTES_PER_OTHER_BYTE: u64 = 4;

/// An array in an array is a row. Items of this many first columns are compared by column.
const MAX_COLUMNS: u64 = 16;

/// About how long values are.
const BYTES_PER_VALUE: usize = 12;

/// Whether more text follows the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Last,
    More,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Child,
    ChildOrClose,
    CommaOrClose,
}

/// Why reading stops.
enum Stop {
    /// The text ends, perhaps in a token.
    End,
    NotJson,
}

/// Reads a text that is JSON or the beginning of it, and marks the outliers; nothing for any other text.
pub(super) fn read(buffer: &Buffer, end: End, paths: &mut Paths) -> Option<Tree> {
    let grammar = match std::str::from_utf8(&buffer.text) {
        Ok(_) => Grammar::Strict,
        Err(error) if error.error_len().is_none() && end == End::More => Grammar::Strict,
        Err(_) => Grammar::Lenient,
    };
    let mut reader = Reader {
        buffer,
        text: &buffer.text,
        end,
        at: 0,
        expect: Expect::Child,
        hole: 0,
        open: vec![Open::new(Kind::Documents, 0, Paths::DOCUMENTS)],
        nodes: Vec::with_capacity(buffer.text.len() / BYTES_PER_VALUE),
        document: 0,
        other: 0,
        grammar,
        paths,
    };
    reader.push(Kind::Documents, State::Closed, 0, 0, Paths::DOCUMENTS, 0);
    reader.run()?;
    reader.finish()
}

struct Reader<'a> {
    buffer: &'a Buffer,
    text: &'a [u8],
    end: End,
    /// The text before this position was read.
    at: usize,
    expect: Expect,
    /// The first hole that was not reached.
    hole: usize,
    /// The open containers, outermost first.
    open: Vec<Open>,
    nodes: Vec<Node>,
    /// The index of the last document.
    document: usize,
    /// The bytes in other lines.
    other: usize,
    grammar: Grammar,
    paths: &'a mut Paths,
}

/// A container that is open.
#[derive(Clone, Copy)]
struct Open {
    kind: Kind,
    node: usize,
    path: u32,
    children: u64,
    /// Of an array, how many of its first items are compared by column.
    columns: u64,
    /// A hash of its keys and of the kinds of their values, in any order.
    shape: u64,
}

impl Open {
    fn new(kind: Kind, node: usize, path: u32) -> Open {
        Open { kind, node, path, children: 0, columns: 0, shape: 0 }
    }
}

impl Reader<'_> {
    fn run(&mut self) -> Option<()> {
        loop {
            self.at = skip_blanks(self.text, self.at);
            if self.expect != Expect::CommaOrClose && self.take_hole() {
                continue;
            }
            match self.step() {
                Ok(()) => {}
                Err(Stop::End) => return Some(()),
                Err(Stop::NotJson) => self.take_other_line()?,
            }
        }
    }

    fn innermost(&mut self) -> &mut Open {
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    /// Reads a comma, a bracket, or a value with its key.
    fn step(&mut self) -> Result<(), Stop> {
        let &byte = self.text.get(self.at).ok_or(Stop::End)?;
        match (self.expect, byte) {
            (Expect::CommaOrClose, b',') => {
                self.expect = Expect::Child;
                self.at += 1;
                Ok(())
            }
            (Expect::CommaOrClose | Expect::ChildOrClose, b'}') => self.leave(Kind::Object),
            (Expect::CommaOrClose | Expect::ChildOrClose, b']') => self.leave(Kind::Array),
            (Expect::Child | Expect::ChildOrClose, _) => self.child(),
            _ => Err(Stop::NotJson),
        }
    }

    fn child(&mut self) -> Result<(), Stop> {
        let (from, container) = (self.at, *self.innermost());
        let key = match container.kind {
            Kind::Object => match self.key(from) {
                Err(Stop::End) => {
                    // There is no value yet.
                    self.at = self.text.len();
                    self.push(Kind::Scalar, State::Open, from, from, 0, 0);
                    return Err(Stop::End);
                }
                key => key?,
            },
            _ if container.children < container.columns => container.children,
            _ => ITEMS,
        };
        let (value, first) = (self.at, self.text[self.at]);
        let path = self.paths.child(container.path, container.children as usize, key);
        let kind = match first {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::String,
            _ => Kind::Scalar,
        };
        let (state, hash) = match kind {
            Kind::String => self.string()?,
            Kind::Scalar => self.word(path)?,
            _ => {
                self.at += 1;
                (State::Open, 0)
            }
        };
        let class = class(first);
        let open = self.innermost();
        open.children += 1;
        open.shape ^= fingerprint::mix(key, class);
        let node = self.push(kind, state, from, value, path, hash);
        match (kind, state) {
            (Kind::Object | Kind::Array, _) => {
                self.expect = Expect::ChildOrClose;
                let is_row = kind == Kind::Array && container.kind == Kind::Array;
                let columns = if is_row { MAX_COLUMNS } else { 0 };
                self.open.push(Open { columns, ..Open::new(kind, node, path) });
            }
            (_, State::Closed) => {
                self.expect = self.after_value();
                let shape = (container.kind != Kind::Object).then_some(class);
                self.paths.count(self.at, path, shape, Some(hash));
                self.paths.count_form(self.at, path, &self.text[value..self.at]);
            }
            (_, State::Open) => return Err(Stop::End),
        }
        Ok(())
    }

    /// Reads a key and the colon after it. Returns the hash of the key.
    fn key(&mut self, from: usize) -> Result<u64, Stop> {
        if self.text[from] != b'"' {
            return Err(Stop::NotJson);
        }
        let (_, hash) = self.string()?;
        self.at = skip_blanks(self.text, self.at);
        match self.text.get(self.at) {
            Some(b':') => self.at = skip_blanks(self.text, self.at + 1),
            Some(_) => return Err(Stop::NotJson),
            None => return Err(Stop::End),
        }
        if self.at < self.text.len() { Ok(hash) } else { Err(Stop::End) }
    }

    /// Reads a string, with the holes in it. Returns its hash. A quotation mark that opens several lines and closes none is not
    /// one of JSON.
    fn string(&mut self) -> Result<(State, u64), Stop> {
        let (text, start) = (self.text, self.at);
        let (end, hash) = match plain_string(text, start) {
            Some((end, hash)) => (Some(end), hash),
            None => {
                let end = string_end(text, start);
                let body = &text[start + 1..end.map_or(text.len(), |end| end - 1)];
                if end.is_none() && memchr::memchr(b'\n', body).is_some() {
                    return Err(Stop::NotJson);
                }
                if !is_strict(body) {
                    self.grammar = Grammar::Lenient;
                }
                (end, string_hash(body))
            }
        };
        self.at = end.unwrap_or(text.len());
        let is_inside = |at: usize| at < self.at || end.is_none();
        while self.buffer.holes.get(self.hole).is_some_and(|hole| is_inside(hole.at)) {
            self.hole += 1;
        }
        Ok((if end.is_some() { State::Closed } else { State::Open }, hash))
    }

    /// Reads a number, `true`, `false` or `null`. Returns its hash if it is compared.
    fn word(&mut self, path: u32) -> Result<(State, u64), Stop> {
        let number = plain_number(self.text, self.at);
        let end = number.unwrap_or_else(|| word_end(self.text, self.at));
        let (word, is_last) = (&self.text[self.at..end], end == self.text.len());
        let state = match word {
            _ if self.open.len() == 1 => return Err(Stop::NotJson),
            _ if number.is_some() => State::Closed,
            b"" => return Err(Stop::NotJson),
            _ if is_last && self.end == End::More => State::Open,
            b"true" | b"false" | b"null" => State::Closed,
            _ if is_number(word) => State::Closed,
            b"NaN" | b"Infinity" | b"-Infinity" | b"undefined" => {
                self.grammar = Grammar::Lenient;
                State::Closed
            }
            _ if is_last => State::Open,
            _ => return Err(Stop::NotJson),
        };
        self.at = end;
        Ok((state, if self.paths.are_compared(path) { fingerprint::exact(word) } else { 0 }))
    }

    fn leave(&mut self, kind: Kind) -> Result<(), Stop> {
        let Open { kind: open, node, path, children, shape, .. } = *self.innermost();
        if open != kind {
            return Err(Stop::NotJson);
        }
        self.open.pop();
        self.at += 1;
        self.expect = self.after_value();
        let next = self.nodes.len();
        let is_item = self.innermost().kind != Kind::Object;
        let content = u64::from(children > 0) << 8 | kind as u64;
        let hash = if is_item && kind == Kind::Object { shape.wrapping_add(content) } else { content };
        let node = &mut self.nodes[node];
        (node.state, node.to, node.next, node.content) = (State::Closed, self.at, next, hash);
        let (shape, value) = if is_item { (Some(hash), None) } else { (None, Some(hash)) };
        self.paths.count(self.at, path, shape, value);
        self.paths.count_container(self.at, path);
        Ok(())
    }

    fn after_value(&self) -> Expect {
        if self.open.len() == 1 { Expect::Child } else { Expect::CommaOrClose }
    }

    /// Adds the hole before the next value, if there is one.
    fn take_hole(&mut self) -> bool {
        // White space may follow the hole.
        let Some(hole) = self.buffer.holes.get(self.hole).filter(|hole| hole.at <= self.at) else {
            return false;
        };
        let next = std::mem::replace(&mut self.at, hole.at);
        self.push(Kind::Hole, State::Closed, hole.at, hole.at, 0, hole.values);
        self.at = next;
        self.innermost().children += hole.values;
        self.hole += 1;
        self.expect = self.after_value();
        true
    }

    /// Adds a value that ends here, and returns its index.
    fn push(
        &mut self,
        kind: Kind,
        state: State,
        from: usize,
        value: usize,
        path: u32,
        content: u64,
    ) -> usize {
        let (at, parent) = (self.nodes.len(), self.innermost().node as u32);
        if self.open.len() == 1 {
            self.document = at;
        }
        self.nodes.push(Node {
            kind,
            state,
            from,
            value,
            to: self.at,
            next: at + 1,
            parent,
            path,
            content,
            rarity: Rarity::Usual,
            has_outlier: false,
        });
        at
    }

    /// Takes the line of a token that cannot be there as an other line; nothing if a document begins before the line and
    /// continues in it, or if there are too many such lines.
    fn take_other_line(&mut self) -> Option<()> {
        let text = self.text;
        let start = memchr::memrchr(b'\n', &text[..self.at]).map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', &text[self.at..]).map_or(text.len(), |at| self.at + at);
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
        (self.at, self.expect) = (end, Expect::Child);
        self.push(Kind::OtherLine, State::Closed, start, start, 0, 0);
        Some(())
    }

    fn finish(mut self) -> Option<Tree> {
        let (text, end) = (self.text.len(), self.nodes.len());
        for open in &self.open {
            (self.nodes[open.node].next, self.nodes[open.node].to) = (end, text);
        }
        let is_open =
            |node: &Node| node.state == State::Open && matches!(node.kind, Kind::String | Kind::Scalar);
        let last = self.nodes.last().filter(|node| is_open(node));
        let complete = last.map_or(text, |node| node.from);
        let open = self.open.len() - 1 + usize::from(last.is_some());
        let mut tree = Tree { nodes: self.nodes, grammar: self.grammar, open };
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
        if !are_structures && !is_string {
            return None;
        }
        self.paths.mark_outliers(&mut tree, self.text, complete);
        Some(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks whether a text is JSON, how strictly it follows the grammar, and how many values are open at its end.
    #[track_caller]
    fn check(text: &[u8], expected: Option<(Grammar, usize)>) {
        let buffer = Buffer { text: text.to_vec(), holes: Vec::new() };
        let found = read(&buffer, End::Last, &mut Paths::default()).map(|tree| (tree.grammar, tree.open));
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
            b"[\"two\nlines",
        ] {
            check(text, None);
        }
    }
}
