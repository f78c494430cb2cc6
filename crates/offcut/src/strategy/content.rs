//! Extracts the content of a line: its text without control sequences and without the prefixes that terminals, CI
//! runners and loggers add.

use super::eight_bytes::{BYTES, each, position};
use super::fingerprint;
use super::rules::MATCHED_BYTES;

/// The content of a line. `buffer` is used if it is not a part of the line.
pub(in crate::strategy) fn content<'a>(line: &'a [u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match go_test_output(line) {
        Some(output) if output.contains(&b'\\') => {
            buffer.clear();
            unescape(output, buffer);
            return buffer;
        }
        Some(output) => return output,
        None => {}
    }
    // Without an early exit, so that the compiler vectorizes it.
    let plain = if line.iter().fold(false, |found, &byte| found | ((byte < 0x20) & (byte != b'\t'))) {
        buffer.clear();
        without_controls(line, buffer);
        &buffer[..]
    } else {
        line
    };
    without_prefix(plain)
}

/// The part of a line's content that is matched against the rules.
pub(super) fn matched<'a>(line: &'a [u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
    let content = content(line, buffer);
    &content[..content.len().min(MATCHED_BYTES)]
}

/// The offset of the content in its line, unless it was copied.
pub(super) fn offset(line: &[u8], content: &[u8]) -> Option<usize> {
    let offset = (content.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
    (offset + content.len() <= line.len()).then_some(offset)
}

/// How far a time stamp may be from the beginning of a line: the names of a job and of a step may come before it.
const TIMESTAMP_BYTES: usize = 160;

/// The longest name of a service or of a task before a line, and the most digits of the number of a test.
const MAX_SERVICE_BYTES: usize = 48;
const MAX_TASK_BYTES: usize = 24;
const MAX_TEST_DIGITS: usize = 5;

/// More leading white space does not count.
const MAX_INDENT: usize = 64;

/// How many spaces a text begins with. Eight bytes at a time, because the end of an indentation is hard to predict.
#[inline]
fn spaces(text: &[u8]) -> usize {
    let mut count = 0;
    loop {
        // The end of a short text is padded with zeros.
        let others = fingerprint::load(&text[count..]) ^ each(b' ');
        if others != 0 {
            return count + position(others);
        }
        count += BYTES;
    }
}

/// A text without the white space at its start.
#[inline]
pub(super) fn trim_start(text: &[u8]) -> &[u8] {
    let rest = &text[spaces(text)..];
    if rest.first().is_some_and(u8::is_ascii_whitespace) { rest.trim_ascii_start() } else { rest }
}

/// The width of the leading white space.
pub(super) fn indent(content: &[u8]) -> usize {
    let spaces = spaces(content);
    if !content.get(spaces).is_some_and(u8::is_ascii_whitespace) {
        return spaces.min(MAX_INDENT);
    }
    content
        .iter()
        .take(MAX_INDENT)
        .take_while(|byte| byte.is_ascii_whitespace())
        .map(|&byte| if byte == b'\t' { 4 } else { 1 })
        .sum()
}

fn without_controls(line: &[u8], text: &mut Vec<u8>) {
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            0x1B => rest = skip_control_sequence(after),
            // A terminal would overwrite what comes before it, if anything follows.
            b'\r' if !after.is_empty() => text.clear(),
            0..0x20 if byte != b'\t' => {}
            _ => text.push(byte),
        }
    }
}

fn skip_control_sequence(text: &[u8]) -> &[u8] {
    let (end, rest) = match text.split_first() {
        Some((b'[', rest)) => (rest.iter().position(|byte| (0x40..=0x7E).contains(byte)), rest),
        Some((b']', rest)) => (rest.iter().position(|&byte| byte == 0x07), rest),
        Some((_, rest)) => return rest,
        None => return text,
    };
    end.map_or(rest, |end| &rest[end + 1..])
}

fn without_prefix(line: &[u8]) -> &[u8] {
    let line = strip_timestamp(line).unwrap_or(line);
    let line = strip_log_level(line).unwrap_or(line);
    let line = strip_task_name(line).unwrap_or(line);
    let line = strip_service_name(line).unwrap_or(line);
    strip_test_number(line).unwrap_or(line)
}

/// Strips `web_1  | ` or `web-1 | `, which tools that run several services put before each line.
pub(super) fn strip_service_name(line: &[u8]) -> Option<&[u8]> {
    // Few lines have a bar.
    memchr::memchr(b'|', line)?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let end = line.iter().take(MAX_SERVICE_BYTES).position(|byte| !is_name(byte))?;
    let (name, rest) = line.split_at(end);
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let is_numbered = digits > 0 && matches!(name[..name.len() - digits].last(), Some(b'_' | b'-' | b'.'));
    let rest = rest.trim_ascii_start().strip_prefix(b"|")?;
    (is_numbered && name[0].is_ascii_alphabetic()).then(|| rest.strip_prefix(b" ").unwrap_or(rest))
}

/// The text that a test printed, from an event of `go test -json`.
fn go_test_output(line: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = br#""Output":""#;
    let event = line.strip_prefix(br#"{"Time":""#)?.strip_suffix(br#""}"#)?;
    let at = memchr::memmem::find(event, KEY)?;
    let output = &event[at + KEY.len()..];
    Some(output.strip_suffix(br"\n").unwrap_or(output))
}

/// Unescapes a JSON string as far as the rules need it.
fn unescape(string: &[u8], text: &mut Vec<u8>) {
    let mut rest = string;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'\\', [b't', after @ ..]) => {
                text.push(b'\t');
                rest = after;
            }
            (b'\\', [b'u', b'0', b'0', high, low, after @ ..]) => {
                let digit = |digit: u8| char::from(digit).to_digit(16).unwrap_or(0) as u8;
                text.push(digit(*high) << 4 | digit(*low));
                rest = after;
            }
            (b'\\', [escaped @ (b'"' | b'\\' | b'/'), after @ ..]) => {
                text.push(*escaped);
                rest = after;
            }
            _ => text.push(byte),
        }
    }
}

/// Strips `2024-05-09T15:19:16.0346915Z `, also after the names of a job and a step and in brackets.
fn strip_timestamp(line: &[u8]) -> Option<&[u8]> {
    let head = &line[..line.len().min(TIMESTAMP_BYTES)];
    let at = memchr::memchr_iter(b'T', head).find(|&at| {
        at >= 10
            && head.len() >= at + 9
            && has_format(&head[at - 10..at], b"dddd-dd-dd")
            && has_format(&head[at + 1..at + 9], b"dd:dd:dd")
    })?;
    let before = &head[..at - 10];
    if !(before.is_empty()
        || before.ends_with(b"\t")
        || before.ends_with(b"[")
        || before.starts_with(b"[")
        || before.starts_with(b"\xEF\xBB\xBF"))
    {
        return None;
    }
    let rest = &line[at + 9..];
    let end = rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'Z' | b']' | b'+' | b':'))?;
    let rest = &rest[end..];
    Some(rest.strip_prefix(b" ").unwrap_or(rest))
}

fn has_format(text: &[u8], format: &[u8]) -> bool {
    text.len() == format.len()
        && text
            .iter()
            .zip(format)
            .all(|(byte, format)| if *format == b'd' { byte.is_ascii_digit() } else { byte == format })
}

/// Strips `12:46:31     INFO -  `. Levels above INFO stay.
fn strip_log_level(line: &[u8]) -> Option<&[u8]> {
    let rest = line.get(8..).filter(|_| has_format(&line[..8], b"dd:dd:dd"))?;
    let rest = rest.trim_ascii_start();
    let rest =
        rest.strip_prefix(b"INFO").or_else(|| rest.strip_prefix(b"DEBUG")).unwrap_or(rest).trim_ascii_start();
    let rest = rest.strip_prefix(b"-").unwrap_or(rest);
    Some(rest.strip_prefix(b"  ").or_else(|| rest.strip_prefix(b" ")).unwrap_or(rest))
}

/// Strips `    [junit] `, which Ant puts before each line of a task.
fn strip_task_name(line: &[u8]) -> Option<&[u8]> {
    let trimmed = line.trim_ascii_start();
    let name = trimmed.strip_prefix(b"[").filter(|_| trimmed.len() < line.len())?;
    let end = name.iter().take(MAX_TASK_BYTES).position(|byte| !byte.is_ascii_lowercase())?;
    let rest = name[end..].strip_prefix(b"]").filter(|_| end > 0)?;
    Some(rest.strip_prefix(b" ").unwrap_or(rest))
}

/// Strips `4: `, which CTest puts before each line of its fourth test.
fn strip_test_number(line: &[u8]) -> Option<&[u8]> {
    let digits = line.iter().take(MAX_TEST_DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
    line[digits..].strip_prefix(b": ").filter(|_| digits > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let mut buffer = Vec::new();
        assert_eq!(String::from_utf8_lossy(content(line.as_bytes(), &mut buffer)), expected, "{line:?}");
    }

    #[test]
    fn prefixes_and_control_sequences_are_removed() {
        check("plain\r\n", "plain");
        check("  indented\n", "  indented");
        check("\x1B[31merror\x1B[0m: x\n", "error: x");
        check("50%\r100%\n", "100%");
        check("2022-05-09T15:19:16.0346915Z   FAIL: x", "  FAIL: x");
        check("job\tstep one\t2021-12-01T13:01:04.3807878Z A > b() FAILED", "A > b() FAILED");
        check("[task 2025-02-13T21:30:46.167Z] 21:30:46     INFO -  TEST-OK", "TEST-OK");
        check("[task 2025-02-13T21:30:46.167Z] 21:30:46  WARNING -  TEST-OK", "WARNING -  TEST-OK");
        check("    [junit] \tFAILED", "\tFAILED");
        check("said at 2021-12-01T13:01:04 by me", "said at 2021-12-01T13:01:04 by me");
        check("[ERROR] x", "[ERROR] x");
        check(
            r#"{"Time":"now","Action":"output","Test":"A","Output":"    a_test.go:1: no\n"}"#,
            "    a_test.go:1: no",
        );
        check(
            r#"{"Time":"now","Action":"output","Output":"\tError: \"a\" \u003c 3\n"}"#,
            "\tError: \"a\" < 3",
        );
        check(r#"{"Time":"now","Action":"output"}"#, r#"{"Time":"now","Action":"output"}"#);
        check("12: [ RUN      ] Basket.Adds", "[ RUN      ] Basket.Adds");
        check("  12: frame", "  12: frame");
        check("web_1  |     a_test.go:6: no", "    a_test.go:6: no");
        check("12:00:01 api-gateway-2 | ok", "ok");
        check("name | value", "name | value");
        check("12 | let a = 1;", "12 | let a = 1;");
        check("12:34: x", "12:34: x");
        check("", "");
    }
}
