//! `auto`: looks at how a text begins and chooses what suits it.
//!
//! Logs and whatever else a command prints are for `smart`. A source file or a JSON document is not: words like `error`
//! are everywhere in them and mean nothing, and lines torn from their places are hard to read. They show both ends.

use super::{BothEnds, Ends, Room, Selector, Smart, Split, Strategy};
use crate::cut::{Piece, Run};

/// So much of the beginning is looked at.
const LOOKED_AT: usize = 64 << 10;

/// Chooses by what the text is.
#[derive(Clone, Copy, Debug)]
pub struct Auto {
    /// How the room is divided where both ends are shown.
    pub split: Split,
}

impl Strategy for Auto {
    fn start(&self, most_bytes: u64) -> Box<dyn Selector> {
        Box::new(Undecided { ends: BothEnds(self.split), smart: Smart::default().start(most_bytes) })
    }
}

struct Undecided {
    ends: BothEnds,
    smart: Box<dyn Selector>,
}

impl Selector for Undecided {
    fn observe(&mut self, run: Run<'_>) {
        self.smart.observe(run);
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Vec<Piece<'text>> {
        match kind(ends.opening()) {
            Kind::Log => self.smart.finish(ends, room),
            Kind::Source | Kind::Json => self.ends.finish(ends, room),
        }
    }
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Log,
    Source,
    Json,
}

fn kind(opening: &[u8]) -> Kind {
    let opening = &opening[..opening.len().min(LOOKED_AT)];
    let mut rest = opening.trim_ascii_start().iter().filter(|byte| !byte.is_ascii_whitespace());
    match (rest.next(), rest.next()) {
        (Some(b'{'), Some(b'"')) | (Some(b'['), Some(b'{' | b'[')) => return Kind::Json,
        _ => {}
    }
    let (mut lines, mut code) = (0_u32, 0_u32);
    for line in opening.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()) {
        lines += 1;
        code += u32::from(is_code(line));
    }
    // A few lines tell nothing; in a log even a quoted source is a small part.
    if lines >= 40 && code * 100 >= lines * 65 { Kind::Source } else { Kind::Log }
}

/// A line that would be odd outside a source file.
fn is_code(line: &[u8]) -> bool {
    let ends = matches!(line.last(), Some(b'{' | b'}' | b';' | b',' | b'(' | b'[' | b'\\'));
    let comment = [&b"//"[..], b"/*", b"* ", b"*/", b"# ", b"#include", b"\"\"\""]
        .iter()
        .any(|mark| line.starts_with(mark));
    let word = [
        &b"def "[..],
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
    ]
    .iter()
    .any(|word| line.starts_with(word));
    ends || comment || word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Kind) {
        assert_eq!(kind(text.as_bytes()), expected, "{}", &text[..text.len().min(80)]);
    }

    #[test]
    fn what_a_text_is() {
        check(include_str!("auto.rs"), Kind::Source);
        check(include_str!("../truncator.rs"), Kind::Source);
        check("{\"a\": [1, 2]}", Kind::Json);
        check("[\n  {\"a\": 1}\n]", Kind::Json);
        check("[INFO] Scanning for projects...\n", Kind::Log);
        check(&"src/a.c:1:5: error: expected ';'\n    1 | int a\n      |      ^\n".repeat(50), Kind::Log);
        check(&"test parser::case_one ... ok\n".repeat(100), Kind::Log);
        check(&"    at com.a.B.call(B.java:12)\n".repeat(100), Kind::Log);
        check("", Kind::Log);
    }
}
