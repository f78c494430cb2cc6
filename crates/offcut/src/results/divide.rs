//! Divides the preview of several parts among them.

use crate::outcome::Preview;

/// One part after bounding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartText {
    /// Unchanged.
    Same,
    /// The new text.
    Changed(Vec<u8>),
    /// Not shown.
    Gone,
}

/// The text between the header and the footer, markers included; and the header and the footer.
pub(crate) fn body_and_notice(preview: &Preview) -> (Vec<u8>, Vec<u8>) {
    let Notices { before, body, after } = Notices::of(preview);
    (body.to_vec(), [before, after].concat().trim_ascii().to_vec())
}

/// The three parts of a preview: the header, the text with its markers, and the footer.
pub(crate) struct Notices<'a> {
    pub(crate) before: &'a [u8],
    pub(crate) body: &'a [u8],
    pub(crate) after: &'a [u8],
}

impl<'a> Notices<'a> {
    pub(crate) fn of(preview: &'a Preview) -> Notices<'a> {
        let content = &preview.content[..];
        match (preview.placed.first(), preview.placed.last()) {
            (Some(first), Some(last)) => Notices {
                before: &content[..first.at],
                body: &content[first.at..last.at + last.length],
                after: &content[last.at + last.length..],
            },
            // A description replaces the text.
            _ => Notices { before: &[], body: content, after: &[] },
        }
    }
}

/// Several texts, joined into one.
pub(crate) struct Joined {
    pub(crate) text: Vec<u8>,
    /// The offset after each part, and whether a line feed was added there so that the next part begins on a new line.
    ends: Vec<(u64, Seam)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seam {
    Added,
    None,
}

impl Joined {
    /// Joins parts; each begins on a new line.
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

    /// The part that contains this byte.
    fn part_of(&self, offset: u64) -> usize {
        self.ends.partition_point(|&(end, _)| end <= offset).min(self.ends.len().saturating_sub(1))
    }

    /// Divides the preview of all parts among them.
    ///
    /// A notice goes with the part before it, the header with the first part that is shown. `content` is the part of the
    /// preview that begins at `from`.
    pub(crate) fn divide(&self, preview: &Preview, content: &[u8], from: usize) -> Vec<PartText> {
        // The parts that are shown, each with its position in the content.
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
                // One piece can span several parts.
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

    /// The range of a part in the text, without the added line feed.
    fn range(&self, part: usize) -> std::ops::Range<usize> {
        let start = part.checked_sub(1).map_or(0, |before| self.ends[before].0);
        let (end, seam) = self.ends[part];
        let end = if seam == Seam::Added { end - 1 } else { end };
        start as usize..end as usize
    }
}
