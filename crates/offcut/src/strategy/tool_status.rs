//! Always shows the status lines at the end of a tool's result.
//!
//! Tools add an exit code, a session id or a block of metadata after the output. A preview of the beginning would lose
//! them, and the agent needs them to continue.

use crate::cut::PieceKind;
use crate::strategy::{Ends, Room, Selection, Selector};

/// The largest status; anything longer is output.
const MAX_BYTES: usize = 1024;

/// How many lines from the end a status line may be, unless a tag encloses the status.
const MAX_LINES: usize = 6;

/// A longer line is output.
const MAX_LINE_BYTES: usize = 240;

/// A status line contains one of these, in lower case and with everything but letters removed.
const KEYWORDS: [&str; 17] = [
    "exitcode",
    "exitstatus",
    "exitedwith",
    "returncode",
    "timedout",
    "sessionid",
    "taskid",
    "threadid",
    "requestid",
    "callid",
    "agentid",
    "shellid",
    "processid",
    "backgroundpid",
    "inbackground",
    "pgid",
    "terminatedbysignal",
];

/// Or it starts with one of these and contains a colon.
const PREFIXES: [&str; 3] = ["session", "signal", "pid"];

/// Lets another selector choose, and always shows the status.
pub(crate) struct WithToolStatus(pub(crate) Box<dyn Selector>);

impl Selector for WithToolStatus {
    fn observe(&mut self, segment: crate::cut::Segment<'_>) {
        self.0.observe(segment);
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        let closing = ends.closing();
        let from = start(closing);
        let left = room.less(&closing[from..]).less_gaps(1);
        // A status that takes too much room from the output is treated as output.
        let is_small = room.limits.bytes.is_none_or(|most| (closing.len() - from) as u64 * 3 <= most);
        if from == closing.len() || !is_small || left.is_spent() {
            return self.0.finish(ends, room);
        }
        let mut selection = self.0.finish(ends, &left);
        let status = ends.last(from);
        let start = status.first().map_or(ends.bytes(), |piece| piece.start);
        // A marker for a gap that contains the status would be wrong; the engine marks that gap itself.
        selection.pieces.retain(|piece| piece.form != PieceKind::Mark || piece.end <= start);
        selection.pieces.extend(status);
        selection
    }
}

/// Where the status of a text begins; the length of the text if it has none.
fn start(text: &[u8]) -> usize {
    let end = text.trim_ascii_end().len();
    let window = end.saturating_sub(MAX_BYTES);
    tagged_block(&text[..end], window).or_else(|| status_lines(&text[..end], window)).unwrap_or(text.len())
}

/// The start of a tagged block at the end: `<task_metadata>…</task_metadata>`.
fn tagged_block(text: &[u8], window: usize) -> Option<usize> {
    let name_end = text.strip_suffix(b">")?.len();
    let close = memchr::memmem::rfind(&text[window..], b"</")? + window;
    let name = &text[close + 2..name_end];
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-:.".contains(byte);
    if name.is_empty() || !name.iter().all(is_name) {
        return None;
    }
    let open = [b"<", name].concat();
    let at = memchr::memmem::rfind(&text[window..close], &open)? + window;
    (at == 0 || text[at - 1] == b'\n').then_some(at)
}

/// The start of the first status line among the last lines.
fn status_lines(text: &[u8], window: usize) -> Option<usize> {
    let mut start = None;
    let mut end = text.len();
    for _ in 0..MAX_LINES {
        let line = memchr::memrchr(b'\n', &text[..end]).map_or(0, |at| at + 1);
        if line < window {
            break;
        }
        if is_status_line(&text[line..end]) {
            start = Some(line);
        }
        if line == 0 {
            break;
        }
        end = line - 1;
    }
    start
}

fn is_status_line(line: &[u8]) -> bool {
    if line.len() > MAX_LINE_BYTES {
        return false;
    }
    let letters: Vec<u8> =
        line.iter().filter(|byte| byte.is_ascii_alphabetic()).map(u8::to_ascii_lowercase).collect();
    KEYWORDS.iter().any(|word| memchr::memmem::find(&letters, word.as_bytes()).is_some())
        || (PREFIXES.iter().any(|word| letters.starts_with(word.as_bytes())) && line.contains(&b':'))
}

#[cfg(test)]
mod tests {
    use super::start;

    #[test]
    fn status_at_the_end_is_found() {
        let check =
            |text: &str, expected: &str| assert_eq!(&text[start(text.as_bytes())..], expected, "{text}");
        check("output\nmore\n", "");
        check("", "");
        check("output\nExit code: 3\n", "Exit code: 3\n");
        check("output\nsession_id: abc\n(exit status 1)", "session_id: abc\n(exit status 1)");
        check(
            "output\n<task_metadata>\nsession: x\n</task_metadata>\n\n",
            "<task_metadata>\nsession: x\n</task_metadata>\n\n",
        );
        check("out\nExit Code: 1\nSignal: 9", "Exit Code: 1\nSignal: 9");
        check("out\nExit Code: 0\nBackground PIDs: 12\nnone", "Exit Code: 0\nBackground PIDs: 12\nnone");
        check("out\nProcess running with session ID 1234", "Process running with session ID 1234");
        check("a <b>bold</b>", "");
        check("exit code 1", "exit code 1");
        check("</>", "");
        check(&format!("<x>{}</x>", "y".repeat(2000)), "");
    }
}
