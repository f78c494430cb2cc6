//! An output that grows by one line is not shown much less: neither where it exceeds the limit nor later.
//!
//! Each test generates texts of one kind. `cargo run --release -p fidelity -- --cliff` prints figures for such kinds.

use crate::common::bytes;
use offcut::strategy::StrategyName;
use offcut::{Context, Profile, Rule, Truncator};

const BUDGET: u64 = 8192;
/// How many sizes are compared, of which this many are within the limit.
const SIZES: usize = 200;
const SIZES_WITHIN: usize = 20;
/// The largest part of the shown bytes that may be lost from one size to the next, in percent. Notices need up to 5%.
const MOST_LOST: u64 = 10;

const WORDS: [&str; 16] = [
    "order", "basket", "account", "invoice", "customer", "shipment", "payment", "catalog", "session",
    "index", "queue", "worker", "cache", "ledger", "product", "report",
];

/// A number below `end` that depends on the line and on its place in the line.
fn number(line: usize, place: usize, end: usize) -> usize {
    let mixed = (line as u64 * 31 + place as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33) as usize % end
}

fn word(line: usize, place: usize) -> &'static str {
    WORDS[number(line, place, WORDS.len())]
}

fn clause(line: usize, place: usize) -> String {
    (place..place + 6).map(|place| word(line, place)).collect::<Vec<_>>().join(" ")
}

/// Checks texts that begin with `head` and have more and more lines.
#[track_caller]
fn check(head: &str, line: impl Fn(usize) -> String) {
    let rule = Rule { limits: bytes(BUDGET), strategy: Some(StrategyName::Auto), ..Rule::default() };
    let truncator = Truncator::new(Profile::native()).rule(rule).unwrap();
    let mut ends = vec![head.len()];
    let mut text = head.to_owned();
    let mut beyond = 0;
    while beyond <= SIZES - SIZES_WITHIN {
        text += &line(ends.len() - 1);
        text += "\n";
        ends.push(text.len());
        beyond += usize::from(text.len() as u64 > BUDGET);
    }
    let mut before = 0;
    for &end in &ends[ends.len() - SIZES..] {
        let outcome = truncator.apply(&text[..end], &Context::default());
        let shown = outcome.preview().map_or(end as u64, |preview| preview.shown().bytes);
        let least = before * (100 - MOST_LOST) / 100;
        assert!(shown >= least, "{shown} bytes shown of {end}, {before} of one line less");
        before = shown;
    }
}

#[test]
fn benchmark_table() {
    let head = "Benchmark                      Time           CPU   Iterations\n------------------------------------\n";
    check(head, |line| {
        let name = format!("BM_{}_{}/{}", word(line, 0), word(line, 1), 8 << (line % 12));
        let (time, cpu, count) =
            (number(line, 2, 900_000), number(line, 3, 900_000), number(line, 4, 9_000_000));
        format!("{name:<28}{time:>8} ns {cpu:>9} ns {count:>12}")
    });
}

#[test]
fn ping() {
    check("PING example.org (192.0.2.7) 56(84) bytes of data.\n", |line| {
        let (whole, tenths) = (9 + number(line, 0, 40), number(line, 1, 10));
        format!("64 bytes from 192.0.2.7: icmp_seq={} ttl=56 time={whole}.{tenths} ms", line + 1)
    });
}

#[test]
fn training_log() {
    check("Loading 50000 samples, 10 classes\n", |line| {
        let loss = 2.3 / (1.0 + line as f64 / 40.0) + number(line, 0, 100) as f64 / 1000.0;
        format!(
            "epoch {:>3} step {:>6} loss {loss:.4} accuracy 0.{:04}",
            line / 10,
            line * 50,
            number(line, 1, 9999)
        )
    });
}

#[test]
fn smooth_training_log() {
    check("", |line| {
        let loss = 2.3 / (1.0 + line as f64 / 9.0);
        format!(
            "Epoch {line}/500 - loss: {loss:.4} - accuracy: {:.4} - val_loss: {:.4}",
            1.0 - loss / 2.5,
            loss * 1.1
        )
    });
}

#[test]
fn html_list() {
    check("<!DOCTYPE html>\n<html>\n<body>\n<ul>\n", |line| {
        let name = format!("{}-{}", word(line, 0), word(line, 1));
        format!("  <li id=\"p{line}\"><a href=\"/packages/{name}\">{name}</a> {}</li>", clause(line, 2))
    });
}

#[test]
fn json_lines() {
    check("", |line| {
        let (user, size) = (word(line, 0), number(line, 1, 90_000));
        format!("{{\"id\":{line},\"user\":\"{user}\",\"bytes\":{size},\"note\":\"{}\"}}", clause(line, 2))
    });
}

#[test]
fn prose() {
    check("# How the service works\n\n", |line| match line % 9 {
        8 => String::new(),
        _ => format!("The {} waits for the {}.", clause(line, 0), clause(line, 6)),
    });
}

#[test]
fn source() {
    check("package shop\n\nimport \"fmt\"\n\n", |line| match line % 7 {
        0 => format!("// Load{} reads the {}.", line / 7, clause(line, 0)),
        1 => format!("func Load{}({} int) (int, error) {{", line / 7, word(line, 0)),
        2 => format!("\tif {} > {} {{", word(line, 0), number(line, 1, 1000)),
        3 => format!("\t\treturn 0, fmt.Errorf(\"cannot load {}\")", clause(line, 0)),
        4 => "\t}".to_owned(),
        5 => format!("\treturn {} * {}, nil", word(line, 0), number(line, 1, 90)),
        _ => "}\n".to_owned(),
    });
}

#[test]
fn diff() {
    check("", |line| {
        let path = format!("src/{}_{}.rs", WORDS[line / 14 % WORDS.len()], line / 14);
        let call = format!("{}.{}({});", word(line, 0), word(line, 1), number(line, 2, 9999));
        match line % 14 {
            0 => format!(
                "diff --git a/{path} b/{path}\nindex 3b18e51..8f94139 100644\n--- a/{path}\n+++ b/{path}\n@@ -7,13 +7,13 @@"
            ),
            3 | 7 => format!("-    {call}"),
            4 | 8 => format!("+    {call}"),
            _ => format!("     {call}"),
        }
    });
}

#[test]
fn search_hits() {
    check("", |line| {
        let file = WORDS[line / 5 % WORDS.len()];
        let at = 7 * (line % 5) + number(line, 0, 7) + 1;
        format!("src/{file}/{file}{}.ts:{at}:  const {} = {}();", line / 5, word(line, 1), word(line, 2))
    });
}

#[test]
fn listing() {
    check("total 4312\n", |line| {
        let (size, day) = (number(line, 0, 900_000), 1 + number(line, 1, 28));
        let name = format!("{}_{line}.{}", word(line, 2), ["rs", "md", "json"][number(line, 3, 3)]);
        format!("-rw-r--r-- 1 user group {size:>8} Mar {day:>2} 10:{:02} {name}", number(line, 4, 60))
    });
}

#[test]
fn csv_table() {
    check("id,name,amount,rate,date\n", |line| {
        let (amount, rate, day) = (number(line, 2, 9000), number(line, 3, 999), 1 + number(line, 4, 28));
        format!("{},{} {},{amount},0.{rate},2024-03-{day:02}", line + 1, word(line, 0), word(line, 1))
    });
}

#[test]
fn plain_log() {
    check("", |line| {
        let level = ["INFO", "INFO", "DEBUG"][number(line, 0, 3)];
        format!("2024-03-07T10:{:02}:{:02}Z {level} {}", line / 60, line % 60, clause(line, 1))
    });
}
