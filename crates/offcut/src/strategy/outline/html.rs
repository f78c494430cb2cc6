//! HTML pages: the title, the headings, and the text below them. Scripts, styles and navigation come last.

use super::failures::Failures;
use super::{Contents, Format, Gaps, Row, is_regular, with};

/// A page, from `<!DOCTYPE html>` or `<html>` to `</html>`.
#[derive(Default)]
pub(super) struct Html {
    lines: u64,
    headings: u64,
    state: State,
    /// Whether the last unit with text is a heading.
    is_below_heading: bool,
    /// How many lines may still continue a heading that is not closed.
    heading_lines_left: u32,
    /// How many lines without a tag may still continue the text of the last unit, and whether the last one ended with a tag.
    text_lines_left: u32,
    is_closed: bool,
    /// Lines before and after the page.
    outside: u64,
    failures: Failures,
    is_settled: bool,
}

/// Where in the page the next line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Before,
    Page,
    /// In an element that is not text, before this closing tag.
    Hidden(&'static [u8]),
    After,
}

/// The value of the title and of headings, and how much less those of each level below are worth. The names in them do not
/// count, so that all of a level are shown or none.
const HEADING: i32 = 300;
const PER_LEVEL: i32 = 20;

/// What the first text below a heading is worth more than its names, and other text.
const FIRST_TEXT: i32 = 60;
const TEXT: i32 = 0;

/// A text of more lines is divided, and a heading ends after this many.
const MAX_TEXT_LINES: u32 = 6;
const MAX_HEADING_LINES: u32 = 4;

/// The value of lines without text.
const TAGS: i32 = -30;

/// A line with fewer bytes outside of tags has no text.
const MIN_TEXT_BYTES: usize = 12;

/// Elements whose content is not text, and how they end.
const HIDDEN: [(&[u8], &[u8]); 4] =
    [(b"<script", b"</script"), (b"<style", b"</style"), (b"<svg", b"</svg"), (b"<template", b"</template")];

fn starts_with(text: &[u8], tag: &[u8]) -> bool {
    text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag))
}

/// Whether a line contains a tag that begins like this, in any case.
fn has_tag(text: &[u8], tag: &[u8]) -> bool {
    memchr::memchr_iter(b'<', text).any(|at| starts_with(&text[at..], tag))
}

/// The level of the heading that a line contains, from 1 on.
fn heading_level(text: &[u8]) -> Option<i32> {
    memchr::memchr_iter(b'<', text).find_map(|at| match &text[at..] {
        [b'<', b'h' | b'H', level @ b'1'..=b'6', ..] => Some(i32::from(level - b'0')),
        _ => None,
    })
}

/// Whether enough of a line is outside of tags.
fn has_text(text: &[u8]) -> bool {
    let mut is_tag = false;
    let visible = text.iter().filter(|byte| {
        match byte {
            b'<' => is_tag = true,
            b'>' => {
                is_tag = false;
                return false;
            }
            _ => {}
        }
        !is_tag
    });
    visible.take(MIN_TEXT_BYTES).count() == MIN_TEXT_BYTES
}

impl Html {
    /// Reads a line of the page that is not blank.
    fn read_page(&mut self, text: &[u8]) -> Row {
        if has_tag(text, b"</html") {
            self.state = State::After;
            return Row::valued(TAGS);
        }
        if let Some((_, end)) = HIDDEN.iter().find(|(start, _)| starts_with(text, start)) {
            if !has_tag(text, end) {
                self.state = State::Hidden(end);
            }
            return Row::valued(TAGS);
        }
        let level = heading_level(text);
        let is_closed = has_tag(text, b"</h") || has_tag(text, b"</title");
        if level.is_some() || has_tag(text, b"<title") {
            self.headings += u64::from(level.is_some());
            (self.is_below_heading, self.text_lines_left) = (true, 0);
            self.heading_lines_left = if is_closed { 0 } else { MAX_HEADING_LINES };
            return Row::valued(HEADING - PER_LEVEL * (level.unwrap_or(1) - 1));
        }
        if self.heading_lines_left > 0 {
            self.heading_lines_left = if is_closed { 0 } else { self.heading_lines_left - 1 };
            return Row::part();
        }
        // A page may contain what a tool printed. A line within a text is part of a sentence.
        let was_closed = std::mem::replace(&mut self.is_closed, text.ends_with(b">"));
        if was_closed && text[0] != b'<' && !self.is_settled && self.failures.is_failure(text) {
            return Row::irregular();
        }
        if self.text_lines_left > 0 && text[0] != b'<' {
            self.text_lines_left -= 1;
            return Row::part();
        }
        if !has_text(text) {
            self.text_lines_left = 0;
            return Row::valued(TAGS);
        }
        self.text_lines_left = MAX_TEXT_LINES - 1;
        Row::unit(if std::mem::take(&mut self.is_below_heading) { FIRST_TEXT } else { TEXT })
    }
}

impl Format for Html {
    fn read(&mut self, line: &[u8]) -> Row {
        let text = line.trim_ascii();
        if text.is_empty() {
            return Row::part();
        }
        self.lines += 1;
        match self.state {
            State::Before if starts_with(text, b"<!doctype html") || starts_with(text, b"<html") => {
                self.state = State::Page;
                Row::valued(TAGS)
            }
            State::Before | State::After => {
                self.outside += 1;
                Row::irregular()
            }
            State::Page => self.read_page(text),
            State::Hidden(end) => {
                if has_tag(text, end) {
                    self.state = State::Page;
                }
                Row::part()
            }
        }
    }

    fn can_match(&self, lines_left: u64) -> bool {
        let lines = self.lines + lines_left;
        let begins = self.state != State::Before || self.lines == 0;
        begins && self.headings + lines_left > 0 && is_regular(self.outside, lines)
    }

    fn settle(&mut self) {
        self.is_settled = true;
    }

    fn gaps(&self) -> Gaps {
        Gaps::AsNeeded
    }

    fn remark(&self) -> String {
        with("HTML", &self.describe(self.contents()))
    }

    fn contents(&self) -> Contents {
        [self.headings, 0, 0, 0, 0]
    }

    fn nouns(&self) -> &'static [&'static str] {
        &["heading"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::outline::{Place, Worth};

    /// `H` for each line that begins a heading, `t` for each that begins a text, `.` for each that continues a unit, and `-` for others.
    fn units(text: &str) -> String {
        let mut html = Html::default();
        let rows = text.lines().map(|line| html.read(line.as_bytes()));
        rows.map(|row| match (row.place, row.worth) {
            (Place::Continues, _) => '.',
            (_, Worth::Exactly(200..=HEADING)) => 'H',
            (_, Worth::More(_)) => 't',
            _ => '-',
        })
        .collect()
    }

    #[test]
    fn headings_are_worth_less_the_lower_their_level() {
        let mut html = Html::default();
        html.read(b"<html>");
        let values = ["<title>a</title>", "<h1>b</h1>", "<h2>c</h2>", "<h6>d</h6>"].map(|line| {
            match html.read(line.as_bytes()).worth {
                Worth::Exactly(value) => value,
                _ => 0,
            }
        });
        assert!(values[0] == values[1] && values[1] > values[2] && values[2] > values[3], "{values:?}");
    }

    #[test]
    fn headings_and_texts_are_units() {
        assert_eq!(
            units("<html>\n<title>A</title>\n<H1>B</H1>\n<p>a longer text\nof two lines</p>"),
            "-HHt."
        );
        assert_eq!(units("<html>\n<h2 class=a>\n  Setup\n</h2>\n<p>a longer text</p>"), "-H..t");
        // A heading that is never closed.
        assert_eq!(units("<html>\n<h2>a\nb\nc\nd\ne\n<p>a longer text</p>"), "-H....t");
    }

    #[test]
    fn scripts_are_hidden_until_they_end_in_any_case() {
        assert_eq!(
            units("<HTML>\n<SCRIPT>\n<h1>no</h1>\n</SCRIPT>\n<h1>yes</h1>\n</HTML>\nafter"),
            "--..H--"
        );
    }
}
