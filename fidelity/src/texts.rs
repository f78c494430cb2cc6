//! Generates texts of many kinds that grow line by line, the same in every run.

use crate::bootstrap::Dice;

/// A kind of text: what comes before and after its lines, and line `n`.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    head: &'static str,
    line: fn(usize, &mut Dice) -> String,
    foot: &'static str,
}

impl Kind {
    /// A text of this kind with this number of lines, not counting its head and foot.
    pub(crate) fn text(&self, lines: usize) -> String {
        // Each line has its own dice, so that a longer text begins as a shorter one does.
        let body: String =
            (0..lines).map(|number| (self.line)(number, &mut Dice(number as u64 + 1)) + "\n").collect();
        format!("{}{body}{}", self.head, self.foot)
    }
}

pub(crate) const KINDS: [Kind; 14] = [
    Kind {
        name: "benchmark table",
        head: "Benchmark                          Time          CPU   Iterations\n\
               -----------------------------------------------------------------\n",
        line: |number, dice| {
            let name = format!("BM_{}/{}", pick(&VERBS, dice), 8 << (number % 12));
            let (time, cpu) = (dice.below(900_000), dice.below(900_000));
            format!("{name:<28}{time:>8} ns {cpu:>9} ns {:>12}", dice.below(10_000_000))
        },
        foot: "",
    },
    Kind {
        name: "ping",
        head: "PING example.org (192.0.2.7) 56(84) bytes of data.\n",
        line: |number, dice| {
            let time = format!("{}.{}", 9 + dice.below(40), dice.below(10));
            format!("64 bytes from 192.0.2.7: icmp_seq={} ttl=56 time={time} ms", number + 1)
        },
        foot: "\n--- example.org ping statistics ---\nrtt min/avg/max/mdev = 9.020/20.481/48.973/6.112 ms\n",
    },
    Kind {
        name: "training log",
        head: "Loading 50000 samples, 10 classes\n",
        line: |number, dice| {
            let loss = 2.3 / (1.0 + number as f64 / 40.0) + dice.below(100) as f64 / 1000.0;
            let accuracy = 0.9 - 0.6 / (1.0 + number as f64 / 30.0) + dice.below(100) as f64 / 2000.0;
            format!(
                "epoch {:>3} step {:>6} loss {loss:.4} accuracy {accuracy:.4} lr 0.00{}",
                number / 10,
                number * 50,
                100 - number % 90
            )
        },
        foot: "",
    },
    Kind {
        name: "HTML list",
        head: "<!DOCTYPE html>\n<html>\n<head><title>Packages</title></head>\n<body>\n<ul class=\"packages\">\n",
        line: |number, dice| {
            let name = format!("{}-{}", pick(&NOUNS, dice), pick(&VERBS, dice).to_lowercase());
            format!("  <li id=\"p{number}\"><a href=\"/packages/{name}\">{name}</a> {}</li>", sentence(dice))
        },
        foot: "</ul>\n</body>\n</html>\n",
    },
    Kind {
        name: "JSON lines",
        head: "",
        line: |number, dice| {
            let (user, bytes) = (pick(&NOUNS, dice), dice.below(90_000));
            format!(
                "{{\"id\":{number},\"user\":\"{user}\",\"bytes\":{bytes},\"note\":\"{}\"}}",
                sentence(dice)
            )
        },
        foot: "",
    },
    Kind {
        name: "prose",
        head: "# How the service works\n\n",
        line: |number, dice| match number % 9 {
            8 => String::new(),
            _ => format!(
                "The {} {} and the {} {}.",
                pick(&NOUNS, dice),
                sentence(dice),
                pick(&NOUNS, dice),
                sentence(dice)
            ),
        },
        foot: "",
    },
    Kind {
        name: "source",
        head: "package shop\n\nimport \"fmt\"\n\n",
        line: |number, dice| {
            let (noun, verb) = (pick(&NOUNS, dice), pick(&VERBS, dice));
            match number % 8 {
                0 => format!("// {verb}{} {}.", number / 8, sentence(dice)),
                1 => format!(
                    "func {}{}(count int) (int, error) {{",
                    pick(&VERBS, &mut Dice(number as u64)),
                    number / 8
                ),
                2 => format!("\t{noun} := load{verb}(count, {})", dice.below(500)),
                3 => format!("\tif {noun} > {} {{", dice.below(1000)),
                4 => format!("\t\treturn 0, fmt.Errorf(\"cannot {} %d\", {noun})", verb.to_lowercase()),
                5 => "\t}".to_owned(),
                6 => format!("\treturn {noun} * {}, nil", dice.below(90)),
                _ => "}\n".to_owned(),
            }
        },
        foot: "",
    },
    Kind {
        name: "diff",
        head: "",
        line: |number, dice| {
            let path = format!("src/{}_{}.rs", NOUNS[number / 14 % NOUNS.len()], number / 14);
            let noun = pick(&NOUNS, dice);
            match number % 14 {
                0 => format!(
                    "diff --git a/{path} b/{path}\nindex 3b18e51..8f94139 100644\n--- a/{path}\n+++ b/{path}\n@@ -{0},9 +{0},9 @@",
                    1 + dice.below(300)
                ),
                3 | 7 => {
                    format!("-    let {noun} = {}({});", pick(&VERBS, dice).to_lowercase(), dice.below(999))
                }
                4 | 8 => format!(
                    "+    let {noun} = {}_all({});",
                    pick(&VERBS, dice).to_lowercase(),
                    dice.below(999)
                ),
                _ => format!("     {noun}.{}({});", pick(&VERBS, dice).to_lowercase(), dice.below(9999)),
            }
        },
        foot: "",
    },
    Kind {
        name: "search hits",
        head: "",
        line: |number, dice| {
            let file = NOUNS[number / 5 % NOUNS.len()];
            format!(
                "src/{file}/{file}{}.ts:{}:  const {} = {}({});",
                number / 5,
                7 * (number % 5) + dice.below(7) + 1,
                pick(&NOUNS, dice),
                pick(&VERBS, dice).to_lowercase(),
                dice.below(500)
            )
        },
        foot: "",
    },
    Kind {
        name: "listing",
        head: "total 4312\n",
        line: |number, dice| {
            let name =
                format!("{}_{number}.{}", pick(&NOUNS, dice), ["rs", "md", "json", "txt"][dice.below(4)]);
            format!(
                "-rw-r--r-- 1 user group {:>8} Mar {:>2} {:02}:{:02} {name}",
                dice.below(900_000),
                1 + dice.below(28),
                dice.below(24),
                dice.below(60)
            )
        },
        foot: "",
    },
    Kind {
        name: "CSV table",
        head: "id,name,city,amount,rate,date\n",
        line: |number, dice| {
            format!(
                "{},{} {},{},{}.{:02},0.{},2024-{:02}-{:02}",
                number + 1,
                pick(&NOUNS, dice),
                pick(&VERBS, dice),
                pick(&CITIES, dice),
                dice.below(9000),
                dice.below(100),
                dice.below(999),
                1 + dice.below(12),
                1 + dice.below(28)
            )
        },
        foot: "",
    },
    Kind {
        name: "plain log",
        head: "",
        line: |number, dice| {
            let level = ["INFO", "INFO", "INFO", "DEBUG"][dice.below(4)];
            format!(
                "2024-03-07T10:{:02}:{:02}.{:03}Z {level} {}: {} {}",
                number / 60 % 60,
                number % 60,
                dice.below(1000),
                pick(&NOUNS, dice),
                sentence(dice),
                dice.below(100_000)
            )
        },
        foot: "",
    },
    // In the last two, every number grows or falls from line to line, which `smart` takes for a repetition.
    Kind {
        name: "smooth training log",
        head: "",
        line: |number, _| {
            let epoch = number as f64;
            let (loss, accuracy) = (2.3 / (1.0 + epoch / 9.0), 1.0 - 0.8 / (1.0 + epoch / 9.0));
            format!(
                "Epoch {number}/500 - loss: {loss:.4} - accuracy: {accuracy:.4} - val_loss: {:.4}",
                loss * 1.1
            )
        },
        foot: "",
    },
    Kind {
        name: "counter",
        head: "",
        line: |number, _| format!("copied part-{number:05}.dat to /backup/part-{number:05}.dat"),
        foot: "",
    },
];

const NOUNS: [&str; 16] = [
    "order", "basket", "account", "invoice", "customer", "shipment", "payment", "catalog", "session",
    "index", "queue", "worker", "cache", "ledger", "product", "report",
];
const VERBS: [&str; 12] = [
    "Sort", "Merge", "Parse", "Hash", "Copy", "Insert", "Lookup", "Encode", "Scan", "Split", "Update",
    "Render",
];
const CITIES: [&str; 6] = ["Lisbon", "Oslo", "Kyoto", "Quito", "Accra", "Turin"];
const CLAUSES: [&str; 10] = [
    "is read once and kept in memory",
    "comes from the second region",
    "was written by the nightly job",
    "refers to the newest entry",
    "waits for the next request",
    "has no owner yet",
    "uses the shared connection",
    "belongs to the previous quarter",
    "is sorted by its name",
    "took longer than expected",
];

fn pick<'a>(words: &[&'a str], dice: &mut Dice) -> &'a str {
    words[dice.below(words.len())]
}

fn sentence(dice: &mut Dice) -> &'static str {
    pick(&CLAUSES, dice)
}
