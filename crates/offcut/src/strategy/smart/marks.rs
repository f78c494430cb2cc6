//! Finds the failures of a runner that no rule knows, by its pair of marks.
//!
//! A runner marks each line with a result: `✓ adds` and `✗ divides`, `[+] adds` and `[-] divides`, `adds ... done` and
//! `divides ... bad`. Where one mark is in dozens of lines and another is in the same place of a few, the few are the
//! failures. Only lines that are matched against the rules are counted, and only the first few marks of a place.

/// The mark that most lines have counts as the usual one from this many lines on.
const USUAL_LINES: u32 = 50;

/// A mark is rare if the usual one is in this many times as many lines.
const LINES_PER_RARE_LINE: u32 = 16;

/// A runner has a mark for passed, failed, skipped and perhaps a few more. A place with more marks has text instead.
const MAX_MARKS: usize = 6;

/// No mark is longer, and no symbol: a character of four bytes and one that says how it is drawn.
const MAX_MARK_BYTES: usize = 16;
const MAX_SYMBOL_BYTES: usize = 8;

/// Words that say how detailed a message is, not how something ended.
const LEVELS: [&[u8]; 7] = [b"INFO", b"DEBUG", b"TRACE", b"NOTICE", b"WARN", b"WARNING", b"ERROR"];

/// Where a line has its mark.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// `✓ adds`
    FirstSymbol,
    /// `. adds`, `F adds`
    FirstLetter,
    /// `[+] adds`, `[OK] adds`
    FirstBrackets,
    /// `adds ✓`
    LastSymbol,
    /// `adds [ok]`
    LastBrackets,
    /// `adds ... ok`
    AfterDots,
    /// `adds: ok`
    AfterColon,
}

const PLACES: usize = Place::AfterColon as usize + 1;

/// A mark, padded with zeros.
type Mark = [u8; MAX_MARK_BYTES];

/// The marks in one place, with the number of their lines.
#[derive(Debug)]
enum MarksOfPlace {
    Few(Vec<(Mark, u32)>),
    /// More than [`MAX_MARKS`].
    Text,
}

/// How the mark of a line compares with those of the lines before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineMark {
    /// Most lines have another mark in the same place.
    Rare,
    /// It is the usual one, or none is usual, or the line has none.
    Ordinary,
}

/// The marks of all lines so far.
#[derive(Debug)]
pub(super) struct Marks([MarksOfPlace; PLACES]);

impl Marks {
    pub(super) fn new() -> Marks {
        Marks(std::array::from_fn(|_| MarksOfPlace::Few(Vec::new())))
    }

    /// Counts the marks of a line.
    pub(super) fn count(&mut self, content: &[u8]) -> LineMark {
        let content = content.trim_ascii();
        let marks = [first_mark(content), last_mark(without_duration(content))];
        let is_rare = |(place, mark): (Place, Mark)| self.0[place as usize].count(mark) == LineMark::Rare;
        // Both are counted.
        match marks.into_iter().flatten().map(is_rare).fold(false, |found, is_rare| found | is_rare) {
            true => LineMark::Rare,
            false => LineMark::Ordinary,
        }
    }
}

impl MarksOfPlace {
    fn count(&mut self, mark: Mark) -> LineMark {
        let MarksOfPlace::Few(marks) = self else { return LineMark::Ordinary };
        let at = match marks.iter().position(|(known, _)| *known == mark) {
            Some(at) => at,
            None if marks.len() == MAX_MARKS => {
                *self = MarksOfPlace::Text;
                return LineMark::Ordinary;
            }
            None => {
                marks.push((mark, 0));
                marks.len() - 1
            }
        };
        marks[at].1 = marks[at].1.saturating_add(1);
        let lines = marks[at].1;
        let usual = marks.iter().map(|(_, lines)| *lines).max().unwrap_or(0);
        match usual >= USUAL_LINES && usual / LINES_PER_RARE_LINE >= lines {
            true => LineMark::Rare,
            false => LineMark::Ordinary,
        }
    }
}

fn first_mark(content: &[u8]) -> Option<(Place, Mark)> {
    if let Some(rest) = content.strip_prefix(b"[") {
        let end = rest.iter().take(MAX_MARK_BYTES + 1).position(|&byte| byte == b']')?;
        let text = rest[..end].trim_ascii();
        let is_mark = text.iter().all(u8::is_ascii_uppercase) || !text.iter().any(u8::is_ascii_alphanumeric);
        return mark(Place::FirstBrackets, text).filter(|_| is_mark && !LEVELS.contains(&text));
    }
    let end = content.iter().take(MAX_MARK_BYTES).position(|&byte| byte == b' ')?;
    match &content[..end] {
        // The letters of test runners: other letters are categories, such as those of linters.
        [b'.' | b'!' | b'E' | b'F' | b'P' | b'X' | b'x'] => mark(Place::FirstLetter, &content[..end]),
        text if is_symbol(text) => mark(Place::FirstSymbol, text),
        _ => None,
    }
}

fn last_mark(content: &[u8]) -> Option<(Place, Mark)> {
    if let Some(rest) = content.strip_suffix(b"]") {
        let start = memchr::memrchr(b'[', rest)?;
        let text = rest[start + 1..].trim_ascii();
        let is_word = text.iter().all(u8::is_ascii_alphabetic);
        return mark(Place::LastBrackets, text).filter(|_| start > 0 && is_word);
    }
    let start = memchr::memrchr(b' ', content)?;
    let (before, text) = (content[..start].trim_ascii_end(), &content[start + 1..]);
    if is_symbol(text) {
        return mark(Place::LastSymbol, text);
    }
    let place = match before {
        // `...` or `…`
        [.., b'.', b'.', b'.'] | [.., 0xE2, 0x80, 0xA6] => Place::AfterDots,
        [.., b':'] => Place::AfterColon,
        _ => return None,
    };
    mark(place, text).filter(|_| text.iter().all(u8::is_ascii_alphabetic))
}

/// A mark has no digits: numbers are data.
fn mark(place: Place, text: &[u8]) -> Option<(Place, Mark)> {
    let is_mark = !text.is_empty() && !text.iter().any(u8::is_ascii_digit);
    let mut mark = [0; MAX_MARK_BYTES];
    mark.get_mut(..text.len()).filter(|_| is_mark)?.copy_from_slice(text);
    Some((place, mark))
}

/// Whether a text is one symbol that can say how something ended. Lines of a tree, bullets of a list and pictures cannot.
fn is_symbol(text: &[u8]) -> bool {
    if text.len() > MAX_SYMBOL_BYTES || text.is_ascii() {
        return false;
    }
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let mut symbols = text.chars().filter(|symbol| !('\u{FE00}'..='\u{FE0F}').contains(symbol));
    let is_result = |symbol: char| matches!(symbol, '×' | '\u{2200}'..='\u{23FF}' | '\u{25A0}'..='\u{27BF}' | '🔴' | '🟠'..='🟫' | '👍' | '👎');
    symbols.next().is_some_and(is_result) && symbols.next().is_none()
}

/// A line without the time that something took: `(12 ms)`, `[0.3s]`, `1.2s`.
fn without_duration(content: &[u8]) -> &[u8] {
    let start = match content.last() {
        Some(b')') => memchr::memrchr(b'(', content),
        Some(b']') => memchr::memrchr(b'[', content),
        _ => memchr::memrchr(b' ', content).map(|space| space + 1),
    };
    match start {
        Some(start) if content[start..].iter().any(u8::is_ascii_digit) => content[..start].trim_ascii_end(),
        _ => content,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks whether `few` is rare after many lines like `usual`, in which `#` stands for a name.
    #[track_caller]
    fn check(usual: &str, few: &str, expected: LineMark) {
        let mut marks = Marks::new();
        let names = ["adds", "divides by two", "takes 3 items"];
        for at in 0..200 {
            let line = usual.replace('#', names[at % names.len()]);
            assert_eq!(marks.count(line.as_bytes()), LineMark::Ordinary, "{line}");
        }
        assert_eq!(marks.count(few.replace('#', "sorts").as_bytes()), expected, "{few}");
    }

    #[test]
    fn mark_of_a_few_lines_is_rare() {
        for (usual, few) in [
            ("✓ #", "✗ #"),
            ("  ✔ # (12 ms)", "  ✘ # (3 ms)"),
            ("✅ #", "❌ #"),
            (". #", "F #"),
            ("[+] #", "[-] #"),
            ("[ OK ] #", "[ KO ] #"),
            ("# ✓", "# ✗"),
            ("# [good] (0.1s)", "# [bad] (0.2s)"),
            ("# ... done", "# ... bad"),
            ("#....... fine 0.01s", "#....... poor 0.02s"),
            ("#… done", "#… bad"),
            ("#: fine [1.2ms]", "#: poor [1.2ms]"),
        ] {
            check(usual, few, LineMark::Rare);
        }
    }

    #[test]
    fn line_without_another_mark_in_the_same_place_is_ordinary() {
        for (usual, few) in [
            ("✓ #", "✓ #"),
            ("✓ #", "a line about #"),
            ("✓ #", "# ✗"),
            ("✓ #", "• #"),
            ("├ #", "└ #"),
            ("+ #", "- #"),
            ("[INFO] #", "[DEBUG] #"),
            ("[main] #", "[worker] #"),
            ("M #", "H #"),
            ("✨ #", "🏈 #"),
            ("[1] #", "[2] #"),
            ("#: 12", "#: 13"),
            ("#", "sorts ... bad"),
            ("", ""),
        ] {
            check(usual, few, LineMark::Ordinary);
        }
    }

    #[test]
    fn place_with_many_marks_has_text() {
        let mut marks = Marks::new();
        for at in 0..200_usize {
            let word = ["yes", "no", "none", "gcc", "unlimited", "static", "shared"][at % 100 / 10 % 7];
            marks.count(format!("checking for part {at}... {word}").as_bytes());
        }
        assert_eq!(marks.count(b"checking for sort... bad"), LineMark::Ordinary);
        assert_eq!(marks.count(b"checking for sort... none"), LineMark::Ordinary);
    }

    #[test]
    fn few_become_usual() {
        let mut marks = Marks::new();
        (0..100).for_each(|_| assert_eq!(marks.count("✓ adds".as_bytes()), LineMark::Ordinary));
        let rare = (0..100).filter(|_| marks.count("✗ adds".as_bytes()) == LineMark::Rare).count();
        assert_eq!(rare, (100 / LINES_PER_RARE_LINE) as usize);
    }
}
