//! The words that templates ignore, and which of their values are unusual: `exit code 1` after `exit code 0` thousands of times,
//! `9911 ms` among times up to 40 ms.
//!
//! Each such word is a field of its template. A line in which a field has an unusual value counts as a template of its own, so that
//! it is rare and not folded with the others. What a field does in a stretch of lines, [`ranges`](super::ranges) says.
//!
//! Lines with one fingerprint differ only in the value of digits. So most lines need not be read: it is known where the fields are,
//! that constants are the same, and, in a stretch, that numbers are between those of other lines.

use super::line_tables::KnownLine;
use super::number::{Number, Word};
use super::ranges::{Changes, NumberRange, Place};
use crate::strategy::lines::Line;
use crate::strategy::{content, fingerprint};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::{Range, RangeInclusive};

/// The number of fields of a template that are watched: an access log has twenty in a line.
const MAX_FIELDS: usize = 24;

/// The number of them whose values are known for the lines with one fingerprint. If there are more, these lines are read.
const MAX_SPANS: usize = 12;

/// The number of templates that are watched.
const MAX_TEMPLATES: usize = 4096;

/// After this many lines, a value can be unusual: in a field with one value so far, and in one with a range of numbers.
const SETTLED_LINES: u32 = 16;
const SETTLED_RANGE_LINES: u32 = 32;

/// A number is unusual if its distance from the usual range is more than this many times the width of that range.
const UNUSUAL_SPREADS: f64 = 3.0;

/// The status codes of HTTP; those from this one on are failures of the server. A field with at most this many records in this many
/// lines is a status: other numbers reach their largest values step by step.
const STATUS_CODES: RangeInclusive<f64> = 100.0..=599.0;
const SERVER_ERROR: f64 = 500.0;
const STATUS_RECORDS: u32 = 4;
const SETTLED_STATUS_LINES: u32 = 128;

/// After this many unusual values, such values are usual.
const MAX_UNUSUAL_VALUES: usize = 4;

/// A number is a counter if it is beyond all before it in more lines than this, and in at least half of all.
const COUNTER_LINES: u32 = 32;

/// How far a counter is expected to rise: its next values with as many digits are not compared.
const COUNTER_RANGE: f64 = 10.0;

/// The fields of all templates.
pub(super) struct Fields {
    templates: BTreeMap<u64, Vec<Field>>,
    /// What the fields of each template do in the open stretch.
    changes: Vec<(u64, Vec<Changes>)>,
    /// Where the fields of the last line are in its content, and which of them are paths.
    places: Vec<(Range<usize>, bool)>,
}

/// A word in the lines of a template.
#[derive(Debug)]
struct Field {
    usual: Usual,
    /// The hashes of unusual values.
    unusual: Vec<u64>,
    /// How many lines made the usual range wider.
    wider: u32,
}

/// The usual values of a field.
#[derive(Clone, Copy, Debug)]
enum Usual {
    /// All: it has many values that are no numbers.
    Any,
    /// One word.
    Text(Word),
    /// Numbers in a range, with the same rest of the word. A counter, which grows or falls from line to line, is not compared as long
    /// as it has as many digits.
    Numbers { low: f64, high: f64, rest: u64, is_counter: bool },
}

impl Field {
    fn new(word: Word) -> Field {
        let usual = match word {
            Word::Number(number) => {
                Usual::Numbers { low: number.value, high: number.value, rest: number.rest, is_counter: false }
            }
            Word::Text(_) => Usual::Text(word),
            Word::Path(_) | Word::Time => Usual::Any,
        };
        Field { usual, unusual: Vec::new(), wider: 0 }
    }

    /// Adds a value, after `lines` lines of its template. Returns whether it is unusual: far from the usual ones, or the first below
    /// zero. If many are, they become usual.
    fn is_unusual(&mut self, word: Word, lines: u32) -> bool {
        let (is_far, wider) = match (self.usual, word) {
            (Usual::Any, _) => return false,
            (Usual::Text(usual), _) if usual == word => return false,
            (Usual::Numbers { low, high, rest, is_counter }, Word::Number(number)) if number.rest == rest => {
                let distance = (number.value - high).max(low - number.value);
                if distance <= 0.0 {
                    return false;
                }
                let is_far = distance > UNUSUAL_SPREADS * (high - low)
                    || number.value < 0.0 && low >= 0.0
                    || self.is_first_server_error(number, lines);
                let next = if is_counter { COUNTER_RANGE * number.value } else { number.value };
                let (low, high) = (low.min(number.value), high.max(next));
                (is_far, Usual::Numbers { low, high, rest, is_counter })
            }
            _ => (true, Usual::Any),
        };
        if self.unusual.contains(&word.hash()) {
            return true;
        }
        let is_range = matches!(self.usual, Usual::Numbers { low, high, .. } if low < high);
        let settled = if is_range { SETTLED_RANGE_LINES } else { SETTLED_LINES };
        if is_far && lines >= settled && self.unusual.len() < MAX_UNUSUAL_VALUES {
            self.unusual.push(word.hash());
            return true;
        }
        self.unusual.clear();
        self.usual = wider;
        self.wider += 1;
        self.count_records(self.wider, lines);
        false
    }

    /// Whether a number is the status of a request that failed, after `lines` requests of which none did.
    fn is_first_server_error(&self, number: Number, lines: u32) -> bool {
        let Usual::Numbers { low, high, .. } = self.usual else { return false };
        let is_error = |code: f64| (SERVER_ERROR..=*STATUS_CODES.end()).contains(&code);
        number.decimals == 0
            && is_error(number.value)
            && high < SERVER_ERROR
            && STATUS_CODES.contains(&low)
            && self.wider <= STATUS_RECORDS
            && lines >= SETTLED_STATUS_LINES
    }

    /// Makes it a counter if so many of `lines` lines were records.
    fn count_records(&mut self, records: u32, lines: u32) {
        if let Usual::Numbers { low, high, is_counter: is_counter @ false, .. } = &mut self.usual
            && records > COUNTER_LINES
            && records >= lines / 2
        {
            (*low, *high, *is_counter) = (low.min(0.0), high.max(COUNTER_RANGE * *high), true);
        }
    }

    fn is_any(&self) -> bool {
        matches!(self.usual, Usual::Any)
    }
}

/// The values of the fields in the lines with one fingerprint.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldValues {
    count: usize,
    spans: [Span; MAX_SPANS],
    /// The first line of the stretch whose numbers the spans are between; 0 if they are those of lines anywhere.
    stretch: u64,
}

/// Up to eight bytes of a field, and the lowest and the highest ones so far.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    low: u64,
    high: u64,
    start: u16,
    /// How many bits after the field are in the eight bytes.
    after: u8,
    /// How far from the lowest and the highest bytes a value is known: of a longer number, not all bytes are compared.
    margin: u8,
}

impl Span {
    #[inline]
    fn load(&self, text: &[u8]) -> Option<u64> {
        let bytes = fingerprint::load(text.get(usize::from(self.start)..)?);
        Some(bytes.swap_bytes() >> self.after)
    }

    #[inline]
    fn contains(&self, text: &[u8]) -> bool {
        let margin = u64::from(self.margin);
        self.load(text).is_some_and(|bytes| self.low + margin <= bytes && bytes + margin <= self.high)
    }
}

impl KnownLine {
    /// Whether the line need not be read: its constants are as usual, and its numbers are between those of other lines of its stretch
    /// if `stretch` is not 0.
    #[inline]
    pub(super) fn has_usual_values(&self, line: &Line<'_>, stretch: u64) -> bool {
        !self.info.has_fields || self.values.as_ref().is_some_and(|values| values.contain(line, stretch))
    }
}

impl FieldValues {
    /// The values in one line, if there are not too many; `offset` is where its content begins.
    fn new(
        line: &Line<'_>,
        offset: usize,
        places: &[(Range<usize>, bool)],
        fields: &[Field],
        stretch: u64,
    ) -> Option<FieldValues> {
        let mut values = FieldValues { stretch, ..FieldValues::default() };
        for ((range, _), field) in places.iter().zip(fields) {
            let (start, end) = (offset + range.start, offset + range.end);
            let is_longer = end - start > size_of::<u64>();
            match field.usual {
                Usual::Any | Usual::Numbers { is_counter: true, .. } => {}
                Usual::Numbers { low, high, .. } if low < high => {
                    values.add(line.text, start..end, u8::from(is_longer))?;
                }
                Usual::Text(_) | Usual::Numbers { .. } => {
                    values.add(line.text, start..end, 0)?;
                    // Of a longer constant, the ends are compared.
                    if is_longer {
                        values.add(line.text, end - size_of::<u64>()..end, 0)?;
                    }
                }
            }
        }
        Some(values)
    }

    fn add(&mut self, text: &[u8], field: Range<usize>, margin: u8) -> Option<()> {
        let after = 8 * size_of::<u64>().saturating_sub(field.len()) as u8;
        let span = Span { start: u16::try_from(field.start).ok()?, after, margin, ..Span::default() };
        let bytes = span.load(text)?;
        *self.spans.get_mut(self.count)? = Span { low: bytes, high: bytes, ..span };
        self.count += 1;
        Some(())
    }

    /// Adds the values of an earlier line, if it is in the same stretch; outside of stretches, those of all lines.
    fn include(&mut self, before: &FieldValues) {
        if [0, before.stretch].contains(&self.stretch) {
            for (span, before) in self.spans.iter_mut().zip(&before.spans) {
                if (span.start, span.after) == (before.start, before.after) {
                    (span.low, span.high) = (span.low.min(before.low), span.high.max(before.high));
                }
            }
        }
    }

    #[inline]
    fn contain(&self, line: &Line<'_>, stretch: u64) -> bool {
        (self.count == 0 || [0, self.stretch].contains(&stretch))
            && self.spans[..self.count].iter().all(|span| span.contains(line.text))
    }
}

/// Finds the fields of a line with this content. Returns its template.
fn find(content: &[u8], places: &mut Vec<(Range<usize>, bool)>) -> u64 {
    places.clear();
    let template = fingerprint::template_with_words(content, |range, is_path| {
        if places.len() < MAX_FIELDS {
            places.push((range, is_path));
        }
    });
    template.max(1)
}

impl Fields {
    pub(super) fn new() -> Fields {
        Fields { templates: BTreeMap::new(), changes: Vec::new(), places: Vec::new() }
    }

    /// The template of a line with this content, and whether it has fields.
    pub(super) fn template(&mut self, content: &[u8]) -> (u64, bool) {
        (find(content, &mut self.places), !self.places.is_empty())
    }

    /// Reads the fields of a line, after `lines` lines of its template. Returns the template, or another one if a value is unusual.
    /// `content` is that of a line whose template was just found.
    pub(super) fn read(
        &mut self,
        known: &mut KnownLine,
        line: &Line<'_>,
        content: Option<&[u8]>,
        lines: u32,
        stretch: u64,
    ) -> u64 {
        let plain = known.info.template;
        let is_new = content.is_some();
        if is_new && lines < 2 {
            return plain;
        }
        let Fields { templates, places, .. } = self;
        let is_full = templates.len() == MAX_TEMPLATES;
        let fields = match templates.entry(plain) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(_) if is_full => return plain,
            Entry::Vacant(entry) => entry.insert(Vec::new()),
        };
        let mut buffer = Vec::new();
        let content = content.unwrap_or_else(|| {
            let content = content::matched(line.text, &mut buffer);
            find(content, places);
            content
        });
        let word = |(range, is_path): &(Range<usize>, bool)| Word::of(content, range, *is_path);
        if fields.is_empty() {
            fields.extend(places.iter().map(word).map(Field::new));
        }
        let mut template = plain;
        for ((place, field), at) in places.iter().zip(&mut *fields).zip(1..) {
            if !field.is_any() && field.is_unusual(word(place), lines) {
                template = fingerprint::mix(template, word(place).hash().wrapping_add(at));
            }
        }
        let offset = content::offset(line.text, content).filter(|_| !is_new && template == plain);
        let values = offset.and_then(|offset| FieldValues::new(line, offset, places, fields, stretch));
        if let Some(mut values) = values {
            if let Some(before) = &known.values {
                values.include(before);
            }
            known.values = Some(Box::new(values));
        }
        template
    }

    /// Forgets the stretch before.
    pub(super) fn begin_stretch(&mut self) {
        self.changes.clear();
    }

    /// Records a line of a stretch. `plain` is its template without regard to unusual values.
    pub(super) fn record(&mut self, plain: u64, text: &[u8], place: Place) {
        let Fields { templates, changes, places, .. } = self;
        let Some(fields) = templates.get_mut(&plain) else { return };
        let at = changes.iter().position(|(template, _)| *template == plain).unwrap_or(changes.len());
        if at == changes.len() {
            changes.push((plain, fields.iter().map(|_| Changes::default()).collect()));
        }
        let mut buffer = Vec::new();
        let content = content::matched(text, &mut buffer);
        find(content, places);
        for (((range, is_path), field), changes) in places.iter().zip(fields).zip(&mut changes[at].1) {
            changes.add(Word::of(content, range, *is_path), content, range, place);
            field.count_records(changes.records(), (place.line - place.stretch) as u32);
        }
    }

    /// What is known of the stretch: whether fields of its lines are data, and the range of the first measurement, or else of the last
    /// other number.
    pub(super) fn end_stretch(&self) -> (bool, Option<Box<NumberRange>>) {
        let fields = |(template, changes)| self.templates.get(template).into_iter().flatten().zip(changes);
        let fields = self.changes.iter().flat_map(|(template, changes)| fields((template, changes)));
        let is_data = fields.clone().any(|(_, changes)| changes.is_data);
        // The others are not compared in all lines.
        let compared =
            fields.filter(|(field, _)| matches!(field.usual, Usual::Numbers { is_counter: false, .. }));
        let ranges: Vec<&NumberRange> = compared.filter_map(|(_, changes)| changes.range()).collect();
        let chosen = ranges.iter().find(|range| range.is_measurement()).or(ranges.last());
        (is_data, chosen.map(|&range| Box::new(range.clone())))
    }
}
