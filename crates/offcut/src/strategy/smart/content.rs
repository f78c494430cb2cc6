//! What a line says, without what a terminal or a CI runner put around it.

/// The text of a line: control sequences removed, the prefixes of CI runners and loggers stripped.
pub(super) fn content<'a>(line: &'a [u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match inside_event(line) {
        Some(output) if output.contains(&b'\\') => {
            buffer.clear();
            unescape(output, buffer);
            return buffer;
        }
        Some(output) => return output,
        None => {}
    }
    // All bytes at once, by vector instructions.
    let plain = if line.iter().fold(false, |found, &byte| found | ((byte < 0x20) & (byte != b'\t'))) {
        buffer.clear();
        without_controls(line, buffer);
        &buffer[..]
    } else {
        line
    };
    without_prefix(plain)
}

/// Where the content of a line stands in it, if it is there as it is.
pub(super) fn place(line: &[u8], content: &[u8]) -> Option<usize> {
    let place = (content.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
    (place + content.len() <= line.len()).then_some(place)
}

/// Whether a line is no text that a rule could know.
pub(super) fn is_binary(line: &[u8]) -> bool {
    let head = &line[..line.len().min(64)];
    let controls = head
        .iter()
        .filter(|&&byte| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x1B | 0x08))
        .count();
    controls > 2
}

/// The columns of white space in front.
pub(super) fn indent(content: &[u8]) -> usize {
    content
        .iter()
        .take(64)
        .take_while(|byte| byte.is_ascii_whitespace())
        .map(|&byte| if byte == b'\t' { 4 } else { 1 })
        .sum()
}

fn without_controls(line: &[u8], text: &mut Vec<u8>) {
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            0x1B => rest = behind_sequence(after),
            // What stands before it was overwritten, if anything follows.
            b'\r' if !after.is_empty() => text.clear(),
            0..0x20 if byte != b'\t' => {}
            _ => text.push(byte),
        }
    }
}

fn behind_sequence(text: &[u8]) -> &[u8] {
    let (end, rest) = match text.split_first() {
        Some((b'[', rest)) => (rest.iter().position(|byte| (0x40..=0x7E).contains(byte)), rest),
        Some((b']', rest)) => (rest.iter().position(|&byte| byte == 0x07), rest),
        Some((_, rest)) => return rest,
        None => return text,
    };
    end.map_or(rest, |end| &rest[end + 1..])
}

fn without_prefix(line: &[u8]) -> &[u8] {
    let line = behind_timestamp(line).unwrap_or(line);
    let line = behind_log_level(line).unwrap_or(line);
    let line = behind_task(line).unwrap_or(line);
    let line = behind_service(line).unwrap_or(line);
    behind_number(line).unwrap_or(line)
}

/// Behind `web_1  | ` or `web-1 | `, which programs that run several others put before each line of one.
pub(in crate::strategy) fn behind_service(line: &[u8]) -> Option<&[u8]> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let end = line.iter().take(48).position(|byte| !is_name(byte))?;
    let (name, rest) = line.split_at(end);
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let is_numbered = digits > 0 && matches!(name[..name.len() - digits].last(), Some(b'_' | b'-' | b'.'));
    let rest = rest.trim_ascii_start().strip_prefix(b"|")?;
    (is_numbered && name[0].is_ascii_alphabetic()).then(|| rest.strip_prefix(b" ").unwrap_or(rest))
}

/// What a test printed, in an event of `go test -json`.
fn inside_event(line: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = br#""Output":""#;
    let event = line.strip_prefix(br#"{"Time":""#)?.strip_suffix(br#""}"#)?;
    let at = memchr::memmem::find(event, KEY)?;
    let output = &event[at + KEY.len()..];
    Some(output.strip_suffix(br"\n").unwrap_or(output))
}

/// The text of a JSON string, as far as rules care.
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

/// Behind `2024-05-09T15:19:16.0346915Z `, which may stand behind a job's and a step's name and in brackets.
fn behind_timestamp(line: &[u8]) -> Option<&[u8]> {
    let head = &line[..line.len().min(160)];
    let at = memchr::memchr_iter(b'T', head).find(|&at| {
        at >= 10
            && head.len() >= at + 9
            && shape(&head[at - 10..at], b"dddd-dd-dd")
            && shape(&head[at + 1..at + 9], b"dd:dd:dd")
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

fn shape(text: &[u8], shape: &[u8]) -> bool {
    text.len() == shape.len()
        && text
            .iter()
            .zip(shape)
            .all(|(byte, shape)| if *shape == b'd' { byte.is_ascii_digit() } else { byte == shape })
}

/// Behind `12:46:31     INFO -  `: a logger's word that nothing is wrong. Other levels stay.
fn behind_log_level(line: &[u8]) -> Option<&[u8]> {
    let rest = line.get(8..).filter(|_| shape(&line[..8], b"dd:dd:dd"))?;
    let rest = rest.trim_ascii_start();
    let rest =
        rest.strip_prefix(b"INFO").or_else(|| rest.strip_prefix(b"DEBUG")).unwrap_or(rest).trim_ascii_start();
    let rest = rest.strip_prefix(b"-").unwrap_or(rest);
    Some(rest.strip_prefix(b"  ").or_else(|| rest.strip_prefix(b" ")).unwrap_or(rest))
}

/// Behind `    [junit] `, which Ant puts before each line of a task.
fn behind_task(line: &[u8]) -> Option<&[u8]> {
    let trimmed = line.trim_ascii_start();
    let name = trimmed.strip_prefix(b"[").filter(|_| trimmed.len() < line.len())?;
    let end = name.iter().take(24).position(|byte| !byte.is_ascii_lowercase())?;
    let rest = name[end..].strip_prefix(b"]").filter(|_| end > 0)?;
    Some(rest.strip_prefix(b" ").unwrap_or(rest))
}

/// Behind `4: `, which CTest puts before each line of its fourth test.
fn behind_number(line: &[u8]) -> Option<&[u8]> {
    let digits = line.iter().take(5).take_while(|byte| byte.is_ascii_digit()).count();
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
    fn prefixes_and_controls() {
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
