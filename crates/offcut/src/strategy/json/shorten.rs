//! Shortens a JSON text to a given detail: fewer values per container, the ends of long strings.

use super::buffer::{Buffer, Step};
use super::novelty::Novelty;
use super::outliers::ITEMS_PER_OUTLIER;
use super::tree::{Kind, Node, Rarity, State, Tree};
use crate::json::{escape_ceil, escape_floor};
use std::ops::Range;

/// How much of a text is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Detail {
    /// The most values of an array, and the most documents.
    pub(super) items: usize,
    /// The most outliers of an array, in addition.
    pub(super) outliers: usize,
    /// The most values of an object.
    pub(super) keys: usize,
    /// The most bytes of a string.
    pub(super) string: usize,
    /// The depth from which on nothing of a container is kept.
    pub(super) depth: usize,
    /// Nothing is kept of a container under a key if less is new in it than in the text on average, by this many percent
    /// or more.
    pub(super) staleness: usize,
    /// Containers among this many last values keep one value and one level more.
    pub(super) extra: usize,
}

impl Detail {
    /// The details to which a text is reduced while it is read: first fewer items, then fewer levels and keys.
    pub(super) fn fewer_and_fewer() -> impl Iterator<Item = Detail> {
        let only_open =
            Detail { items: 0, outliers: 0, keys: 0, string: 512, depth: 0, staleness: 100, extra: 0 };
        let fewer_items = (1..18).rev().map(move |exponent| {
            let items = 1 << exponent;
            // So few outliers that they are still outliers among the items that are kept.
            let outliers = items / (ITEMS_PER_OUTLIER as usize - 1);
            let (keys, string) = (items.max(64), items.max(512));
            Detail { items, outliers, keys, string, depth: usize::MAX, ..only_open }
        });
        let fewer_levels = (0..6).rev().map(move |exponent| {
            let (keys, depth) = (2 << exponent, 1 << exponent);
            Detail { items: 2, keys, depth, ..only_open }
        });
        fewer_items.chain(fewer_levels).chain([only_open])
    }
}

/// The greatest depth. Deeper containers are only counted.
const MAX_DEPTH: usize = 64;

/// A text, and what is known about it.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) buffer: &'a Buffer,
    pub(super) tree: &'a Tree,
    pub(super) novelty: &'a Novelty,
    /// The prefix of all marks.
    pub(super) sign: &'a str,
}

/// A smaller container is not worth a mark.
const MIN_STALE_BYTES: usize = 100;

/// The ways to divide a string that is too long between its beginning and its end, in thirds. The one that shows the
/// most is used.
const STRING_SPLITS: [(usize, usize); 3] = [(2, 1), (3, 0), (1, 2)];

/// The steps of the text at this detail, if the result has at most `most` bytes.
pub(super) fn shorten(source: Source<'_>, detail: Detail, most: usize) -> Option<Vec<Step>> {
    let mut shortening = Shortening { source, detail, left: most, steps: Vec::new() };
    shortening.container(0, 0)?;
    Some(shortening.steps)
}

struct Shortening<'a> {
    source: Source<'a>,
    detail: Detail,
    left: usize,
    steps: Vec<Step>,
}

impl Shortening<'_> {
    fn keep(&mut self, range: Range<usize>) -> Option<()> {
        self.left = self.left.checked_sub(range.len())?;
        match self.steps.last_mut() {
            Some(Step::Keep(before)) if before.end == range.start => before.end = range.end,
            _ if range.is_empty() => {}
            _ => self.steps.push(Step::Keep(range)),
        }
        Some(())
    }

    fn omit(&mut self, range: Range<usize>, values: u64, mark: Option<String>) -> Option<()> {
        self.left = self.left.checked_sub(mark.as_ref().map_or(0, String::len))?;
        self.steps.push(Step::Omit { range, values, mark });
        Some(())
    }

    fn value(&mut self, at: usize, depth: usize) -> Option<()> {
        let node = self.source.tree.nodes[at];
        match node.kind {
            Kind::Scalar | Kind::OtherLine => self.keep(node.from..node.to),
            Kind::String => self.string(&node),
            Kind::Documents | Kind::Object | Kind::Array => self.container(at, depth),
            Kind::Hole => Some(()),
        }
    }

    fn container(&mut self, at: usize, depth: usize) -> Option<()> {
        let node = self.source.tree.nodes[at];
        let children: Vec<usize> = self.source.tree.children(at).collect();
        let mut cursor = node.from;
        let mut kept = 0;
        for omitted in self.omitted(at, &children, depth) {
            cursor = self.values(&children[kept..omitted.start], node.kind, cursor, depth)?;
            kept = omitted.end;
            cursor = self.omit_values(&node, &children, omitted, cursor)?;
        }
        cursor = self.values(&children[kept..], node.kind, cursor, depth)?;
        self.keep(cursor..node.to)
    }

    /// Keeps some values of a container and returns where they end.
    fn values(
        &mut self,
        values: &[usize],
        container: Kind,
        mut cursor: usize,
        depth: usize,
    ) -> Option<usize> {
        for &value in values {
            self.keep(cursor..self.source.tree.nodes[value].from)?;
            self.value(value, depth + usize::from(container != Kind::Documents))?;
            cursor = self.source.tree.nodes[value].to;
        }
        Some(cursor)
    }

    /// The values of a container that are omitted: none, or all between the first and the last few except outliers.
    fn omitted(&self, at: usize, children: &[usize], depth: usize) -> Vec<Range<usize>> {
        let node = &self.source.tree.nodes[at];
        let is_hole = |&child: &usize| self.source.tree.nodes[child].kind == Kind::Hole;
        let hole = children.iter().position(is_hole);
        let extra = usize::from(self.source.tree.nodes.len() - at <= self.detail.extra);
        let most = match node.kind {
            Kind::Documents => self.detail.items.saturating_add(extra).max(1),
            _ if depth >= self.detail.depth.saturating_add(extra).min(MAX_DEPTH) => 0,
            // An array that is too long loses items instead.
            Kind::Array if hole.is_some() || children.len() > self.detail.items => {
                self.detail.items.saturating_add(extra)
            }
            _ if self.is_stale(at) => 0,
            Kind::Object => self.detail.keys.saturating_add(extra),
            _ => self.detail.items.saturating_add(extra),
        };
        if hole.is_none() && children.len() <= most {
            return Vec::new();
        }
        // An open value continues after the buffer, so it must stay.
        let is_open =
            children.last().is_some_and(|&child| self.source.tree.nodes[child].state == State::Open);
        let (first, last) = (most - most / 2, (most / 2).max(usize::from(is_open)));
        let first = first.min(hole.unwrap_or(children.len()));
        let last_hole = children.iter().rposition(is_hole);
        let last = last.min(children.len() - last_hole.map_or(first, |hole| hole + 1));
        let middle = first..children.len() - last;
        let mut outliers: Vec<(u32, usize)> = middle
            .clone()
            .filter_map(|at| match self.source.tree.nodes[children[at]].rarity {
                Rarity::Outlier(count) => Some((count, at)),
                Rarity::Usual => None,
            })
            .collect();
        outliers.sort_unstable();
        outliers.truncate(if most == 0 { 0 } else { self.detail.outliers });
        let mut kept: Vec<usize> = outliers.into_iter().map(|(_, at)| at).collect();
        kept.extend(
            middle.clone().filter(|&at| self.source.tree.nodes[children[at]].kind == Kind::OtherLine),
        );
        kept.sort_unstable();
        let starts = std::iter::once(middle.start).chain(kept.iter().map(|at| at + 1));
        let ends = kept.iter().copied().chain([middle.end]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|range| !range.is_empty()).collect()
    }

    /// Whether a container under a key has too little that is new, and no outlier.
    fn is_stale(&self, at: usize) -> bool {
        let node = &self.source.tree.nodes[at];
        let Range { start, end } = node.value..node.to;
        if self.detail.staleness >= 100 || node.from == start || end - start < MIN_STALE_BYTES {
            return false;
        }
        let average =
            self.source.novelty.bytes_in(&(0..self.source.buffer.text.len())) * (100 - self.detail.staleness);
        let new = self.source.novelty.bytes_in(&(start..end)) * 100;
        node.state == State::Closed
            && !node.has_outlier
            && new * self.source.buffer.text.len() < average * (end - start)
    }

    /// Omits some values and returns where the kept text continues.
    fn omit_values(
        &mut self,
        node: &Node,
        children: &[usize],
        omitted: Range<usize>,
        cursor: usize,
    ) -> Option<usize> {
        let nodes = &self.source.tree.nodes;
        let (first, last) = (nodes[children[omitted.start]], nodes[children[omitted.end - 1]]);
        let to = match children.get(omitted.end) {
            // Documents are omitted as whole lines; other values are replaced by a mark.
            Some(&next) if node.kind == Kind::Documents => nodes[next].from,
            _ => last.to,
        };
        let values = children[omitted.clone()].iter().map(|&child| nodes[child].values()).sum();
        let like = children[..omitted.start].last().map_or(first.kind, |&before| nodes[before].kind);
        let mark = self.mark(node.kind, like, values);
        let range = first.from..to;
        // Values that are shorter than their mark are kept.
        let least = mark.as_ref().map_or(0, String::len);
        if self.source.buffer.holes_in(&range).is_empty() && range.len() <= least {
            self.keep(cursor..to)?;
        } else {
            self.keep(cursor..range.start)?;
            self.omit(range, values, mark)?;
        }
        Some(to)
    }

    /// The mark for `values` omitted values: a value that is valid there, of the kind of its neighbours if possible.
    fn mark(&self, container: Kind, like: Kind, values: u64) -> Option<String> {
        let sign = self.source.sign;
        let count =
            |one: &str, many: &str| format!("{values} {} omitted", if values == 1 { one } else { many });
        match (container, like) {
            (Kind::Documents, _) => None,
            (Kind::Object, _) => Some(format!("\"{sign}\": \"{}\"", count("key", "keys"))),
            (_, Kind::Object) => Some(format!("{{\"{sign}\": \"{}\"}}", count("item", "items"))),
            // The wording differs from the mark for all items of an array.
            (_, Kind::Array) => Some(format!("[\"{sign} {}\"]", count("array", "arrays"))),
            _ => Some(format!("\"{sign} {}\"", count("item", "items"))),
        }
    }

    fn string(&mut self, node: &Node) -> Option<()> {
        let text = &self.source.buffer.text;
        let body = node.value + 1..node.to - usize::from(node.state == State::Closed);
        let hole = self.source.buffer.holes_in(&body).first().map(|hole| hole.at);
        if hole.is_none() && body.len() <= self.detail.string {
            return self.keep(node.from..node.to);
        }
        let (start, end) = (hole.unwrap_or(body.end), hole.unwrap_or(body.start));
        let third = self.detail.string / 3;
        let splits = STRING_SPLITS.iter().map(|(head, tail)| {
            let head = body.start.saturating_add(third * head).min(start);
            head..body.end.saturating_sub(third * tail).max(end)
        });
        let worth = |cut: &Range<usize>| {
            self.source.novelty.bytes_in(&(body.start..cut.start))
                + self.source.novelty.bytes_in(&(cut.end..body.end))
        };
        let Range { start: head, end: tail } = splits.rev().max_by_key(worth).unwrap_or(start..end);
        let range = escape_floor(text, &body, head)..escape_ceil(text, &(end..body.end), tail);
        let bytes = self.source.buffer.bytes_of(&(range.start..range.end.max(range.start)));
        let mark = format!("{sign} {bytes} bytes omitted {sign}", sign = self.source.sign);
        if hole.is_none() && (range.start >= range.end || bytes <= mark.len() as u64) {
            return self.keep(node.from..node.to);
        }
        self.keep(node.from..range.start)?;
        self.omit(range.clone(), 0, Some(mark))?;
        self.keep(range.end..node.to)
    }
}
