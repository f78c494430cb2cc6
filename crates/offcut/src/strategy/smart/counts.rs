//! Tables of fixed size: what is known about a line's fingerprint, and how often a template occurred.

use super::constants::Places;
use super::rules::Role;

// Small enough to stay in a processor's cache: a flood of lines that are all different must not wait for memory.
const KNOWN: usize = 1 << 13;
const TEMPLATES: usize = 1 << 15;
const PROBES: usize = 4;

/// What was found out about a line when it was first seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    /// The hash of its template.
    pub(super) template: u64,
    /// The role of the rule that it matches, if any.
    pub(super) role: Option<Role>,
    /// Its indentation.
    pub(super) indent: u8,
    /// How it opens, for the extents of blocks.
    pub(super) opening: Opening,
}

/// How a line opens, as far as blocks care.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Opening {
    /// There is nothing on it.
    #[default]
    Blank,
    /// With a mark that continues a diagnostic: `|`, `=`, `^`, `12 |`, `-->`, `note:`.
    Continuation,
    /// A rule of one repeated mark: `=====`, `-----`.
    Divider,
    /// With anything else.
    Text,
}

/// A direct-mapped memory of lines: what collides is looked at again.
pub(super) struct Memory {
    /// A part of each fingerprint: so little that it stays in the nearest cache, and tells of most new lines that they
    /// are new.
    tags: Box<[u16; KNOWN]>,
    lines: Box<[Remembered; KNOWN]>,
}

/// What is remembered of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Remembered {
    fingerprint: u64,
    pub(super) known: Known,
    pub(super) places: Places,
}

impl Memory {
    pub(super) fn new() -> Memory {
        Memory { tags: table(0), lines: table(Remembered::default()) }
    }

    #[inline]
    pub(super) fn get(&mut self, fingerprint: u64) -> Option<&mut Remembered> {
        let at = fingerprint as usize % KNOWN;
        if self.tags[at] != (fingerprint >> 48) as u16 {
            return None;
        }
        let line = &mut self.lines[at];
        (line.fingerprint == fingerprint && line.known.template != 0).then_some(line)
    }

    pub(super) fn put(&mut self, fingerprint: u64, known: Known, places: Places) {
        let at = fingerprint as usize % KNOWN;
        self.tags[at] = (fingerprint >> 48) as u16;
        self.lines[at] = Remembered { fingerprint, known, places };
    }
}

/// How often each template occurred. When it is full, the rarest of a few neighbours is forgotten.
pub(super) struct Counts {
    /// A part of the hash, and the count.
    slots: Box<[(u32, u32); TEMPLATES]>,
    /// The slot of the last one that was counted: in most texts the next one is like it.
    last: (u64, usize),
    lines: u64,
    distinct: u64,
}

impl Counts {
    pub(super) fn new() -> Counts {
        Counts { slots: table((0, 0)), last: (0, 0), lines: 0, distinct: 0 }
    }

    /// Whether the last one that was counted is this.
    #[inline]
    pub(super) fn was_last(&self, template: u64) -> bool {
        self.last.0 == template
    }

    /// Counts one more like the last one; returns how many there were before.
    #[inline]
    pub(super) fn add_last(&mut self) -> u32 {
        self.lines += 1;
        let count = &mut self.slots[self.last.1 % TEMPLATES].1;
        *count = count.saturating_add(1);
        *count - 1
    }

    /// Counts one more; returns how many there were before.
    pub(super) fn add(&mut self, template: u64) -> u32 {
        if self.was_last(template) {
            return self.add_last();
        }
        self.lines += 1;
        let mut rarest = template as usize % TEMPLATES;
        for probe in 0..PROBES {
            let at = (template as usize + probe) % TEMPLATES;
            let (held, count) = self.slots[at];
            if held == tag(template) && count > 0 {
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

    /// How often a template occurred, as far as is remembered.
    pub(super) fn of(&self, template: u64) -> u32 {
        (0..PROBES)
            .map(|probe| self.slots[(template as usize + probe) % TEMPLATES])
            .find(|&(held, count)| held == tag(template) && count > 0)
            .map_or(1, |(_, count)| count)
    }

    /// Counts a line that nobody looked at: it is taken for unlike the others.
    pub(super) fn add_unlooked(&mut self) {
        self.lines += 1;
        self.distinct += 1;
    }

    /// How much it says that a line is unlike the others: the binary logarithm of the lines there are of each kind.
    pub(super) fn monotony(&self) -> f32 {
        let ratio = self.lines.max(1) as f32 / self.distinct.max(1) as f32;
        // A float is its logarithm between two powers of two, nearly. The real one would be the only thing for which
        // the whole program loads a library of mathematics at each start.
        ratio.to_bits() as f32 / (1_u32 << 23) as f32 - 127.0
    }
}

/// A table on the heap, of a length that the compiler knows, so that places in it need no test.
fn table<Slot: Copy + std::fmt::Debug, const LENGTH: usize>(slot: Slot) -> Box<[Slot; LENGTH]> {
    vec![slot; LENGTH].into_boxed_slice().try_into().expect("as many slots as asked for")
}

fn tag(template: u64) -> u32 {
    (template >> 32) as u32
}
