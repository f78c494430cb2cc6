//! Keeps together the lines of source code that mean little alone: decorators and parameters of a definition, imports.

use super::Place;

/// Parameters are read over at most this many lines: a parenthesis in a string may never be closed.
const MAX_OPEN_LINES: u32 = 20;

/// What a line is by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    Definition,
    /// It belongs to the definition that follows.
    Decorator,
    Import,
    Other,
}

/// The definition or the imports that the next line may continue.
#[derive(Default)]
pub(super) struct Signatures {
    /// The kind of the previous line.
    before: Option<LineKind>,
    /// How many parentheses are open, and how many more lines may close them.
    open: i32,
    lines_left: u32,
}

impl Signatures {
    /// Whether the next line is inside of parentheses of a definition, a decorator or an import.
    pub(super) fn is_open(&self) -> bool {
        self.open > 0 && self.lines_left > 0
    }

    /// Whether a line continues the unit of the line before it.
    pub(super) fn place(&mut self, text: &[u8], kind: LineKind) -> Place {
        if self.is_open() {
            self.open += balance(text);
            self.lines_left -= 1;
            return Place::Continues;
        }
        let before = self.before.replace(kind);
        if kind != LineKind::Other {
            // Where a body begins, no parameters follow.
            let open = if text.ends_with(b"{") { 0 } else { balance(text) };
            (self.open, self.lines_left) = (open, MAX_OPEN_LINES);
        }
        let continues = match kind {
            LineKind::Definition | LineKind::Decorator => before == Some(LineKind::Decorator),
            LineKind::Import => before == Some(LineKind::Import),
            LineKind::Other => false,
        };
        if continues { Place::Continues } else { Place::Begins }
    }
}

/// How many more parentheses a line opens than it closes.
fn balance(text: &[u8]) -> i32 {
    memchr::memchr2_iter(b'(', b')', text).map(|at| if text[at] == b'(' { 1 } else { -1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use LineKind::{Decorator, Definition, Import, Other};

    #[track_caller]
    fn check(lines: &[(&str, LineKind)], expected: &str) {
        let mut signatures = Signatures::default();
        let places = lines.iter().map(|(line, kind)| match signatures.place(line.as_bytes(), *kind) {
            Place::Begins => '|',
            Place::Continues => '.',
        });
        assert_eq!(places.collect::<String>(), expected);
    }

    #[test]
    fn decorators_and_parameters_belong_to_the_definition() {
        check(&[("@a", Decorator), ("@b(1)", Decorator), ("def c():", Definition), ("pass", Other)], "|..|");
        check(&[("def c(", Definition), ("d,", Other), ("):", Other), ("pass", Other)], "|..|");
        check(&[("@a(", Decorator), ("1)", Other), ("def c():", Definition)], "|..");
        check(&[("const a = create((b) => {", Definition), ("c()", Other)], "||");
    }

    #[test]
    fn imports_in_a_row_are_one_unit() {
        check(&[("import a", Import), ("from b import (", Import), ("c)", Other), ("d()", Other)], "|..|");
    }

    #[test]
    fn parenthesis_that_is_never_closed_ends_with_the_longest_signature() {
        let lines = [&[("sub a { '('", Definition)][..], &[("x", Other); 22]].concat();
        check(&lines, &format!("|{}||", ".".repeat(20)));
    }
}
