//! Assembles the units of an outline from lines, and keeps the best of them in bounded memory.

use super::irregular_lines::IrregularLines;
use super::{Contents, Format, HEADING_VALUE, Place, Row, Worth, content};
use crate::cut::PieceKind;
use crate::strategy::lines::{Coverage, Extent, Line};
use crate::strategy::names::{NameCounts, Names};
use crate::strategy::pool::{Pool, Pooled};
use std::ops::Range;

/// The least memory for blocks: for short lines most of it is overhead.
const MIN_POOL_BYTES: usize = 1 << 20;

/// A block has at most this share of what may be shown. A longer unit is divided.
const BLOCKS_PER_PREVIEW: usize = 8;

/// A unit of the text.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) text: Vec<u8>,
    pub(super) extent: Extent,
    pub(super) value: i32,
    /// How many bytes at its beginning repeat the block before it.
    pub(super) repeated: usize,
    /// What the text contains up to its start, and up to its end.
    pub(super) before: Contents,
    pub(super) after: Contents,
    lines: usize,
    names: NameCounts,
    worth: Worth,
}

impl Block {
    pub(super) fn is_one_line(&self) -> bool {
        self.lines == 1
    }
}

impl Pooled for Block {
    fn range(&self) -> Range<u64> {
        self.extent.start..self.extent.end
    }

    fn text(&self) -> &[u8] {
        &self.text
    }
}

/// The blocks of a text.
pub(super) struct Blocks {
    pub(super) format: Box<dyn Format>,
    irregular_lines: IrregularLines,
    names: Names,
    /// The sum of the values of all blocks for their names, and the number of these blocks.
    values_of_names: (i64, i64),
    /// Once the format is settled, what a block is worth for its names: as much as those before on average. From then on names
    /// are not looked for.
    settled_value: Option<i32>,
    best: Pool<Block>,
    /// The block that the next line may continue.
    open: Option<Block>,
    /// Whether the last unit is worth too little to be kept, so that its lines are not even copied.
    is_dropped: bool,
    max_block_bytes: usize,
    /// How many bytes were read since it was last tested whether the text has the format.
    untested_bytes: u64,
}

/// A text that had its format for this many bytes keeps it, and its later lines are read in less detail.
const SETTLED_BYTES: u64 = 4 << 20;

/// More lines than follow in any text.
const MAX_LINES_LEFT: u64 = 1 << 40;

impl Blocks {
    /// `max_bytes` is about how many bytes may be shown.
    pub(super) fn new(format: Box<dyn Format>, max_bytes: usize) -> Blocks {
        Blocks {
            format,
            irregular_lines: IrregularLines::default(),
            names: Names::new(),
            values_of_names: (0, 0),
            settled_value: None,
            best: Pool::new((6 * max_bytes).max(MIN_POOL_BYTES)),
            open: None,
            is_dropped: false,
            max_block_bytes: max_bytes / BLOCKS_PER_PREVIEW,
            untested_bytes: 0,
        }
    }

    /// Whether the format of the text is certain.
    pub(super) fn is_settled(&self) -> bool {
        self.settled_value.is_some()
    }

    /// Whether the text can still match the format. If not, no further lines change that.
    pub(super) fn can_match(&self) -> bool {
        self.is_settled() || self.format.can_match(MAX_LINES_LEFT)
    }

    /// Counts a line, and settles the format when enough were read.
    fn count(&mut self, length: usize) {
        self.untested_bytes += length as u64;
        if self.untested_bytes < SETTLED_BYTES || self.is_settled() {
            return;
        }
        self.untested_bytes = 0;
        if self.format.is_match() {
            self.format.settle();
            let (sum, count) = self.values_of_names;
            self.settled_value = Some((sum / count.max(1)) as i32);
        }
    }

    /// Adds a line to the open block, or begins the next one.
    pub(super) fn add(&mut self, line: &Line<'_>) {
        self.count(line.text.len());
        let before = self.format.contents();
        let Row { place, worth, repeated } = self.format.read(content(line.text));
        if line.extent.coverage == Coverage::Beginning {
            self.format.cut_off();
        }
        if self.is_dropped && place == Place::Continues && worth == Worth::OfUnit {
            return;
        }
        let names = if self.is_settled() { NameCounts::default() } else { self.names.count(line.text) };
        let Line { text, extent, .. } = *line;
        let is_plain =
            |extent: &Extent| extent.coverage == Coverage::Whole && extent.form == PieceKind::Verbatim;
        if let Some(open) = &mut self.open
            && place == Place::Continues
            && is_plain(&extent)
            && is_plain(&open.extent)
            && open.text.len() + text.len() <= self.max_block_bytes
        {
            open.text.extend_from_slice(text);
            open.extent.end = extent.end;
            open.lines += 1;
            open.names = open.names + names;
            open.worth = open.worth.max(worth);
            return;
        }
        let worth = match (place, &self.open) {
            // The rest of a unit that is too long for one block is worth as much as its beginning.
            (Place::Continues, Some(open)) => worth.max(open.worth),
            _ => worth,
        };
        // Once the format is settled, most units are dropped, and taking no block costs as much as taking one.
        if self.open.is_some() {
            self.close(before);
        }
        let value = self.settled_value.and_then(|of_names| value(worth, of_names));
        self.is_dropped = value.is_some_and(|value| value <= self.best.floor());
        if self.is_dropped {
            return;
        }
        self.open = Some(Block {
            text: text.to_vec(),
            extent,
            value: 0,
            // Which bytes of the original a part of a rendered line shows is not known.
            repeated: if extent.form == PieceKind::Verbatim { repeated.min(text.len()) } else { 0 },
            before,
            after: before,
            lines: 1,
            names,
            worth,
        });
    }

    /// The value of a block for its names.
    fn value_of_names(&mut self, block: &Block) -> i32 {
        self.settled_value.unwrap_or_else(|| {
            let value = block.names.value(block.text.len(), block.lines);
            let (sum, count) = self.values_of_names;
            self.values_of_names = (sum + i64::from(value), count + 1);
            value
        })
    }

    /// Adds the open block to the best ones. `after` is what the text contains up to its end.
    fn close(&mut self, after: Contents) {
        let Some(mut block) = self.open.take() else { return };
        let of_names = self.value_of_names(&block);
        let value = value(block.worth, of_names).or_else(|| self.irregular_lines.value(&block.text));
        (block.value, block.after) = (value.unwrap_or(of_names), after);
        if block.value >= self.best.floor() {
            self.best.add(block, |block| block.value);
        }
    }

    /// All blocks, in text order.
    pub(super) fn finish(&mut self) -> Vec<Block> {
        self.close(self.format.contents());
        self.best.take()
    }
}

/// The value of a block whose names are worth this much; `None` for an irregular one, whose text decides.
fn value(worth: Worth, of_names: i32) -> Option<i32> {
    match worth {
        Worth::Heading => Some(HEADING_VALUE),
        Worth::Exactly(value) => Some(value),
        Worth::OfUnit => Some(of_names),
        Worth::More(more) => Some(of_names + more),
        Worth::Irregular => None,
    }
}
