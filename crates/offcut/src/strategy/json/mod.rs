//! `json`: a shorter text that is still JSON.
//!
//! Arrays keep their first and last items and those that are unlike the others, objects their keys, strings their
//! ends; where something is left out, a value says how much. Everything else is the original's bytes, so numbers, the order of keys and duplicate keys
//! stay as they were. Several documents after each other (JSON Lines) are shown first and last, each of them whole
//! or shortened in the same way.
//!
//! The text is held up to a cap; beyond it, what is held is shortened to half of that, by the same means as at the
//! end, and the stream goes on behind it. So every byte is read twice or so, and memory does not grow.

mod held;
mod odd;
mod parse;
mod shorten;

use super::{BothEnds, Ends, Room, Selection, Selector, Split, Strategy};
use crate::cut::{PieceKind, Segment};
use held::{Held, Step};
use odd::ODD_SHARE;
use parse::{End, Grammar, Kind, Tree, parse};
use shorten::{DEEPEST, Detail, shorten};

/// The least that is held before something is left out.
const LEAST_HELD: usize = 128 << 10;
/// The most that is held, whatever may be shown.
const MOST_HELD: usize = 32 << 20;
/// Deeper than this nothing is held: whatever is open must be held until it is closed.
const MOST_OPEN: usize = 512;

/// Shows a JSON text as a shorter one.
#[derive(Clone, Copy, Debug)]
pub struct Json {
    /// How the room is divided between both ends of a text that is not JSON.
    pub split: Split,
}

impl Strategy for Json {
    fn start(&self, most_bytes: u64) -> Box<dyn Selector> {
        Box::new(self.watch(most_bytes))
    }
}

impl Json {
    pub(super) fn watch(&self, most_bytes: u64) -> Watcher {
        let most = usize::try_from(most_bytes).unwrap_or(MOST_HELD);
        Watcher {
            ends: BothEnds(self.split),
            held: Held::default(),
            most: most.saturating_mul(6).clamp(LEAST_HELD, MOST_HELD),
            halvings: 0,
            grammar: Grammar::Strict,
            text: Text::Json,
        }
    }
}

/// How many documents a text holds so far that is JSON up to there; nothing for any other.
pub(super) fn documents(opening: &[u8]) -> Option<usize> {
    let held = Held { text: opening.to_vec(), holes: Vec::new() };
    let tree = parse(&held, End::More)?;
    let is_structure = |at: usize| matches!(tree.nodes[at].kind, Kind::Object | Kind::Array);
    let count = tree.children(0).filter(|&at| is_structure(at)).count();
    (count > 0).then_some(count)
}

/// What the text turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    Json,
    Other,
}

pub(super) struct Watcher {
    ends: BothEnds,
    held: Held,
    /// The most bytes that are held.
    most: usize,
    /// How often the detail of what is held was halved.
    halvings: u32,
    grammar: Grammar,
    text: Text,
}

impl Watcher {
    /// Whether the whole text was JSON, or the beginning of it.
    pub(super) fn is_json(&self) -> bool {
        self.text == Text::Json && parse(&self.held, End::Last).is_some()
    }

    fn give_up(&mut self) {
        self.text = Text::Other;
        self.held = Held::default();
    }

    /// Holds half as much.
    fn compact(&mut self) {
        let Some(mut tree) = parse(&self.held, End::More).filter(|tree| tree.open <= MOST_OPEN) else {
            return self.give_up();
        };
        odd::compare(&self.held, &mut tree);
        self.grammar = self.grammar.max(tree.grammar);
        let steps = (self.halvings..18).find_map(|halvings| {
            self.halvings = halvings;
            let most = 1 << (17 - halvings);
            // So few odd ones that they still are among those that are held.
            let odd = most / (ODD_SHARE as usize - 1);
            let detail = Detail { items: most, odd, keys: most, string: most.max(512), depth: DEEPEST };
            shorten(&self.held, &tree, detail, "", self.most / 2)
        });
        match steps {
            Some(steps) => self.held.keep(&steps),
            None => self.give_up(),
        }
    }

    fn choose(&self, tree: &Tree, room: &Room<'_>) -> Option<Vec<Step>> {
        let mark = mark(&self.held.text);
        let most = room.limits.bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(self.most);
        Search { fits: &|detail| self.fitting(tree, detail, &mark, most, room), most: self.most }.run()
    }

    /// The steps at this detail, if they fit.
    fn fitting(
        &self,
        tree: &Tree,
        detail: Detail,
        mark: &str,
        most: usize,
        room: &Room<'_>,
    ) -> Option<Vec<Step>> {
        let steps = shorten(&self.held, tree, detail, mark, most)?;
        let mut text = Vec::with_capacity(most.min(self.most));
        let mut plain = 1;
        for step in &steps {
            match step {
                Step::Keep(range) => text.extend_from_slice(&self.held.text[range.clone()]),
                Step::Leave { words: Some(words), .. } => text.extend_from_slice(words.as_bytes()),
                Step::Leave { words: None, .. } => plain += 1,
            }
        }
        room.less_gaps(plain).fits(&text).then_some(steps)
    }
}

impl Selector for Watcher {
    fn observe(&mut self, run: Segment<'_>) {
        if self.text == Text::Other {
            return;
        }
        // What a terminal shows of a line is not its bytes.
        if run.form != PieceKind::Verbatim {
            return self.give_up();
        }
        let mut rest = run.text;
        while !rest.is_empty() && self.text == Text::Json {
            let length = rest.len().min(self.most - self.held.text.len());
            self.held.text.extend_from_slice(&rest[..length]);
            rest = &rest[length..];
            if self.held.text.len() == self.most {
                self.compact();
            }
        }
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        if self.text == Text::Json
            && let Some(mut tree) = parse(&self.held, End::Last)
        {
            odd::compare(&self.held, &mut tree);
            let remark = remark(&tree, self.grammar.max(tree.grammar));
            if let Some(steps) = self.choose(&tree, &room.less_remark(&remark)) {
                return Selection { pieces: self.held.pieces(steps), remark, ..Selection::default() };
            }
        }
        let remark = "outline, not valid JSON".to_owned();
        let pieces = self.ends.choose_at_least_something(ends, &room.less_remark(&remark));
        Selection { pieces, remark, ..Selection::default() }
    }
}

/// What the notice says of the text.
fn remark(tree: &Tree, grammar: Grammar) -> String {
    let documents: u64 = tree.children(0).map(|at| tree.nodes[at].values).sum();
    match (grammar, documents) {
        _ if tree.open > 0 => "outline of JSON that is cut off".to_owned(),
        (Grammar::Lenient, _) => "outline, not valid JSON".to_owned(),
        (Grammar::Strict, 1) => "JSON, shortened".to_owned(),
        (Grammar::Strict, _) => format!("{documents} JSON documents, shortened"),
    }
}

/// What our words begin with: a mark that nothing in the text could be taken for.
fn mark(text: &[u8]) -> String {
    let longest = longest_run(text, "…").max(longest_run(text, "\\u2026"));
    "…".repeat(longest.min(MOST_MARKS) + 1)
}

/// How often a sign stands in a row at the most.
fn longest_run(text: &[u8], sign: &str) -> usize {
    let (mut longest, mut run, mut end) = (0, 0, 0);
    for at in memchr::memmem::find_iter(text, sign) {
        run = if at == end { run + 1 } else { 1 };
        longest = longest.max(run);
        end = at + sign.len();
    }
    longest
}

/// A text in which our sign stands more often in a row is not worth the room.
const MOST_MARKS: usize = 20;

/// Finds the most detail that fits.
struct Search<'a> {
    fits: &'a dyn Fn(Detail) -> Option<Vec<Step>>,
    most: usize,
}

/// Every key, unless that leaves no room for a few of each; then fewer levels, then fewer keys.
const SHAPES: [(usize, usize); 12] = [
    (usize::MAX, DEEPEST),
    (usize::MAX, 8),
    (usize::MAX, 5),
    (usize::MAX, 4),
    (usize::MAX, 3),
    (12, 4),
    (6, 3),
    (4, 3),
    (4, 2),
    (2, 2),
    (2, 1),
    (0, 0),
];

/// The first of them have room for items that are unlike the others.
const ROOMY: usize = 7;

/// Items and bytes of strings, from the least to what is enough of both.
const AMOUNTS: [(usize, usize); 6] = [(2, 32), (3, 60), (4, 100), (6, 160), (10, 240), (16, 400)];

impl Search<'_> {
    fn run(&self) -> Option<Vec<Step>> {
        let (items, string) = AMOUNTS[0];
        let with_odd = SHAPES[..ROOMY].iter().map(|shape| (items, shape));
        let mut shapes = with_odd.chain(SHAPES.iter().map(|shape| (0, shape)));
        let (detail, steps) = shapes.find_map(|(odd, &(keys, depth))| {
            let detail = Detail { items, odd, keys, string, depth };
            Some((detail, (self.fits)(detail)?))
        })?;
        let mut best = (detail, steps);
        let keys = |detail, keys| Detail { keys, ..detail };
        if detail.keys != usize::MAX {
            best = self.widen(best, detail.keys, 64, keys);
        }
        for (items, string) in AMOUNTS {
            let odd = if best.0.odd == 0 { 0 } else { items };
            let detail = Detail { items, odd, string, ..best.0 };
            match (self.fits)(detail) {
                Some(steps) => best = (detail, steps),
                None => break,
            }
        }
        if detail.keys != usize::MAX {
            let least = best.0.keys;
            best = self.widen(best, least, self.most, keys);
        }
        if best.0.odd > 0 {
            let least = best.0.odd;
            best = self.widen(best, least, self.most, |detail, odd| Detail { odd, ..detail });
        }
        let least = best.0.items;
        best = self.widen(best, least, self.most, |detail, items| Detail { items, ..detail });
        let least = best.0.string;
        best = self.widen(best, least, self.most, |detail, string| Detail { string, ..detail });
        Some(best.1)
    }

    /// With the largest value of one amount that fits, by halving.
    fn widen(
        &self,
        mut best: (Detail, Vec<Step>),
        mut least: usize,
        mut most: usize,
        with: impl Fn(Detail, usize) -> Detail,
    ) -> (Detail, Vec<Step>) {
        while least < most {
            let middle = least + (most - least).div_ceil(2);
            let detail = with(best.0, middle);
            match (self.fits)(detail) {
                Some(steps) => {
                    best = (detail, steps);
                    least = middle;
                }
                None => most = middle - 1,
            }
        }
        best
    }
}
