//! Keeps the last lines of a tool's result that say how it ended, whatever else is cut.
//!
//! Tools put an exit code, a session or a block of their own metadata under their output. A preview of the beginning
//! would lose it, and with it what the agent needs to go on.

use crate::cut::PieceKind;
use crate::strategy::{Ends, Room, Selection, Selector};

/// The longest trailer; what is longer is output.
const LONGEST: usize = 1024;

/// How far from the end such a line may stand, where no tag encloses it.
const MOST_LINES: usize = 6;

/// A longer line is output.
const LONGEST_LINE: usize = 240;

/// What such a line has in it, in small letters and without anything between them.
const SAYS: [&str; 17] = [
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

/// What such a line begins with.
const BEGINS: [&str; 3] = ["session", "signal", "pid"];

/// Lets another selector choose, and shows the trailer in any case.
pub(crate) struct WithTrailer(pub(crate) Box<dyn Selector>);

impl Selector for WithTrailer {
    fn observe(&mut self, run: crate::cut::Segment<'_>) {
        self.0.observe(run);
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        let closing = ends.closing();
        let from = start(closing);
        let left = room.less(&closing[from..]).less_gaps(1);
        // A trailer that would take the place of the output is not worth it.
        let worth = room.limits.bytes.is_none_or(|most| (closing.len() - from) as u64 * 3 <= most);
        if from == closing.len() || !worth || left.is_spent() {
            return self.0.finish(ends, room);
        }
        let mut selection = self.0.finish(ends, &left);
        let trailer = ends.last(from);
        let start = trailer.first().map_or(ends.bytes(), |piece| piece.start);
        // Words for a gap that the trailer stands in would be wrong; the notice has better ones.
        selection.pieces.retain(|piece| piece.form != PieceKind::Mark || piece.end <= start);
        selection.pieces.extend(trailer);
        selection
    }
}

/// Where the trailer of a text begins; its length if it has none.
fn start(text: &[u8]) -> usize {
    let end = text.trim_ascii_end().len();
    let window = end.saturating_sub(LONGEST);
    tagged(&text[..end], window).or_else(|| said(&text[..end], window)).unwrap_or(text.len())
}

/// A block in a tag at the very end: `<task_metadata>…</task_metadata>`.
fn tagged(text: &[u8], window: usize) -> Option<usize> {
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

/// Lines at the very end, from the first that says how it ended or what goes on.
fn said(text: &[u8], window: usize) -> Option<usize> {
    let mut start = None;
    let mut end = text.len();
    for _ in 0..MOST_LINES {
        let line = memchr::memrchr(b'\n', &text[..end]).map_or(0, |at| at + 1);
        if line < window {
            break;
        }
        if says_something(&text[line..end]) {
            start = Some(line);
        }
        if line == 0 {
            break;
        }
        end = line - 1;
    }
    start
}

fn says_something(line: &[u8]) -> bool {
    if line.len() > LONGEST_LINE {
        return false;
    }
    let said: Vec<u8> =
        line.iter().filter(|byte| byte.is_ascii_alphabetic()).map(u8::to_ascii_lowercase).collect();
    SAYS.iter().any(|word| memchr::memmem::find(&said, word.as_bytes()).is_some())
        || (BEGINS.iter().any(|word| said.starts_with(word.as_bytes())) && line.contains(&b':'))
}

#[cfg(test)]
mod tests {
    use super::start;

    #[test]
    fn trailers() {
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
