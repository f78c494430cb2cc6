//! Says what each line is worth, by its role and by the block in which it stands.
//!
//! A block has an extent: a diagnostic has its snippet and notes, a trace its frames, a list its items. What follows
//! a line that matters is worth less than the line and more than the rest; the further away, the less.

use super::counts::{Known, Opening};
use super::rules::Role;
use super::window::Window;

/// What lines still belong to the block that was opened last.
#[derive(Clone, Copy, Debug)]
struct Block {
    extent: Extent,
    indent: u8,
    /// Lines of it so far.
    lines: i32,
    /// Frames of it so far, and those that are not a library's.
    frames: i32,
    own_frames: i32,
    /// How much its opening line was worth less for being a repetition.
    discount: i32,
}

/// How far a block reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// Nothing follows.
    Closed,
    /// Lines that are indented or marked as continuations.
    Diagnostic,
    /// Lines until an empty one.
    List,
    /// Some lines, whatever they are, until another block opens.
    Section,
    /// Frames, and before them the rest of a message.
    Trace,
    /// Indented lines, and then a message.
    Traceback,
    /// What is said of a test that went well, until an empty line.
    Passed,
    /// What a test says of which it is not known yet how it goes.
    Begun,
}

/// Gives scores, line by line.
pub(super) struct Blocks {
    block: Block,
    /// How many lines of each role there were.
    seen: [i32; ROLES],
    /// How many lines in a row had the same role.
    row: i32,
    last: Option<Role>,
    /// How many lines there were before the last one that are like it.
    last_before: i32,
    /// How the last one stands.
    pub(super) context: ResultContext,
    /// Whether it is still to be said why the last failure came about, and how often that was said.
    reason: Reason,
    reasons: i32,
    /// How many results in lists there were that tell of a failure.
    listed: i32,
    part: Part,
}

/// What a part of the text is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    WentWell,
    Anything,
}

/// What is known of why something failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Awaited,
    Given,
}

/// How the result of a test stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultContext {
    /// Right behind another: what is to say of it is said elsewhere.
    Listed,
    Alone,
}

/// How much more it is worth what is said of the first failure.
const FIRST: i32 = 160;

/// What a detail of something that went well is worth.
const MUTED: i32 = 40;

/// So many details before a failure are raised with it.
const DETAILS: usize = 6;

/// So far back the title is looked for under which a test stands.
const TITLED: usize = 32;

/// How many roles there are.
const ROLES: usize = Role::Housekeeping as usize + 1;

/// The binary logarithm, in whole steps: the tenth repetition says little more than the eighth.
fn steps(count: i32) -> i32 {
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
            reason: Reason::Given,
            reasons: 0,
            listed: 0,
            part: Part::Anything,
        }
    }

    /// Whether a line without a role is worth nothing.
    #[inline]
    pub(super) fn are_closed(&self) -> bool {
        self.block.extent == Extent::Closed
    }

    /// Passes by a line that is worth nothing.
    #[inline]
    pub(super) fn pass(&mut self, before: u32) {
        (self.row, self.last, self.context) = (0, None, ResultContext::Alone);
        self.last_before = i32::try_from(before).unwrap_or(i32::MAX);
    }

    /// What a line is worth. `before` tells how many lines of its template there were.
    pub(super) fn score(&mut self, known: &Known, before: u32, window: &mut Window) -> i32 {
        let role = known.role;
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
            && known.opening != Opening::Blank
            && known.indent <= self.block.indent
            && !matches!(role, Some(Role::Traceback | Role::Frame | Role::LibraryFrame))
        {
            return self.exception(known, before, window);
        }
        match role {
            None if self.are_closed() => 0,
            None | Some(Role::Harmless | Role::Housekeeping) => self.inside(known, before),
            Some(Role::SuiteTitle) => {
                self.seen[Role::SuiteTitle as usize] += 1;
                self.inside(known, before)
            }
            Some(Role::TestStart) => {
                self.open(Extent::Begun, known, 0);
                0
            }
            Some(Role::PassedSection) => {
                self.part = Part::WentWell;
                self.passes(known, window)
            }
            Some(Role::Failed) if self.part == Part::WentWell => self.passes(known, window),
            Some(Role::Passed) => self.passes(known, window),
            Some(Role::Detail) if self.block.extent == Extent::Passed => MUTED,
            Some(Role::Detail) if self.block.extent == Extent::Begun => {
                (480 - steps(before) * 160).max(MUTED)
            }
            Some(role @ (Role::Frame | Role::LibraryFrame)) => self.frame(role, before),
            Some(Role::Location) => self.place(previous, known, before, window),
            Some(Role::Failed) if self.context == ResultContext::Listed => self.listed(known, before, window),
            Some(role) => self.opens(role, known, before, window),
        }
    }

    /// Whether the next line may belong to a block.
    pub(super) fn are_open(&self) -> bool {
        !matches!(self.block.extent, Extent::Closed | Extent::Passed | Extent::Begun)
    }

    fn open(&mut self, extent: Extent, known: &Known, discount: i32) {
        self.block = Block { extent, indent: known.indent, lines: 0, frames: 0, own_frames: 0, discount };
    }

    /// A line with a role of its own.
    fn opens(&mut self, role: Role, known: &Known, before: i32, window: &mut Window) -> i32 {
        let seen = self.seen[role as usize];
        let many = steps(seen);
        self.seen[role as usize] += 1;
        let again = steps(before);
        let row = self.row.min(54);
        // Diagnostics that are alike often have one cause; those that differ have their own.
        let of_kind = again * 60 + many * if again == 0 { 15 } else { 35 };
        let fresh = fresh(before, many);
        match role {
            Role::Failed => {
                let discount = again * 25 + many * 12 + crowd(row, seen);
                self.raise_before(known, 760 - discount, window);
                // What is said of the first failure, before the names of many.
                self.reason = Reason::Awaited;
                let said = if many == 0 { -FIRST } else { discount + many * 40 };
                self.open(Extent::Section, known, said);
                800 - discount
            }
            Role::Verdict => {
                let discount = again * 4 + many * 12 + crowd(0, seen);
                if let Some(name) = window.recent(1) {
                    name.score = name.score.max(800 - many * 12 - crowd(0, seen));
                }
                self.open(Extent::Section, known, discount + many * 40);
                790 - discount
            }
            Role::Context => 60,
            Role::Diagnostic => {
                for (back, worth) in [(1, 700), (2, 640), (3, 600)] {
                    match window.recent(back) {
                        Some(line) if line.role == Some(Role::Context) => {
                            raise(window, back, worth - of_kind)
                        }
                        _ => break,
                    }
                }
                self.open(Extent::Diagnostic, known, of_kind);
                // The first often causes the others.
                780 - of_kind + (90 - many * 30).max(0)
            }
            Role::Lint => {
                self.open(Extent::Diagnostic, known, of_kind);
                780 - of_kind
            }
            Role::Finding => {
                let mut back = 1;
                while let Some(line) = window.recent(back) {
                    if line.indent < known.indent {
                        line.score = line.score.max(700 - of_kind);
                        break;
                    }
                    back += 1;
                }
                760 - of_kind
            }
            Role::Exception => {
                let many = self.exceptions(seen);
                let (discount, fresh) = (again * 110 + many * 20, self::fresh(before, many));
                raise(window, 1, 300 - discount);
                self.open(Extent::Trace, known, discount);
                720 - discount + fresh / 2
            }
            Role::Traceback => {
                self.open(Extent::Traceback, known, again * 40);
                raise(window, 1, 250 - again * 40);
                400 - again * 40
            }
            Role::Frame | Role::LibraryFrame => self.frame(role, before),
            Role::Detail => {
                // What leads up to a diagnostic stands behind a block that has ended.
                let of_block = if self.are_open() { self.block.discount } else { 0 };
                let discount = (again * 70 + many * 12 + row.min(12) * 30).max(of_block);
                self.block.lines += 1;
                640 - discount + fresh
            }
            Role::LeadIn => 700 - again * 20 - many * 12,
            Role::Summary => {
                self.part = Part::Anything;
                self.open(Extent::Closed, known, 0);
                760 - again * 70 - many * 10
            }
            Role::ListHeading => {
                self.part = Part::Anything;
                self.open(Extent::List, known, again * 20);
                740 - again * 20
            }
            Role::Stopped | Role::Fatal => {
                let discount = again * 80 + many * 25;
                raise(window, 1, 400 - discount);
                raise(window, 2, 300 - discount);
                self.open(Extent::Diagnostic, known, discount + 60);
                if role == Role::Fatal { 850 - discount } else { 700 - discount }
            }
            Role::Heading => {
                self.open(Extent::Closed, known, 0);
                560 - again * 40 - many * 15
            }
            Role::Warning => {
                // However many there are, one that is unlike them is worth a look.
                let discount = again * 120 + many * if again == 0 { 8 } else { 25 };
                if self.block.extent != Extent::List {
                    self.open(Extent::Diagnostic, known, discount + 330);
                }
                140 - discount
            }
            Role::Suspect => {
                let discount = again * 90 + many * 40;
                let inside = self.inside(known, before);
                if self.block.extent == Extent::Closed {
                    self.open(Extent::Diagnostic, known, discount + 200);
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

    /// The result of a test in a list of such: most of what is to say of it is said elsewhere.
    fn listed(&mut self, known: &Known, before: i32, window: &mut Window) -> i32 {
        let many = steps(self.listed);
        let discount = steps(before) * 25 + many * 12 + crowd(self.row, self.listed);
        self.listed += 1;
        self.reason = Reason::Awaited;
        self.raise_before(known, 760 - discount, window);
        let said = if many == 0 { -FIRST } else { discount + many * 40 };
        self.open(Extent::Diagnostic, known, said);
        800 - discount
    }

    /// Raises what was said of a test before it was said to have failed: what it found, further in than its name, and
    /// what the tests are about among which it stands.
    fn raise_before(&self, known: &Known, worth: i32, window: &mut Window) {
        let mut back = 1;
        while let Some(line) = window.recent(back)
            && line.indent > known.indent
            && line.role == Some(Role::Detail)
            && back <= DETAILS
        {
            raise(window, back, worth - 60);
            back += 1;
        }
        if self.seen[Role::SuiteTitle as usize] > 0
            && let Some(title) = (1..=TITLED)
                .find(|&back| window.recent(back).is_some_and(|line| line.role == Some(Role::SuiteTitle)))
        {
            raise(window, title, worth);
        }
    }

    /// How many exceptions there were, in steps. The first one behind a failure is its reason, however many a test that
    /// went well has printed.
    fn exceptions(&mut self, seen: i32) -> i32 {
        match std::mem::replace(&mut self.reason, Reason::Given) {
            Reason::Awaited => {
                self.reasons += 1;
                steps(self.reasons - 1)
            }
            Reason::Given => steps(seen),
        }
    }

    /// Where something is: worth as much as what it is. Some tools print a headline that no rule can know, and the place
    /// under it.
    fn place(
        &mut self,
        (previous, before_previous): (Option<Role>, i32),
        known: &Known,
        before: i32,
        window: &mut Window,
    ) -> i32 {
        if matches!(previous, Some(Role::Diagnostic | Role::Lint)) {
            self.block.lines += 1;
            return 770 - self.block.discount;
        }
        let headline =
            window.recent(1).filter(|line| line.opening == Opening::Text && line.indent < known.indent);
        if matches!(previous, None | Some(Role::Suspect)) && headline.is_some() {
            let worth = self.opens(Role::Lint, known, before_previous, window);
            raise(window, 1, worth);
            return worth - 10;
        }
        self.opens(Role::Detail, known, before, window)
    }

    /// A line without a role: worth what its block makes it.
    fn inside(&mut self, known: &Known, before: i32) -> i32 {
        let again = steps(before) * 90;
        let block = &mut self.block;
        let blank = known.opening == Opening::Blank;
        let deeper = known.indent > block.indent || known.opening == Opening::Continuation;
        block.lines += 1;
        let (goes_on, worth) = match block.extent {
            Extent::Closed => (false, 0),
            Extent::Passed => (!blank, 0),
            Extent::Begun => (block.lines <= 8, 0),
            Extent::Diagnostic => (!blank && deeper && block.lines <= 30, 520 - block.lines * 14),
            Extent::List => (!(blank && block.lines > 1) && block.lines <= 200, 720 - block.lines * 2),
            Extent::Section if block.discount < 0 => (block.lines <= 30, 440 - block.lines * 10),
            Extent::Section => (block.lines <= 14, 440 - block.lines * 20),
            // What a message has to say, it says on its first lines.
            Extent::Trace => (
                !blank && block.frames == 0 && block.lines <= 8,
                if block.lines == 1 { 660 } else { 600 - block.lines * 60 },
            ),
            Extent::Traceback => (block.lines <= 400, 120),
        };
        if !goes_on {
            block.extent = Extent::Closed;
            return 0;
        }
        if blank {
            return 1;
        }
        let again = if block.extent == Extent::List { again / 3 } else { again };
        (worth - block.discount - again).max(1)
    }

    /// A test that went well: what it said before, further in than its name, and what is said of it is not worth much.
    fn passes(&mut self, known: &Known, window: &mut Window) -> i32 {
        let mut back = 1;
        while let Some(line) = window.recent(back)
            && line.indent > known.indent
            && line.role == Some(Role::Detail)
        {
            line.score = line.score.min(MUTED);
            back += 1;
        }
        // In a list, what follows may have failed.
        if self.block.extent != Extent::List {
            self.open(Extent::Passed, known, 0);
        }
        0
    }

    fn frame(&mut self, role: Role, before: i32) -> i32 {
        let block = &mut self.block;
        block.frames += 1;
        let again = steps(before) * 60;
        let worth = match (block.extent, role) {
            (Extent::Traceback, _) => 120,
            (_, Role::LibraryFrame) => (400 - block.frames * 60).max(310 - block.frames),
            // The first frames of one's own say where it happened; of the others some are shown.
            _ => {
                block.own_frames += 1;
                (600 - block.own_frames * 60).max(325 - block.frames)
            }
        };
        (worth - block.discount - again).max(1)
    }

    /// The line that ends a traceback says what happened; the frames right before it say where.
    fn exception(&mut self, known: &Known, before: i32, window: &mut Window) -> i32 {
        let seen = self.seen[Role::Exception as usize];
        self.seen[Role::Exception as usize] += 1;
        let many = self.exceptions(seen);
        let discount = steps(before) * 110 + many * 20;
        for (back, worth) in [(1, 560), (2, 540), (3, 330), (4, 310)] {
            raise(window, back, worth - discount - many * 20);
        }
        // It may have been raised by a library that was called with something wrong.
        let mut back = 1;
        while let Some(line) = window.recent(back).filter(|line| line.role != Some(Role::Traceback)) {
            if line.role == Some(Role::Frame) {
                raise(window, back, 550 - discount - many * 20);
                raise(window, back - 1, 535 - discount - many * 20);
                break;
            }
            back += 1;
        }
        self.open(Extent::Trace, known, discount);
        720 - discount + fresh(before, many) / 2
    }
}

/// How much less a name is worth for coming after many: the last ones say little.
fn crowd(row: i32, seen: i32) -> i32 {
    ((row.min(54) - 24) * 10).max((seen.min(124) - 24) * 3).max(0)
}

/// How much more the first reasons are worth that are given: more than the names of all that failed.
fn fresh(before: i32, many: i32) -> i32 {
    if before == 0 { (160 - many * 40).max(0) } else { 0 }
}

fn raise(window: &mut Window, back: usize, worth: i32) {
    if let Some(line) = window.recent(back)
        && line.opening != Opening::Blank
    {
        line.score = line.score.max(worth);
    }
}
