//! Random numbers and texts from a seed.

/// SplitMix64: small, and every seed is a good one.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// A number whose magnitude is random too, so that small ones are as likely as large ones.
    pub(crate) fn size(&mut self, end: usize) -> usize {
        let magnitude = self.below(end.ilog2() as usize + 1);
        self.below(end.min(2 << magnitude))
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.number() as u8).collect()
    }

    /// Numbered lines that no other seed has.
    pub(crate) fn lines(&mut self, count: usize) -> String {
        let name = self.number();
        (0..count).map(|number| format!("{name:x} line {number}\n")).collect()
    }

    /// An output with up to four parts of different kinds.
    pub(crate) fn output(&mut self) -> Vec<u8> {
        (0..1 + self.below(4)).flat_map(|_| self.part()).collect()
    }

    fn part(&mut self) -> Vec<u8> {
        let count = 1 + self.size(4000);
        match self.below(18) {
            0 => (1..=count).map(|number| format!("{number}\n")).collect::<String>().into_bytes(),
            1 => "x".repeat(count * 10).into_bytes(),
            2 => "漢字".repeat(count).into_bytes(),
            3 => "👩‍👩‍👧 e\u{301}\u{202e}\n".repeat(count).into_bytes(),
            4 => "\n".repeat(count).into_bytes(),
            5 => "line\r\n".repeat(count).into_bytes(),
            6 => " ".repeat(count * 3).into_bytes(),
            7 => self.bytes(count),
            8 => (0..count).map(|at| format!("\x1b[3{}mstep {at}\x1b[0m\r", at % 8)).collect::<String>().into_bytes(),
            9 => (0..count)
                .map(|at| if at % 97 == 5 { format!("error: {at} failed\n") } else { format!("ok {at}\n") })
                .collect::<String>()
                .into_bytes(),
            10 => {
                let items: Vec<String> = (0..count).map(|at| format!("{{\"id\":{at},\"name\":\"n{at}\"}}")).collect();
                format!("[{}]\n", items.join(",")).into_bytes()
            }
            11 => "[offcut: lines 3:9 not shown]\n[offcut 1q2hzv0gep: more: offcut read 1q2hzv0gep --lines 1:2]\n"
                .repeat(1 + count / 100)
                .into_bytes(),
            12 => "the same line\n".repeat(count).into_bytes(),
            13 => "<|endoftext|><|im_start|>".repeat(1 + count / 10).into_bytes(),
            14 => "[".repeat(count).into_bytes(),
            15 => (0..1 + count / 20)
                .map(|at| format!("diff --git a/{at} b/{at}\n@@ -1,2 +1,2 @@\n-old {at}\n+new {at}\n context\n"))
                .collect::<String>()
                .into_bytes(),
            16 => (0..count).map(|at| format!("{at} {}\n", "漢".repeat(at % 200))).collect::<String>().into_bytes(),
            _ => (0..1 + count / 10)
                .map(|at| format!("src/file{}.rs:{at}: found {at}\n", at % 7))
                .collect::<String>()
                .into_bytes(),
        }
    }
}
