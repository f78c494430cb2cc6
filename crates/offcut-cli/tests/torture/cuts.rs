//! Random outputs at random limits: no limit is exceeded, and every command in a preview prints the bytes that it names.

use crate::harness::{Sandbox, binary};
use crate::random::Random;
use offcut::notice::{Access, Message, Notice};
use serde_json::Value;
use std::path::PathBuf;

struct Limits {
    bytes: Option<usize>,
    lines: Option<usize>,
    chars: Option<usize>,
    tokens: Option<usize>,
}

pub(crate) fn round(random: &mut Random) -> u64 {
    let text = random.output();
    let mut limit = |least: usize, most: usize| random.once_in(2).then(|| least + random.size(most));
    let limits = Limits {
        bytes: limit(256, 20_000),
        lines: limit(4, 500),
        chars: limit(256, 20_000),
        tokens: limit(128, 4000),
    };
    let mut arguments = vec!["cut".to_owned()];
    let options = ["--max-bytes", "--max-lines", "--max-chars", "--max-tokens"];
    for (option, value) in options.iter().zip([limits.bytes, limits.lines, limits.chars, limits.tokens]) {
        arguments.extend(value.map(|value| [(*option).to_owned(), value.to_string()]).into_iter().flatten());
    }
    if !random.once_in(3) {
        let strategy = random.pick(&["head", "tail", "head-tail", "smart", "json", "auto"]);
        arguments.extend(["--strategy".to_owned(), (*strategy).to_owned()]);
    }
    if random.once_in(4) {
        arguments.push("--raw".to_owned());
    }
    if let Err(reason) = check(&arguments, &limits, &text) {
        let smallest = reduce(text, |text| check(&arguments, &limits, text).is_err());
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("torture-cut");
        std::fs::write(&file, &smallest).unwrap();
        let reason = check(&arguments, &limits, &smallest).err().unwrap_or(reason);
        panic!(
            "{reason}\n{} --store \"$(mktemp -d)\" {} < {}",
            binary(),
            arguments.join(" "),
            file.display()
        );
    }
    3
}

/// Removes parts of a text as long as the rest still fails.
fn reduce(mut text: Vec<u8>, fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut size = text.len() / 2;
    for _ in 0..200 {
        if size == 0 {
            break;
        }
        let shorter = (0..text.len()).step_by(size).map(|at| {
            let end = text.len().min(at + size);
            [&text[..at], &text[end..]].concat()
        });
        match shorter.take(20).find(|shorter| fails(shorter)) {
            Some(shorter) => text = shorter,
            None => size /= 2,
        }
    }
    text
}

fn expect(condition: bool, reason: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(reason()) }
}

fn tokens(text: &[u8]) -> usize {
    #[cfg(feature = "tokens")]
    return tiktoken::get_encoding("o200k_base").unwrap().count(&String::from_utf8_lossy(text));
    #[cfg(not(feature = "tokens"))]
    return offcut::measure::CountTokens::count(&offcut::measure::EstimatedTokens, text) as usize;
}

fn exceeded(limits: &Limits, text: &[u8]) -> Option<&'static str> {
    let lines = || text.split_inclusive(|&byte| byte == b'\n').count();
    let chars = || String::from_utf8_lossy(text).chars().count();
    // The default limits apply to what is not set.
    let (bytes, most_lines) = (limits.bytes.unwrap_or(9500), limits.lines.unwrap_or(1900));
    if text.len() > bytes {
        Some("bytes")
    } else if lines() > most_lines {
        Some("lines")
    } else if limits.chars.is_some_and(|limit| chars() > limit) {
        Some("chars")
    } else if limits.tokens.is_some_and(|limit| tokens(text) > limit) {
        Some("tokens")
    } else {
        None
    }
}

fn check(arguments: &[String], limits: &Limits, text: &[u8]) -> Result<(), String> {
    let sandbox = Sandbox::new();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ran = sandbox.run(&arguments, text);
    expect(ran.code == Some(0) && ran.stderr.is_empty(), || format!("exit {:?}: {}", ran.code, ran.stderr))?;
    let shown = ran.stdout;
    let Some(_) = exceeded(limits, text) else {
        return expect(shown == text, || "an output within the limits changed".to_owned());
    };
    if let Some(limit) = exceeded(limits, &shown) {
        return Err(format!("the preview exceeds the limit on {limit}"));
    }
    expect(!shown.is_empty(), || "nothing is shown".to_owned())?;
    expect(sandbox.run(&["cat", "last"], b"").stdout == text, || {
        "`offcut cat` prints other bytes".to_owned()
    })?;
    let shown = String::from_utf8_lossy(&shown).into_owned();
    let original = String::from_utf8_lossy(text);
    // Lines of the output itself may look like notices.
    let notices = shown.lines().filter(|line| !original.contains(line)).filter_map(Notice::parse);
    for notice in notices {
        follow(&sandbox, &notice.message, text)?;
    }
    let result = sandbox.run(&[&arguments[..], &["--format", "json"]].concat(), text).json();
    for gap in result["gaps"].as_array().unwrap() {
        let number = |name: &str| gap.get(name).and_then(Value::as_u64).unwrap();
        read(&sandbox, &format!("--bytes {}:{}", number("start"), number("end")), text)?;
    }
    Ok(())
}

/// Runs what a notice offers and compares it with the original.
fn follow(sandbox: &Sandbox, message: &Message, text: &[u8]) -> Result<(), String> {
    match message {
        Message::Lines { first, last, .. } | Message::Similar { first, last, .. } => {
            read(sandbox, &format!("--lines {first}:{last}"), text)
        }
        Message::Bytes { start, end, .. } => read(sandbox, &format!("--bytes {start}:{end}"), text),
        Message::Footer { more: Some(command), .. }
        | Message::Rest { access: Access::By(command), .. }
        | Message::Control(Access::By(command)) => {
            for command in command.split(", or ").filter(|command| command.contains(" read ")) {
                let ran = sandbox.paste(command);
                compare(command, &ran.stdout, text)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Reads a range of the newest entry.
fn read(sandbox: &Sandbox, range: &str, text: &[u8]) -> Result<(), String> {
    let command = format!("offcut read last --max-bytes 100000000 --max-lines 100000000 {range}");
    compare(&command, &sandbox.paste(&command).stdout, text)
}

fn compare(command: &str, printed: &[u8], text: &[u8]) -> Result<(), String> {
    let range = |option: &str| -> Option<(usize, usize)> {
        let (first, last) = command.split_once(option)?.1.split(' ').next()?.split_once(':')?;
        Some((first.parse().ok()?, last.parse().ok()?))
    };
    let expected: Vec<u8> = if let Some((first, last)) = range("--lines ") {
        let lines = text.split_inclusive(|&byte| byte == b'\n');
        lines.skip(first - 1).take(last + 1 - first).flatten().copied().collect()
    } else if let Some((start, end)) = range("--bytes ") {
        text.get(start..end).ok_or_else(|| format!("{command} names bytes that do not exist"))?.to_vec()
    } else {
        return expect(!printed.is_empty(), || format!("{command} printed nothing"));
    };
    expect(printed == expected, || {
        format!("{command} printed {} bytes instead of {}", printed.len(), expected.len())
    })
}
