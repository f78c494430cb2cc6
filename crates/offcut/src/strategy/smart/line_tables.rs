//! Tables of fixed size: what is known of a line by its fingerprint, and how often each template occurred.
//!
//! Both forget when they are full. A line that was forgotten is analysed again.

use super::fields::FieldValues;
use super::message_code::MessageCode;
use crate::strategy::logarithm::log2;
use crate::strategy::rules::Role;

// Small enough for the processor's cache: a flood of lines that all differ must not wait for memory.
const CACHED_LINES: usize = 1 << 13;
const TEMPLATE_SLOTS: usize = 1 << 15;
const PROBES: usize = 4;

/// What the analysis of a line found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineInfo {
    /// The hash of its template.
    pub(super) template: u64,
    /// The role of the first rule that it matches.
    pub(super) role: Option<Role>,
    /// Its indentation.
    pub(super) indent: u8,
    /// How it begins.
    pub(super) opening: Opening,
    /// The code of the message, if it has one.
    pub(super) code: Option<MessageCode>,
    /// Whether its template ignores words, whose values are compared.
    pub(super) has_fields: bool,
}

/// How a line begins, as far as it decides where a block ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Opening {
    /// The line is blank.
    #[default]
    Blank,
    /// With a mark that continues a diagnostic: `|`, `=`, `^`, `12 |`, `-->`, `note:`.
    Continuation,
    /// The line repeats one mark: `=====`, `-----`.
    Divider,
    /// With anything else.
    Text,
}

impl Opening {
    pub(super) fn of(content: &[u8]) -> Opening {
        let trimmed = content.trim_ascii();
        let continues = [b"|".as_slice(), b"^", b"~", b"-->", b"= ", b"note:", b"help:"];
        match trimmed {
            [] => Opening::Blank,
            [mark @ (b'=' | b'-' | b'*' | b'#' | b'_' | b'~'), rest @ ..]
                if rest.len() >= 3 && rest.iter().all(|byte| byte == mark) =>
            {
                Opening::Divider
            }
            _ if continues.iter().any(|mark| trimmed.starts_with(mark)) || is_numbered(trimmed) => {
                Opening::Continuation
            }
            _ => Opening::Text,
        }
    }
}

/// Whether a line quotes a source as compilers do: `12 | let a = 1;`.
fn is_numbered(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && text[digits..].trim_ascii_start().starts_with(b"|")
}

/// What is known of the lines with one fingerprint, which differ only in the value of digits.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownLine {
    fingerprint: u64,
    pub(super) info: LineInfo,
    /// The values of its fields, if they were read.
    pub(super) values: Option<Box<FieldValues>>,
}

impl KnownLine {
    pub(super) fn new(fingerprint: u64, info: LineInfo) -> KnownLine {
        KnownLine { fingerprint, info, values: None }
    }
}

/// A direct-mapped cache of lines, by fingerprint.
pub(super) struct LineCache {
    /// A part of each fingerprint. It fits into the L1 cache and is enough to recognise most new lines as new.
    tags: Box<[u16; CACHED_LINES]>,
    lines: Box<[KnownLine; CACHED_LINES]>,
}

impl LineCache {
    pub(super) fn new() -> LineCache {
        LineCache { tags: table(0), lines: table(KnownLine::default()) }
    }

    #[inline]
    pub(super) fn get(&mut self, fingerprint: u64) -> Option<&mut KnownLine> {
        let at = fingerprint as usize % CACHED_LINES;
        if self.tags[at] != (fingerprint >> 48) as u16 {
            return None;
        }
        Some(&mut self.lines[at]).filter(|known| known.fingerprint == fingerprint)
    }

    pub(super) fn put(&mut self, line: KnownLine) -> &mut KnownLine {
        let at = line.fingerprint as usize % CACHED_LINES;
        self.tags[at] = (line.fingerprint >> 48) as u16;
        let slot = &mut self.lines[at];
        *slot = line;
        slot
    }
}

/// How often each template occurred. When all slots for a template are taken, the rarest of them is replaced.
pub(super) struct TemplateCounts {
    /// A part of the template's hash, and the count.
    slots: Box<[(u32, u32); TEMPLATE_SLOTS]>,
    /// The template counted last and its slot: in most texts the next line has the same template.
    last: (u64, usize),
    lines: u64,
    distinct: u64,
}

impl TemplateCounts {
    pub(super) fn new() -> TemplateCounts {
        TemplateCounts { slots: table((0, 0)), last: (0, 0), lines: 0, distinct: 0 }
    }

    /// Counts a template. Returns how often it occurred before.
    #[inline]
    pub(super) fn add(&mut self, template: u64) -> u32 {
        self.lines += 1;
        if self.last.0 != template {
            return self.add_other(template);
        }
        let count = &mut self.slots[self.last.1 % TEMPLATE_SLOTS].1;
        *count = count.saturating_add(1);
        *count - 1
    }

    /// Counts a template that is not the last one.
    fn add_other(&mut self, template: u64) -> u32 {
        let mut rarest = template as usize % TEMPLATE_SLOTS;
        for probe in 0..PROBES {
            let at = (template as usize + probe) % TEMPLATE_SLOTS;
            let (found, count) = self.slots[at];
            if found == tag(template) && count > 0 {
                self.slots[at].1 = count.saturating_add(1);
                self.last = (template, at);
                return count;
            }
            if count < self.slots[rarest].1 {
                rarest = at;
            }
        }
        self.distinct += 1;
        self.slots[rarest] = (tag(template), 1);
        self.last = (template, rarest);
        0
    }

    /// How often a template occurred; 1 if it was forgotten.
    pub(super) fn of(&self, template: u64) -> u32 {
        (0..PROBES)
            .map(|probe| self.slots[(template as usize + probe) % TEMPLATE_SLOTS])
            .find(|&(found, count)| found == tag(template) && count > 0)
            .map_or(1, |(_, count)| count)
    }

    /// Counts a line that was not analysed, as one of a template of its own.
    pub(super) fn add_unmatched(&mut self) {
        self.lines += 1;
        self.distinct += 1;
    }

    /// How repetitive the text is: the binary logarithm of the mean number of lines per template.
    pub(super) fn log2_lines_per_template(&self) -> f32 {
        let ratio = self.lines.max(1) as f32 / self.distinct.max(1) as f32;
        log2(ratio)
    }
}

/// A table on the heap with a length known to the compiler, so that an index needs no bounds check.
pub(super) fn table<Slot: Clone + std::fmt::Debug, const LENGTH: usize>(slot: Slot) -> Box<[Slot; LENGTH]> {
    vec![slot; LENGTH].into_boxed_slice().try_into().expect("the vector has LENGTH slots")
}

fn tag(template: u64) -> u32 {
    (template >> 32) as u32
}
