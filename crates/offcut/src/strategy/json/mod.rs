//! The `json` strategy: a shorter text that is still JSON.
//!
//! Arrays keep their first and last items and their outliers, objects keep their keys, strings keep their ends. A mark,
//! itself a JSON value, says how much is omitted. Everything else is the original's bytes, so numbers, the order of keys
//! and duplicate keys stay as they were. Of several documents (JSON Lines) the first and the last are shown, whole or
//! shortened in the same way.
//!
//! The text is kept in memory up to a limit. When it is reached, the text in memory is shortened in the same way as at
//! the end, and reading continues. What was counted of the values stays known, so outliers are found in a stream of any
//! length.

mod buffer;
mod forms;
mod novelty;
mod outliers;
mod reader;
mod search;
mod shorten;
mod tokens;
mod tree;

use super::{BothEnds, Ends, Room, Selection, Selector, Split, Strategy};
use crate::cut::{PieceKind, Segment};
use crate::profile::Settings;
use buffer::{Buffer, Step};
use novelty::Novelty;
use outliers::Paths;
use reader::{End, read};
use search::Search;
use shorten::{Detail, Source, shorten};
use tree::{Grammar, Kind, Rarity, Tree};

/// The smallest limit of the buffer.
const MIN_BUFFER_BYTES: usize = 256 << 10;
/// The largest limit of the buffer.
const MAX_BUFFER_BYTES: usize = 32 << 20;
/// Text that was JSON for this long is shown as JSON, or by its ends if other text follows.
const SETTLED_BYTES: u64 = 4 << 20;
/// The most containers that may be open at the end of the text. They must stay in memory until they are closed, and
/// shortening descends into each of them.
const MAX_OPEN_CONTAINERS: usize = 512;

/// Shows a JSON text as a shorter one.
#[derive(Clone, Copy, Debug)]
pub struct Json {
    /// How the room is divided between both ends, if the text is not JSON.
    pub split: Split,
}

impl Strategy for Json {
    fn start(&self, settings: &Settings) -> Box<dyn Selector> {
        Box::new(self.selector(settings.keep.ceiling()))
    }
}

impl Json {
    pub(super) fn selector(&self, most_bytes: u64) -> JsonSelector {
        let most = usize::try_from(most_bytes).unwrap_or(MAX_BUFFER_BYTES);
        let max_bytes = most.saturating_mul(12).clamp(MIN_BUFFER_BYTES, MAX_BUFFER_BYTES);
        JsonSelector {
            ends: BothEnds(self.split),
            buffer: Some(Buffer::default()),
            paths: Paths::default(),
            max_bytes,
            reductions: 0,
            grammar: Grammar::Strict,
            read_bytes: 0,
        }
    }
}

/// The number of documents that begin in `opening`, if it is the beginning of JSON.
pub(super) fn documents(opening: &[u8]) -> Option<usize> {
    let buffer = Buffer { text: opening.to_vec(), holes: Vec::new() };
    let tree = read(&buffer, End::More, &mut Paths::default())?;
    let is_structure = |at: usize| matches!(tree.nodes[at].kind, Kind::Object | Kind::Array);
    let count = tree.children(0).filter(|&at| is_structure(at)).count();
    (count > 0).then_some(count)
}

/// The items of arrays that differ from the others: where each begins in the text, and how many items share the
/// difference. In order of position, and with memory for about twelve times `most_bytes`.
pub(crate) fn find_outliers(json: &[u8], most_bytes: u64) -> Vec<(usize, u64)> {
    let mut selector = Json { split: Split { head: 1, tail: 1 } }.selector(most_bytes);
    selector.read(json);
    let Some(tree) = selector.tree(End::Last) else { return Vec::new() };
    let mut holes = selector.buffer.iter().flat_map(|buffer| &buffer.holes).peekable();
    let mut dropped = 0;
    let mut position_of = |at: usize| {
        while let Some(hole) = holes.next_if(|hole| hole.at <= at) {
            dropped += usize::try_from(hole.bytes).unwrap_or(usize::MAX);
        }
        at + dropped
    };
    let positions = tree.nodes.iter().map(|node| (position_of(node.value), node.rarity));
    positions
        .filter_map(|(position, rarity)| match rarity {
            Rarity::Outlier(count) => Some((position, u64::from(count))),
            Rarity::Usual => None,
        })
        .collect()
}

pub(super) struct JsonSelector {
    ends: BothEnds,
    /// The text, as long as it is JSON.
    buffer: Option<Buffer>,
    paths: Paths,
    /// The limit of the buffer in bytes.
    max_bytes: usize,
    /// How often the detail of the buffer was reduced.
    reductions: usize,
    grammar: Grammar,
    /// How many bytes were read while the text was JSON.
    read_bytes: u64,
}

impl JsonSelector {
    /// Whether the text was JSON for so long that no other strategy needs to observe it.
    pub(super) fn is_settled(&self) -> bool {
        self.read_bytes >= SETTLED_BYTES
    }

    /// Whether the whole text was JSON, or the beginning of it.
    pub(super) fn is_json(&mut self) -> bool {
        self.tree(End::Last).is_some()
    }

    /// Whether the whole text was one complete document, perhaps among other lines.
    pub(super) fn is_one_document(&mut self) -> bool {
        self.tree(End::Last).is_some_and(|tree| {
            let values =
                tree.children(0).map(|at| tree.nodes[at]).filter(|node| node.kind != Kind::OtherLine);
            tree.open == 0 && values.map(|node| node.values()).sum::<u64>() == 1
        })
    }

    /// The values of the text, if it is JSON that can be shortened.
    fn tree(&mut self, end: End) -> Option<Tree> {
        let tree = read(self.buffer.as_ref()?, end, &mut self.paths)?;
        (tree.open <= MAX_OPEN_CONTAINERS).then_some(tree)
    }

    /// The buffer, shortened to an eighth of its limit.
    fn compact(&mut self) -> Option<Buffer> {
        let tree = self.tree(End::More)?;
        let mut buffer = self.buffer.take()?;
        self.grammar = self.grammar.max(tree.grammar);
        let source = Source { buffer: &buffer, tree: &tree, novelty: &Novelty::default(), sign: "" };
        let steps =
            Detail::fewer_and_fewer().enumerate().skip(self.reductions).find_map(|(at, detail)| {
                self.reductions = at;
                shorten(source, detail, self.max_bytes / 8)
            })?;
        self.paths.follow(|position| {
            let kept = steps.iter().filter_map(Step::kept);
            kept.map(|range| range.end.min(position).saturating_sub(range.start)).sum()
        });
        buffer.keep(&steps);
        Some(buffer)
    }

    /// Adds text to the buffer, and shortens the buffer when it is full.
    fn read(&mut self, mut text: &[u8]) {
        while let Some(buffer) = &mut self.buffer
            && !text.is_empty()
        {
            let length = text.len().min(self.max_bytes - buffer.text.len());
            buffer.text.extend_from_slice(&text[..length]);
            text = &text[length..];
            self.read_bytes += length as u64;
            if buffer.text.len() == self.max_bytes {
                self.buffer = self.compact();
            }
        }
    }

    fn choose(&self, buffer: &Buffer, tree: &Tree, room: &Room<'_>) -> Option<Vec<Step>> {
        let most = room.limits.bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(self.max_bytes);
        let (novelty, sign) = (Novelty::of(&buffer.text), sign(&buffer.text));
        let source = Source { buffer, tree, novelty: &novelty, sign: &sign };
        Search { source, room, most: most.min(self.max_bytes) }.run()
    }
}

impl Selector for JsonSelector {
    fn observe(&mut self, segment: Segment<'_>) {
        match segment.form {
            PieceKind::Verbatim => self.read(segment.text),
            // Rendered text is not the original's bytes.
            _ => self.buffer = None,
        }
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        let tree = self.tree(End::Last);
        if let (Some(buffer), Some(tree)) = (&self.buffer, tree) {
            let remark = remark(&tree, self.grammar.max(tree.grammar));
            if let Some(steps) = self.choose(buffer, &tree, &room.less_remark(&remark)) {
                return Selection { pieces: buffer.pieces(steps), remark, ..Selection::default() };
            }
        }
        let remark = "outline, not valid JSON".to_owned();
        let pieces = self.ends.choose_at_least_something(ends, &room.less_remark(&remark));
        Selection { pieces, remark, ..Selection::default() }
    }
}

/// The description of the text for the notice.
fn remark(tree: &Tree, grammar: Grammar) -> String {
    let documents: u64 = tree.children(0).map(|at| tree.nodes[at].values()).sum();
    let has_other_lines = tree.children(0).any(|at| tree.nodes[at].kind == Kind::OtherLine);
    match (grammar, documents) {
        _ if tree.open > 0 => "outline of JSON that is cut off".to_owned(),
        (Grammar::Lenient, _) => "outline, not valid JSON".to_owned(),
        _ if has_other_lines => "JSON among other lines, shortened".to_owned(),
        (Grammar::Strict, 1) => "JSON, shortened".to_owned(),
        (Grammar::Strict, _) => format!("{documents} JSON documents, shortened"),
    }
}

/// The prefix of all marks: longer than anything in the text that looks like it.
fn sign(text: &[u8]) -> String {
    let longest = longest_run(text, "…").max(longest_run(text, "\\u2026"));
    "…".repeat(longest.min(MAX_SIGNS) + 1)
}

/// The length of the longest run of a sign.
fn longest_run(text: &[u8], sign: &str) -> usize {
    let (mut longest, mut run, mut end) = (0, 0, 0);
    for at in memchr::memmem::find_iter(text, sign) {
        run = if at == end { run + 1 } else { 1 };
        longest = longest.max(run);
        end = at + sign.len();
    }
    longest
}

/// The longest prefix is one more than this. A text with longer runs of the sign is not worth the room.
const MAX_SIGNS: usize = 20;
