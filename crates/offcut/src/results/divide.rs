//! Divides a preview of several parts among them.

use crate::shown::Preview;

/// What becomes of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartText {
    /// It stays as it is.
    Same,
    /// It is this now.
    Changed(Vec<u8>),
    /// Nothing of it is shown.
    Gone,
}

/// The text between our notices, with the markers that stand in it, and the notices.
pub(crate) fn body_and_notice(preview: &Preview) -> (Vec<u8>, Vec<u8>) {
    let Notices { before, body, behind } = Notices::of(preview);
    (body.to_vec(), [before, behind].concat().trim_ascii().to_vec())
}

/// A preview taken apart into what we say first, what is shown, and what we say last.
pub(crate) struct Notices<'a> {
    pub(crate) before: &'a [u8],
    pub(crate) body: &'a [u8],
    pub(crate) behind: &'a [u8],
}

impl<'a> Notices<'a> {
    pub(crate) fn of(preview: &'a Preview) -> Notices<'a> {
        let content = &preview.content[..];
        match (preview.placed.first(), preview.placed.last()) {
            (Some(first), Some(last)) => Notices {
                before: &content[..first.at],
                body: &content[first.at..last.at + last.length],
                behind: &content[last.at + last.length..],
            },
            // A description: all of it is ours and stands for the text.
            _ => Notices { before: &[], body: content, behind: &[] },
        }
    }
}

/// Several texts as one.
pub(crate) struct Joined {
    pub(crate) text: Vec<u8>,
    /// Behind each part: the offset, and whether a line feed was added there so that the next begins a line.
    ends: Vec<(u64, Seam)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seam {
    Added,
    None,
}

impl Joined {
    /// Puts parts one behind the other, each on lines of its own.
    pub(crate) fn new(parts: Vec<Vec<u8>>) -> Joined {
        let last = parts.len().saturating_sub(1);
        let mut joined = Joined { text: Vec::new(), ends: Vec::with_capacity(parts.len()) };
        for (index, part) in parts.into_iter().enumerate() {
            let needs_seam = index < last && part.last().is_some_and(|&byte| byte != b'\n');
            if joined.text.is_empty() {
                joined.text = part;
            } else {
                joined.text.extend_from_slice(&part);
            }
            if needs_seam {
                joined.text.push(b'\n');
            }
            let seam = if needs_seam { Seam::Added } else { Seam::None };
            joined.ends.push((joined.text.len() as u64, seam));
        }
        joined
    }

    /// Whether there is no part at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The part that holds this byte.
    fn part_of(&self, offset: u64) -> usize {
        self.ends.partition_point(|&(end, _)| end <= offset).min(self.ends.len().saturating_sub(1))
    }

    /// What becomes of each part, from the preview of them all.
    ///
    /// Our text goes with the part before it, the first of it with the first part that is shown; `content` may be
    /// only a stretch of the preview's, which begins at `from`.
    pub(crate) fn divide(&self, preview: &Preview, content: &[u8], from: usize) -> Vec<PartText> {
        // Where each part that is shown begins in the content.
        let mut begins: Vec<(usize, usize)> = Vec::new();
        let mut begin = |part: usize, at: usize| {
            if begins.last().is_none_or(|&(last, _)| last < part) {
                begins.push((part, if begins.is_empty() { 0 } else { at }));
            }
        };
        for placed in preview.placed.iter().filter(|placed| placed.length > 0) {
            let at = placed.at - from;
            let (first, last) = (self.part_of(placed.start), self.part_of(placed.end.saturating_sub(1)));
            begin(first, at);
            for part in first + 1..=last {
                // A text that is shown as it came can reach over several parts.
                begin(part, at + (self.ends[part - 1].0 - placed.start) as usize);
            }
        }
        if begins.is_empty() {
            begins.push((0, 0));
        }
        let mut divided: Vec<PartText> = (0..self.ends.len())
            .map(|part| if self.range(part).is_empty() { PartText::Same } else { PartText::Gone })
            .collect();
        for (index, &(part, start)) in begins.iter().enumerate() {
            let end = begins.get(index + 1).map_or(content.len(), |&(_, next)| next);
            let mut text = &content[start..end];
            if self.ends[part].1 == Seam::Added && end < content.len() {
                text = text.strip_suffix(b"\n").unwrap_or(text);
            }
            let is_same = *text == self.text[self.range(part)];
            divided[part] = if is_same { PartText::Same } else { PartText::Changed(text.to_vec()) };
        }
        divided
    }

    /// Where a part stands in the text, without the seam.
    fn range(&self, part: usize) -> std::ops::Range<usize> {
        let start = part.checked_sub(1).map_or(0, |before| self.ends[before].0);
        let (end, seam) = self.ends[part];
        let end = if seam == Seam::Added { end - 1 } else { end };
        start as usize..end as usize
    }
}
