//! XML by its elements: those near the root, those unlike the others, and the names in the rest.
//!
//! A unit is an element with the start of its first child and the simple elements in it: `<dependency>` with its group,
//! name and version, or `<testcase>` with its `<failure>`. Elements of a list are units of their own.

use super::columns::{UNUSUAL, Values};
use super::failures::Failures;
use super::{Contents, Format, Row, count, is_majority, is_regular};
use crate::strategy::fingerprint;
use crate::strategy::lines::Division;
use crate::strategy::words::ByteSet;
use std::collections::HashMap;

/// Elements, nested in one another.
#[derive(Default)]
pub(super) struct Xml {
    division: Division,
    /// Lines that are not blank; those that begin with a tag or inside a tag, quotes or a comment; and others outside of the
    /// root.
    lines: u64,
    markup: u64,
    outside: u64,
    /// Elements, end tags, and what no XML has: other end tags than that of the open element, and tags with other signs.
    elements: u64,
    end_tags: u64,
    misplaced: u64,
    /// The open elements.
    open: Vec<Element>,
    /// How many elements may have end tags because a line was cut before it was known.
    unknown_ends: u64,
    /// Whether a line was cut, so that some elements were not counted.
    is_cut: bool,
    inside: Inside,
    /// The path of the last element, if nothing but its text was read since.
    leaf: Option<u64>,
    /// Where simple elements belong to the unit of the element around them, and the name of the last one.
    record: Option<Record>,
    /// How many elements have each path, and the values of each attribute and of the text at each path.
    counts: HashMap<u64, u64>,
    values: Values,
    /// Whether it contains programs or styles.
    has_scripts: bool,
    failures: Failures,
    is_settled: bool,
}

/// An open element.
#[derive(Clone, Copy, Debug)]
struct Element {
    name: u64,
    /// The hash of the names from the root to this element.
    path: u64,
}

/// The simple elements of one element.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// How many elements are around them.
    depth: usize,
    last: u64,
}

/// What has begun and has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    Text,
    Tag,
    /// An attribute in a tag.
    Quotes(u8),
    /// A comment, a quoted text or a declaration, until this mark.
    Until(&'static [u8]),
    /// A quoted text whose end may be in a part that is not known: until its mark or an end tag at the start of a line.
    CutCdata,
}

/// What a line contains.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// The name of its first element, if nothing but comments comes before it.
    name: Option<u64>,
    /// Whether it has text or an end tag.
    has_text: bool,
    is_unusual: bool,
}

/// The value of the root: the names in it do not count.
const ROOT: i32 = 340;

/// What other elements are worth more, and how much less for each element around them; what the deepest are worth more.
const NESTED: i32 = 60;
const PER_ELEMENT: i32 = 15;
const DEEPEST: i32 = -30;

/// What a comment is worth more.
const COMMENT: i32 = -60;

/// An element is unusual if, of this many elements around it at least, at most one in this many has one.
const MIN_PARENTS: u64 = 16;

const COMMENT_END: &[u8] = b"-->";
const CDATA_END: &[u8] = b"]]>";

/// How many paths are compared.
const MAX_PATHS: usize = 256;

/// Documents have fewer open elements. Those that are deeper count as misplaced.
const MAX_DEPTH: usize = 128;

/// At most one end tag in this many is misplaced.
const END_TAGS_PER_MISPLACED: u64 = 10;

/// At least this percentage of the lines has to be markup. One line without a line feed may have any text between its tags.
const MARKUP_PERCENT: u64 = 50;

impl Xml {
    /// A text that is divided like this.
    pub(super) fn new(division: Division) -> Xml {
        Xml { division, ..Xml::default() }
    }

    /// Reads the markup of a line.
    fn read_markup(&mut self, text: &[u8]) -> Found {
        let mut found = Found::default();
        if text[0] == b'<' && matches!(self.inside, Inside::Tag | Inside::Quotes(_)) {
            // No tag and no attribute contains the beginning of another tag.
            self.misplaced += 1;
            self.inside = Inside::Text;
        }
        if self.inside == Inside::CutCdata && text.starts_with(b"</") {
            self.inside = Inside::Text;
        }
        let mut rest = text;
        while !rest.is_empty() {
            rest = match self.inside {
                Inside::Text => self.read_text(rest, &mut found),
                Inside::Tag => self.read_tag(rest, &mut found),
                Inside::Quotes(mark) => self.skip(rest, &[mark], Inside::Tag),
                Inside::Until(mark) => self.skip(rest, mark, Inside::Text),
                Inside::CutCdata => self.skip(rest, CDATA_END, Inside::Text),
            };
        }
        found
    }

    /// Skips a text until a mark, after which `then` is read.
    fn skip<'t>(&mut self, text: &'t [u8], mark: &[u8], then: Inside) -> &'t [u8] {
        match memchr::memmem::find(text, mark) {
            Some(at) => {
                self.inside = then;
                &text[at + mark.len()..]
            }
            None => b"",
        }
    }

    /// Reads up to the inside of the next tag. Returns what follows.
    fn read_text<'t>(&mut self, text: &'t [u8], found: &mut Found) -> &'t [u8] {
        let (content, tag) = text.split_at(memchr::memchr(b'<', text).unwrap_or(text.len()));
        found.has_text |= !content.trim_ascii().is_empty();
        if let (Some(path), [b'<', b'/', ..]) = (self.leaf, tag) {
            found.is_unusual |= self.is_unusual(path, content);
        }
        let marks: [(&[u8], &[u8]); 4] =
            [(b"<!--", COMMENT_END), (b"<![CDATA[", CDATA_END), (b"<!", b">"), (b"<?", b"?>")];
        if let Some((start, end)) = marks.into_iter().find(|(start, _)| tag.starts_with(start)) {
            self.inside = Inside::Until(end);
            return &tag[start.len()..];
        }
        let is_end = tag.get(1) == Some(&b'/');
        let from = (1 + usize::from(is_end)).min(tag.len());
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
        let length = tag[from..].iter().take_while(|byte| is_name(byte)).count();
        let (name, rest) = tag[from..].split_at(length);
        if !name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':')) {
            self.misplaced += u64::from(!tag.is_empty());
            return rest;
        }
        self.inside = Inside::Tag;
        if is_end {
            found.has_text = true;
            self.end(fingerprint::exact(name));
        } else {
            let name = self.begin(name, found);
            found.name = found.name.or(Some(name).filter(|_| !found.has_text));
        }
        rest
    }

    /// Begins an element. Returns the hash of its name.
    fn begin(&mut self, name: &[u8], found: &mut Found) -> u64 {
        self.has_scripts |= name.eq_ignore_ascii_case(b"script") || name.eq_ignore_ascii_case(b"style");
        self.elements += 1;
        let name = fingerprint::exact(name);
        let parent = self.open.last().map_or(0, |element| element.path);
        let path = fingerprint::mix(parent, name);
        let is_known = self.counts.contains_key(&path);
        if is_known && !self.is_settled || !is_known && self.counts.len() < MAX_PATHS {
            let parents = self.counts.get(&parent).copied().unwrap_or_default();
            let count = self.counts.entry(path).or_default();
            *count += 1;
            found.is_unusual |= parents >= MIN_PARENTS && *count * MIN_PARENTS <= parents;
        }
        if self.open.len() < MAX_DEPTH {
            self.open.push(Element { name, path });
        } else {
            self.misplaced += 1;
        }
        self.leaf = Some(path);
        name
    }

    /// Ends an element, with those in it that have no end tag.
    fn end(&mut self, name: u64) {
        self.leaf = None;
        self.end_tags += 1;
        match self.open.iter().rposition(|element| element.name == name) {
            Some(at) => {
                self.misplaced += u64::from(at + 1 < self.open.len());
                self.open.truncate(at);
            }
            None if self.unknown_ends > 0 => self.unknown_ends -= 1,
            None => self.misplaced += 1,
        }
    }

    /// Ends the element whose tag was read last.
    fn end_last(&mut self) {
        let path = self.leaf.take();
        if self.open.last().map(|element| element.path) == path {
            self.open.pop();
        }
    }

    /// Reads a tag up to its end or to the inside of an attribute. Returns what follows.
    fn read_tag<'t>(&mut self, text: &'t [u8], found: &mut Found) -> &'t [u8] {
        // What a tag has outside of quotes. Of source code, little is between `<` and `>`.
        static SIGNS: ByteSet = ByteSet::alphanumeric_and(b"_-.:=/%#@ \t\r\n\x0C");
        let length = text.iter().position(|&byte| !SIGNS.contains(byte)).unwrap_or(text.len());
        let (signs, rest) = text.split_at(length);
        let Some((&mark, rest)) = rest.split_first() else { return b"" };
        match mark {
            b'>' => {
                self.inside = Inside::Text;
                if signs.ends_with(b"/") {
                    self.end_last();
                }
                rest
            }
            b'"' | b'\'' => {
                let Some(end) = memchr::memchr(mark, rest) else {
                    self.inside = Inside::Quotes(mark);
                    return b"";
                };
                if let Some(path) = self.leaf {
                    let name = fingerprint::exact(signs.trim_ascii());
                    found.is_unusual |= self.is_unusual(fingerprint::mix(path, name), &rest[..end]);
                }
                &rest[end + 1..]
            }
            0x80.. | b'?' => rest,
            _ => {
                self.misplaced += 1;
                self.inside = Inside::Text;
                rest
            }
        }
    }

    /// Adds a value. Returns whether it is unlike those before at the same place.
    fn is_unusual(&mut self, place: u64, value: &[u8]) -> bool {
        !self.is_settled && self.values.add(place, value)
    }

    /// This many elements, in words.
    fn count(&self, elements: u64) -> String {
        let at_least = if self.is_cut { "at least " } else { "" };
        format!("{at_least}{}", count(elements, "element"))
    }

    /// Whether an element belongs to the unit of the element around it: the first one in it, and simple elements of which
    /// none has the name of the one before.
    fn continues_unit(&mut self, name: u64, depth: usize, is_simple: bool) -> bool {
        let record = self.record.filter(|record| record.depth == depth);
        let is_first = record.is_some_and(|record| record.last == 0);
        let is_next = is_simple && record.is_some_and(|record| record.last != name);
        self.record = match is_simple {
            true if is_first || is_next => Some(Record { depth, last: name }),
            true => None,
            false => Some(Record { depth: depth + 1, last: 0 }),
        };
        is_first || is_next
    }
}

impl Format for Xml {
    fn read(&mut self, line: &[u8]) -> Row {
        let text = line.trim_ascii();
        if text.is_empty() {
            return Row::part();
        }
        self.lines += 1;
        let (depth, before) = (self.open.len(), self.inside);
        let is_markup = before != Inside::Text || text[0] == b'<';
        self.markup += u64::from(is_markup);
        if !is_markup && depth == 0 {
            self.outside += 1;
            return Row::irregular();
        }
        let found = self.read_markup(text);
        if found.name.is_none() && before == Inside::Text && text.starts_with(b"<!--") {
            self.record = None;
            return Row::unit(COMMENT);
        }
        let row = match found.name {
            Some(name) => {
                let is_simple = self.open.len() <= depth && self.inside == Inside::Text;
                let worth = match depth {
                    0 if !is_simple => Row::valued(ROOT),
                    depth => Row::unit((NESTED - PER_ELEMENT * depth as i32).max(DEEPEST)),
                };
                if self.continues_unit(name, depth, is_simple) { Row::part() } else { worth }
            }
            None => Row::part(),
        };
        // A comment may quote anything.
        let is_quoted = before == Inside::Until(COMMENT_END) && found.name.is_none();
        let is_failure = match self.division {
            _ if self.is_settled || is_quoted => false,
            Division::Lines => self.failures.read(text),
            Division::Tags => self.failures.is_failure(text),
        };
        match (is_failure, found.is_unusual) {
            (true, _) => row.in_irregular_unit(),
            (false, true) => row.worth_at_least(UNUSUAL),
            (false, false) => row,
        }
    }

    fn cut_off(&mut self) {
        self.is_cut = true;
        match self.inside {
            Inside::Tag | Inside::Quotes(_) => {
                self.end_last();
                self.unknown_ends += 1;
                self.inside = Inside::Text;
            }
            // A text may contain tags: it goes on until the next end tag.
            Inside::Until(CDATA_END) => self.inside = Inside::CutCdata,
            _ => self.inside = Inside::Text,
        }
        self.leaf = None;
    }

    fn can_match(&self, lines_left: u64) -> bool {
        let lines = self.lines + lines_left;
        let unclosed = self.open.len() as u64;
        let is_nested = self.misplaced * END_TAGS_PER_MISPLACED <= self.end_tags.max(self.elements / 2)
            && unclosed * 2 <= self.elements;
        let is_markup = match self.division {
            Division::Tags => true,
            Division::Lines => {
                is_majority(self.markup + lines_left, lines, MARKUP_PERCENT)
                    && !self.has_scripts
                    && !self.failures.outweigh(self.markup, lines_left)
            }
        };
        // A line may have any number of elements.
        let is_xml = self.elements > 0 && is_nested;
        (is_xml || lines_left > 0) && is_markup && is_regular(self.outside, lines)
    }

    fn settle(&mut self) {
        self.is_settled = true;
    }

    fn remark(&self) -> String {
        format!("XML with {}", self.count(self.elements))
    }

    fn contents(&self) -> Contents {
        [self.elements, 0, 0, 0, 0]
    }

    fn describe(&self, [elements, ..]: Contents) -> String {
        if elements == 0 { String::new() } else { self.count(elements) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::outline::{Place, Worth};

    /// What the units of a text are worth: a word for each line that begins one, with those that continue it as dots.
    fn units(lines: &str) -> String {
        let mut xml = Xml::new(Division::Lines);
        let rows = lines.lines().map(|line| xml.read(line.as_bytes()));
        let shown = rows.map(|row| {
            let worth = match row.worth {
                Worth::OfUnit => String::new(),
                Worth::Exactly(_) => "root".to_owned(),
                Worth::More(UNUSUAL) => "unusual".to_owned(),
                Worth::More(more) => format!("{more}"),
                other => format!("{other:?}"),
            };
            if row.place == Place::Begins { format!(" {worth}") } else { format!(".{worth}") }
        });
        shown.collect::<String>().trim().to_owned()
    }

    #[test]
    fn first_and_simple_elements_belong_to_the_element_around_them() {
        let project = "<project a=\"1\"\n  b='>'>\n<group>x</group>\n<name>y</name>\n<parts>\n<part>1</part>\n<part>2</part>\n</parts>";
        assert_eq!(units(project), "root... 45. 30.");
        let list = "<list>\n<item id=\"1\"/>\n<item id=\"2\"/>\n<item id=\"3\"/>\n</list>";
        assert_eq!(units(list), "root. 45 45.");
        assert_eq!(units("<a>\n<b>\n<c>1</c>\n<d>2</d>\n</b>\n<b>\n<c>3</c>\n</b>\n</a>"), "root.... 45...");
    }

    #[test]
    fn comments_are_units_and_quote_no_failures() {
        assert_eq!(units("<a>\n<b>1</b>\n<!-- two\nERROR: three -->\n<c>4</c>\n</a>"), "root. -60. 45.");
        assert_eq!(units("<a>\n<b>1</b>\n<c>\nerror: four\n</c>\n</a>"), "root. 45.Irregular..");
    }

    #[test]
    fn elements_and_values_unlike_the_others_are_unusual() {
        let test = |number: usize| match number {
            40 => "<t><name>a</name><failure/></t>\n".to_owned(),
            50 => "<t>\n<name>b</name>\n</t>\n".to_owned(),
            60 => "<t state=\"-1\"><name>c</name></t>\n".to_owned(),
            _ => "<t><name>d</name></t>\n".to_owned(),
        };
        let tests: String = (0..80).map(test).collect();
        for text in [format!("<all>\n{tests}</all>"), tests] {
            assert_eq!(units(&text).matches("unusual").count(), 3, "{}", units(&text));
        }
    }

    /// Whether a text is XML, and how many elements it has.
    fn recognise(text: &str) -> Option<u64> {
        let mut xml = Xml::new(Division::Lines);
        text.lines().for_each(|line| {
            xml.read(line.as_bytes());
        });
        xml.is_match().then_some(xml.elements)
    }

    #[test]
    fn nested_elements_are_xml() {
        let elements = "<b c=\"1\">\n<d/>\n</b>\n".repeat(9);
        assert_eq!(recognise(&format!("<a>\n{elements}</a>\n")), Some(19));
        // A tag over several lines, a quote that never ends, elements that are deeper than any document has.
        assert_eq!(recognise(&format!("<a\n b='1>'\n>\n{elements}</a>\n")), Some(19));
        assert_eq!(recognise(&format!("<a>\n<b c=\"oops>\n{}</a>\n", elements.repeat(9))), Some(164));
        let deep = format!("{}{}{}", "<a>\n".repeat(90), "<e/>\n".repeat(200), "</a>\n".repeat(90));
        assert_eq!(recognise(&deep), Some(290));
    }

    #[test]
    fn logs_and_source_code_with_signs_of_tags_are_no_xml() {
        for line in [
            "<alice> hello you",
            "<34>Oct 11 22:14:15 host su: failed",
            "<user@example.com>",
            "value <- read(x)",
            "    case message := <-queue:",
            "    for (let i = 0; i<n; i++) {",
            "impl<T> From<T> for Row<T> {",
            "if a<b && c>d { return <T>::new(); }",
            "std::vector<std::string> names;",
            "<?php echo $a; ?>",
        ] {
            for count in [20, 400] {
                assert_eq!(recognise(&format!("{line}\n").repeat(count)), None, "{line}");
            }
        }
        assert_eq!(recognise(&"<T> fn a(b: T) {\n    b.c()\n}\n".repeat(200)), None);
        assert_eq!(recognise(&format!("<a>\n{}</a>\n", "<script>\na < b\n</script>\n".repeat(9))), None);
        let code = "    let a = b.c();\n".repeat(60);
        assert_eq!(recognise(&format!("let tag = \"<br/>\";\nreturn a<b;\n{code}")), None);
        assert_eq!(recognise(&format!("<a>\n{}</a>\n{code}", "<b/>\n".repeat(60))), None);
    }
}
