//! Where the values of a JSON text begin and end.
//!
//! No parser of the trade tells positions in a text with holes, and none is needed: this one builds no values. It is
//! one loop with a stack on the heap, so neither depth nor length can break it. It checks the whole grammar. What
//! programs often print though no grammar allows it (`NaN`, control characters, invalid UTF-8) is told, not refused.

use super::held::Held;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The whole text: one document, or several after each other.
    Documents,
    Object,
    Array,
    String,
    /// A number, a word.
    Scalar,
    /// Values that are not held.
    Hole,
}

/// Whether a value ended before the text did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Closed,
    Open,
}

/// A value; its own values follow it in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) state: State,
    /// Where it begins: with its key, if it has one.
    pub(super) from: usize,
    /// Where the value behind the key begins.
    pub(super) value: usize,
    pub(super) to: usize,
    /// The place in the tree behind everything in it.
    pub(super) next: usize,
    /// How many values a hole stands for; otherwise one.
    pub(super) values: u64,
    /// As an item of an array: how it stands among the others.
    pub(super) rarity: Rarity,
}

/// How an item stands among the others of its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rarity {
    Usual,
    /// Unlike nearly all others; so many have in common what is odd about it.
    Odd(u64),
}

/// How well the text keeps to the grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Grammar {
    #[default]
    Kept,
    /// Broken in a way that a reader would not mind.
    Stretched,
}

/// The values of a text, each before those in it.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) grammar: Grammar,
    /// How many values are open at the end of the text.
    pub(super) open: usize,
}

/// Whether the text goes on behind what is held.
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

/// The tree of a text that is JSON as far as it goes; nothing for any other.
pub(super) fn parse(held: &Held, end: End) -> Option<Tree> {
    let grammar = match std::str::from_utf8(&held.text) {
        Ok(_) => Grammar::Kept,
        Err(error) if error.error_len().is_none() && end == End::More => Grammar::Kept,
        Err(_) => Grammar::Stretched,
    };
    let root = Node {
        kind: Kind::Documents,
        state: State::Closed,
        from: 0,
        value: 0,
        to: held.text.len(),
        next: 0,
        values: 1,
        rarity: Rarity::Usual,
    };
    let mut parser =
        Parser { held, end, at: 0, hole: 0, key: None, open: vec![0], nodes: vec![root], grammar };
    parser.run()?;
    parser.finish()
}

struct Parser<'h> {
    held: &'h Held,
    end: End,
    at: usize,
    /// The first hole that was not met yet.
    hole: usize,
    /// Where the key begins whose value comes next.
    key: Option<usize>,
    /// The containers around the place, by their place in the tree.
    open: Vec<usize>,
    nodes: Vec<Node>,
    grammar: Grammar,
}

impl Parser<'_> {
    fn run(&mut self) -> Option<()> {
        let text = &self.held.text[..];
        let mut expect = Expect::Value;
        loop {
            while text.get(self.at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
                self.at += 1;
            }
            let wants_value =
                matches!(expect, Expect::Value | Expect::ValueOrClose | Expect::Key | Expect::KeyOrClose);
            if wants_value && self.key.is_none() && self.meets_hole() {
                expect = self.after_value();
                continue;
            }
            let Some(&byte) = text.get(self.at) else { return Some(()) };
            expect = match (expect, byte) {
                (Expect::Value | Expect::ValueOrClose, b'{') => self.enter(Kind::Object, Expect::KeyOrClose),
                (Expect::Value | Expect::ValueOrClose, b'[') => self.enter(Kind::Array, Expect::ValueOrClose),
                (Expect::ValueOrClose | Expect::CommaOrClose, b']') => self.leave(Kind::Array)?,
                (Expect::KeyOrClose | Expect::CommaOrClose, b'}') => self.leave(Kind::Object)?,
                (Expect::CommaOrClose, b',') => {
                    self.at += 1;
                    match self.container() {
                        Kind::Object => Expect::Key,
                        _ => Expect::Value,
                    }
                }
                (Expect::Key | Expect::KeyOrClose, b'"') => {
                    self.key = Some(self.at);
                    match self.string() {
                        State::Closed => Expect::Colon,
                        State::Open => return Some(()),
                    }
                }
                (Expect::Colon, b':') => {
                    self.at += 1;
                    Expect::Value
                }
                (Expect::Value | Expect::ValueOrClose, b'"') => {
                    let from = self.at;
                    let state = self.string();
                    self.push(Kind::String, state, from);
                    self.after_value()
                }
                (Expect::Value | Expect::ValueOrClose, _) => {
                    self.scalar()?;
                    self.after_value()
                }
                _ => return None,
            };
        }
    }

    fn container(&self) -> Kind {
        self.open.last().map_or(Kind::Documents, |&at| self.nodes[at].kind)
    }

    fn after_value(&self) -> Expect {
        if self.open.len() == 1 { Expect::Value } else { Expect::CommaOrClose }
    }

    fn meets_hole(&mut self) -> bool {
        let Some(hole) = self.held.holes.get(self.hole).filter(|hole| hole.at == self.at) else {
            return false;
        };
        self.push(Kind::Hole, State::Closed, self.at);
        if let Some(node) = self.nodes.last_mut() {
            node.values = hole.values;
        }
        self.hole += 1;
        true
    }

    /// Takes in the value that ends here.
    fn push(&mut self, kind: Kind, state: State, value: usize) {
        let (from, next) = (self.key.take().unwrap_or(value), self.nodes.len() + 1);
        self.nodes.push(Node {
            kind,
            state,
            from,
            value,
            to: self.at,
            next,
            values: 1,
            rarity: Rarity::Usual,
        });
    }

    fn enter(&mut self, kind: Kind, expect: Expect) -> Expect {
        let from = self.at;
        self.at += 1;
        self.open.push(self.nodes.len());
        self.push(kind, State::Open, from);
        expect
    }

    fn leave(&mut self, kind: Kind) -> Option<Expect> {
        self.at += 1;
        let (at, next) = (self.open.pop()?, self.nodes.len());
        let node = &mut self.nodes[at];
        (node.state, node.to, node.next) = (State::Closed, self.at, next);
        (node.kind == kind).then(|| self.after_value())
    }

    /// Passes the string that begins here.
    fn string(&mut self) -> State {
        let text = &self.held.text[..];
        self.at += 1;
        let state = loop {
            match text.get(self.at) {
                None => break State::Open,
                Some(b'"') => {
                    self.at += 1;
                    break State::Closed;
                }
                Some(b'\\') => {
                    let Some(&escaped) = text.get(self.at + 1) else {
                        self.at = text.len();
                        break State::Open;
                    };
                    let known = match escaped {
                        b'u' => {
                            let digits = &text[(self.at + 2).min(text.len())..text.len().min(self.at + 6)];
                            digits.iter().all(u8::is_ascii_hexdigit)
                        }
                        escaped => b"\"\\/bfnrt".contains(&escaped),
                    };
                    if !known {
                        self.grammar = Grammar::Stretched;
                    }
                    self.at += 2;
                }
                Some(0..0x20) => {
                    self.grammar = Grammar::Stretched;
                    self.at += 1;
                }
                Some(_) => self.at += 1,
            }
        };
        // What was left out of the string is part of it.
        let holes = &self.held.holes[self.hole..];
        self.hole += holes.iter().take_while(|hole| hole.at < self.at || state == State::Open).count();
        state
    }

    fn scalar(&mut self) -> Option<()> {
        let (text, from) = (&self.held.text[..], self.at);
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
        let length = text[from..].iter().take_while(|byte| is_word(byte)).count();
        self.at = from + length;
        let word = &text[from..self.at];
        let is_last = self.at == text.len();
        if is_last && self.end == End::More && length > 0 {
            self.push(Kind::Scalar, State::Open, from);
            return Some(());
        }
        match word {
            b"true" | b"false" | b"null" => {}
            word if is_number(word) => {}
            b"NaN" | b"Infinity" | b"-Infinity" | b"undefined" => self.grammar = Grammar::Stretched,
            [_, ..] if is_last && self.open.len() > 1 => {
                self.push(Kind::Scalar, State::Open, from);
                return Some(());
            }
            _ => return None,
        }
        self.push(Kind::Scalar, State::Closed, from);
        Some(())
    }

    fn finish(mut self) -> Option<Tree> {
        if let Some(key) = self.key {
            self.push(Kind::Scalar, State::Open, key);
        }
        let (end, text) = (self.nodes.len(), self.held.text.len());
        for &at in &self.open {
            self.nodes[at].next = end;
            self.nodes[at].to = text;
        }
        let open = self.open.len() - 1
            + usize::from(self.nodes.last().is_some_and(|node| {
                node.state == State::Open && matches!(node.kind, Kind::String | Kind::Scalar)
            }));
        let tree = Tree { nodes: self.nodes, grammar: self.grammar, open };
        // Words and numbers after each other are no documents but a text.
        let documents = || tree.children(0).map(|at| tree.nodes[at].kind);
        let (count, first) = (documents().count(), documents().next());
        let are_structures = documents().all(|kind| matches!(kind, Kind::Object | Kind::Array | Kind::Hole));
        // A quotation mark alone makes no document.
        let is_string = first == Some(Kind::String)
            && count == 1
            && (self.end == End::More || (open == 0 && tree.grammar == Grammar::Kept));
        (are_structures && count > 0 || is_string).then_some(tree)
    }
}

impl Tree {
    /// The values in a container, by their places in the tree.
    pub(super) fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[at].next;
        let first = (at + 1 < end).then_some(at + 1);
        std::iter::successors(first, move |&at| Some(self.nodes[at].next).filter(|&next| next < end))
    }
}

fn is_number(word: &[u8]) -> bool {
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

    /// One door: whether a text is JSON, how well it keeps to the grammar, and how much of it is open at its end.
    #[track_caller]
    fn check(text: &[u8], expected: Option<(Grammar, usize)>) {
        let held = Held { text: text.to_vec(), holes: Vec::new() };
        let found = parse(&held, End::Last).map(|tree| (tree.grammar, tree.open));
        assert_eq!(found, expected, "{}", text.escape_ascii());
    }

    #[test]
    fn what_is_json() {
        let kept = Some((Grammar::Kept, 0));
        check(b"{}", kept);
        check(b" [ ] ", kept);
        check(
            b"[1, -0.5e+9, true, false, null, \"\\u00e9\\n\", [[]], {\"a\": {\"a\": 1, \"a\": 2}}]\n",
            kept,
        );
        check(b"{\"a\":1}\n{\"a\":2}\n", kept);
        check(b"\"a string\"", kept);
        check(b"[\"\\ud800\"]", kept);
        check(b"[NaN, Infinity, -Infinity]", Some((Grammar::Stretched, 0)));
        check(b"[\"\x01\"]", Some((Grammar::Stretched, 0)));
        check(b"[\"\xFF\"]", Some((Grammar::Stretched, 0)));
        check(b"[\"\\x\"]", Some((Grammar::Stretched, 0)));
    }

    #[test]
    fn what_is_cut_off() {
        check(b"[1, 2", Some((Grammar::Kept, 1)));
        check(b"[[{\"a\"", Some((Grammar::Kept, 4)));
        check(b"[[{\"a\": ", Some((Grammar::Kept, 4)));
        check(b"[\"abc", Some((Grammar::Kept, 2)));
        check(b"[\"abc\\", Some((Grammar::Kept, 2)));
        check(b"[tru", Some((Grammar::Kept, 2)));
        check(&b"[".repeat(300_000), Some((Grammar::Kept, 300_000)));
    }

    #[test]
    fn what_is_not() {
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
