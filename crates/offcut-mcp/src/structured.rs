//! `structuredContent` made small, and still what its tool's schema says.
//!
//! It often repeats the whole text, so a result is bounded only if this is, too. Top down: a value that is over its share
//! of the budget gives each of its members a share, the largest are cut first. Strings are cut inside, arrays from their
//! end; nothing else changes, and members never go.

use crate::schema::Schema;
use offcut::middleware::json::{Edits, Node, quoted};
use offcut::middleware::shares;

/// Deeper values stay as they are: each level costs a look at all that is below it.
const DEEPEST: usize = 32;

/// No member gets less, so that a marker fits.
const LEAST: u64 = 120;

/// What stands for the parts that are left out.
pub(crate) struct Marking<'a> {
    /// The id of the entry that has everything, if there is one.
    pub(crate) id: Option<&'a str>,
    /// A text that may stand in the value as well, and what is shown of it.
    pub(crate) repeated: Option<(&'a [u8], &'a [u8])>,
}

/// The value within about `budget` bytes, as far as its schema allows.
pub(crate) fn fit(value: Node<'_>, schema: Schema<'_>, budget: u64, marking: &Marking<'_>) -> String {
    let mut edits = Edits::default();
    Fitting { marking, edits: &mut edits }.fit(value, schema, budget, 0);
    edits.apply_within(value)
}

struct Fitting<'a> {
    marking: &'a Marking<'a>,
    edits: &'a mut Edits,
}

impl Fitting<'_> {
    fn fit(&mut self, value: Node<'_>, schema: Schema<'_>, budget: u64, depth: usize) {
        if value.json().len() as u64 <= budget || depth > DEEPEST || matches!(schema, Schema::Frozen) {
            return;
        }
        if value.is_text() {
            self.text(value, schema, budget);
        } else if value.is_array() {
            self.array(value, schema, budget, depth);
        } else if value.is_object() {
            let members = value.members();
            let sizes: Vec<u64> = members.iter().map(|(_, member)| member.json().len() as u64).collect();
            let names = value.json().len() as u64 - sizes.iter().sum::<u64>();
            let shares = shares(&sizes, budget.saturating_sub(names), LEAST);
            let schemas = schema.members(value);
            for ((name, member), share) in members.iter().zip(shares) {
                self.fit(*member, schemas.of(name), share, depth + 1);
            }
        }
    }

    fn array(&mut self, value: Node<'_>, schema: Schema<'_>, budget: u64, depth: usize) {
        let elements = value.elements();
        let sizes: Vec<u64> = elements.iter().map(|element| element.json().len() as u64 + 1).collect();
        let (least, each) = schema.elements(value);
        let mut left = budget.saturating_sub(2);
        let fitting = sizes.iter().take_while(|&&size| {
            let fits = size <= left;
            left = left.saturating_sub(size);
            fits
        });
        let kept = match least {
            // One is kept even if it has to be cut: nothing at all would say less than a part.
            Some(least) => fitting.count().max(least).max(1).min(elements.len()),
            None => elements.len(),
        };
        let shares = shares(&sizes[..kept], budget.saturating_sub(2), LEAST);
        for (element, share) in elements.iter().zip(shares) {
            self.fit(*element, each, share, depth + 1);
        }
        self.edits.remove(&elements, &|index| index >= kept);
    }

    fn text(&mut self, value: Node<'_>, schema: Schema<'_>, budget: u64) {
        let (Some(least), Some(text)) = (schema.least_text(value), value.text()) else { return };
        if let Some((whole, shown)) = self.marking.repeated
            && whole == text
            && shown.len() >= least
            && quoted(shown).len() as u64 <= budget
        {
            return self.edits.replace(value, quoted(shown));
        }
        // Escapes make the text in JSON longer than it is.
        let room = budget.saturating_sub(LEAST / 2) * text.len() as u64 / value.json().len().max(1) as u64;
        let room = usize::try_from(room).unwrap_or(usize::MAX).max(least.saturating_mul(4));
        if room >= text.len() {
            return;
        }
        let (head, tail) = (floor(&text, room / 3 * 2), floor(&text, text.len() - room / 3));
        let missing = tail - head;
        let marker = match self.marking.id {
            Some(id) => format!("[offcut {id}: {missing} bytes missing]"),
            None => format!("[offcut: {missing} bytes missing, not kept]"),
        };
        let cut = [&text[..head], marker.as_bytes(), &text[tail..]].concat();
        self.edits.replace(value, quoted(&cut));
    }
}

/// The last place at or before `at` where a character begins.
fn floor(text: &[u8], at: usize) -> usize {
    let is_inside = |&at: &usize| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    (0..=at).rev().find(|at| !is_inside(at)).unwrap_or(0)
}
