//! The last few lines, which those that follow them can still raise. Most leave again without having mattered, so a text
//! stays where it is as long as its run lasts; and where nothing has mattered for a while, only what it takes to know
//! the last lines again is noted.

use super::blocks::ResultContext;
use super::counts::{Known, Opening};
use super::held::{Candidate, Order};
use super::lines::{Held, Line};
use crate::cut::PieceKind;

/// How far back a line can still be raised by one that follows it.
const WINDOW: usize = 48;

/// Where the text of a line of the window is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// In the run.
    Segment { start: usize, length: usize },
    /// In the window.
    Copied,
}

/// A ring of lines.
pub(super) struct Window {
    lines: Vec<Candidate<Place>>,
    /// The texts of those that have left their run.
    copies: Vec<Vec<u8>>,
    /// Where the next line goes, which is where the oldest one is.
    next: usize,
    /// How many lines have come since the last one that was worth anything.
    plain: usize,
    /// How many lines have come since the run began.
    fresh: usize,
    lull: Lull,
}

impl Window {
    pub(super) fn new() -> Window {
        Window {
            lines: Vec::with_capacity(WINDOW),
            copies: vec![Vec::new(); WINDOW],
            next: 0,
            plain: 0,
            fresh: 0,
            lull: Lull::new(),
        }
    }

    /// Passes by a line that is worth nothing, if that can be said of all the others too.
    #[inline(always)]
    pub(super) fn passes(&mut self, line: &Line<'_>, known: &Known) -> bool {
        if self.plain < WINDOW || line.held != Held::Whole {
            return false;
        }
        line.place.is_some_and(|place| {
            self.lull.note(place, line, known);
            true
        })
    }

    /// Takes in the lines that were passed by.
    #[inline]
    pub(super) fn expand(&mut self) {
        if self.lull.count > 0 {
            self.expand_lull();
        }
    }

    #[inline(never)]
    fn expand_lull(&mut self) {
        let lull = std::mem::replace(&mut self.lull, Lull::new());
        lull.lines().for_each(|line| self.push(line, &[]));
    }

    /// The line that will leave for the next one.
    #[inline]
    pub(super) fn leaving(&self) -> Option<&Candidate<Place>> {
        self.lines.get(self.next)
    }

    /// A line with its text, by where it stands in the ring.
    fn take(&mut self, at: usize, run: &[u8]) -> Candidate {
        let line = self.lines[at];
        let text = match line.text {
            Place::Segment { start, length } => run[start..start + length].to_vec(),
            Place::Copied => std::mem::take(&mut self.copies[at]),
        };
        line.with_text(text)
    }

    /// The line that will leave, with its text.
    pub(super) fn take_leaving(&mut self, run: &[u8]) -> Candidate {
        self.take(self.next, run)
    }

    /// Takes in the next line, the text of which is `text` if it is not in the run.
    pub(super) fn push(&mut self, line: Candidate<Place>, text: &[u8]) {
        self.plain = if line.score > 0 || line.role.is_some() { 0 } else { self.plain + 1 };
        if let Place::Copied = line.text {
            self.copy(self.next, text);
        }
        match self.lines.get_mut(self.next) {
            Some(slot) => *slot = line,
            None => self.lines.push(line),
        }
        self.next = if self.next + 1 == WINDOW { 0 } else { self.next + 1 };
        self.fresh += 1;
    }

    fn copy(&mut self, at: usize, text: &[u8]) {
        self.copies[at].clear();
        self.copies[at].extend_from_slice(text);
    }

    /// Where in the ring the line `back` lines ago stands; 1 is the last one.
    fn place(&self, back: usize) -> Option<usize> {
        let newest = if self.next < back { self.next + WINDOW } else { self.next };
        newest.checked_sub(back).filter(|&at| back > 0 && at < self.lines.len())
    }

    /// The line `back` lines ago; 1 is the last one.
    pub(super) fn recent(&mut self, back: usize) -> Option<&mut Candidate<Place>> {
        self.place(back).map(|at| &mut self.lines[at])
    }

    /// Copies what is still in the run, which ends.
    pub(super) fn settle(&mut self, run: &[u8]) {
        self.expand();
        let fresh = std::mem::take(&mut self.fresh).min(WINDOW);
        for back in 1..=fresh {
            if let Some(at) = self.place(back)
                && let Place::Segment { start, length } = self.lines[at].text
            {
                self.copy(at, &run[start..start + length]);
                self.lines[at].text = Place::Copied;
            }
        }
    }

    /// Every line, in the order of the text.
    pub(super) fn drain(&mut self) -> Vec<Candidate> {
        let oldest = if self.lines.len() < WINDOW { 0 } else { self.next };
        let lines = (0..self.lines.len()).map(|at| self.take((oldest + at) % WINDOW, &[])).collect();
        self.lines.clear();
        self.next = 0;
        lines
    }
}

/// As many lines are noted of a lull; a power of two, to be reached without a test.
const NOTED: usize = 64;

/// Lines of one run, each worth nothing, of which the last few are noted.
struct Lull {
    noted: [Noted; NOTED],
    count: usize,
    /// The number of the last line, and the offset behind it.
    number: u64,
    end: u64,
}

/// What it takes to know a line again.
#[derive(Clone, Copy, Default)]
struct Noted {
    template: u64,
    /// Where it stands in the run.
    start: usize,
    length: u32,
    indent: u8,
    opening: Opening,
}

impl Lull {
    fn new() -> Lull {
        Lull { noted: [Noted::default(); NOTED], count: 0, number: 0, end: 0 }
    }

    #[inline]
    fn note(&mut self, start: usize, line: &Line<'_>, known: &Known) {
        let &Known { template, indent, opening, .. } = known;
        let length = line.text.len() as u32;
        self.noted[self.count % NOTED] = Noted { template, start, length, indent, opening };
        self.count += 1;
        (self.number, self.end) = (line.number, line.end);
    }

    /// The last lines.
    fn lines(&self) -> impl Iterator<Item = Candidate<Place>> {
        let last = self.count.min(WINDOW);
        let noted = (self.count - last..self.count).map(|at| &self.noted[at % NOTED]);
        let newest = &self.noted[(self.count - 1) % NOTED];
        // Where the run starts.
        let base = self.end - u64::from(newest.length) - newest.start as u64;
        noted.zip(0..).map(move |(noted, at)| {
            let &Noted { template, start, length, indent, opening } = noted;
            Candidate {
                text: Place::Segment { start, length: length as usize },
                start: base + start as u64,
                end: base + start as u64 + u64::from(length),
                number: self.number + 1 + at - last as u64,
                held: Held::Whole,
                form: PieceKind::Verbatim,
                score: 0,
                order: Order::Later,
                context: ResultContext::Alone,
                template,
                role: None,
                indent,
                opening,
            }
        })
    }
}
