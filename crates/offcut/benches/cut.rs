//! Measures the cost of cutting, as a ratio to counting the line feeds of the same bytes in the same run.
//!
//! Absolute times differ between machines and runs; the ratio of two best times measured together is comparable.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run should panic")]

use offcut::measure::newlines;
use offcut::store::FsStore;
use offcut::strategy::StrategyName;
use offcut::terminal::Terminal;
use offcut::{Context, Limits, Profile, Rule, Storage, Truncator};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The parts and texts that the arguments name.
fn wanted() -> Vec<String> {
    std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect()
}

/// Whether to measure a text: the arguments name it, or none of the texts of its part.
fn is_text_wanted(name: &str, all: impl IntoIterator<Item = &'static str>) -> bool {
    let wanted = wanted();
    let is_named = |name: &str| wanted.iter().any(|word| word == name);
    is_named(name) || !all.into_iter().any(is_named)
}

/// Runs every part, or those that an argument names; `smart 'one line'` names one of its texts.
fn main() {
    let parts: [(&str, fn()); 9] = [
        ("first", first_cut),
        ("typical", typical_output),
        ("pass-through", pass_through),
        ("both-ends", || both_ends(100 << 20)),
        ("rendering", || rendering(100 << 20)),
        ("hostile", || hostile(20 << 20)),
        ("flat", flat_per_byte),
        ("lines", million_line_tail),
        ("smart", smart),
    ];
    let wanted = wanted();
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            part();
        }
    }
}

/// The shortest time of several runs, which has the least noise.
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

/// The first output of a process pays for one-time initialization, so this part must run first.
fn first_cut() {
    let mut text = log(60_000);
    for number in 0..400 {
        let line =
            format!("src/part{number}.c:{number}:5: error: '{}' undeclared\n", word(&mut Random(number)));
        text.extend_from_slice(line.as_bytes());
    }
    let truncator = native(StrategyName::Smart, Limits::default());
    let times = [(); 2].map(|()| {
        let start = Instant::now();
        let _ = black_box(truncator.apply(black_box(&text), &Context::default()));
        millis(start.elapsed())
    });
    println!(
        "smart on {} bytes: {:.2} ms the first time, {:.2} ms the second",
        text.len(),
        times[0],
        times[1]
    );
}

/// An output of a size that agents often cut: `auto` by how much of the text is new, and what the store adds to the other
/// strategies, compared with a cut and a write of the same text.
fn typical_output() {
    const BYTES: usize = 200_000;
    // Few: a file system may be slower after many files have been removed or replaced.
    const STORED: usize = 100;
    let build = |number: u64, random: &mut Random| match number % 40 {
        0 => {
            format!("[INFO] --- compiler:3.{}:compile (default-compile) @ {} ---\n", number % 9, word(random))
        }
        1 => format!("[WARNING] /src/{}.java:[{number},8] uses unchecked operations\n", word(random)),
        _ => format!("[INFO] Downloaded from central: https://repo/{0}/{number}/{0}.jar\n", word(random)),
    };
    let texts = [
        ("repeated lines", log(BYTES)),
        ("build log", lines(BYTES, build)),
        ("new lines", lines(BYTES, |_, random| format!("{} {}\n", word(random), word(random)))),
        ("new errors", lines(BYTES, |_, random| format!("error: {} is wrong\n", word(random)))),
    ];
    let context = Context::default();
    let time = |truncator: &Truncator, text: &[u8]| {
        best(200, || {
            let _ = black_box(truncator.apply(black_box(text), &context));
        })
    };
    println!("\n{} kB, store none", BYTES / 1000);
    for (name, text) in texts.iter().filter(|(name, _)| is_text_wanted(name, texts.iter().map(|text| text.0)))
    {
        print!("  {name:18}");
        for strategy in [StrategyName::Head, StrategyName::HeadTail, StrategyName::Smart, StrategyName::Auto]
        {
            print!(
                "  {} {:.2} ms",
                strategy.as_str(),
                millis(time(&native(strategy, Limits::default()), text))
            );
        }
        println!();
    }
    println!("{} kB stored in a directory, against a cut and `fs::write` in turn, medians", BYTES / 1000);
    let directory = tempfile::tempdir().unwrap();
    let text = &texts[0].1;
    for strategy in [StrategyName::Head, StrategyName::HeadTail] {
        let plain = native(strategy, Limits::default());
        let store = Arc::new(FsStore::new(directory.path().join("store"), SystemTime::now));
        let stored = plain.clone().storage(Storage::To(store));
        let (mut reference, mut with_store): (Vec<_>, Vec<_>) = (0..STORED)
            .map(|number| {
                let reference = best(1, || {
                    std::fs::write(directory.path().join(format!("{number}.txt")), text).unwrap();
                    let _ = black_box(plain.apply(black_box(text), &context));
                });
                let with_store = best(1, || {
                    let _ = black_box(stored.apply(black_box(text), &context));
                });
                (reference, with_store)
            })
            .unzip();
        let (reference, with_store) = (median(&mut reference), median(&mut with_store));
        println!(
            "  {:10} {:.2} ms {:5.2}x",
            strategy.as_str(),
            millis(with_store),
            ratio(with_store, reference)
        );
    }
}

/// The median: half of the runs were faster.
fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn pass_through() {
    let text = log(4000);
    let truncator = Truncator::new(Profile::native());
    let context = Context::tool("bash");
    let calls = 10_000;
    let time = best(20, || {
        for _ in 0..calls {
            let _ = black_box(truncator.apply(black_box(&text), &context));
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
    for &strategy in StrategyName::ALL {
        let truncator = native(strategy, Limits::default());
        let string = best(10, || {
            let _ = black_box(truncator.apply(black_box(&text), &context));
        });
        let stream = best(5, || {
            let mut spool = truncator.spool(context.clone());
            for chunk in text.chunks(256 << 10) {
                spool.observe(black_box(chunk));
            }
            let _ = black_box(spool.finish());
        });
        println!(
            "  {:10} string {:5.2}x   stream {:5.2}x",
            strategy.as_str(),
            ratio(string, count),
            ratio(stream, count)
        );
    }
}

/// The cost of showing an output as a terminal would.
fn rendering(bytes: usize) {
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
                let _ = black_box(truncator.apply(black_box(&text), &Context::default()));
            })
        };
        let (raw, rendered) = (time(Terminal::Raw), time(Terminal::Rendered));
        println!("  {name:16} raw {:5.2}x   rendered {:5.2}x", ratio(raw, count), ratio(rendered, count));
    }
}

/// Input designed to be slow: nanoseconds per byte at two sizes, which are equal if the cost is linear.
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
                let _ = black_box(truncator.apply(black_box(&text), &Context::default()));
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
            let _ = black_box(truncator.apply(black_box(text), &Context::default()));
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
            let _ = black_box(truncator.apply(black_box(&text), &Context::default()));
        });
        println!("  {lines} lines {:5.2}x", ratio(time, count));
    }
}

/// `smart` on an ordinary log and on text designed to be slow, each at two sizes; the ratios are equal if the cost is
/// linear.
fn smart() {
    println!("\nsmart, against one newline count over the same bytes");
    type Generate = fn(usize) -> Vec<u8>;
    let texts: [(&str, Generate); 7] = [
        ("repetitive log", log),
        ("the same error", |bytes| {
            lines(bytes, |number, _| format!("src/a.c:{number}:5: error: expected ';'\n"))
        }),
        ("different errors", |bytes| lines(bytes, |_, random| format!("error: {} is wrong\n", word(random)))),
        ("different lines", |bytes| {
            lines(bytes, |_, random| {
                format!("{} {} {} {}\n", word(random), word(random), word(random), word(random))
            })
        }),
        ("one line", |bytes| b"x".repeat(bytes)),
        ("random bytes", |bytes| {
            let mut random = Random(1);
            (0..bytes).map(|_| random.next() as u8).collect()
        }),
        ("random printable", |bytes| {
            let mut random = Random(1);
            (0..bytes)
                .map(|_| {
                    b" !\"#$%&'()*+,-./0123456789:;<=>?@[]^_`abcdefghijklmnopqrstuvwxyz{|}~\n"
                        [random.next() as usize % 69]
                })
                .collect()
        }),
    ];
    let names = texts.map(|(name, _)| name);
    for (name, text) in texts.into_iter().filter(|(name, _)| is_text_wanted(name, names)) {
        let results = [25 << 20, 100 << 20].map(|bytes| {
            let text = text(bytes);
            let count = best(10, || {
                black_box(newlines(black_box(&text)));
            });
            let time = |strategy, terminal| {
                let rule = Rule { strategy: Some(strategy), terminal: Some(terminal), ..Rule::default() };
                let truncator = Truncator::new(Profile::native()).rule(rule).unwrap();
                best(3, || {
                    let _ = black_box(truncator.apply(black_box(&text), &Context::default()));
                })
            };
            let rendered = time(StrategyName::Smart, Terminal::Rendered);
            let raw = time(StrategyName::Smart, Terminal::Raw);
            let ends = time(StrategyName::HeadTail, Terminal::Rendered);
            let speed = text.len() as f64 / rendered.as_secs_f64() / 1e6;
            (ratio(rendered, count), ratio(raw, count), ratio(ends, count), speed)
        });
        print!("  {name:18}");
        for (rendered, raw, ends, speed) in results {
            print!("  rendered {rendered:7.2}x raw {raw:7.2}x (head-tail {ends:6.2}x) {speed:6.0} MB/s");
        }
        println!();
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

fn word(random: &mut Random) -> String {
    (0..20).map(|_| char::from(b'a' + (random.next() % 26) as u8)).collect()
}

fn lines(bytes: usize, line: impl Fn(u64, &mut Random) -> String) -> Vec<u8> {
    let mut random = Random(1);
    let mut text = Vec::with_capacity(bytes + 128);
    let mut number = 0;
    while text.len() < bytes {
        number += 1;
        text.extend_from_slice(line(number, &mut random).as_bytes());
    }
    text
}

fn ratio(time: Duration, base: Duration) -> f64 {
    time.as_secs_f64() / base.as_secs_f64()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
