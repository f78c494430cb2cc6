//! Scores each line, by its role and by the block it is in.
//!
//! A block is opened by a line with a role and has an extent: a diagnostic has its snippet and notes, a trace its frames,
//! a list its items. Lines inside a block score less than the line that opened it and more than other lines, the less
//! the further away they are. Repetitions score less each time.

use super::line_tables::{LineInfo, Opening};
use super::rules::Role;
use super::window::Window;

/// The block that was opened last.
#[derive(Clone, Copy, Debug)]
struct Block {
    extent: Extent,
    indent: u8,
    /// Lines of it so far.
    lines: i32,
    /// Frames of it so far, and those that are not in a library.
    frames: i32,
    own_frames: i32,
    /// What its lines lose because the opening line was a repetition; negative for a bonus.
    discount: i32,
}

/// Which lines belong to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// None.
    Closed,
    /// Lines that are indented or start with a continuation mark.
    Diagnostic,
    /// All lines until a blank one.
    List,
    /// A number of lines of any kind, until another block opens.
    Section,
    /// The rest of a message, then frames.
    Trace,
    /// Indented lines, and then a message.
    Traceback,
    /// The output of a test that passed, until a blank line.
    Passed,
    /// The output of a test whose result is not known yet.
    RunningTest,
}

/// Scores lines, one after the other.
pub(super) struct Blocks {
    block: Block,
    /// How many lines of each role there were.
    seen: [i32; ROLES],
    /// How many lines before the last one, without interruption, had its role.
    row: i32,
    last: Option<Role>,
    /// How many lines with the template of the last one there were before it.
    last_before: i32,
    /// Whether the last line is in a list of results.
    pub(super) context: ResultContext,
    /// Whether the reason of the last failure is still to come, and how many reasons there were.
    reason: FailureReason,
    reasons: i32,
    /// How many failures there were in lists of results.
    listed: i32,
    section: Section,
}

/// What the current section of the text is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    PassedTests,
    Any,
}

/// Whether the reason of the last failure was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureReason {
    Expected,
    Reported,
}

/// What precedes the result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultContext {
    /// Another result: this is a list, and the details are elsewhere.
    Listed,
    /// Any other line.
    Alone,
}

/// The bonus of the lines after the first failure.
const FIRST_FAILURE_BONUS: i32 = 160;

/// The score of a detail of a test that passed.
const PASSED_DETAIL_SCORE: i32 = 40;

/// How many details before a failure are raised with it.
const MAX_RAISED_DETAILS: usize = 6;

/// How many lines back the title of a test's suite is searched.
const TITLE_SEARCH_LINES: usize = 32;

/// How many roles there are.
const ROLES: usize = Role::Housekeeping as usize + 1;

/// `log2(count + 1)`, rounded down: the tenth repetition says little more than the eighth.
fn log2(count: i32) -> i32 {
    32 - (count.max(0) as u32 + 1).leading_zeros() as i32 - 1
}

impl Blocks {
    pub(super) fn new() -> Blocks {
        let block =
            Block { extent: Extent::Closed, indent: 0, lines: 0, frames: 0, own_frames: 0, discount: 0 };
        Blocks {
            block,
            seen: [0; ROLES],
            row: 0,
            last: None,
            last_before: 0,
            context: ResultContext::Alone,
            reason: FailureReason::Reported,
            reasons: 0,
            listed: 0,
            section: Section::Any,
        }
    }

    /// Whether a line without a role scores nothing.
    #[inline]
    pub(super) fn are_closed(&self) -> bool {
        self.block.extent == Extent::Closed
    }

    /// Records a line that scores nothing.
    #[inline]
    pub(super) fn skip(&mut self, before: u32) {
        (self.row, self.last, self.context) = (0, None, ResultContext::Alone);
        self.last_before = i32::try_from(before).unwrap_or(i32::MAX);
    }

    /// The score of a line. `before` is how often its template occurred before.
    pub(super) fn score(&mut self, info: &LineInfo, before: u32, window: &mut Window) -> i32 {
        let role = info.role;
        let before = i32::try_from(before).unwrap_or(i32::MAX);
        self.row = if role.is_some() && role == self.last { self.row + 1 } else { 0 };
        let previous = (std::mem::replace(&mut self.last, role), self.last_before);
        self.last_before = before;
        let is_result = |role| matches!(role, Some(Role::Passed | Role::Failed));
        self.context = match is_result(role) && is_result(previous.0) {
            true => ResultContext::Listed,
            false => ResultContext::Alone,
        };
        if self.block.extent == Extent::Traceback
            && info.opening != Opening::Blank
            && info.indent <= self.block.indent
            && !matches!(role, Some(Role::Traceback | Role::Frame | Role::LibraryFrame))
        {
            return self.score_traceback_end(info, before, window);
        }
        match role {
            None if self.are_closed() => 0,
            None | Some(Role::Harmless | Role::Housekeeping) => self.score_inside(info, before),
            Some(Role::SuiteTitle) => {
                self.seen[Role::SuiteTitle as usize] += 1;
                self.score_inside(info, before)
            }
            Some(Role::TestStart) => {
                self.open(Extent::RunningTest, info, 0);
                0
            }
            Some(Role::PassedSection) => {
                self.section = Section::PassedTests;
                self.score_passed(info, window)
            }
            Some(Role::Failed) if self.section == Section::PassedTests => self.score_passed(info, window),
            Some(Role::Passed) => self.score_passed(info, window),
            Some(Role::Detail) if self.block.extent == Extent::Passed => PASSED_DETAIL_SCORE,
            Some(Role::Detail) if self.block.extent == Extent::RunningTest => {
                (480 - log2(before) * 160).max(PASSED_DETAIL_SCORE)
            }
            Some(role @ (Role::Frame | Role::LibraryFrame)) => self.score_frame(role, before),
            Some(Role::Location) => self.score_location(previous, info, before, window),
            Some(Role::Failed) if self.context == ResultContext::Listed => {
                self.score_listed_failure(info, before, window)
            }
            Some(role) => self.score_opener(role, info, before, window),
        }
    }

    /// Whether the next line may belong to a block that reports a problem.
    pub(super) fn are_open(&self) -> bool {
        !matches!(self.block.extent, Extent::Closed | Extent::Passed | Extent::RunningTest)
    }

    fn open(&mut self, extent: Extent, info: &LineInfo, discount: i32) {
        self.block = Block { extent, indent: info.indent, lines: 0, frames: 0, own_frames: 0, discount };
    }

    /// Scores a line with a role, which may open a block.
    fn score_opener(&mut self, role: Role, info: &LineInfo, before: i32, window: &mut Window) -> i32 {
        let seen = self.seen[role as usize];
        let many = log2(seen);
        self.seen[role as usize] += 1;
        let again = log2(before);
        let row = self.row.min(54);
        // Similar diagnostics often have one cause; different ones have their own.
        let repetition = again * 60 + many * if again == 0 { 15 } else { 35 };
        let novelty = novelty_bonus(before, many);
        match role {
            Role::Failed => {
                let discount = again * 25 + many * 12 + crowding_penalty(row, seen);
                self.raise_before(info, 760 - discount, window);
                // The details of the first failure come before the names of many.
                self.reason = FailureReason::Expected;
                let block_discount = if many == 0 { -FIRST_FAILURE_BONUS } else { discount + many * 40 };
                self.open(Extent::Section, info, block_discount);
                800 - discount
            }
            Role::Verdict => {
                let discount = again * 4 + many * 12 + crowding_penalty(0, seen);
                if let Some(name) = window.recent(1) {
                    name.score = name.score.max(800 - many * 12 - crowding_penalty(0, seen));
                }
                self.open(Extent::Section, info, discount + many * 40);
                790 - discount
            }
            Role::Context => 60,
            Role::Diagnostic => {
                for (back, score) in [(1, 700), (2, 640), (3, 600)] {
                    match window.recent(back) {
                        Some(line) if line.role == Some(Role::Context) => {
                            raise(window, back, score - repetition)
                        }
                        _ => break,
                    }
                }
                self.open(Extent::Diagnostic, info, repetition);
                // The first error often causes the others.
                780 - repetition + (90 - many * 30).max(0)
            }
            Role::Lint => {
                self.open(Extent::Diagnostic, info, repetition);
                780 - repetition
            }
            Role::Finding => {
                let mut back = 1;
                while let Some(line) = window.recent(back) {
                    if line.indent < info.indent {
                        line.score = line.score.max(700 - repetition);
                        break;
                    }
                    back += 1;
                }
                760 - repetition
            }
            Role::Exception => {
                let many = self.log2_exceptions(seen);
                let (discount, novelty) = (again * 110 + many * 20, novelty_bonus(before, many));
                raise(window, 1, 300 - discount);
                self.open(Extent::Trace, info, discount);
                720 - discount + novelty / 2
            }
            Role::Traceback => {
                self.open(Extent::Traceback, info, again * 40);
                raise(window, 1, 250 - again * 40);
                400 - again * 40
            }
            Role::Frame | Role::LibraryFrame => self.score_frame(role, before),
            Role::Detail => {
                // The lines that lead up to a diagnostic come after a block that has ended.
                let block_discount = if self.are_open() { self.block.discount } else { 0 };
                let discount = (again * 70 + many * 12 + row.min(12) * 30).max(block_discount);
                self.block.lines += 1;
                640 - discount + novelty
            }
            Role::LeadIn => 700 - again * 20 - many * 12,
            Role::Summary => {
                self.section = Section::Any;
                self.open(Extent::Closed, info, 0);
                760 - again * 70 - many * 10
            }
            Role::ListHeading => {
                self.section = Section::Any;
                self.open(Extent::List, info, again * 20);
                740 - again * 20
            }
            Role::Stopped | Role::Fatal => {
                let discount = again * 80 + many * 25;
                raise(window, 1, 400 - discount);
                raise(window, 2, 300 - discount);
                self.open(Extent::Diagnostic, info, discount + 60);
                if role == Role::Fatal { 850 - discount } else { 700 - discount }
            }
            Role::Heading => {
                self.open(Extent::Closed, info, 0);
                560 - again * 40 - many * 15
            }
            Role::Warning => {
                // However many warnings there are, one that is unlike the others loses little.
                let discount = again * 120 + many * if again == 0 { 8 } else { 25 };
                if self.block.extent != Extent::List {
                    self.open(Extent::Diagnostic, info, discount + 330);
                }
                140 - discount
            }
            Role::Suspect => {
                let discount = again * 90 + many * 40;
                let inside = self.score_inside(info, before);
                if self.block.extent == Extent::Closed {
                    self.open(Extent::Diagnostic, info, discount + 200);
                    raise(window, 1, 260 - discount);
                }
                inside.max(300 - discount)
            }
            Role::Location
            | Role::SuiteTitle
            | Role::PassedSection
            | Role::Passed
            | Role::TestStart
            | Role::Harmless
            | Role::Housekeeping => 0,
        }
    }

    /// Scores a failure in a list of results, whose details are elsewhere.
    fn score_listed_failure(&mut self, info: &LineInfo, before: i32, window: &mut Window) -> i32 {
        let many = log2(self.listed);
        let discount = log2(before) * 25 + many * 12 + crowding_penalty(self.row, self.listed);
        self.listed += 1;
        self.reason = FailureReason::Expected;
        self.raise_before(info, 760 - discount, window);
        let block_discount = if many == 0 { -FIRST_FAILURE_BONUS } else { discount + many * 40 };
        self.open(Extent::Diagnostic, info, block_discount);
        800 - discount
    }

    /// Raises lines before a failed test's name: its details, which are indented further than the name, and the title of
    /// its suite.
    fn raise_before(&self, info: &LineInfo, score: i32, window: &mut Window) {
        let mut back = 1;
        while let Some(line) = window.recent(back)
            && line.indent > info.indent
            && line.role == Some(Role::Detail)
            && back <= MAX_RAISED_DETAILS
        {
            raise(window, back, score - 60);
            back += 1;
        }
        if self.seen[Role::SuiteTitle as usize] > 0
            && let Some(title) = (1..=TITLE_SEARCH_LINES)
                .find(|&back| window.recent(back).is_some_and(|line| line.role == Some(Role::SuiteTitle)))
        {
            raise(window, title, score);
        }
    }

    /// The logarithm of the number of exceptions so far. The first one after a failure is its reason and is counted
    /// separately: passed tests may have printed many others.
    fn log2_exceptions(&mut self, seen: i32) -> i32 {
        match std::mem::replace(&mut self.reason, FailureReason::Reported) {
            FailureReason::Expected => {
                self.reasons += 1;
                log2(self.reasons - 1)
            }
            FailureReason::Reported => log2(seen),
        }
    }

    /// Scores a source location like the message that it belongs to. Some tools print the location under a headline that
    /// no rule matches.
    fn score_location(
        &mut self,
        (previous, before_previous): (Option<Role>, i32),
        info: &LineInfo,
        before: i32,
        window: &mut Window,
    ) -> i32 {
        if matches!(previous, Some(Role::Diagnostic | Role::Lint)) {
            self.block.lines += 1;
            return 770 - self.block.discount;
        }
        let headline =
            window.recent(1).filter(|line| line.opening == Opening::Text && line.indent < info.indent);
        if matches!(previous, None | Some(Role::Suspect)) && headline.is_some() {
            let score = self.score_opener(Role::Lint, info, before_previous, window);
            raise(window, 1, score);
            return score - 10;
        }
        self.score_opener(Role::Detail, info, before, window)
    }

    /// Scores a line without a role, by its block.
    fn score_inside(&mut self, info: &LineInfo, before: i32) -> i32 {
        let again = log2(before) * 90;
        let block = &mut self.block;
        let blank = info.opening == Opening::Blank;
        let deeper = info.indent > block.indent || info.opening == Opening::Continuation;
        block.lines += 1;
        let (continues, score) = match block.extent {
            Extent::Closed => (false, 0),
            Extent::Passed => (!blank, 0),
            Extent::RunningTest => (block.lines <= 8, 0),
            Extent::Diagnostic => (!blank && deeper && block.lines <= 30, 520 - block.lines * 14),
            Extent::List => (!(blank && block.lines > 1) && block.lines <= 200, 720 - block.lines * 2),
            Extent::Section if block.discount < 0 => (block.lines <= 30, 440 - block.lines * 10),
            Extent::Section => (block.lines <= 14, 440 - block.lines * 20),
            // The first lines of a message say the most.
            Extent::Trace => (
                !blank && block.frames == 0 && block.lines <= 8,
                if block.lines == 1 { 660 } else { 600 - block.lines * 60 },
            ),
            Extent::Traceback => (block.lines <= 400, 120),
        };
        if !continues {
            block.extent = Extent::Closed;
            return 0;
        }
        if blank {
            return 1;
        }
        let again = if block.extent == Extent::List { again / 3 } else { again };
        (score - block.discount - again).max(1)
    }

    /// Scores a test that passed. Its details, before the name and after it, lose their scores.
    fn score_passed(&mut self, info: &LineInfo, window: &mut Window) -> i32 {
        let mut back = 1;
        while let Some(line) = window.recent(back)
            && line.indent > info.indent
            && line.role == Some(Role::Detail)
        {
            line.score = line.score.min(PASSED_DETAIL_SCORE);
            back += 1;
        }
        // In a list, the next test may have failed.
        if self.block.extent != Extent::List {
            self.open(Extent::Passed, info, 0);
        }
        0
    }

    fn score_frame(&mut self, role: Role, before: i32) -> i32 {
        let block = &mut self.block;
        block.frames += 1;
        let again = log2(before) * 60;
        let score = match (block.extent, role) {
            (Extent::Traceback, _) => 120,
            (_, Role::LibraryFrame) => (400 - block.frames * 60).max(310 - block.frames),
            // The first frames outside libraries say where it happened.
            _ => {
                block.own_frames += 1;
                (600 - block.own_frames * 60).max(325 - block.frames)
            }
        };
        (score - block.discount - again).max(1)
    }

    /// Scores the line that ends a traceback, which says what happened, and raises the frames before it, which say where.
    fn score_traceback_end(&mut self, info: &LineInfo, before: i32, window: &mut Window) -> i32 {
        let seen = self.seen[Role::Exception as usize];
        self.seen[Role::Exception as usize] += 1;
        let many = self.log2_exceptions(seen);
        let discount = log2(before) * 110 + many * 20;
        for (back, score) in [(1, 560), (2, 540), (3, 330), (4, 310)] {
            raise(window, back, score - discount - many * 20);
        }
        // If a library raised it, the caller's frame matters more.
        let mut back = 1;
        while let Some(line) = window.recent(back).filter(|line| line.role != Some(Role::Traceback)) {
            if line.role == Some(Role::Frame) {
                raise(window, back, 550 - discount - many * 20);
                raise(window, back - 1, 535 - discount - many * 20);
                break;
            }
            back += 1;
        }
        self.open(Extent::Trace, info, discount);
        720 - discount + novelty_bonus(before, many) / 2
    }
}

/// What a test's name loses because many came before it.
fn crowding_penalty(row: i32, seen: i32) -> i32 {
    ((row.min(54) - 24) * 10).max((seen.min(124) - 24) * 3).max(0)
}

/// The bonus of the first reasons reported, which puts them before the names of all failed tests.
fn novelty_bonus(before: i32, many: i32) -> i32 {
    if before == 0 { (160 - many * 40).max(0) } else { 0 }
}

fn raise(window: &mut Window, back: usize, score: i32) {
    if let Some(line) = window.recent(back)
        && line.opening != Opening::Blank
    {
        line.score = line.score.max(score);
    }
}
