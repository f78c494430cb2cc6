//! What cutting costs, as ratios to one count of line feeds over the same bytes in the same run.
//!
//! Machines are noisy and differ; the ratio of two best times taken side by side is what can be compared.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run is a panic")]

use offcut::measure::newlines;
use offcut::strategy::StrategyName;
use offcut::{Context, Limits, Profile, Rule, Truncator};
use std::hint::black_box;
use std::time::{Duration, Instant};

fn main() {
    pass_through();
    both_ends(100 << 20);
    flat_per_byte();
    million_line_tail();
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

fn ratio(time: Duration, base: Duration) -> f64 {
    time.as_secs_f64() / base.as_secs_f64()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
