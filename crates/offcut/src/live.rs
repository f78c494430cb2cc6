//! What is printed of an output while its command runs.
//!
//! A reader of a long command must see that it works and what it does: agents cancel a silent command, and a server that
//! is started in the background never ends. So after [`DELAY`] the output is printed as it comes, until a share of the
//! budget is used up ([`HEAD_SHARE`]). From then on output is withheld. If the command ends within the limits, the rest
//! follows then, byte for byte. If it exceeds them, takes long ([`FIRST_INTERVAL`]) or prints a line that matters, a notice
//! says that output is withheld, and names the entry; from then on lines that matter are printed as they come
//! ([`IMPORTANT_SHARE`]), and at growing intervals a notice reports the progress ([`NOTICE_SHARE`]). The preview at the end
//! gets what is left of the budget, and continues after the beginning that was printed. A line that was printed for its
//! importance may be in the preview again, next to the lines around it.
//!
//! Nothing here reads a clock: the caller says how much time has passed, a few times a second ([`TICK`]). What a command
//! prints just before it ends is left to the preview, which can choose freely.

use crate::limits::Limits;
use crate::measure::{CountTokens, newlines};
use crate::notice::{Message, Notice};
use crate::profile::Settings;
#[cfg(feature = "smart")]
use crate::strategy::ImportantLines;
use crate::strategy::{Cost, Edges, Room};
use crate::terminal::{printable, rendered};
use std::time::Duration;

/// A shorter command is shown when it has ended.
pub const DELAY: Duration = Duration::from_secs(1);

/// How often a caller asks what to print.
pub const TICK: Duration = Duration::from_millis(250);

/// A part of the budget: the first number of parts, out of the second.
type Share = (u64, u64);

/// Two fifths of the budget are for the beginning, as it comes: a command that is killed has shown that.
const HEAD_SHARE: Share = (2, 5);

/// One twelfth is for lines that matter.
const IMPORTANT_SHARE: Share = (1, 12);

/// One sixth is for notices.
const NOTICE_SHARE: Share = (1, 6);

/// In a smaller budget nothing is printed before the end.
const MIN_BUDGET: Limits =
    Limits { lines: Some(16), bytes: Some(2000), chars: Some(2000), tokens: Some(500) };

/// The progress is reported after this time, then after twice that time, and so on.
const FIRST_INTERVAL: Duration = Duration::from_secs(15);

/// The longest time between two reports: some agents cancel a command that prints nothing for five minutes.
const MAX_INTERVAL: Duration = Duration::from_secs(240);

/// The most reports, which last for more than an hour.
const MAX_REPORTS: u32 = 20;

/// How much of the latest withheld output is searched for lines that matter.
const RECENT_BYTES: usize = 64 << 10;

/// A longer line is not printed early.
const MAX_LINE_BYTES: usize = 500;

/// The most characters that a notice quotes, of the last line or of an error.
const QUOTED_CHARS: usize = 80;

/// A shorter quotation says nothing.
const MIN_QUOTED_CHARS: u64 = 16;

/// What was printed before the end of the command.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlyOutput {
    /// How many bytes of the beginning of the output.
    pub(crate) beginning: usize,
    /// Everything that was printed, notices included.
    pub(crate) printed: Vec<u8>,
    /// What it costs.
    pub(crate) cost: Cost,
    pub(crate) announcement: Announcement,
    pub(crate) last_line: LastLine,
}

/// Whether the reader has been told that output is withheld, and where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Announcement {
    /// Nothing is withheld.
    #[default]
    NotNeeded,
    /// Output is withheld, but all of it may still be printed at the end.
    Postponed,
    Printed,
}

/// Whether the last line that was printed has its line feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LastLine {
    #[default]
    Ended,
    Open,
}

impl EarlyOutput {
    /// Whether the preview is the first that a reader sees of the output.
    pub(crate) fn is_empty(&self) -> bool {
        self.beginning == 0 && self.announcement != Announcement::Printed
    }
}

/// Decides what to print of an output while its command runs.
pub(crate) struct Live {
    settings: Settings,
    /// What is left of the shares.
    head: Limits,
    important: Limits,
    notices: Limits,
    /// The next bytes of the beginning: as many as may still be printed, and one more.
    pending_head: Vec<u8>,
    /// The latest bytes that are withheld and not searched yet.
    recent: Vec<u8>,
    next_report: Duration,
    interval: Duration,
    reports: u32,
    /// The size of the output at the last notice.
    reported_bytes: u64,
    last_line: String,
    #[cfg(feature = "smart")]
    important_lines: ImportantLines,
    early: EarlyOutput,
}

/// What is known about the output when a caller asks what to print.
pub(crate) struct Progress<'a> {
    pub(crate) elapsed: Duration,
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    /// Whether the output may still turn out to be within the limits.
    pub(crate) is_within_limits: bool,
    pub(crate) tokens: &'a dyn CountTokens,
    /// A notice, with the tag of the entry.
    pub(crate) notice: &'a dyn Fn(Message) -> Notice,
    /// Says that output is withheld, and how to read it.
    pub(crate) announcement: &'a dyn Fn() -> Message,
}

impl Live {
    /// Whether the budget is large enough to print some of it before the end.
    pub(crate) fn is_possible(settings: &Settings) -> bool {
        let is_enough = |limit: Option<u64>, least| limit.is_none_or(|limit| Some(limit) >= least);
        settings.keep.zip_with(MIN_BUDGET, is_enough).each().into_iter().all(|(_, is_enough)| is_enough)
    }

    /// Begins to print an output of `bytes` bytes so far that starts with `opening`.
    pub(crate) fn start(opening: &[u8], bytes: u64, settings: &Settings) -> Live {
        let part = |limit: u64, (parts, of): Share| limit / of * parts;
        let share = |share: Share| settings.keep.map(|limit| limit.map(|limit| part(limit, share)));
        let most = settings.keep.ceiling().min(settings.limits.ceiling());
        let mut live = Live {
            settings: *settings,
            // The beginning is always bounded in bytes: a line limit alone does not bound a line without end.
            head: Limits { bytes: Some(part(most, HEAD_SHARE)), ..share(HEAD_SHARE) },
            important: share(IMPORTANT_SHARE),
            notices: share(NOTICE_SHARE),
            pending_head: Vec::new(),
            recent: Vec::new(),
            next_report: Duration::ZERO,
            interval: FIRST_INTERVAL,
            reports: 0,
            reported_bytes: 0,
            last_line: String::new(),
            #[cfg(feature = "smart")]
            important_lines: ImportantLines::default(),
            early: EarlyOutput::default(),
        };
        live.observe(opening);
        if bytes > opening.len() as u64 {
            // What follows the opening is not here.
            live.recent.clear();
        }
        live
    }

    /// What has been printed when the command ends.
    pub(crate) fn end(self) -> EarlyOutput {
        let mut early = self.early;
        if early.last_line == LastLine::Open {
            // A notice needs a line feed before it.
            early.cost = early.cost + Cost { bytes: 1, chars: 1, tokens: 1, lines: 1 };
        }
        early
    }

    /// Takes the next bytes of the output.
    pub(crate) fn observe(&mut self, chunk: &[u8]) {
        let most = usize::try_from(self.head.ceiling()).unwrap_or(usize::MAX - 1) + 1;
        let head = match self.early.announcement {
            Announcement::NotNeeded => chunk.len().min(most.saturating_sub(self.pending_head.len())),
            Announcement::Postponed | Announcement::Printed => 0,
        };
        let (head, rest) = chunk.split_at(head);
        self.pending_head.extend_from_slice(head);
        if self.recent.len() + rest.len() <= 2 * RECENT_BYTES {
            return self.recent.extend_from_slice(rest);
        }
        // Only the latest bytes, from the start of a line.
        let kept = RECENT_BYTES.saturating_sub(rest.len()).min(self.recent.len());
        self.recent.drain(..self.recent.len() - kept);
        self.recent.extend_from_slice(&rest[rest.len().saturating_sub(RECENT_BYTES)..]);
        let feed = memchr::memchr(b'\n', &self.recent).map_or(self.recent.len(), |feed| feed + 1);
        self.recent.drain(..feed);
    }

    /// What to print now.
    pub(crate) fn tick(&mut self, progress: &Progress<'_>) -> Vec<u8> {
        let mut text = Vec::new();
        if self.early.announcement == Announcement::NotNeeded {
            self.print_head(progress, &mut text);
        }
        if self.early.announcement != Announcement::NotNeeded {
            self.print_important_lines(progress, &mut text);
            self.report_progress(progress, &mut text);
        }
        if let Some(last) = text.last() {
            self.early.last_line = if *last == b'\n' { LastLine::Ended } else { LastLine::Open };
        }
        text
    }

    /// Prints the beginning as far as its share allows.
    fn print_head(&mut self, progress: &Progress<'_>, text: &mut Vec<u8>) {
        let conventions = self.settings.conventions;
        let room = Room {
            limits: self.head,
            start: 0,
            marker: Cost::default(),
            line_marker: Cost::default(),
            conventions,
            edges: Edges::FillLongLines,
            tokens: progress.tokens,
        };
        let is_all = self.head.fit(&self.pending_head, conventions, progress.tokens);
        let length = match is_all {
            true => self.pending_head.len() - incomplete_char(&self.pending_head),
            false => without_open_sequence(&self.pending_head[..room.head(&self.pending_head)]),
        };
        let rest = self.pending_head.split_off(length);
        let head = std::mem::replace(&mut self.pending_head, rest);
        self.early.beginning += head.len();
        self.head = self.head.less(self.print(&head, progress, text));
        if is_all {
            return;
        }
        let rest = std::mem::take(&mut self.pending_head);
        if (self.early.beginning + rest.len() + self.recent.len()) as u64 == progress.bytes {
            self.recent.splice(..0, rest);
        }
        self.early.announcement = Announcement::Postponed;
        self.next_report = progress.elapsed + self.interval;
    }

    /// Says that output is withheld, unless that was said before.
    fn announce(&mut self, progress: &Progress<'_>, text: &mut Vec<u8>) {
        if self.early.announcement == Announcement::Printed {
            return;
        }
        let is_open = match text.last() {
            Some(last) => *last != b'\n',
            None => self.early.last_line == LastLine::Open,
        };
        if is_open {
            self.print(b"\n", progress, text);
        }
        self.early.announcement = Announcement::Printed;
        self.print_notice((progress.announcement)(), progress, text);
        self.reported_bytes = progress.bytes;
        self.next_report = progress.elapsed + self.interval;
    }

    /// Prints the lines among the latest ones that matter and are unlike those printed before.
    fn print_important_lines(&mut self, progress: &Progress<'_>, text: &mut Vec<u8>) {
        if !progress.is_within_limits {
            self.announce(progress, text);
        }
        let end = memchr::memrchr(b'\n', &self.recent).map_or(0, |feed| feed + 1);
        let rest = self.recent.split_off(end);
        let recent = std::mem::replace(&mut self.recent, rest);
        let lines = rendered(&recent);
        for line in lines.split_inclusive(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
        {
            if line.len() <= MAX_LINE_BYTES && self.is_important(line) {
                let cost = self.cost(line, progress);
                if self.important.afford(cost) {
                    self.announce(progress, text);
                    self.important = self.important.less(cost);
                    self.print(line, progress, text);
                }
            }
        }
        if let Some(last) = last_line(&lines) {
            self.last_line = last;
        }
    }

    /// Reports the progress, if that is due and the command has printed something since the last report: a silent command
    /// may hang.
    fn report_progress(&mut self, progress: &Progress<'_>, text: &mut Vec<u8>) {
        let is_due = progress.elapsed >= self.next_report && progress.bytes > self.reported_bytes;
        if !is_due || self.reports >= MAX_REPORTS {
            return;
        }
        if self.early.announcement == Announcement::Postponed {
            return self.announce(progress, text);
        }
        let report = |last: String| {
            let (seconds, lines) = (progress.elapsed.as_secs(), progress.lines);
            Message::Progress { seconds, lines, last }
        };
        // Quotations use what the reports to come do not need.
        let bare = format!("{}\n", (progress.notice)(report(String::new())));
        let needed = bare.len() as u64 * u64::from(MAX_REPORTS - self.reports) + "; last: ".len() as u64;
        let room = self.notices.bytes.map_or(u64::MAX, |left| left.saturating_sub(needed));
        let last = match room {
            // A character has at most four bytes.
            room if room / 4 >= MIN_QUOTED_CHARS => {
                let last = last_line(&rendered(&self.recent)).unwrap_or_else(|| self.last_line.clone());
                printable(
                    &last,
                    usize::try_from(room / 4).map_or(QUOTED_CHARS, |most| most.min(QUOTED_CHARS)),
                )
            }
            _ => String::new(),
        };
        if self.notices.afford(self.cost(bare.as_bytes(), progress)) {
            self.print_notice(report(last), progress, text);
        }
        self.reports += 1;
        self.reported_bytes = progress.bytes;
        self.interval = (self.interval * 2).min(MAX_INTERVAL);
        self.next_report = progress.elapsed + self.interval;
    }

    fn print_notice(&mut self, message: Message, progress: &Progress<'_>, text: &mut Vec<u8>) {
        let line = format!("{}\n", (progress.notice)(message));
        let cost = self.print(line.as_bytes(), progress, text);
        self.notices = self.notices.less(cost);
    }

    fn print(&mut self, bytes: &[u8], progress: &Progress<'_>, text: &mut Vec<u8>) -> Cost {
        let cost = self.cost(bytes, progress);
        self.early.cost = self.early.cost + cost;
        self.early.printed.extend_from_slice(bytes);
        text.extend_from_slice(bytes);
        cost
    }

    /// The cost of a text. A line that is printed in parts is counted with the part that ends it.
    fn cost(&self, text: &[u8], progress: &Progress<'_>) -> Cost {
        let Settings { keep, conventions, .. } = &self.settings;
        let cost = Cost::of(text, keep, *conventions, progress.tokens);
        Cost { lines: keep.lines.map_or(0, |_| newlines(text)), ..cost }
    }

    #[cfg(feature = "smart")]
    fn is_important(&mut self, line: &[u8]) -> bool {
        self.important_lines.is_important(line)
    }

    #[cfg(not(feature = "smart"))]
    fn is_important(&mut self, _line: &[u8]) -> bool {
        false
    }
}

/// The reason why output is not stored, short enough for a notice.
pub(crate) fn short_reason(reason: &str) -> String {
    printable(reason, QUOTED_CHARS)
}

/// How many bytes at the end are the beginning of a character.
fn incomplete_char(text: &[u8]) -> usize {
    let tail = &text[text.len().saturating_sub(3)..];
    match tail.utf8_chunks().last().map(|chunk| chunk.invalid()) {
        Some(invalid @ [0xC2..=0xF4, ..])
            if std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none()) =>
        {
            invalid.len()
        }
        _ => 0,
    }
}

/// The length of the text without the beginning of a terminal sequence at its end.
fn without_open_sequence(text: &[u8]) -> usize {
    match memchr::memrchr(0x1B, text) {
        Some(at) if !text[at..].iter().skip(2).any(|byte| (0x40..=0x7E).contains(byte)) => at,
        _ => text.len(),
    }
}

/// The last line that is not blank.
fn last_line(text: &[u8]) -> Option<String> {
    let last = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).rfind(|line| !line.is_empty())?;
    Some(String::from_utf8_lossy(last).into_owned())
}
