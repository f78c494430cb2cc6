//! Limits how many lines are matched against the rules.
//!
//! Matching one line costs as much as passing over thousands of its bytes. Text in which every line is new must not be
//! much slower than repetitive text, so each byte that passes earns a fraction of a match. Ordinary output earns more
//! than it needs. Where it does not, lines with an error word, lines that begin unlike nearly all others and lines near an
//! important one have a bucket of their own, and if that is empty too, lines with a word such as `FATAL` have another.

use crate::strategy::fingerprint;
use multiversion::multiversion;

/// The matches that may still be spent.
pub(super) struct MatchBudget {
    /// The bytes seen so far.
    seen: u64,
    any_line: TokenBucket,
    suspicious: TokenBucket,
    fatal: TokenBucket,
    first_words: FirstWords,
}

/// Filled by the bytes that pass, emptied by matches.
struct TokenBucket {
    /// What is left, in bytes.
    level: u64,
    /// How many bytes had been seen when it was last filled.
    filled_at: u64,
    /// The cost of one match, in bytes.
    cost: u64,
    capacity: u64,
}

/// For any new line. The first few thousand, which is more than most outputs have, are all matched.
const ANY_LINE: TokenBucket = TokenBucket::full(4096, 32_768);

/// For new lines that look important. They are fewer, so each may be matched after fewer bytes.
const SUSPICIOUS: TokenBucket = TokenBucket::full(8192, 16_384);

/// For lines with a word such as `FATAL`, where every line looks important.
const FATAL: TokenBucket = TokenBucket::full(1024, 8192);

impl TokenBucket {
    /// A bucket that holds this many matches, each of which costs `cost` bytes.
    const fn full(matches: u64, cost: u64) -> TokenBucket {
        TokenBucket { level: matches * cost, filled_at: 0, cost, capacity: matches * cost }
    }

    /// Whether there is enough for one match after `seen` bytes.
    #[inline]
    fn has_match(&self, seen: u64) -> bool {
        self.level + seen - self.filled_at >= self.cost
    }

    /// Takes one match if there is enough and `is_wanted`, which is asked only then.
    #[inline]
    fn take(&mut self, seen: u64, is_wanted: impl FnOnce() -> bool) -> bool {
        let is_taken = self.has_match(seen) && is_wanted();
        if is_taken {
            self.level = (self.level + seen - self.filled_at).min(self.capacity) - self.cost;
            self.filled_at = seen;
        }
        is_taken
    }
}

/// What is near a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surroundings {
    /// An important line.
    Important,
    /// Nothing important.
    Ordinary,
}

impl MatchBudget {
    pub(super) fn new() -> MatchBudget {
        MatchBudget {
            seen: 0,
            any_line: ANY_LINE,
            suspicious: SUSPICIOUS,
            fatal: FATAL,
            first_words: FirstWords::new(),
        }
    }

    /// Counts the bytes of a line that passes.
    #[inline]
    pub(super) fn add(&mut self, bytes: usize) {
        self.seen += bytes as u64;
    }

    /// Spends one match on a new line, if it may be matched.
    pub(super) fn spend(&mut self, line: &[u8], surroundings: Surroundings) -> bool {
        if self.any_line.take(self.seen, || true) {
            self.first_words.count(line);
            return true;
        }
        if surroundings == Surroundings::Important {
            return self.suspicious.take(self.seen, || true);
        }
        let is_wanted = || self.first_words.count(line) == Beginning::Unusual || is_suspicious(line);
        match self.suspicious.has_match(self.seen) {
            true => self.suspicious.take(self.seen, is_wanted),
            false => self.fatal.take(self.seen, || is_fatal(line)),
        }
    }
}

/// The number of different first words that are counted, more or less: words may share a count.
const FIRST_WORDS: usize = 256;

/// Of a longer word only the beginning counts, and a word after this many others does not.
const FIRST_WORD_BYTES: usize = 16;
const WORDS_BEFORE: usize = 3;

/// A first word is frequent if one line in this many begins with it.
const LINES_PER_FREQUENT_WORD: u64 = 64;

/// A first word can be unusual after this many lines, if at most one in [`LINES_PER_RARE_WORD`] of them begins with a word that is not
/// frequent.
const SETTLED_LINES: u64 = 512;
const LINES_PER_RARE_WORD: u64 = 16;

/// How often lines begin with each word: `ok` thousands of times, then once `not`.
struct FirstWords {
    counts: Box<[u64; FIRST_WORDS]>,
    lines: u64,
    rare: u64,
}

/// How a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beginning {
    /// Like many others, or all lines begin with different words.
    Usual,
    /// Unlike nearly all others.
    Unusual,
}

impl FirstWords {
    fn new() -> FirstWords {
        FirstWords { counts: Box::new([0; FIRST_WORDS]), lines: 0, rare: 0 }
    }

    /// Counts the first word of a line. Times, numbers and paths are passed over.
    fn count(&mut self, line: &[u8]) -> Beginning {
        // Where lines begin with all kinds of words, none is unusual, and counting them is not worth its time.
        let is_varied = self.rare * LINES_PER_RARE_WORD > self.lines;
        if is_varied && self.lines > SETTLED_LINES {
            return Beginning::Usual;
        }
        let words =
            line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(WORDS_BEFORE + 1);
        let mut words = words.map(|word| &word[..word.len().min(FIRST_WORD_BYTES)]);
        let is_plain = |word: &&[u8]| !word.iter().any(|byte| byte.is_ascii_digit() || *byte == b'/');
        let word = words.find(is_plain).unwrap_or_default();
        let count = &mut self.counts[fingerprint::exact(word) as usize % FIRST_WORDS];
        *count += 1;
        self.lines += 1;
        if *count * LINES_PER_FREQUENT_WORD >= self.lines {
            return Beginning::Usual;
        }
        self.rare += 1;
        if self.lines > SETTLED_LINES && !is_varied { Beginning::Unusual } else { Beginning::Usual }
    }
}

/// Whether a line contains a word for a fatal error, in capitals or at its start. Where every line has an error word,
/// only these stand out.
fn is_fatal(line: &[u8]) -> bool {
    const FATAL_WORDS: [&[u8]; 3] = [b"FATAL", b"CRITICAL", b"PANIC"];
    const FATAL_PREFIXES: [&[u8]; 6] =
        [b"fatal", b"Fatal", b"panic:", b"Killed", b"Aborted", b"Segmentation fault"];
    let may_start = matches!(line.first(), Some(b'f' | b'F' | b'p' | b'K' | b'A' | b'S'));
    (may_start && FATAL_PREFIXES.iter().any(|word| line.starts_with(word)))
        || memchr::memchr3_iter(b'F', b'C', b'P', line)
            .any(|at| FATAL_WORDS.iter().any(|word| line[at..].starts_with(word)))
}

/// How many positions are tested at once.
const LANES: usize = 32;

/// The first letters of error words: error, exception, fail, fault, fatal, panic, abort, segmentation, killed, critical, crash,
/// unexpected, undefined, unable, denied. Those of `assert` are also in `passed`.
const ERROR_WORDS: [&[u8; 3]; 15] = [
    b"err", b"exc", b"fai", b"fau", b"fat", b"pan", b"abo", b"seg", b"kil", b"cri", b"cra", b"une", b"und",
    b"una", b"den",
];

/// Whether a line contains the first letters of an error word.
#[multiversion(targets("x86_64+avx2"))]
fn is_suspicious(line: &[u8]) -> bool {
    let mut short = [0; LANES + 2];
    let line = match line.len() {
        length if length < short.len() => {
            short[..length].copy_from_slice(line);
            &short
        }
        _ => line,
    };
    let mut at = 0;
    let mut found = false;
    while let Some(letters) = line.get(at..).and_then(<[u8]>::first_chunk) {
        found |= has_error_word(letters);
        at += LANES;
    }
    // The last bytes are tested together with some that were tested before.
    found || line.last_chunk().is_some_and(has_error_word)
}

/// Whether an error word begins at any position but the last two. There are no branches, so the compiler vectorizes it.
#[inline(always)]
fn has_error_word(letters: &[u8; LANES + 2]) -> bool {
    let mut found = false;
    for at in 0..LANES {
        let (first, second, third) = (letters[at] | 0x20, letters[at + 1] | 0x20, letters[at + 2] | 0x20);
        for word in ERROR_WORDS {
            found |= (first == word[0]) & (second == word[1]) & (third == word[2]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_words_are_found_at_every_offset() {
        for line in [
            "Error",
            "x EXCEPTION",
            "it failed",
            "FATAL",
            "panic: x",
            "Aborted",
            "SIGKILL",
            "TEST-UNEXPECTED",
        ] {
            assert!(is_suspicious(line.as_bytes()), "{line}");
            for before in 0..40 {
                let line = format!("{}{line}{}", ".".repeat(before), ".".repeat(40 - before));
                assert!(is_suspicious(line.as_bytes()), "{line}");
            }
        }
        for line in ["", "er", "all is well", "face", "pay", "the end", "until", "test_a PASSED"] {
            assert!(!is_suspicious(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn only_some_lines_of_a_flood_are_matched() {
        let mut budget = MatchBudget::new();
        let mut matched = |count: usize, line: &[u8], surroundings: Surroundings| {
            (0..count)
                .filter(|_| {
                    budget.add(line.len());
                    budget.spend(line, surroundings)
                })
                .count()
        };
        let flood = matched(100_000, &[b'x'; 64], Surroundings::Ordinary);
        assert!((4096..4096 + 1000).contains(&flood), "{flood}");
        assert_eq!(matched(10, b"one error", Surroundings::Ordinary), 10);
        assert_eq!(matched(10, b"one", Surroundings::Important), 10);
        let flood = matched(100_000, b"one error", Surroundings::Ordinary);
        assert!((7_000..10_000).contains(&flood), "{flood}");
    }
}
