//! A status line on the terminal: elapsed time, output so far and its last line. It is erased at the end.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Shorter commands get no status line, which would only flicker.
const FIRST_DRAW: Duration = Duration::from_millis(500);
const INTERVAL: Duration = Duration::from_millis(200);

/// Remembered bytes of the last line, more than the width of a terminal.
const MAX_LINE_BYTES: usize = 512;

/// The status line, if standard error is a terminal.
pub(crate) struct StatusLine(Option<Line>);

struct Line {
    started: Instant,
    next: Instant,
    drawn: bool,
    /// Whether an unfinished line of the output is where the status line would be.
    is_covered: bool,
    dim: bool,
    bytes: u64,
    lines: u64,
    /// The beginnings of the unfinished line and of the line before.
    current: Vec<u8>,
    last: Vec<u8>,
}

impl StatusLine {
    /// No status line.
    pub(crate) fn none() -> StatusLine {
        StatusLine(None)
    }

    /// Shows a status line if standard error is a terminal that supports it.
    pub(crate) fn for_terminal(started: Instant) -> StatusLine {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        if is_dumb || !std::io::stderr().is_terminal() {
            return StatusLine(None);
        }
        StatusLine(Some(Line {
            started,
            next: started + FIRST_DRAW,
            drawn: false,
            is_covered: false,
            dim: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
            bytes: 0,
            lines: 0,
            current: Vec::new(),
            last: Vec::new(),
        }))
    }

    pub(crate) fn observe(&mut self, chunk: &[u8]) {
        let Some(line) = &mut self.0 else { return };
        line.bytes += chunk.len() as u64;
        line.lines += offcut::measure::newlines(chunk);
        // The last line is near the end of the chunk.
        let from = chunk.len().saturating_sub(4 * MAX_LINE_BYTES);
        for &byte in &chunk[from..] {
            match byte {
                b'\n' | b'\r' if line.current.is_empty() => {}
                b'\n' | b'\r' => line.last = std::mem::take(&mut line.current),
                _ if line.current.len() < MAX_LINE_BYTES => line.current.push(byte),
                _ => {}
            }
        }
    }

    pub(crate) fn next_draw(&self) -> Option<Instant> {
        self.0.as_ref().map(|line| line.next)
    }

    pub(crate) fn draw(&mut self, now: Instant) {
        let Some(line) = self.0.as_mut().filter(|line| now >= line.next) else { return };
        line.next = now + INTERVAL;
        if line.is_covered {
            return;
        }
        line.drawn = true;
        let width =
            rustix::termios::tcgetwinsize(rustix::stdio::stderr()).map_or(0, |size| usize::from(size.ws_col));
        let width = if width == 0 { 80 } else { width };
        let text: String = line.text(now).chars().take(width - 1).collect();
        let (on, off) = if line.dim { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
        let _ = write!(std::io::stderr(), "\r\x1b[2K{on}{text}{off}");
    }

    /// Makes room for other output. The line is drawn again later.
    pub(crate) fn clear(&mut self) {
        let Some(line) = &mut self.0 else { return };
        if std::mem::take(&mut line.drawn) {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }

    /// Records that `text` was printed on standard output. An unfinished line stays visible until it is finished.
    pub(crate) fn observe_printed(&mut self, text: &[u8]) {
        let Some(line) = &mut self.0 else { return };
        if let Some(last) = text.last().filter(|_| std::io::stdout().is_terminal()) {
            line.is_covered = *last != b'\n';
        }
    }

    pub(crate) fn erase(&mut self) {
        if self.0.take().is_some_and(|line| line.drawn) {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

impl Line {
    fn text(&self, now: Instant) -> String {
        let seconds = (now - self.started).as_secs_f64();
        let last = if self.current.is_empty() { &self.last } else { &self.current };
        format!("{seconds:.1} s  {} lines  {} bytes  {}", self.lines, self.bytes, printable(last))
    }
}

/// Removes control characters and escape sequences: the text of a command must not move the cursor.
fn printable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut chars = text.chars();
    let mut shown = String::new();
    while let Some(char) = chars.next() {
        match char {
            '\x1b' => {
                if chars.next() == Some('[') {
                    chars.by_ref().find(char::is_ascii_alphabetic);
                }
            }
            '\t' => shown.push(' '),
            _ if char.is_control() => {}
            _ => shown.push(char),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> StatusLine {
        let started = Instant::now();
        let (current, last) = (Vec::new(), Vec::new());
        StatusLine(Some(Line {
            started,
            next: started,
            drawn: false,
            is_covered: false,
            dim: false,
            bytes: 0,
            lines: 0,
            current,
            last,
        }))
    }

    #[test]
    fn status_line_shows_last_line_without_control_characters() {
        for (chunks, expected) in [
            (&["a\nb"][..], "1 lines  3 bytes  b"),
            (&["a\n", "b\n"], "2 lines  4 bytes  b"),
            (&["10%\r20%\r"], "0 lines  8 bytes  20%"),
            (&["\x1b[31mred\x1b[0m\x07\n"], "1 lines  14 bytes  red"),
            (&["x\n\n\n"], "3 lines  4 bytes  x"),
        ] {
            let mut status = line();
            chunks.iter().for_each(|chunk| status.observe(chunk.as_bytes()));
            let line = status.0.unwrap();
            assert_eq!(line.text(line.started), format!("0.0 s  {expected}"), "{chunks:?}");
        }
    }
}
