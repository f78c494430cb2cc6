//! The lines that may be shown, within a bound of memory. When they need more, the weaker half is dropped.

use std::cmp::Reverse;
use std::ops::Range;

/// A line in a pool.
pub(super) trait Pooled {
    /// Its offsets in the original.
    fn range(&self) -> Range<u64>;
    fn text(&self) -> &[u8];
}

/// The best lines so far, in text order.
pub(super) struct Pool<L> {
    lines: Vec<L>,
    bytes: usize,
    max_bytes: usize,
    /// The value of the weakest line that survived the last pruning; before it, lower than any value.
    floor: i32,
    /// Where the first line is that was dropped.
    dropped_from: Option<u64>,
}

/// A gap of at most this many bytes is about as long as its marker.
pub(super) const SMALL_GAP_BYTES: u64 = 60;

/// One part in this many of the memory is for lines in small gaps.
const MEMORY_PER_SMALL_GAPS: usize = 8;

/// The memory that a line takes besides its text.
const OVERHEAD_BYTES: usize = 96;

impl<L: Pooled> Pool<L> {
    pub(super) fn new(max_bytes: usize) -> Pool<L> {
        Pool { lines: Vec::new(), bytes: 0, max_bytes, floor: i32::MIN / 2, dropped_from: None }
    }

    /// Lines with a lower value than this were dropped.
    #[inline]
    pub(super) fn floor(&self) -> i32 {
        self.floor
    }

    /// Whether lines may have been dropped that were in these bytes. Once lines were dropped, weak ones are not even added.
    pub(super) fn has_dropped(&self, bytes: &Range<u64>) -> bool {
        self.dropped_from.is_some_and(|start| start < bytes.end)
    }

    /// Adds a line after all others. `value` says which lines are dropped when memory is full.
    pub(super) fn add(&mut self, line: L, value: impl Fn(&L) -> i32) {
        self.bytes += memory(&line);
        self.lines.push(line);
        if self.bytes > self.max_bytes {
            self.prune(value);
        }
    }

    /// All lines, in text order.
    pub(super) fn take(&mut self) -> Vec<L> {
        std::mem::take(&mut self.lines)
    }

    /// Drops the weaker half, but keeps the lines in small gaps between two lines of the stronger half.
    fn prune(&mut self, value: impl Fn(&L) -> i32) {
        let key = |line: &L| (Reverse(value(line)), line.range().start);
        let keys: Vec<_> = self.lines.iter().map(|line| (key(line), memory(line))).collect();
        let mut order = keys.clone();
        order.sort_unstable();
        let mut bytes = 0;
        let strongest = order.iter().take_while(|(_, memory)| {
            bytes += memory;
            bytes <= self.max_bytes / 2
        });
        let Some(&(weakest, _)) = strongest.last() else { return };
        let mut is_kept: Vec<bool> = keys.iter().map(|(key, _)| *key <= weakest).collect();
        let strong: Vec<usize> = (0..is_kept.len()).filter(|&at| is_kept[at]).collect();
        let mut allowed = self.max_bytes / MEMORY_PER_SMALL_GAPS;
        for (from, to) in strong.iter().zip(&strong[1..]) {
            let between = self.lines[from + 1..*to].iter().map(memory).sum::<usize>();
            let length = self.lines[*to].range().start - self.lines[*from].range().end;
            if length <= SMALL_GAP_BYTES && between <= allowed {
                allowed -= between;
                is_kept[from + 1..*to].fill(true);
            }
        }
        let first = is_kept.iter().position(|is_kept| !is_kept).map(|at| self.lines[at].range().start);
        self.dropped_from = self.dropped_from.into_iter().chain(first).min();
        let mut kept = is_kept.into_iter();
        self.lines.retain(|_| kept.next().unwrap_or_default());
        self.bytes = self.lines.iter().map(memory).sum();
        self.floor = weakest.0.0;
    }
}

fn memory<L: Pooled>(line: &L) -> usize {
    line.text().len() + OVERHEAD_BYTES
}
