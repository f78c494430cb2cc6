//! What cutting costs, as ratios to one count of line feeds over the same bytes in the same run.
//!
//! Machines are noisy and differ; the ratio of two best times taken side by side is what can be compared.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run is a panic")]

use offcut::measure::newlines;
use offcut::strategy::StrategyName;
use offcut::{Context, Limits, Profile, Rule, Terminal, Truncator};
use std::hint::black_box;
use std::time::{Duration, Instant};

fn main() {
    pass_through();
    both_ends(100 << 20);
    drawing(100 << 20);
    hostile(20 << 20);
    flat_per_byte();
    million_line_tail();
    smart_at_worst();
}

/// The best of several runs: what the machine can do when nobody disturbs it.
fn best(runs: u32, mut task: impl FnMut()) -> Duration {
    (0..runs)
        .map(|_| {
            let start = Instant::now();
            task();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn log(bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + 128);
    let mut number = 0_u64;
    while text.len() < bytes {
        number += 1;
        let line = format!(
            "2026-02-23T15:30:45.{:03}Z INFO worker-{} handled request {number} in {} ms: ok\n",
            number % 1000,
            number % 8,
            number % 97
        );
        text.extend_from_slice(line.as_bytes());
    }
    text
}

fn native(strategy: StrategyName, limits: Limits) -> Truncator {
    Truncator::new(Profile::native())
        .rule(Rule { strategy: Some(strategy), limits, ..Rule::default() })
        .unwrap()
}

fn pass_through() {
    let text = log(4000);
    let truncator = Truncator::new(Profile::native());
    let context = Context::tool("bash");
    let calls = 10_000;
    let time = best(20, || {
        for _ in 0..calls {
            black_box(truncator.apply(black_box(&text), &context));
        }
    });
    println!("pass-through of {} bytes: {:.0} ns", text.len(), time.as_nanos() as f64 / f64::from(calls));
}

fn both_ends(bytes: usize) {
    let text = log(bytes);
    let count = best(10, || {
        black_box(newlines(black_box(&text)));
    });
    println!("\n{} MiB, store none, against one newline count ({:.1} ms)", bytes >> 20, millis(count));
    let context = Context::default();
    for strategy in StrategyName::ALL {
        let truncator = native(strategy, Limits::default());
        let string = best(10, || {
            black_box(truncator.apply(black_box(&text), &context));
        });
        let stream = best(5, || {
            let mut spool = truncator.spool(context.clone());
            for chunk in text.chunks(256 << 10) {
                spool.observe(black_box(chunk));
            }
            black_box(spool.finish());
        });
        println!(
            "  {:10} string {:5.2}x   stream {:5.2}x",
            strategy.as_str(),
            ratio(string, count),
            ratio(stream, count)
        );
    }
}

/// What it costs to show an output as a terminal would.
fn drawing(bytes: usize) {
    let plain = log(bytes);
    let count = best(10, || {
        black_box(newlines(black_box(&plain)));
    });
    println!("\n{} MiB as a terminal shows it, head-tail, against one newline count", bytes >> 20);
    let line =
        "\x1b[32m2026-02-23T15:30:45Z\x1b[0m \x1b[1mINFO\x1b[0m worker handled a request in 12 ms: ok\n";
    let frame = "\r\x1b[2K 12% [=====>                              ] 1234/9876 files";
    for (name, text) in [
        ("plain", plain.clone()),
        ("CRLF", log(bytes).split(|&byte| byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..])),
        ("colour", line.repeat(bytes / line.len()).into_bytes()),
        ("frames", frame.repeat(bytes / frame.len()).into_bytes()),
        ("one plain line", vec![b'x'; bytes]),
        ("one line, red", [&b"\x1b[31m"[..], &vec![b'x'; bytes]].concat()),
    ] {
        let time = |terminal| {
            let rule =
                Rule { strategy: Some(StrategyName::HeadTail), terminal: Some(terminal), ..Rule::default() };
            let truncator = Truncator::new(Profile::native()).rule(rule).unwrap();
            best(5, || {
                black_box(truncator.apply(black_box(&text), &Context::default()));
            })
        };
        let (raw, rendered) = (time(Terminal::Raw), time(Terminal::Rendered));
        println!("  {name:16} raw {:5.2}x   rendered {:5.2}x", ratio(raw, count), ratio(rendered, count));
    }
}

/// Input made to be slow: nanoseconds per byte at two sizes, which are the same if the cost is linear.
fn hostile(bytes: usize) {
    println!(
        "\nhostile input as a terminal shows it, nanoseconds per byte, {} and {} MiB",
        bytes >> 22,
        bytes >> 20
    );
    let truncator = native(StrategyName::HeadTail, Limits::default());
    let long = b"x".repeat(60_000);
    for unit in [
        "\x1b",
        "\r",
        "\x08",
        "\0",
        "\r\n",
        "a\r",
        "\x1b[2Kx",
        "\x1b[1K",
        "\x1b[255Cx\n",
        "\x1b]0;",
        "\u{9b}",
    ] {
        let per_byte = [bytes / 4, bytes].map(|bytes| {
            let text = [b"\x1b[m", &long[..], &unit.as_bytes().repeat(bytes / unit.len())].concat();
            let time = best(3, || {
                black_box(truncator.apply(black_box(&text), &Context::default()));
            });
            time.as_nanos() as f64 / text.len() as f64
        });
        println!("  {:16} {:5.2} {:5.2}", unit.escape_debug().to_string(), per_byte[0], per_byte[1]);
    }
}

fn flat_per_byte() {
    println!("\nhead-tail, nanoseconds per KiB by size");
    let truncator = native(StrategyName::HeadTail, Limits::default());
    let all = log(1 << 30);
    for shift in [20, 23, 26, 28, 30] {
        let text = &all[..1 << shift];
        let time = best(if shift > 26 { 3 } else { 10 }, || {
            black_box(truncator.apply(black_box(text), &Context::default()));
        });
        println!("  {:5} MiB {:6.1}", text.len() >> 20, time.as_nanos() as f64 / (text.len() >> 10) as f64);
    }
}

fn million_line_tail() {
    println!("\ntail with a limit of a million lines, against one newline count");
    let limits = Limits { lines: Some(1_000_000), bytes: Some(1 << 30), ..Limits::default() };
    let truncator = native(StrategyName::Tail, limits);
    for lines in [1_200_000, 2_400_000, 4_800_000] {
        let text = b"short\n".repeat(lines);
        let count = best(5, || {
            black_box(newlines(black_box(&text)));
        });
        let time = best(5, || {
            black_box(truncator.apply(black_box(&text), &Context::default()));
        });
        println!("  {lines} lines {:5.2}x", ratio(time, count));
    }
}

/// Texts made to be slow: every line matters, every line is new, no lines, no text.
fn smart_at_worst() {
    println!("\nsmart on texts made to be slow, against one newline count");
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let same: String =
        (0..500_000).map(|number| format!("src/a.c:{number}:5: error: expected ';'\n")).collect();
    let different: String = (0..500_000)
        .map(|_| {
            let name: String = (0..20).map(|_| char::from(b'a' + (random() % 26) as u8)).collect();
            format!("error: {name} is wrong\n")
        })
        .collect();
    let bytes: Vec<u8> = (0..20 << 20).map(|_| random() as u8).collect();
    let truncator = native(StrategyName::Smart, Limits::default());
    for (name, text) in [
        ("the same error", same.into_bytes()),
        ("different errors", different.into_bytes()),
        ("one line", b"x".repeat(100 << 20)),
        ("random bytes", bytes),
    ] {
        let count = best(5, || {
            black_box(newlines(black_box(&text)));
        });
        let time = best(5, || {
            black_box(truncator.apply(black_box(&text), &Context::default()));
        });
        println!(
            "  {name:18} {:6.2}x, {:5.0} MB/s",
            ratio(time, count),
            text.len() as f64 / time.as_secs_f64() / 1e6
        );
    }
}

fn ratio(time: Duration, base: Duration) -> f64 {
    time.as_secs_f64() / base.as_secs_f64()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
