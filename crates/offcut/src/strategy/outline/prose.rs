//! Prose: reports, Markdown, web pages, manuals and help texts, by their headings, paragraphs and list items.

use super::code::is_clear_code;
use super::failures::{Failures, MAX_QUOTATIONS};
use super::index::{Index, Name};
use super::{Contents, Format, Row, is_majority, with};
use crate::strategy::{Room, content};
use std::ops::Range;

/// Text for people: sentences in paragraphs, with headings, lists, tables and quoted code.
#[derive(Default)]
pub(super) struct Prose {
    /// The number of the last line, counted from 1.
    line: u64,
    /// Lines that are neither blank nor quoted code nor underline a heading.
    lines: u64,
    headings: u64,
    index: Index,
    /// Items of lists, rows of tables and rules; options; lines of sentences; and lines that end a paragraph or an item.
    items: u64,
    options: u64,
    sentences: u64,
    continued: u64,
    /// Paragraphs: blank lines with text before them.
    paragraphs: u64,
    /// Lines of source code that is not quoted.
    code: u64,
    failures: Failures,
    before: Before,
    /// The line before, if it begins a paragraph: an underline makes it a heading.
    title: Vec<u8>,
    /// Whether the next line, if it directly follows, is in the middle of a sentence.
    is_in_sentence: bool,
    /// What the units of the section are worth more.
    section: i32,
    is_quoting: bool,
    is_settled: bool,
}

/// What the previous line was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Nothing,
    Blank,
    Heading,
    Text,
}

/// In any prose, at least this percentage of the lines are headings, items or sentences, less if no line reports a failure, and
/// this percentage these or what continues them.
const OWN_PERCENT: u64 = 40;
const OWN_PERCENT_WITHOUT_FAILURES: u64 = 30;
const PROSE_PERCENT: u64 = 75;

/// In a document, there is at least one heading for this many lines, and at least this percentage of the lines are headings,
/// items or sentences, or this percentage these or what continues them.
const LINES_PER_HEADING: u64 = 60;
const DOCUMENT_PERCENT: u64 = 60;
const LONG_ITEMS_PERCENT: u64 = 90;

/// In prose without headings, at least this percentage of the lines are sentences.
const SENTENCE_PERCENT: u64 = 25;

/// Prose without headings has at least one paragraph for this many lines.
const LINES_PER_PARAGRAPH: u64 = 30;

/// A long document may quote one message of a failing tool in this many lines that are clearly prose.
const LINES_PER_QUOTATION: u64 = 250;

/// At most this percentage is source code that is not quoted.
const CODE_PERCENT: u64 = 8;

/// A help text has at least this many options, at most this many lines for each, and at most this many before the first.
const MIN_OPTIONS: u64 = 5;
const LINES_PER_OPTION: u64 = 10;
const FIRST_OPTION_LINES: u64 = 100;

/// What a heading is worth more than a paragraph, and the first paragraph below it.
const HEADING: i32 = 40;
const FIRST_PARAGRAPH: i32 = 40;

/// What everything is worth more in a section that says what matters in the others, and words in the headings of such
/// sections.
const SUMMARY: i32 = 30;
const SUMMARY_WORDS: [&[u8]; 7] =
    [b"summary", b"conclusion", b"recommend", b"tl;dr", b"next step", b"verdict", b"takeaway"];

/// A sentence has at least this many words, and this many of [`COMMON_WORDS`].
const SENTENCE_WORDS: usize = 6;
const SENTENCE_COMMON_WORDS: usize = 2;

/// Words that hold sentences together. Messages of programs have few.
const COMMON_WORDS: [&[u8]; 26] = [
    b"the", b"a", b"an", b"is", b"are", b"of", b"to", b"and", b"that", b"this", b"it", b"its", b"as", b"be",
    b"or", b"which", b"when", b"with", b"can", b"if", b"but", b"you", b"by", b"The", b"will", b"has",
];

/// A heading: `# Title`, `<h2>`, `\section{Title}`, `NAME` in a manual, `**Title**`.
struct Heading<'t> {
    title: &'t [u8],
    /// The higher, the more headings are above it.
    level: usize,
}

/// The heading in this line.
fn heading(line: &[u8]) -> Option<Heading<'_>> {
    let marks = line.iter().take_while(|&&byte| byte == b'#').count();
    if (1..=6).contains(&marks) && line.get(marks) == Some(&b' ') {
        return Some(Heading { title: line[marks..].trim_ascii(), level: marks });
    }
    if let [b'<', b'h' | b'H', digit @ b'1'..=b'6', ..] = line {
        return Some(Heading { title: b"", level: usize::from(digit - b'0') });
    }
    let sections: [(&[u8], usize); 3] = [(b"\\chapter{", 1), (b"\\section{", 2), (b"\\subsection{", 3)];
    if let Some((title, level)) =
        sections.into_iter().find_map(|(start, level)| Some((line.strip_prefix(start)?, level)))
    {
        return Some(Heading { title: title.strip_suffix(b"}").unwrap_or(title), level });
    }
    let is_title = |byte: &u8| byte.is_ascii_uppercase() || matches!(byte, b' ' | b'-' | b'/');
    if line.len() >= 4 && line[0].is_ascii_uppercase() && line.iter().all(is_title) {
        return Some(Heading { title: line, level: 1 });
    }
    let bold = line.strip_prefix(b"**")?;
    let title = bold.strip_suffix(b"**").or(bold.strip_suffix(b"**:")).or(bold.strip_suffix(b":**"))?;
    Some(Heading { title, level: 6 })
}

/// Whether a line consists of one sign: `-----`.
fn is_rule(text: &[u8]) -> bool {
    text.len() >= 3 && b"=-~^*_#+".contains(&text[0]) && text.iter().all(|byte| *byte == text[0])
}

/// The level of a heading that this line underlines.
fn level_of_underline(text: &[u8], title: &[u8]) -> Option<usize> {
    let length = String::from_utf8_lossy(title).chars().count();
    let is_underline = is_rule(text) && length > 0 && (length..=length * 3).contains(&(text.len() + 2));
    is_underline.then_some(match text[0] {
        b'=' => 1,
        b'-' => 2,
        _ => 3,
    })
}

/// A longer line is no heading, and a shorter one does not end in the middle of a sentence.
const LONGEST_HEADING: usize = 100;
const SHORTEST_WRAPPED: usize = 40;

/// Whether a heading is that of a summary.
fn is_summary(heading: &[u8]) -> bool {
    let heading = heading.to_ascii_lowercase();
    SUMMARY_WORDS.iter().any(|word| memchr::memmem::find(&heading, word).is_some())
}

/// Whether a line describes an option: `-h, --help`.
fn is_option(text: &[u8]) -> bool {
    matches!(text, [b'-', b'-', letter, ..] | [b'-', letter, b' ' | b',' | b'=', ..] if letter.is_ascii_alphanumeric())
        || matches!(text, [b'-', letter] if letter.is_ascii_alphanumeric())
}

/// Whether a line begins an item of a list, a row of a table or a markup element: `- a`, `12. a`, `| cell |`, `<li>`.
fn is_item(text: &[u8]) -> bool {
    let digits = text.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
    let is_element = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'/';
    matches!(text, [b'-' | b'*' | b'+' | b'>', b' ', ..] | [b'|', .., b'|'])
        || text.starts_with("•".as_bytes())
        || (digits > 0 && matches!(text[digits..], [b'.' | b')', b' ', ..]))
        || (text.starts_with(b"<") && text.get(1).is_some_and(is_element))
        || (text.starts_with(b"**") && memchr::memmem::find(&text[2..], b"**").is_some())
}

/// Whether a line consists of words of a sentence.
pub(super) fn is_sentence(text: &[u8]) -> bool {
    let foreign = text.iter().filter(|byte| **byte >= 0x80).count();
    if foreign * 2 > text.len() {
        return true;
    }
    let words = text.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let (all, common) = words
        .fold((0, 0), |(all, common), word| (all + 1, common + usize::from(COMMON_WORDS.contains(&word))));
    all >= SENTENCE_WORDS && common >= SENTENCE_COMMON_WORDS
}

/// In a smaller room, paragraphs say more than the titles of others.
const MIN_BYTES_WITH_NAMES: u64 = 5000;

impl Prose {
    /// Adds the heading in this line. Returns what it is worth more.
    fn add_heading(&mut self, heading: Heading<'_>, line: u64) -> i32 {
        self.headings += 1;
        self.index.add(heading.title, line, heading.level);
        self.before = Before::Heading;
        self.section = if is_summary(heading.title) { SUMMARY } else { 0 };
        HEADING + self.section
    }
}

impl Format for Prose {
    fn read(&mut self, line: &[u8]) -> Row {
        self.line += 1;
        let text = line.trim_ascii();
        let before = self.before;
        let title = std::mem::take(&mut self.title);
        let is_in_sentence = std::mem::take(&mut self.is_in_sentence);
        if text.is_empty() {
            self.paragraphs += u64::from(before == Before::Text);
            self.before = if before == Before::Heading { Before::Heading } else { Before::Blank };
            return Row::part();
        }
        if let Some(level) = level_of_underline(text, &title) {
            let more = self.add_heading(Heading { title: title.trim_ascii(), level }, self.line - 1);
            return Row::part().worth_at_least(more);
        }
        if text.starts_with(b"```") || text.starts_with(b"~~~") {
            self.is_quoting = !self.is_quoting;
            self.before = Before::Blank;
            return if self.is_quoting { Row::unit(0) } else { Row::part() };
        }
        if self.is_quoting {
            return Row::part();
        }
        self.lines += 1;
        let indent = content::indent(line);
        if let Some(heading) = heading(text).filter(|_| indent < 4) {
            return Row::unit(self.add_heading(heading, self.line));
        }
        if is_rule(text) {
            self.items += 1;
            self.before = if before == Before::Heading { Before::Heading } else { Before::Blank };
            return Row::unit(0);
        }
        self.before = Before::Text;
        if before != Before::Text && text.len() <= LONGEST_HEADING {
            self.title = text.to_vec();
        }
        let more = self.section + if before == Before::Heading { FIRST_PARAGRAPH } else { 0 };
        let (is_option, is_item) = (is_option(text), is_item(text));
        if !self.is_settled {
            self.options += u64::from(is_option);
            self.code += u64::from(!is_item && is_clear_code(text));
            let is_sentence = is_sentence(text);
            match is_item {
                true => self.items += 1,
                false if is_sentence => self.sentences += 1,
                false if before == Before::Text || indent >= 2 => self.continued += 1,
                false => {}
            }
            let is_of_sentence = is_sentence || is_in_sentence;
            let is_wrapped = text.len() >= SHORTEST_WRAPPED && !b".:;!?".contains(&text[text.len() - 1]);
            self.is_in_sentence = is_of_sentence && is_wrapped;
            // A sentence may explain what a failing tool prints, and a line within a paragraph is part of one.
            if !is_of_sentence && self.failures.read(line) && before != Before::Text {
                return Row::irregular();
            }
        }
        if is_item || is_option {
            return Row::unit(more);
        }
        match before {
            Before::Text => Row::part(),
            Before::Nothing | Before::Blank | Before::Heading => Row::unit(more),
        }
    }

    fn can_match(&self, lines_left: u64) -> bool {
        let lines = self.lines + lines_left;
        let has = |regular: u64, percent| is_majority(regular + lines_left, lines, percent);
        let own = self.headings + self.items + self.sentences;
        let headings = self.headings + lines_left;
        let least = if self.failures.has_some() { OWN_PERCENT } else { OWN_PERCENT_WITHOUT_FAILURES };
        let has_own = has(own, least);
        let is_document = headings >= 2
            && headings * LINES_PER_HEADING >= lines
            && (has(own, DOCUMENT_PERCENT) || (has_own && has(own + self.continued, LONG_ITEMS_PERCENT)));
        // Blank lines end paragraphs and do not count as lines.
        let is_prose = (self.paragraphs + lines_left) * LINES_PER_PARAGRAPH >= self.lines
            && has_own
            && has(self.sentences, SENTENCE_PERCENT)
            && has(own + self.continued, PROSE_PERCENT);
        let options = self.options + lines_left;
        // It may explain what each failure means.
        let is_help = options >= MIN_OPTIONS
            && options * LINES_PER_OPTION >= lines
            && (self.options > 0 || self.lines <= FIRST_OPTION_LINES)
            && has(own + self.options + self.continued, PROSE_PERCENT);
        let quotations = MAX_QUOTATIONS.max((own + lines_left) / LINES_PER_QUOTATION);
        let is_log = self.code * 100 > lines * CODE_PERCENT
            || self.failures.outweigh_quotations(quotations, own, lines_left);
        is_help || ((is_document || is_prose) && !is_log)
    }

    fn settle(&mut self) {
        self.is_settled = true;
    }

    fn remark(&self) -> String {
        with("text", &self.describe(self.contents()))
    }

    fn contents(&self) -> Contents {
        [self.headings, 0, 0, 0, 0]
    }

    fn names(&self, lines: Range<u64>) -> Vec<Name<'_>> {
        self.index.names(lines).collect()
    }

    fn share_of_names(&self, room: &Room<'_>) -> (u32, u32) {
        if room.limits.bytes.is_some_and(|bytes| bytes < MIN_BYTES_WITH_NAMES) { (0, 1) } else { (1, 11) }
    }

    fn nouns(&self) -> &'static [&'static str] {
        &["heading"]
    }
}
