//! The index of a text: the names of its definitions or its headings, and the lines they are in. A mark names those that it
//! hides.

use std::ops::Range;

/// How much is remembered: the names of many more than a preview could list. When it is full, the later half of those that
/// are indented most is forgotten, and no more names with this indentation are added.
const MAX_BYTES: usize = 1 << 15;

/// A longer name is not listed.
const MAX_NAME_BYTES: usize = 60;

/// The name of a definition, or a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::strategy) struct Name<'n> {
    pub(super) text: &'n str,
    /// The number of its line, counted from 1.
    pub(super) line: u64,
    /// How far the definition is indented, or the level of the heading. Lower ones are listed first.
    pub(super) indent: u8,
}

/// The names so far, in their order.
#[derive(Default)]
pub(super) struct Index {
    /// Where the name is in `texts`.
    places: Vec<Place>,
    texts: String,
    /// Those that are indented as much are no longer added.
    min_forgotten: Option<u8>,
}

struct Place {
    line: u64,
    indent: u8,
    end: usize,
}

impl Index {
    /// Adds the name of what is in line `line` and is indented this much.
    pub(super) fn add(&mut self, name: &[u8], line: u64, indent: usize) {
        let indent = u8::try_from(indent).unwrap_or(u8::MAX);
        let is_forgotten = self.min_forgotten.is_some_and(|least| indent >= least);
        if is_forgotten || name.is_empty() || name.len() > MAX_NAME_BYTES {
            return;
        }
        let Ok(name) = str::from_utf8(name) else { return };
        self.texts.push_str(name);
        self.places.push(Place { line, indent, end: self.texts.len() });
        if self.texts.len() + size_of::<Place>() * self.places.len() > MAX_BYTES {
            self.forget_deepest();
        }
    }

    fn forget_deepest(&mut self) {
        let deepest = self.places.iter().map(|place| place.indent).max().unwrap_or_default();
        let mut left = self.places.iter().filter(|place| place.indent == deepest).count() / 2;
        let mut kept = Index { min_forgotten: Some(deepest), ..Index::default() };
        for name in self.names(0..u64::MAX) {
            if name.indent == deepest {
                if left == 0 {
                    continue;
                }
                left -= 1;
            }
            kept.texts.push_str(name.text);
            kept.places.push(Place { line: name.line, indent: name.indent, end: kept.texts.len() });
        }
        *self = kept;
    }

    /// The names in these lines.
    pub(super) fn names(&self, lines: Range<u64>) -> impl Iterator<Item = Name<'_>> {
        let first = self.places.partition_point(|place| place.line < lines.start);
        let start = first.checked_sub(1).map_or(0, |before| self.places[before].end);
        let places = self.places[first..].iter().take_while(move |place| place.line < lines.end);
        places.scan(start, |start, &Place { line, indent, end }| {
            let text = &self.texts[*start..end];
            *start = end;
            Some(Name { text, line, indent })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_line() {
        let mut index = Index::default();
        for (name, line, indent) in [("one", 3, 0), ("two", 5, 4), ("Three", 9, 0)] {
            index.add(name.as_bytes(), line, indent);
        }
        let names = |lines| index.names(lines).map(|name| (name.text, name.line)).collect::<Vec<_>>();
        assert_eq!(names(1..100), [("one", 3), ("two", 5), ("Three", 9)]);
        assert_eq!(names(4..9), [("two", 5)]);
        assert_eq!(names(10..11), []);
    }

    /// More names than are remembered, each with this indentation.
    fn index_of(indents: impl Iterator<Item = usize>) -> Index {
        let mut index = Index::default();
        for (line, indent) in (0..).zip(indents) {
            index.add(format!("name{line}").as_bytes(), line, indent);
            assert!(index.texts.len() <= MAX_BYTES);
        }
        index
    }

    #[test]
    fn names_that_are_indented_less_are_kept() {
        let index = index_of((0..9000).map(|number| if number % 9 == 0 { 0 } else { 4 }));
        assert!(index.names(0..u64::MAX).filter(|name| name.indent == 0).count() > 400);
        assert_eq!(index.names(0..10).count(), 10);
    }

    #[test]
    fn first_of_many_names_are_kept() {
        for first_indent in [0, 4] {
            let index = index_of((0..9000).map(|number| if number == 0 { first_indent } else { 4 }));
            assert!(index.names(0..u64::MAX).count() > 400);
            assert_eq!(index.names(0..10).count(), 10);
        }
        let index = index_of((0..9000).map(|number| if number < 8999 { 4 } else { 0 }));
        assert!(index.names(0..u64::MAX).count() > 400);
        assert_eq!(index.names(8999..9000).count(), 1);
    }
}
