//! What is printed of an output while its command runs.
//!
//! A reader of a long command must see that it works and what it does: agents cancel a silent command, and a server that
//! is started in the background never ends. So after [`DELAY`] the output flows as it comes, until a share of the budget
//! is used up ([`HEAD_SHARE`]). From then on output is withheld. A notice says so and names the entry; lines that matter
//! are printed as they come ([`IMPORTANT_SHARE`]); and at growing intervals a notice says how far the command is
//! ([`NOTICE_SHARE`]). The preview at the end gets what is left of the budget, and continues after what has flowed.
//!
//! Nothing here reads a clock: the caller says how much time has passed, a few times a second ([`TICK`]). Output that
//! arrives together with the end of the command never flows, so that the preview can choose freely.

use crate::limits::Limits;
use crate::measure::{CountTokens, newlines};
use crate::notice::{Message, Notice};
use crate::profile::Settings;
#[cfg(feature = "smart")]
use crate::strategy::News;
use crate::strategy::{Cost, Edges, Room};
use crate::terminal::{Screen, printable};
use std::time::Duration;

/// A shorter command is shown when it has ended.
pub const DELAY: Duration = Duration::from_secs(1);

/// How often a caller asks what to print.
pub const TICK: Duration = Duration::from_millis(250);

/// One part in four of the budget flows as it comes.
const HEAD_SHARE: u64 = 4;

/// One part in eight is for lines that matter.
const IMPORTANT_SHARE: u64 = 8;

/// One part in eight is for notices.
const NOTICE_SHARE: u64 = 8;

/// In a smaller budget nothing is printed before the end.
const MIN_BUDGET: Limits =
    Limits { lines: Some(16), bytes: Some(2000), chars: Some(2000), tokens: Some(500) };

/// The first notice about the progress comes after this time, each later one after twice the time of the one before,
const FIRST_INTERVAL: Duration = Duration::from_secs(15);

/// but at least this often: an agent cancels a command that prints nothing for five minutes.
const MAX_INTERVAL: Duration = Duration::from_secs(240);

/// The most notices about the progress.
const MAX_PROGRESS_NOTICES: u32 = 20;

/// How much of the latest withheld output is searched for lines that matter.
const RECENT_BYTES: usize = 64 << 10;

/// A longer line is not printed early.
const MAX_LINE_BYTES: usize = 500;

/// How much a notice quotes of the last line.
const QUOTED_CHARS: usize = 80;

/// What has been printed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Printed {
    /// How much of the beginning of the output.
    pub(crate) beginning: usize,
    /// What everything that was printed costs, notices included.
    pub(crate) cost: Cost,
    /// The ranges of single lines from what is withheld.
    pub(crate) lines: Vec<std::ops::Range<u64>>,
    pub(crate) withheld: Withheld,
    /// Whether the last line that was printed has no line feed yet.
    pub(crate) line: LineState,
}

impl Printed {
    /// Whether the preview is the first that a reader sees of the output.
    pub(crate) fn is_nothing(&self) -> bool {
        self.beginning == 0 && self.withheld == Withheld::Nothing
    }

    /// Whether this range is a line that was printed early.
    pub(crate) fn has_line(&self, range: std::ops::Range<u64>) -> bool {
        self.lines.iter().any(|line| line.start <= range.start && range.end <= line.end)
    }
}

/// Whether a reader knows that output is withheld.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Withheld {
    /// Everything has been printed so far, or nothing.
    #[default]
    Nothing,
    /// A notice names the entry that has it.
    Announced,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LineState {
    #[default]
    Ended,
    Open,
}

/// Decides what to print of an output while its command runs.
pub(crate) struct Live {
    budget: Limits,
    settings: Settings,
    /// What is left of the shares.
    head: Limits,
    important: Limits,
    notices: Limits,
    /// The next bytes of the beginning: as many as may still flow, and one more.
    flowing: Vec<u8>,
    /// The latest bytes that are withheld and not searched yet.
    recent: Vec<u8>,
    next_notice: Duration,
    interval: Duration,
    progress_notices: u32,
    /// The size of the output at the last notice.
    noticed_bytes: u64,
    last_line: String,
    #[cfg(feature = "smart")]
    news: News,
    printed: Printed,
}

/// What is known about the output when a caller asks what to print.
pub(crate) struct Progress<'a> {
    pub(crate) elapsed: Duration,
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) tokens: &'a dyn CountTokens,
    /// A notice, with the tag of the entry.
    pub(crate) notice: &'a dyn Fn(Message) -> Notice,
    /// Says that output is withheld, and how to read it.
    pub(crate) announcement: &'a dyn Fn() -> Message,
}

impl Live {
    /// Begins to print an output that starts with `opening`, if the budget is large enough for that.
    pub(crate) fn start(opening: &[u8], bytes: u64, settings: &Settings) -> Option<Live> {
        let budget = settings.keep;
        let is_enough =
            budget.zip_with(MIN_BUDGET, |limit, least| limit.is_none_or(|limit| Some(limit) >= least));
        if !is_enough.each().into_iter().all(|(_, is_enough)| is_enough) {
            return None;
        }
        let share = |parts: u64| budget.map(|limit| limit.map(|limit| limit / parts));
        let mut live = Live {
            budget,
            settings: *settings,
            head: share(HEAD_SHARE),
            important: share(IMPORTANT_SHARE),
            notices: share(NOTICE_SHARE),
            flowing: Vec::new(),
            recent: Vec::new(),
            next_notice: Duration::ZERO,
            interval: FIRST_INTERVAL,
            progress_notices: 0,
            noticed_bytes: 0,
            last_line: String::new(),
            #[cfg(feature = "smart")]
            news: News::default(),
            printed: Printed::default(),
        };
        live.observe(opening);
        if bytes > opening.len() as u64 {
            // What follows the opening is not here.
            live.recent.clear();
        }
        Some(live)
    }

    /// What has been printed when the command ends.
    pub(crate) fn printed(self) -> Printed {
        let mut printed = self.printed;
        if printed.line == LineState::Open {
            // A notice needs a line feed before it.
            printed.cost = printed.cost + Cost { bytes: 1, chars: 1, tokens: 1, lines: 1 };
        }
        printed
    }

    /// Takes the next bytes of the output.
    pub(crate) fn observe(&mut self, chunk: &[u8]) {
        let most = usize::try_from(self.head.ceiling()).unwrap_or(usize::MAX - 1) + 1;
        let flows = match self.printed.withheld {
            Withheld::Nothing => chunk.len().min(most - self.flowing.len()),
            Withheld::Announced => 0,
        };
        self.flowing.extend_from_slice(&chunk[..flows]);
        let fresh = &chunk[flows..];
        self.recent.extend_from_slice(fresh);
        if self.recent.len() > 2 * RECENT_BYTES {
            // From the start of a line.
            let from = self.recent.len() - RECENT_BYTES;
            let feed = memchr::memchr(b'\n', &self.recent[from..]).map_or(RECENT_BYTES, |feed| feed + 1);
            self.recent.drain(..from + feed);
        }
    }

    /// What to print now.
    pub(crate) fn tick(&mut self, progress: &Progress<'_>) -> Vec<u8> {
        let mut text = Vec::new();
        if self.printed.withheld == Withheld::Nothing {
            self.flow(progress, &mut text);
        }
        if self.printed.withheld == Withheld::Announced {
            self.print_important_lines(progress, &mut text);
            self.print_progress(progress, &mut text);
        }
        if let Some(last) = text.last() {
            self.printed.line = if *last == b'\n' { LineState::Ended } else { LineState::Open };
        }
        text
    }

    /// Prints the beginning as far as its share allows, and says so if that is not all.
    fn flow(&mut self, progress: &Progress<'_>, text: &mut Vec<u8>) {
        let room = Room {
            limits: self.head,
            start: 0,
            marker: Cost::default(),
            line_marker: Cost::default(),
            conventions: self.settings.conventions,
            edges: Edges::FillLongLines,
            tokens: progress.tokens,
        };
        let fits = match self.head.fit(&self.flowing, self.settings.conventions, progress.tokens) {
            true => self.flowing.len(),
            false => room.head(&self.flowing),
        };
        let rest = self.flowing.split_off(fits);
        let flowing = std::mem::take(&mut self.flowing);
        self.printed.beginning += flowing.len();
        self.head = self.head.less(self.print(&flowing, progress, text));
        if rest.is_empty() {
            self.flowing = rest;
            return;
        }
        // What flowed before a line feed is no line of its own to a reader.
        if text.last().map_or(self.printed.line == LineState::Open, |&last| last != b'\n') {
            self.print(b"\n", progress, text);
        }
        if self.printed.beginning as u64 + rest.len() as u64 + self.recent.len() as u64 == progress.bytes {
            self.recent.splice(..0, rest);
        }
        self.printed.withheld = Withheld::Announced;
        self.print_notice((progress.announcement)(), progress, text);
        self.noticed_bytes = progress.bytes;
        self.next_notice = progress.elapsed + self.interval;
    }

    /// Prints the lines among the latest ones that matter and are unlike those printed before.
    fn print_important_lines(&mut self, progress: &Progress<'_>, text: &mut Vec<u8>) {
        let end = memchr::memrchr(b'\n', &self.recent).map_or(0, |feed| feed + 1);
        let start = progress.bytes - self.recent.len() as u64;
        let rest = self.recent.split_off(end);
        let recent = std::mem::replace(&mut self.recent, rest);
        let mut lines = Vec::new();
        let mut screen = Screen::new();
        let mut take = |segment: crate::cut::Segment<'_>| {
            let mut at = start + segment.start;
            for line in segment.text.split_inclusive(|&byte| byte == b'\n') {
                let end = if segment.text.len() == line.len() {
                    start + segment.end
                } else {
                    at + line.len() as u64
                };
                lines.push((at..end, line.to_vec()));
                at = end;
            }
        };
        screen.observe(&recent, &mut take);
        screen.finish(&mut take);
        for (range, line) in lines {
            if line.trim_ascii().is_empty() {
                continue;
            }
            self.last_line = printable(String::from_utf8_lossy(line.trim_ascii()).as_ref(), QUOTED_CHARS);
            if line.len() > MAX_LINE_BYTES || !self.is_important(&line) {
                continue;
            }
            let cost = self.cost(&line, progress);
            if self.important.afford(cost) {
                self.important = self.important.less(cost);
                self.print(&line, progress, text);
                self.printed.lines.push(range);
            }
        }
    }

    /// Says how far the command is, if that is due and it has printed something since the last time.
    fn print_progress(&mut self, progress: &Progress<'_>, text: &mut Vec<u8>) {
        let is_due = progress.elapsed >= self.next_notice && progress.bytes > self.noticed_bytes;
        if !is_due || self.progress_notices >= MAX_PROGRESS_NOTICES {
            return;
        }
        let message = Message::Progress {
            seconds: progress.elapsed.as_secs(),
            lines: progress.lines,
            last: self.last_line(),
        };
        self.print_notice(message, progress, text);
        self.progress_notices += 1;
        self.noticed_bytes = progress.bytes;
        self.interval = (self.interval * 2).min(MAX_INTERVAL);
        self.next_notice = progress.elapsed + self.interval;
    }

    /// The last line, also if it has no line feed yet, as progress bars have none.
    fn last_line(&self) -> String {
        let mut open = String::new();
        let mut screen = Screen::new();
        let mut take =
            |segment: crate::cut::Segment<'_>| open.push_str(&String::from_utf8_lossy(segment.text));
        screen.observe(&self.recent, &mut take);
        screen.finish(&mut take);
        match open.trim() {
            "" => self.last_line.clone(),
            open => printable(open, QUOTED_CHARS),
        }
    }

    /// Prints a notice, if its share allows that.
    fn print_notice(&mut self, message: Message, progress: &Progress<'_>, text: &mut Vec<u8>) {
        let line = format!("{}\n", (progress.notice)(message));
        let cost = self.cost(line.as_bytes(), progress);
        if self.notices.afford(cost) {
            self.notices = self.notices.less(cost);
            self.print(line.as_bytes(), progress, text);
        }
    }

    fn print(&mut self, bytes: &[u8], progress: &Progress<'_>, text: &mut Vec<u8>) -> Cost {
        let cost = self.cost(bytes, progress);
        self.printed.cost = self.printed.cost + cost;
        text.extend_from_slice(bytes);
        cost
    }

    /// The cost of a text. A line that is printed in parts is counted with the part that ends it.
    fn cost(&self, text: &[u8], progress: &Progress<'_>) -> Cost {
        let cost = Cost::of(text, &self.budget, self.settings.conventions, progress.tokens);
        Cost { lines: self.budget.lines.map_or(0, |_| newlines(text)), ..cost }
    }

    #[cfg(feature = "smart")]
    fn is_important(&mut self, line: &[u8]) -> bool {
        self.news.is_news(line)
    }

    #[cfg(not(feature = "smart"))]
    fn is_important(&mut self, _line: &[u8]) -> bool {
        false
    }
}
