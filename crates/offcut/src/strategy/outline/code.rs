//! Source code: the definitions, and as much of the rest as fits.

use super::comments::{Comments, Text};
use super::definitions::{definition, name_of_definition, worth_of_definition};
use super::failures::Failures;
use super::index::{Index, Name};
use super::signatures::{LineKind, Signatures};
use super::{Contents, Format, Place, Row, is_majority, with};
use crate::strategy::content;
use crate::strategy::words::ByteSet;
use std::ops::Range;

/// A source file, or a part of one, of any language that has braces, keywords or indentation; with or without line numbers.
#[derive(Default)]
pub(super) struct Code {
    /// Lines that are not blank, those that look like code or are comments, and the comments among them.
    lines: u64,
    code: u64,
    comment_lines: u64,
    begins_with_comment: bool,
    comments: Comments,
    definitions: u64,
    imports: u64,
    index: Index,
    /// The number of the last line.
    line: u64,
    /// Lines that only source code has.
    clear: u64,
    failures: Failures,
    /// The lines of the current block, and those that look like code; and whether any block was something else.
    block: (u64, u64),
    has_other_block: bool,
    signatures: Signatures,
    is_settled: bool,
}

/// At least this percentage of the lines look like code or are comments.
const CODE_PERCENT: u64 = 45;

/// At least this percentage of the lines that are no comments are clearly code, and at most this percentage are comments.
const CLEAR_PERCENT: u64 = 12;
const COMMENT_PERCENT: u64 = 85;

/// A text without definitions has at least this many imports.
const MIN_IMPORTS: u64 = 3;

/// A block of this many lines with fewer than [`MIN_CODE_LINES`] lines of code is something else. This is known early: a text of
/// megabytes that may still become source code is read twice.
const BLOCK_LINES: u64 = 200;
const MIN_CODE_LINES: u64 = 43;

/// What imports and comments are worth more than other lines.
const IMPORT: i32 = -45;
const COMMENT: i32 = -30;

/// Whether a line is an import, by its first word.
fn is_import(text: &[u8]) -> bool {
    let words: [&[u8]; 7] = [b"import ", b"from ", b"use ", b"require ", b"using ", b"package ", b"#include"];
    words.iter().any(|word| text.starts_with(word))
}

/// How clearly a line is source code, by its first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstWord {
    /// Nothing but source code begins with it.
    Clear,
    /// Source code often begins with it.
    Likely,
    Other,
}

impl FirstWord {
    fn of(text: &[u8]) -> FirstWord {
        static ENDS: ByteSet = ByteSet::of(b" (.:<");
        let end = text.iter().position(|&byte| ENDS.contains(byte)).map_or(text.len(), |at| at + 1);
        match &text[..end] {
            b"def " | b"class " | b"import " | b"from " | b"return " | b"elif " | b"except" | b"except "
            | b"except:" | b"self." | b"fn " | b"pub " | b"let " | b"const " | b"func " | b"function "
            | b"raise " | b"#include " | b"#include<" | b"#define " | b"#if " | b"#ifdef " | b"#ifndef "
            | b"#else" | b"#endif" | b"#endif " | b"#undef " | b"echo " => FirstWord::Clear,
            b"return" | b"return(" | b"if " | b"if(" | b"for " | b"for(" | b"while " | b"else" | b"else "
            | b"else:" | b"try:" | b"with " | b"use " | b"var " | b"package " | b"public " | b"private "
            | b"static " | b"end" | b"end " | b"end." | b"yield " | b"assert " | b"case " | b"export "
            | b"type " | b"endif" => FirstWord::Likely,
            // A decorator or an annotation.
            [b'@', ..] => FirstWord::Likely,
            _ => FirstWord::Other,
        }
    }
}

/// What only a shell script has: whole lines and ends of lines.
const SHELL_LINES: [&[u8]; 5] = [b"fi", b"done", b"esac", b";;", b"then"];
const SHELL_ENDS: [&[u8]; 3] = [b"; then", b"; do", b" ;;"];

/// A line without the number that `cat -n`, `nl` or an editor puts before it, and the same without white space at its ends.
#[inline]
pub(super) fn strip_number(line: &[u8]) -> (&[u8], &[u8]) {
    let text = content::trim_start(line).trim_ascii_end();
    match text.first() {
        Some(b'0'..=b'9') => match after_number(content::trim_start(line)) {
            Some(line) => (line, line.trim_ascii()),
            None => (line, text),
        },
        _ => (line, text),
    }
}

/// What follows a number and the tab, the arrow or the spaces after it.
fn after_number(text: &[u8]) -> Option<&[u8]> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = &text[digits..];
    let separators: [&[u8]; 3] = [b"\t", "→".as_bytes(), b"  "];
    let mut lines = separators.into_iter().filter_map(|separator| rest.strip_prefix(separator));
    lines.next().filter(|_| digits <= MAX_NUMBER_DIGITS)
}

/// The most digits of the number of a line.
const MAX_NUMBER_DIGITS: usize = 7;

/// Whether a line belongs to the definition that follows: `@Override`, `@route("/users")`. Attributes such as `#[must_use]` say less.
fn is_decorator(text: &[u8]) -> bool {
    let Some(name) = text.strip_prefix(b"@") else { return false };
    let end = name.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"_.".contains(byte)));
    name.first().is_some_and(u8::is_ascii_alphabetic) && end.is_none_or(|end| name[end] == b'(')
}

/// Whether nothing but a comment begins with this line. `//src:lib` is the name of a target.
fn is_clear_comment(text: &[u8]) -> bool {
    let mark = text.strip_prefix(b"//");
    text.starts_with(b"/*") || mark.is_some_and(|rest| matches!(rest, [] | [b' ' | b'/' | b'!', ..]))
}

/// Whether a line that is not clearly source code looks like it.
fn may_be_code(text: &[u8]) -> bool {
    let operators: [&[u8]; 7] = [b"=", b"==", b":=", b"=>", b"->", b"+=", b"!="];
    matches!(text.last(), Some(b',' | b'(' | b'[' | b'\\' | b')' | b']'))
        || FirstWord::of(text) == FirstWord::Likely
        || text.split(|&byte| byte == b' ').any(|word| operators.contains(&word))
        || memchr::memmem::find(text, b"::").is_some()
        || memchr::memmem::find(text, b"();").is_some()
        || is_key(text)
}

/// Whether nothing but source code has such a line.
pub(super) fn is_clear_code(text: &[u8]) -> bool {
    matches!(text.last(), Some(b'{' | b'}' | b';'))
        || FirstWord::of(text) == FirstWord::Clear
        || is_shell(text)
}

/// Whether a line is one of a shell script: `fi`, `for a in *; do`, `a=b`, `[ -n "$a" ]`.
fn is_shell(text: &[u8]) -> bool {
    let name = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let is_assignment = name > 0 && !text[0].is_ascii_digit() && text.get(name) == Some(&b'=');
    is_assignment
        || SHELL_LINES.contains(&text)
        || SHELL_ENDS.iter().any(|end| text.ends_with(end))
        || memchr::memchr_iter(b'$', text)
            .any(|at| matches!(text.get(at + 1), Some(b'(' | b'{')) || text[..at].ends_with(b"\""))
}

/// `key: value`, `- item`, `"key": value`
fn is_key(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"- ").unwrap_or(text);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-\"'".contains(byte);
    let end = text.iter().position(|byte| !is_name(byte)).unwrap_or(text.len());
    end > 0 && matches!(&text[end..], [b':'] | [b':', b' ', ..])
}

impl Code {
    /// Whether the text may be the beginning of a file, before the first definition: documentation, a license, imports.
    fn is_beginning(&self) -> bool {
        self.imports >= MIN_IMPORTS || self.is_comment()
    }

    /// Whether nearly all of it is one comment.
    fn is_comment(&self) -> bool {
        self.begins_with_comment && self.comment_lines * 100 > self.lines * COMMENT_PERCENT
    }

    /// Counts what says whether the text is source code. Returns whether the line reports a failure.
    fn examine(&mut self, line: &[u8], text: &[u8], kind: Text) -> bool {
        self.lines += 1;
        let is_comment = kind != Text::Code;
        self.begins_with_comment |= self.lines == 1 && is_clear_comment(text);
        self.comment_lines += u64::from(is_comment);
        let is_clear = !is_comment && is_clear_code(text);
        let is_code = is_comment || is_clear || may_be_code(text);
        self.code += u64::from(is_code);
        self.block = (self.block.0 + 1, self.block.1 + u64::from(is_code));
        if self.block.0 == BLOCK_LINES {
            self.has_other_block |= self.block.1 < MIN_CODE_LINES;
            self.block = (0, 0);
        }
        self.clear += u64::from(is_clear);
        // A program contains the messages that it prints, and comments explain them.
        !is_clear && !is_comment && self.failures.read(line)
    }
}

impl Format for Code {
    fn read(&mut self, line: &[u8]) -> Row {
        self.line += 1;
        let (line, text) = strip_number(line);
        if text.is_empty() {
            return Row::part();
        }
        let kind = self.comments.read(text);
        if !self.is_settled && self.examine(line, text, kind) {
            return Row::irregular();
        }
        let (kind, more) = match kind {
            _ if self.signatures.is_open() => (LineKind::Other, 0),
            Text::Comment => (LineKind::Other, COMMENT),
            Text::Quoted => (LineKind::Other, 0),
            Text::Code => match definition(line) {
                Some(more) => (LineKind::Definition, more),
                None if is_import(text) => (LineKind::Import, IMPORT),
                None if is_decorator(text) => (LineKind::Decorator, worth_of_definition(line)),
                None => (LineKind::Other, 0),
            },
        };
        if kind == LineKind::Definition {
            self.definitions += 1;
            if let Some(name) = name_of_definition(line) {
                self.index.add(name, self.line, content::indent(line));
            }
        }
        self.imports += u64::from(kind == LineKind::Import);
        match self.signatures.place(text, kind) {
            Place::Begins => Row::unit(more),
            Place::Continues => Row::part(),
        }
    }

    fn settle(&mut self) {
        self.is_settled = true;
    }

    fn can_match(&self, lines_left: u64) -> bool {
        let lines = self.lines + lines_left;
        !self.has_other_block
            && (self.definitions + lines_left > 0 || self.is_beginning())
            && is_majority(self.code + lines_left, lines, CODE_PERCENT)
            && (self.clear + lines_left) * 100 >= (lines - self.comment_lines) * CLEAR_PERCENT
            && (self.comment_lines * 100 <= lines * COMMENT_PERCENT || self.is_comment())
            && !self.failures.outweigh(self.clear, lines_left)
    }

    fn remark(&self) -> String {
        with("source", &self.describe(self.contents()))
    }

    fn contents(&self) -> Contents {
        [self.definitions, 0, 0, 0, 0]
    }

    fn names(&self, lines: Range<u64>) -> Vec<Name<'_>> {
        self.index.names(lines).collect()
    }

    fn nouns(&self) -> &'static [&'static str] {
        &["definition"]
    }
}
