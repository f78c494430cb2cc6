//! The JSON lexer: the tokens of a text and their byte positions.
//!
//! It accepts any bytes. It checks no grammar: a string may contain control characters, a word may be any run of
//! letters and digits, and tokens may follow in any order. It is linear, does not recurse and does not allocate.

/// One token: `start..end` are its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// The offset of its first byte.
    pub start: usize,
    /// The offset after its last byte.
    pub end: usize,
}

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// `{`
    ObjectStart,
    /// `}`
    ObjectEnd,
    /// `[`
    ArrayStart,
    /// `]`
    ArrayEnd,
    /// `,`
    Comma,
    /// `:`
    Colon,
    /// A string with both quotes.
    String,
    /// A string that is not closed when the text ends.
    OpenString,
    /// A number, `true`, `false`, `null`, or any other run of letters, digits and `+-._`.
    Word,
    /// A byte that does not begin any other token.
    Other,
}

/// The position between two chunks of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Position {
    /// Not in a string.
    #[default]
    Outside,
    /// In a string.
    InString,
    /// In a string, after a backslash.
    InEscape,
}

/// Iterates over the tokens of a text.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    position: Position,
}

impl<'a> Lexer<'a> {
    /// A lexer at the beginning of a text.
    pub fn new(text: &'a [u8]) -> Lexer<'a> {
        Lexer::resume(text, Position::Outside)
    }

    /// A lexer for the next chunk of a text, at the [`position`](Lexer::position) where the previous one ended.
    pub fn resume(text: &'a [u8], position: Position) -> Lexer<'a> {
        Lexer { text, at: 0, position }
    }

    /// The position after the tokens returned so far.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Skips white space and returns the offset of the next token.
    pub fn skip_blanks(&mut self) -> usize {
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.text[self.at..].iter().take_while(is_blank).count();
        self.at
    }

    /// Moves to the end of the string that contains `at`.
    fn string(&mut self) -> TokenKind {
        self.at += usize::from(self.position == Position::InEscape);
        self.position = Position::InString;
        while let Some(found) = memchr::memchr2(b'"', b'\\', &self.text[self.at..]) {
            let at = self.at + found;
            if self.text[at] == b'"' {
                (self.at, self.position) = (at + 1, Position::Outside);
                return TokenKind::String;
            }
            if at + 1 == self.text.len() {
                self.position = Position::InEscape;
                break;
            }
            self.at = at + 2;
        }
        self.at = self.text.len();
        TokenKind::OpenString
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let start = if self.position == Position::Outside { self.skip_blanks() } else { self.at };
        let &first = self.text.get(start)?;
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
        let kind = if self.position != Position::Outside {
            self.string()
        } else if is_word(&first) {
            self.at += self.text[start..].iter().take_while(|byte| is_word(byte)).count();
            TokenKind::Word
        } else {
            self.at += 1;
            match first {
                b'{' => TokenKind::ObjectStart,
                b'}' => TokenKind::ObjectEnd,
                b'[' => TokenKind::ArrayStart,
                b']' => TokenKind::ArrayEnd,
                b',' => TokenKind::Comma,
                b':' => TokenKind::Colon,
                b'"' => self.string(),
                _ => TokenKind::Other,
            }
        };
        Some(Token { kind, start, end: self.at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn finds_tokens_and_their_positions() {
        use TokenKind::*;
        let check = |text: &str, expected: &[(TokenKind, &str)]| {
            let found: Vec<_> = Lexer::new(text.as_bytes())
                .map(|token| (token.kind, &text[token.start..token.end]))
                .collect();
            assert_eq!(found, expected, "{text}");
        };
        check(" \t\r\n", &[]);
        check(
            r#" {"a" :[-1.5e+3 ,true]}"#,
            &[
                (ObjectStart, "{"),
                (String, "\"a\""),
                (Colon, ":"),
                (ArrayStart, "["),
                (Word, "-1.5e+3"),
                (Comma, ","),
                (Word, "true"),
                (ArrayEnd, "]"),
                (ObjectEnd, "}"),
            ],
        );
        check(r#""a\"\\" "b"#, &[(String, r#""a\"\\""#), (OpenString, "\"b")]);
        check("\"a\\", &[(OpenString, "\"a\\")]);
        check("//'", &[(Other, "/"), (Other, "/"), (Other, "'")]);
    }

    proptest! {
        #[test]
        fn tokens_cover_all_but_white_space_and_chunks_change_nothing(
            text in "[ \\[\\]{},:\"\\\\a1\n'-]{0,60}",
            split in 0_usize..60,
        ) {
            let bytes = text.as_bytes();
            let mut end = 0;
            for token in Lexer::new(bytes) {
                prop_assert!(token.start < token.end && token.start >= end);
                prop_assert!(text[end..token.start].trim_ascii().is_empty());
                end = token.end;
            }
            prop_assert!(text[end..].trim_ascii().is_empty());
            // The structure outside strings is the same however the text is divided.
            let structure = |lexer: &mut Lexer<'_>| -> Vec<TokenKind> {
                let is_structure = |kind: &TokenKind| {
                    !matches!(kind, TokenKind::String | TokenKind::OpenString | TokenKind::Word)
                };
                lexer.map(|token| token.kind).filter(is_structure).collect()
            };
            let mut whole = Lexer::new(bytes);
            let expected = structure(&mut whole);
            let (head, tail) = bytes.split_at(split.min(bytes.len()));
            let mut first = Lexer::new(head);
            let mut found = structure(&mut first);
            let mut second = Lexer::resume(tail, first.position());
            found.extend(structure(&mut second));
            prop_assert_eq!(found, expected);
            prop_assert_eq!(second.position(), whole.position());
        }
    }
}
