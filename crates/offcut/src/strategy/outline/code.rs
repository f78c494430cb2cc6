//! Source code: the definitions and both ends.

use super::{Format, is_majority};

/// A source file of any language that has braces or indentation.
#[derive(Default)]
pub(super) struct Code {
    lines: u64,
    code: u64,
    definitions: u64,
    /// The lines of the current block, and those that look like code; and whether any block was something else.
    block: (u64, u64),
    has_other_block: bool,
}

/// A block of this many lines with fewer than [`MIN_CODE_LINES`] lines of code is something else.
const BLOCK_LINES: u64 = 200;
const MIN_CODE_LINES: u64 = 43;

/// Modifiers before the keyword of a definition.
const MODIFIERS: [&[u8]; 20] = [
    b"pub",
    b"pub(crate)",
    b"pub(super)",
    b"export",
    b"default",
    b"async",
    b"static",
    b"public",
    b"private",
    b"protected",
    b"internal",
    b"abstract",
    b"final",
    b"override",
    b"unsafe",
    b"extern",
    b"inline",
    b"sealed",
    b"virtual",
    b"declare",
];

/// Keywords of definitions.
const DEFINITION_KEYWORDS: [&[u8]; 22] = [
    b"fn",
    b"def",
    b"class",
    b"func",
    b"fun",
    b"function",
    b"interface",
    b"struct",
    b"enum",
    b"impl",
    b"trait",
    b"module",
    b"namespace",
    b"mod",
    b"object",
    b"record",
    b"protocol",
    b"extension",
    b"macro_rules!",
    b"union",
    b"package",
    b"type",
];

/// Keywords that begin a statement, not a definition.
const STATEMENTS: [&[u8]; 14] = [
    b"if", b"for", b"while", b"switch", b"match", b"catch", b"else", b"return", b"do", b"try", b"}", b"let",
    b"elif", b"with",
];

/// The value of a definition, by its indentation; `None` for any other line.
fn definition_value(line: &[u8]) -> Option<i32> {
    let text = line.trim_ascii_start();
    let indent: usize =
        line[..line.len() - text.len()].iter().map(|&byte| if byte == b'\t' { 4 } else { 1 }).sum();
    let mut words = text
        .split(|byte| matches!(byte, b' ' | b'(' | b'<' | b'{' | b':' | b'*'))
        .filter(|word| !word.is_empty())
        .skip_while(|word| MODIFIERS.contains(word));
    let word = words.next()?;
    let is_defined = DEFINITION_KEYWORDS.contains(&word) && words.next().is_some() && !text.ends_with(b";");
    // C, Java and others define functions without a keyword.
    let name = &text[..memchr::memchr(b'(', text).unwrap_or(0)];
    let is_name = !name.is_empty() && !name.iter().any(|byte| b".!|\"';=[]{}".contains(byte));
    let is_method = is_name && text.ends_with(b"{") && indent <= 4 && !STATEMENTS.contains(&word);
    if indent > 12 || !(is_defined || is_method) {
        return None;
    }
    Some((900 - indent as i32 * 20).max(0))
}

impl Format for Code {
    fn value(&mut self, line: &[u8]) -> i32 {
        let text = line.trim_ascii();
        if text.is_empty() {
            return 0;
        }
        self.lines += 1;
        let is_code = is_code(text);
        self.code += u64::from(is_code);
        self.block = (self.block.0 + 1, self.block.1 + u64::from(is_code));
        if self.block.0 == BLOCK_LINES {
            self.has_other_block |= self.block.1 < MIN_CODE_LINES;
            self.block = (0, 0);
        }
        let value = definition_value(line).unwrap_or(0);
        self.definitions += u64::from(value > 0);
        value
    }

    fn is_match(&self) -> bool {
        // A few lines are not enough, and in a log quoted source is a small part.
        self.lines >= 40
            && !self.has_other_block
            && self.definitions > 0
            && is_majority(self.code, self.lines, 65)
    }

    fn remark(&self) -> String {
        "source: its definitions and both ends".to_owned()
    }

    fn ends(&self) -> (u32, u32) {
        (25, 12)
    }
}

/// Whether a line looks like source code.
fn is_code(line: &[u8]) -> bool {
    let ends = matches!(line.last(), Some(b'{' | b'}' | b';' | b',' | b'(' | b'[' | b'\\'));
    let comment = [&b"//"[..], b"/*", b"* ", b"*/", b"# ", b"#include", b"\"\"\""]
        .iter()
        .any(|mark| line.starts_with(mark));
    let words: [&[u8]; 28] = [
        b"def ",
        b"class ",
        b"import ",
        b"from ",
        b"return",
        b"if ",
        b"for ",
        b"while ",
        b"else",
        b"elif ",
        b"try:",
        b"except",
        b"with ",
        b"self.",
        b"fn ",
        b"pub ",
        b"let ",
        b"use ",
        b"const ",
        b"var ",
        b"func ",
        b"function ",
        b"package ",
        b"public ",
        b"private ",
        b"static ",
        b"end",
        b"@",
    ];
    ends || comment || words.iter().any(|word| line.starts_with(word))
}
