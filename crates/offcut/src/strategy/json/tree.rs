//! The values of a JSON text, by position.

/// The kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The text: one document, or several in a row.
    Documents,
    Object,
    Array,
    String,
    /// A number, `true`, `false` or `null`.
    Scalar,
    /// Values that are not in memory.
    Hole,
    /// A line before, between or after documents that is no JSON: a command, a header, a separator.
    OtherLine,
}

/// Whether a value ended before the text did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Closed,
    Open,
}

/// Whether an item differs from the others of its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rarity {
    Usual,
    /// It differs from nearly all others; this many share the difference.
    Outlier(u32),
}

/// A value. The values in it follow it in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) state: State,
    /// The position of its key, or of the value if it has no key.
    pub(super) from: usize,
    /// The position of the value.
    pub(super) value: usize,
    pub(super) to: usize,
    /// The index in the tree after everything in it.
    pub(super) next: usize,
    /// The index in the tree of the container around it.
    pub(super) parent: u32,
    /// The values with which it is compared: those at the same path.
    pub(super) path: u32,
    /// Of a hole, the number of values it replaces; of others, a hash of what is compared: the value, or the shape of a
    /// container.
    pub(super) content: u64,
    /// For an item of an array: whether it differs from the others.
    pub(super) rarity: Rarity,
    /// Whether an item in it, at any depth, differs from the others.
    pub(super) has_outlier: bool,
}

impl Node {
    /// The number of values it is or replaces.
    #[inline]
    pub(super) fn values(&self) -> u64 {
        if self.kind == Kind::Hole { self.content } else { 1 }
    }
}

/// How strictly the text follows the grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Grammar {
    #[default]
    Strict,
    /// It violates the grammar in a way that most readers accept.
    Lenient,
}

/// The values of a text, each before the values in it.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) grammar: Grammar,
    /// The number of values that are open at the end of the text.
    pub(super) open: usize,
}

impl Tree {
    /// The values in a container, by their index in the tree.
    pub(super) fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[at].next;
        let first = (at + 1 < end).then_some(at + 1);
        std::iter::successors(first, move |&at| Some(self.nodes[at].next).filter(|&next| next < end))
    }
}
