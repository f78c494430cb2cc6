//! Shortens a JSON text to a given detail: fewer values per container, the ends of long strings.

use super::buffer::{Buffer, Step};
use super::parse::{Kind, Node, Rarity, State, Tree};
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
}

/// The greatest depth. Deeper containers are only counted.
pub(super) const MAX_DEPTH: usize = 64;

/// The steps of the text at this detail, if the result has at most `most` bytes.
pub(super) fn shorten(
    buffer: &Buffer,
    tree: &Tree,
    detail: Detail,
    sign: &str,
    most: usize,
) -> Option<Vec<Step>> {
    let mut shortening = Shortening { buffer, tree, detail, sign, left: most, steps: Vec::new() };
    shortening.container(0, 0)?;
    Some(shortening.steps)
}

struct Shortening<'a> {
    buffer: &'a Buffer,
    tree: &'a Tree,
    detail: Detail,
    /// The prefix of all marks.
    sign: &'a str,
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
        let node = self.tree.nodes[at];
        match node.kind {
            Kind::Scalar => self.keep(node.from..node.to),
            Kind::String => self.string(&node),
            Kind::Documents | Kind::Object | Kind::Array => self.container(at, depth),
            Kind::Hole => Some(()),
        }
    }

    fn container(&mut self, at: usize, depth: usize) -> Option<()> {
        let node = self.tree.nodes[at];
        let children: Vec<usize> = self.tree.children(at).collect();
        let mut cursor = node.from;
        let mut kept = 0;
        for omitted in self.omitted(&node, &children, depth) {
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
            self.keep(cursor..self.tree.nodes[value].from)?;
            self.value(value, depth + usize::from(container != Kind::Documents))?;
            cursor = self.tree.nodes[value].to;
        }
        Some(cursor)
    }

    /// The values of a container that are omitted: none, or all between the first and the last few except outliers.
    fn omitted(&self, node: &Node, children: &[usize], depth: usize) -> Vec<Range<usize>> {
        let is_hole = |&child: &usize| self.tree.nodes[child].kind == Kind::Hole;
        let hole = children.iter().position(is_hole);
        let most = match node.kind {
            Kind::Documents => self.detail.items.max(1),
            _ if depth >= self.detail.depth => 0,
            Kind::Object => self.detail.keys,
            _ => self.detail.items,
        };
        if hole.is_none() && children.len() <= most {
            return Vec::new();
        }
        // An open value continues after the buffer, so it must stay.
        let is_open = children.last().is_some_and(|&child| self.tree.nodes[child].state == State::Open);
        let (first, last) = (most - most / 2, (most / 2).max(usize::from(is_open)));
        let first = first.min(hole.unwrap_or(children.len()));
        let last_hole = children.iter().rposition(is_hole);
        let last = last.min(children.len() - last_hole.map_or(first, |hole| hole + 1));
        let middle = first..children.len() - last;
        let mut outliers: Vec<(u64, usize)> = middle
            .clone()
            .filter_map(|at| match self.tree.nodes[children[at]].rarity {
                Rarity::Outlier(count) => Some((count, at)),
                Rarity::Usual => None,
            })
            .collect();
        outliers.sort_unstable();
        outliers.truncate(if most == 0 { 0 } else { self.detail.outliers });
        let mut kept: Vec<usize> = outliers.into_iter().map(|(_, at)| at).collect();
        kept.sort_unstable();
        let starts = std::iter::once(middle.start).chain(kept.iter().map(|at| at + 1));
        let ends = kept.iter().copied().chain([middle.end]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|range| !range.is_empty()).collect()
    }

    /// Omits some values and returns where the kept text continues.
    fn omit_values(
        &mut self,
        node: &Node,
        children: &[usize],
        omitted: Range<usize>,
        cursor: usize,
    ) -> Option<usize> {
        let nodes = &self.tree.nodes;
        let (first, last) = (nodes[children[omitted.start]], nodes[children[omitted.end - 1]]);
        let to = match children.get(omitted.end) {
            // Documents are omitted as whole lines; other values are replaced by a mark.
            Some(&next) if node.kind == Kind::Documents => nodes[next].from,
            _ => last.to,
        };
        let values = children[omitted.clone()].iter().map(|&child| nodes[child].values).sum();
        let like = children[..omitted.start].last().map_or(first.kind, |&before| nodes[before].kind);
        let mark = self.mark(node.kind, like, values);
        let range = first.from..to;
        // Values that are shorter than their mark are kept.
        let least = mark.as_ref().map_or(0, String::len);
        if self.buffer.holes_in(&range).is_empty() && range.len() <= least {
            self.keep(cursor..to)?;
        } else {
            self.keep(cursor..range.start)?;
            self.omit(range, values, mark)?;
        }
        Some(to)
    }

    /// The mark for `values` omitted values: a value that is valid there, of the kind of its neighbours if possible.
    fn mark(&self, container: Kind, like: Kind, values: u64) -> Option<String> {
        let sign = self.sign;
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
        let text = &self.buffer.text;
        let body = node.value + 1..node.to - usize::from(node.state == State::Closed);
        // If the text ends in a key, there is no value yet.
        if body.start > body.end {
            return self.keep(node.from..node.to);
        }
        let hole = self.buffer.holes_in(&body).first().map(|hole| hole.at);
        let (start, end) = (hole.unwrap_or(body.end), hole.unwrap_or(body.start));
        let head = (body.start + self.detail.string * 2 / 3).min(start);
        let tail = body.end.saturating_sub(self.detail.string / 3).max(end);
        let range = escape_floor(text, &body, head)..escape_ceil(text, &(end..body.end), tail);
        let bytes = self.buffer.bytes_of(&(range.start..range.end.max(range.start)));
        let mark = format!("{sign} {bytes} bytes omitted {sign}", sign = self.sign);
        if hole.is_none() && (range.start >= range.end || bytes <= mark.len() as u64) {
            return self.keep(node.from..node.to);
        }
        self.keep(node.from..range.start)?;
        self.omit(range.clone(), 0, Some(mark))?;
        self.keep(range.end..node.to)
    }
}
