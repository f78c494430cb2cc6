//! Fields that have the same value in nearly all lines of a template: `exit code 0` thousands of times, then once
//! `exit code 1`.
//!
//! A template ignores the value of every word that contains a digit. Here, such a word is a field. A field that has had
//! one value in all lines of its template so far is watched; a line in which it has another value counts as a template
//! of its own, so that the line is rare and not folded with the others. A field with many values is no longer watched,
//! so ordinary lines cost nothing.

use crate::strategy::fingerprint;
use std::collections::HashMap;
use std::ops::Range;

/// The number of fields of a template that are watched.
const MAX_FIELDS: usize = 6;

/// After this many lines with the same value, another value is unusual.
const SETTLED_LINES: u32 = 16;

/// A field with more unusual values than this varies.
const MAX_UNUSUAL_VALUES: usize = 4;

/// The number of templates that are watched.
const MAX_TEMPLATES: u16 = 4096;

/// Where the watched fields of a line are. Lines of one fingerprint differ only in the value of digits, so the fields of
/// all of them have the same offsets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WatchedFields {
    /// The template in [`ConstantFields::templates`].
    template: u16,
    count: u8,
    spans: [FieldSpan; MAX_FIELDS],
}

#[derive(Clone, Copy, Debug, Default)]
struct FieldSpan {
    start: u16,
    length: u8,
    /// Its number in the template.
    field: u8,
}

impl WatchedFields {
    /// Whether the line has no watched field.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn add(&mut self, span: FieldSpan) {
        self.spans[usize::from(self.count)] = span;
        self.count += 1;
    }

    fn all(&self) -> &[FieldSpan] {
        &self.spans[..usize::from(self.count)]
    }
}

/// The fields of all templates that are watched.
#[derive(Default)]
pub(super) struct ConstantFields {
    numbers: HashMap<u64, u16>,
    templates: Vec<TemplateFields>,
    /// The words with digits of the last line, to use the memory again.
    words: Vec<Range<usize>>,
}

struct TemplateFields {
    lines: u32,
    fields: [Field; MAX_FIELDS],
}

/// What is known of one field of a template.
#[derive(Clone, Copy, Debug)]
enum Field {
    /// It has many values and is not watched.
    Varies,
    /// It has the usual value, and in a few lines one of the unusual ones.
    Constant { usual: u32, unusual: [u32; MAX_UNUSUAL_VALUES], count: u8 },
}

impl Field {
    fn new(value: u32) -> Field {
        Field::Constant { usual: value, unusual: [0; MAX_UNUSUAL_VALUES], count: 0 }
    }

    /// Whether a value is unusual, after `lines` lines of the template.
    fn is_unusual(&mut self, value: u32, lines: u32) -> bool {
        let Field::Constant { usual, unusual, count } = self else { return false };
        if *usual == value {
            return false;
        }
        let known = usize::from(*count);
        if unusual[..known].contains(&value) {
            return true;
        }
        if lines < SETTLED_LINES || known == MAX_UNUSUAL_VALUES {
            *self = Field::Varies;
            return false;
        }
        unusual[known] = value;
        *count += 1;
        true
    }
}

impl ConstantFields {
    /// The template of a new line and its watched fields. Its content begins `offset` bytes into it, unless it was copied.
    pub(super) fn template(&mut self, content: &[u8], offset: Option<usize>) -> (u64, WatchedFields) {
        let mut words = std::mem::take(&mut self.words);
        words.clear();
        let template = fingerprint::template_with_words(content, |word| words.push(word)).max(1);
        let fields = offset.and_then(|offset| self.fields(template, content, &words, offset));
        self.words = words;
        (template, fields.unwrap_or_default())
    }

    fn fields(
        &mut self,
        template: u64,
        content: &[u8],
        words: &[Range<usize>],
        offset: usize,
    ) -> Option<WatchedFields> {
        let template = self.number(template, content, words)?;
        let mut fields = WatchedFields { template, ..WatchedFields::default() };
        for ((word, known), field) in words.iter().zip(&self.templates[usize::from(template)].fields).zip(0..)
        {
            let start = u16::try_from(offset + word.start);
            let length = u8::try_from(word.len());
            if let (Field::Constant { .. }, Ok(start), Ok(length)) = (known, start, length) {
                fields.add(FieldSpan { start, length, field });
            }
        }
        Some(fields)
    }

    /// The number of a template. If it is new and has fields, watching starts with this line.
    fn number(&mut self, template: u64, content: &[u8], words: &[Range<usize>]) -> Option<u16> {
        if words.is_empty() {
            return None;
        }
        if let Some(&number) = self.numbers.get(&template) {
            return Some(number);
        }
        let number = u16::try_from(self.templates.len()).ok().filter(|&number| number < MAX_TEMPLATES)?;
        let mut fields = [Field::Varies; MAX_FIELDS];
        for (word, field) in words.iter().zip(&mut fields) {
            if !is_time(content, word) {
                *field = Field::new(hash(&content[word.clone()]));
            }
        }
        self.templates.push(TemplateFields { lines: 0, fields });
        self.numbers.insert(template, number);
        Some(number)
    }

    /// The template of a line, or another one if a watched field has an unusual value.
    #[inline(never)]
    pub(super) fn refine(&mut self, template: u64, text: &[u8], fields: &mut WatchedFields) -> u64 {
        let watched = &mut self.templates[usize::from(fields.template)];
        watched.lines = watched.lines.saturating_add(1);
        let mut refined = template;
        let mut some_vary = false;
        for span in fields.all() {
            let start = usize::from(span.start);
            let Some(bytes) = text.get(start..start + usize::from(span.length)) else { continue };
            let value = hash(bytes);
            let field = &mut watched.fields[usize::from(span.field)];
            if field.is_unusual(value, watched.lines) {
                refined = fingerprint::mix(refined, u64::from(value) | 1 << (40 + span.field));
            }
            some_vary |= matches!(field, Field::Varies);
        }
        if some_vary {
            let mut left = WatchedFields { template: fields.template, ..WatchedFields::default() };
            let is_watched =
                |span: &&FieldSpan| !matches!(watched.fields[usize::from(span.field)], Field::Varies);
            fields.all().iter().filter(is_watched).for_each(|span| left.add(*span));
            *fields = left;
        }
        refined
    }
}

/// The hash of a short word.
#[inline]
fn hash(word: &[u8]) -> u32 {
    let (chunks, rest) = word.as_chunks::<8>();
    let words = chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)).chain([fingerprint::load(rest)]);
    (words.fold(word.len() as u64, fingerprint::mix) >> 32) as u32
}

/// Whether a word is part of a date or a time, whose changes mean nothing: `12:46:31`, `2026-11-16`. Positions in a file
/// (`12:5`) count as times.
pub(super) fn is_time(content: &[u8], range: &Range<usize>) -> bool {
    let digit = |at: usize| content.get(at).is_some_and(u8::is_ascii_digit);
    let is_after = range.start >= 2 && content[range.start - 1] == b':' && digit(range.start - 2);
    let is_before = content.get(range.end) == Some(&b':') && digit(range.end + 1);
    let word = &content[range.clone()];
    is_after || is_before || word.iter().filter(|&&byte| byte == b'-').count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the refined templates of lines of one template, as letters in order of appearance with run lengths.
    #[track_caller]
    fn check(lines: &[String], expected: &str) {
        let mut constants = ConstantFields::default();
        let mut kinds: Vec<u64> = Vec::new();
        let mut found = String::new();
        for line in lines {
            let line = line.as_bytes();
            let (template, mut fields) = constants.template(line, Some(0));
            let kind = constants.refine(template, line, &mut fields);
            let number = kinds.iter().position(|known| *known == kind).unwrap_or(kinds.len());
            if number == kinds.len() {
                kinds.push(kind);
            }
            found.push(char::from(b'a' + number as u8));
        }
        let mut runs: Vec<(char, usize)> = Vec::new();
        for kind in found.chars() {
            match runs.last_mut() {
                Some((last, count)) if *last == kind => *count += 1,
                _ => runs.push((kind, 1)),
            }
        }
        let runs: Vec<String> = runs.iter().map(|(kind, count)| format!("{kind}{count}")).collect();
        assert_eq!(runs.join(" "), expected);
    }

    fn codes(codes: &[&str]) -> Vec<String> {
        let usual = (0..100).map(|number| format!("job {number} ended with exit code 0"));
        let others = codes.iter().map(|code| format!("job 7 ended with exit code {code}"));
        usual.chain(others).chain(["job 8 ended with exit code 0".to_owned()]).collect()
    }

    #[test]
    fn unusual_value_of_a_constant_field_is_another_template() {
        check(&codes(&[]), "a101");
        check(&codes(&["1"]), "a100 b1 a1");
        check(&codes(&["137", "1", "137"]), "a100 b1 c1 b1 a1");
        // A field with many values varies.
        check(&codes(&["1", "2", "3", "4", "5", "1", "9"]), "a100 b1 c1 d1 e1 a4");
        // No value is usual at the start.
        check(&codes(&["1"])[90..95], "a5");
        check(&[&codes(&["1"])[97..], &codes(&["2"])[..]].concat(), "a107");
    }

    #[test]
    fn times_and_dates_are_not_watched() {
        let lines = |time: &str| (0..50).map(|_| format!("{time} went well")).collect::<Vec<_>>();
        check(&[lines("12:46:31"), lines("13:00:02")].concat(), "a100");
        check(&[lines("2026-11-15"), lines("2026-11-16")].concat(), "a100");
        check(&[lines("in 12 s"), lines("in 13 s")].concat(), "a50 b50");
    }
}
