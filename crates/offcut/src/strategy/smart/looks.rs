//! How many lines are looked at closely.
//!
//! To match a line against the rules costs as much as to pass by thousands of its bytes. A text whose lines are all
//! new must not cost more than so many times a text that repeats itself, so looks are earned by the bytes that go by.
//! Any ordinary output earns more than it needs; where it does not, there is more for lines with a word of trouble in
//! them and for those next to a line that matters.

/// Looks that can be afforded.
pub(super) struct Looks {
    /// The bytes that went by.
    earned: u64,
    for_any: Purse,
    for_urgent: Purse,
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

    fn pay(&mut self, earned: u64) -> bool {
        self.balance = (self.balance + earned - self.opened).min(self.most);
        self.opened = earned;
        let can_pay = self.balance >= self.price;
        if can_pay {
            self.balance -= self.price;
        }
        can_pay
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
        Looks { earned: 0, for_any: Purse::new(8192, 4096), for_urgent: Purse::new(16_384, 2048) }
    }

    /// A line of so many bytes goes by.
    #[inline]
    pub(super) fn earn(&mut self, bytes: usize) {
        self.earned += bytes as u64;
    }

    /// Whether a new line may be looked at; that is then paid for.
    pub(super) fn afford(&mut self, line: &[u8], surroundings: Surroundings) -> bool {
        self.for_any.pay(self.earned)
            || ((surroundings == Surroundings::Telling || is_suspicious(line))
                && self.for_urgent.pay(self.earned))
    }
}

/// Whether letters occur with which many words of trouble begin: error, exception, fail, fault, fatal, panic, abort,
/// assert, segmentation, killed, critical, crash, unexpected, undefined, unable, denied. Every place is tested at once,
/// by vector instructions.
fn is_suspicious(line: &[u8]) -> bool {
    let lower = |byte: &u8| byte | 0x20;
    let triples = line.iter().zip(line.get(1..).unwrap_or_default()).zip(line.get(2..).unwrap_or_default());
    triples.fold(false, |found, ((first, second), third)| {
        let (first, second, third) = (lower(first), lower(second), lower(third));
        let a_second =
            (second == b'a') & (((first == b'f') & (third != b'c')) | (first == b'p') & (third == b'n'));
        let e_first =
            (first == b'e') & (((second == b'r') & (third == b'r')) | ((second == b'x') & (third == b'c')));
        let a_first =
            (first == b'a') & (((second == b'b') & (third == b'o')) | ((second == b's') & (third == b's')));
        let others = ((first == b's') & (second == b'e') & (third == b'g'))
            | ((first == b'k') & (second == b'i') & (third == b'l'))
            | ((first == b'c') & (second == b'r') & ((third == b'i') | (third == b'a')))
            | ((first == b'd') & (second == b'e') & (third == b'n'))
            | ((first == b'u') & (second == b'n') & ((third == b'e') | (third == b'd') | (third == b'a')));
        found | a_second | e_first | a_first | others
    })
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
        assert!((8192..8192 + 2000).contains(&flood), "{flood}");
        assert_eq!(looked(10, b"one error", Surroundings::Ordinary), 10);
        assert_eq!(looked(10, b"one", Surroundings::Telling), 10);
        let flood = looked(100_000, b"one error", Surroundings::Ordinary);
        assert!((10_000..20_000).contains(&flood), "{flood}");
    }
}
