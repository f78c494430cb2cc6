//! How many lines are looked at closely.
//!
//! To match a line against the rules costs as much as to pass by thousands of its bytes. A text whose lines are all
//! new must not cost more than so many times a text that repeats itself, so looks are earned by the bytes that go by.
//! Any ordinary output earns more than it needs; where it does not, there is more for lines with a word of trouble in
//! them and for those next to a line that matters, and where all have such a word, for those with one of the worst.

use multiversion::multiversion;

/// Looks that can be afforded.
pub(super) struct Looks {
    /// The bytes that went by.
    earned: u64,
    for_any: Purse,
    for_urgent: Purse,
    for_grave: Purse,
}

/// Earned by bytes, spent on looks.
struct Purse {
    balance: u64,
    /// How much was earned when it was last opened.
    opened: u64,
    /// What a look costs, in bytes.
    price: u64,
    /// No more is saved than this.
    most: u64,
}

impl Purse {
    fn new(looks: u64, price: u64) -> Purse {
        Purse { balance: looks * price, opened: 0, price, most: looks * price }
    }

    /// Whether a look can be paid for after so much was earned.
    #[inline]
    fn can_pay(&self, earned: u64) -> bool {
        self.balance + earned - self.opened >= self.price
    }

    /// Pays for a look if that can be done and `is_wanted` says that it should.
    #[inline]
    fn pay(&mut self, earned: u64, is_wanted: impl FnOnce() -> bool) -> bool {
        let pays = self.can_pay(earned) && is_wanted();
        if pays {
            self.balance = (self.balance + earned - self.opened).min(self.most) - self.price;
            self.opened = earned;
        }
        pays
    }
}

/// Where a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surroundings {
    /// Next to a line that matters.
    Telling,
    /// Anywhere else.
    Ordinary,
}

impl Looks {
    pub(super) fn new() -> Looks {
        Looks {
            earned: 0,
            for_any: Purse::new(4096, 32_768),
            for_urgent: Purse::new(8192, 16_384),
            for_grave: Purse::new(1024, 8192),
        }
    }

    /// A line of so many bytes goes by.
    #[inline]
    pub(super) fn earn(&mut self, bytes: usize) {
        self.earned += bytes as u64;
    }

    /// Whether a new line may be looked at; that is then paid for.
    pub(super) fn afford(&mut self, line: &[u8], surroundings: Surroundings) -> bool {
        if self.for_any.pay(self.earned, || true) {
            return true;
        }
        if surroundings == Surroundings::Telling {
            return self.for_urgent.pay(self.earned, || true);
        }
        match self.for_urgent.can_pay(self.earned) {
            true => self.for_urgent.pay(self.earned, || is_suspicious(line)),
            false => self.for_grave.pay(self.earned, || is_grave(line)),
        }
    }
}

/// Whether a line has a word of the worst, in capitals or at its beginning: where every line has a word of trouble, the
/// one that matters has such a one.
fn is_grave(line: &[u8]) -> bool {
    const WORST: [&[u8]; 3] = [b"FATAL", b"CRITICAL", b"PANIC"];
    const OPENINGS: [&[u8]; 6] =
        [b"fatal", b"Fatal", b"panic:", b"Killed", b"Aborted", b"Segmentation fault"];
    let may_open = matches!(line.first(), Some(b'f' | b'F' | b'p' | b'K' | b'A' | b'S'));
    (may_open && OPENINGS.iter().any(|word| line.starts_with(word)))
        || memchr::memchr3_iter(b'F', b'C', b'P', line)
            .any(|at| WORST.iter().any(|word| line[at..].starts_with(word)))
}

/// So many places are tested at once.
const LANES: usize = 32;

/// Whether letters occur with which many words of trouble begin: error, exception, fail, fault, fatal, panic, abort,
/// assert, segmentation, killed, critical, crash, unexpected, undefined, unable, denied.
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
    let test = |letters| may_begin_trouble(letters) && begins_trouble(letters);
    while let Some(letters) = line.get(at..).and_then(<[u8]>::first_chunk) {
        found |= test(letters);
        at += LANES;
    }
    // What is left at the end is tested together with some of what was.
    found || line.last_chunk().is_some_and(test)
}

/// The same by two letters each, the rarer ones, which says of most places that there is nothing.
#[inline(always)]
fn may_begin_trouble(letters: &[u8; LANES + 2]) -> bool {
    let mut found = false;
    for at in 0..LANES {
        let (first, second, third) = (letters[at] | 0x20, letters[at + 1] | 0x20, letters[at + 2] | 0x20);
        found |= (((first == b'f') | (first == b'p')) & (second == b'a'))
            | ((first == b'a') & (second == b'b'))
            | ((first == b'k') & (second == b'i'))
            | ((first == b'c') & (second == b'r'))
            | ((first == b'u') & (second == b'n'))
            | ((first == b'd') & (third == b'n'))
            | ((second == b'r') & (third == b'r'))
            | ((second == b'x') & (third == b'c'))
            | ((second == b's') & (third == b's'))
            | ((second == b'e') & (third == b'g'));
    }
    found
}

/// Tests every place but the last two, all in the same way and without a branch, so by vector instructions.
#[inline(always)]
fn begins_trouble(letters: &[u8; LANES + 2]) -> bool {
    let mut found = false;
    for at in 0..LANES {
        let (first, second, third) = (letters[at] | 0x20, letters[at + 1] | 0x20, letters[at + 2] | 0x20);
        let a_second = (second == b'a')
            & (((first == b'f') & ((third == b'i') | (third == b'u') | (third == b't')))
                | ((first == b'p') & (third == b'n')));
        let e_first =
            (first == b'e') & (((second == b'r') & (third == b'r')) | ((second == b'x') & (third == b'c')));
        let a_first =
            (first == b'a') & (((second == b'b') & (third == b'o')) | ((second == b's') & (third == b's')));
        let others = ((first == b's') & (second == b'e') & (third == b'g'))
            | ((first == b'k') & (second == b'i') & (third == b'l'))
            | ((first == b'c') & (second == b'r') & ((third == b'i') | (third == b'a')))
            | ((first == b'd') & (second == b'e') & (third == b'n'))
            | ((first == b'u') & (second == b'n') & ((third == b'e') | (third == b'd') | (third == b'a')));
        found |= a_second | e_first | a_first | others;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_trouble() {
        for line in [
            "Error",
            "x EXCEPTION",
            "it failed",
            "FATAL",
            "panic: x",
            "Aborted",
            "assert x",
            "SIGKILL",
            "TEST-UNEXPECTED",
        ] {
            assert!(is_suspicious(line.as_bytes()), "{line}");
            for before in 0..40 {
                let line = format!("{}{line}{}", ".".repeat(before), ".".repeat(40 - before));
                assert!(is_suspicious(line.as_bytes()), "{line}");
            }
        }
        for line in ["", "er", "all is well", "face", "pay", "the end", "until"] {
            assert!(!is_suspicious(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_flood_is_looked_at_in_part() {
        let mut looks = Looks::new();
        let mut looked = |count: usize, line: &[u8], surroundings: Surroundings| {
            (0..count)
                .filter(|_| {
                    looks.earn(line.len());
                    looks.afford(line, surroundings)
                })
                .count()
        };
        let flood = looked(100_000, &[b'x'; 64], Surroundings::Ordinary);
        assert!((4096..4096 + 1000).contains(&flood), "{flood}");
        assert_eq!(looked(10, b"one error", Surroundings::Ordinary), 10);
        assert_eq!(looked(10, b"one", Surroundings::Telling), 10);
        let flood = looked(100_000, b"one error", Surroundings::Ordinary);
        assert!((7_000..10_000).contains(&flood), "{flood}");
    }
}
