//! The preview of an output that is not text: what it is, how large it is, its first bytes, and where it is.

use crate::binary::{self, Kind};
use crate::notice::{Message, Notice, Place, Tag};
use crate::render::content::Content;
use crate::render::native::{self, NoticeLevel};
use crate::render::{Facts, Reach};

/// Describes the output, with as many of its first bytes as fit.
pub(crate) fn describe(
    reach: &Reach,
    kind: Kind,
    opening: &[u8],
    facts: &Facts<'_>,
    fits: &dyn Fn(&[u8]) -> bool,
) -> Content {
    let header = |place: Place| {
        let media_type = match kind {
            Kind::Known(media_type) => Some(media_type.to_owned()),
            Kind::Unknown => None,
        };
        let message = Message::Binary { media_type, bytes: facts.original.bytes, place };
        Some(Notice { tag: Tag::Plain, message })
    };
    let full = |rows: usize| {
        let mut text = Content::default();
        text.add_line(header(native::place(facts)));
        text.add(binary::hex(opening, rows));
        text.add_line(native::footer_of_binary(NoticeLevel::Full, reach, facts));
        text
    };
    let short = |rows: usize| {
        let mut text = Content::default();
        text.add_line(header(native::short_place(facts)));
        text.add(binary::hex(opening, rows));
        text.add_line(native::footer_of_binary(NoticeLevel::Compact, reach, facts));
        text
    };
    let candidates = [8, 4, 2, 1].map(full).into_iter().chain([4, 2, 1].map(short));
    candidates.into_iter().find(|content| fits(&content.text)).unwrap_or_else(|| short(0))
}
