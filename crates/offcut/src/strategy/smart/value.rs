//! The value of each line: its own, by its role, and what it gains from the lines around it.
//!
//! A line next to one that matters explains it. So every line is worth a share of the best line within reach, and a line
//! that is indented under another is part of it. The last line of a traceback is its message. What a test printed that
//! passed is worth nothing.

use super::candidates::Candidate;
use super::line_tables::{LineInfo, Opening};
use super::message_code::MessageCode;
use super::weights::{
    BETWEEN_TROUBLE, Class, DETAIL, HEADING, INDENTED, INDENTED_REACH, LIBRARY_FRAME, NEIGHBOUR, REPORT,
    REPORT_REACH, REPORT_STEP, STRONG, Weights, reach, repetition,
};
use super::window::Window;
use crate::strategy::rules::Role;

/// Computes values, one line after the other.
pub(super) struct Values {
    weights: Weights,
    /// How many lines around a line gain from it.
    reach: usize,
    inherited: Inherited,
    report: Report,
    scope: Scope,
    section: Section,
    /// How many steps began.
    steps: u64,
    /// The value of the last line by its role, and how often its template occurred before it.
    last_own: i32,
    last_before: u32,
}

/// What the next lines gain from the lines before them.
#[derive(Clone, Copy, Debug, Default)]
struct Inherited {
    value: i32,
    /// For how many more lines.
    lines: usize,
}

impl Inherited {
    /// What the next line gains.
    fn next(&mut self, step: i32) -> i32 {
        if self.lines == 0 {
            return 0;
        }
        self.lines -= 1;
        self.value -= step;
        self.value
    }
}

/// The lines after a line that says what went wrong, until the next of its class or a warning. The first reports are shown whole before
/// the many that follow are begun.
#[derive(Clone, Copy, Debug)]
struct Report {
    /// The class and the value of the line that begins it.
    class: Class,
    value: i32,
    inherited: Inherited,
}

/// What the next lines are part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    None,
    /// A line that matters: what is indented under it.
    Under {
        indent: u8,
        value: i32,
        lines: i32,
    },
    /// A traceback, until its message.
    Traceback {
        indent: u8,
    },
    /// A test that passed: what is indented under its name.
    Passed {
        indent: u8,
    },
}

/// What the current section of the text is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    PassedTests,
    Any,
}

/// The value of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    /// By its role.
    pub(super) own: i32,
    /// With what it gains from the lines before it.
    pub(super) value: i32,
    /// Its role, by the scope that it is in.
    pub(super) role: Option<Role>,
}

impl Values {
    /// `budget` is about how many bytes may be shown.
    pub(super) fn new(budget: usize) -> Values {
        Values {
            weights: Weights::new(budget),
            reach: reach(budget),
            inherited: Inherited::default(),
            report: Report { class: Class::Idle, value: 0, inherited: Inherited::default() },
            scope: Scope::None,
            section: Section::Any,
            steps: 0,
            last_own: 0,
            last_before: 0,
        }
    }

    /// Whether several commands printed the text so far, one after the other.
    pub(super) fn has_several_commands(&self) -> bool {
        // A tool may print the one command that it runs.
        self.steps > 1
    }

    /// Whether a line without a role is worth nothing here.
    #[inline]
    pub(super) fn are_idle(&self) -> bool {
        self.inherited.lines == 0 && self.report.inherited.lines == 0 && self.scope == Scope::None
    }

    /// Whether the next line may belong to something that matters.
    #[inline]
    pub(super) fn are_near_trouble(&self) -> bool {
        self.inherited.lines > 0 || matches!(self.scope, Scope::Under { .. } | Scope::Traceback { .. })
    }

    /// Records a line that is worth nothing.
    #[inline]
    pub(super) fn skip(&mut self, before: u32) {
        (self.last_own, self.last_before) = (0, before);
    }

    /// The value of a line. The lines before it, which are in the window, gain from it. `before` is how often its template
    /// occurred before.
    pub(super) fn value(
        &mut self,
        info: &LineInfo,
        before: u32,
        length: usize,
        window: &mut Window,
    ) -> Value {
        let role = self.role(info, window);
        let own = self.own(role, info.code, before, length);
        let again = repetition(before);
        let reported = self.report(role.map_or(Class::Idle, Class::of), own, length) - again;
        let inherited = self.inherited.next(1).max(reported);
        let indented = self.indented(info) - again;
        let value = match role {
            Some(role) if role.is_success() => i32::from(inherited > 0) * BETWEEN_TROUBLE,
            // The frames of libraries are alike in all reports.
            Some(Role::LibraryFrame) => own.max(inherited.max(indented) - LIBRARY_FRAME),
            _ => own.max(inherited).max(indented),
        };
        self.pass_on(own, window);
        match role {
            Some(Role::Verdict) => window.backwards().take(1).for_each(|line| raise(line, own)),
            Some(Role::Failed) => {
                let title = window.backwards().find(|line| line.role == Some(Role::Title));
                title.into_iter().for_each(|line| raise(line, HEADING.of(own)));
                details_before(info, window).for_each(|line| raise(line, REPORT.of(own)));
            }
            _ => {}
        }
        if own >= STRONG {
            raise_heading(window, info.indent, HEADING.of(own));
            self.open(info, own);
        }
        Value { own, value, role }
    }

    /// The value of a line by its role.
    fn own(&mut self, role: Option<Role>, code: Option<MessageCode>, before: u32, length: usize) -> i32 {
        let before_last = std::mem::replace(&mut self.last_before, before);
        // A location is as new as the message above it.
        let again = if role == Some(Role::Location) { before.min(before_last) } else { before };
        let own = role.map_or(0, |role| self.weights.value(role, code, again, length));
        self.last_own = match role {
            Some(Role::Location) if self.last_own > 0 => DETAIL.of(self.last_own),
            Some(Role::Detail) if self.report.inherited.lines > 0 => own.min(DETAIL.of(self.report.value)),
            _ => own,
        };
        self.last_own
    }

    /// The value of a line for being in a report. A line of a class that begins reports begins the next one.
    fn report(&mut self, class: Class, own: i32, length: usize) -> i32 {
        if class.ends_report(self.report.class) {
            self.report.inherited.lines = 0;
        }
        let reported = self.report.inherited.next(REPORT_STEP);
        if reported > 0 {
            self.weights.add(self.report.class, length);
        }
        let share = REPORT.of(own);
        if class.begins_report() && share >= reported {
            let inherited = Inherited { value: share, lines: REPORT_REACH * self.reach };
            self.report = Report { class, value: own, inherited };
        }
        reported
    }

    /// The role of a line, by the scope that it is in.
    fn role(&mut self, info: &LineInfo, window: &mut Window) -> Option<Role> {
        let ends = |indent: u8| info.opening != Opening::Blank && info.indent <= indent;
        let is_frame = matches!(info.role, Some(Role::Traceback | Role::Frame | Role::LibraryFrame));
        match self.scope {
            Scope::Traceback { indent } if ends(indent) && !is_frame => {
                self.scope = Scope::None;
                return Some(Role::Exception);
            }
            Scope::Passed { indent } if ends(indent) => self.scope = Scope::None,
            Scope::Passed { .. } if info.role == Some(Role::Detail) => return Some(Role::Passed),
            _ => {}
        }
        let role = match info.role {
            Some(Role::Failed) if self.section == Section::PassedTests => Some(Role::Passed),
            role => role,
        };
        match role {
            Some(Role::Step) => self.steps += 1,
            Some(Role::PassedSection) => self.section = Section::PassedTests,
            Some(Role::Summary) => self.section = Section::Any,
            Some(Role::Traceback) => self.scope = Scope::Traceback { indent: info.indent },
            Some(Role::Passed) => self.mute(info, window),
            _ => {}
        }
        role
    }

    /// Takes the value from the details that a test printed before its name, and from those that follow.
    fn mute(&mut self, info: &LineInfo, window: &mut Window) {
        for line in details_before(info, window) {
            self.inherited.lines = 0;
            (line.own, line.value, line.role) = (0, 0, Some(Role::Passed));
        }
        self.scope = Scope::Passed { indent: info.indent };
    }

    /// Passes a share of a line's value on, to the lines before it and to those that follow.
    fn pass_on(&mut self, own: i32, window: &mut Window) {
        let value = NEIGHBOUR.of(own);
        if value <= self.reach as i32 {
            return;
        }
        if value >= self.inherited.value || self.inherited.lines == 0 {
            self.inherited = Inherited { value, lines: self.reach };
        }
        // What is before a better line has got more from that one.
        for (line, distance) in window.backwards().take_while(|line| line.own < own).take(self.reach).zip(1..)
        {
            let is_success = line.role.is_some_and(Role::is_success);
            line.value = line.value.max(if is_success { BETWEEN_TROUBLE } else { value - distance });
        }
    }

    /// The value of a line for being indented under a line that matters.
    fn indented(&mut self, info: &LineInfo) -> i32 {
        let Scope::Under { indent, value, lines } = &mut self.scope else { return 0 };
        if info.opening == Opening::Blank {
            return 0;
        }
        let most = INDENTED_REACH * self.reach as i32;
        let is_indented = info.indent > *indent || info.opening == Opening::Continuation;
        if !is_indented || *lines == most {
            self.scope = Scope::None;
            return 0;
        }
        *lines += 1;
        INDENTED.of(*value) * (most - *lines) / most
    }

    /// Makes the lines that are indented under a line part of it, unless the line is itself part of a better one.
    fn open(&mut self, info: &LineInfo, own: i32) {
        match self.scope {
            Scope::Under { indent, value, .. } if info.indent > indent && own < value => {}
            Scope::Traceback { .. } => {}
            _ => self.scope = Scope::Under { indent: info.indent, value: own, lines: 0 },
        }
    }
}

/// Raises the line that a line with this indentation belongs to: it says where this one is.
fn raise_heading(window: &mut Window, indent: u8, value: i32) {
    let heading = window.backwards().find(|line| line.opening == Opening::Text && line.indent < indent);
    let heading = heading.filter(|line| !line.role.is_some_and(Role::is_unimportant));
    heading.into_iter().for_each(|line| raise(line, value));
}

/// The lines before the name of a test that are details that it printed.
fn details_before<'w>(info: &LineInfo, window: &'w mut Window) -> impl Iterator<Item = &'w mut Candidate> {
    let indent = info.indent;
    window.backwards().take_while(move |line| line.indent > indent && line.role == Some(Role::Detail))
}

fn raise(line: &mut Candidate, value: i32) {
    if line.opening != Opening::Blank {
        line.value = line.value.max(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_with_two_steps_has_several_commands() {
        let (mut values, mut window) = (Values::new(8000), Window::new());
        let mut has_several_commands = |role| {
            values.value(&LineInfo { role, ..LineInfo::default() }, 0, 10, &mut window);
            values.has_several_commands()
        };
        assert!(!has_several_commands(None));
        assert!(!has_several_commands(Some(Role::Step)));
        assert!(!has_several_commands(Some(Role::Failed)));
        assert!(has_several_commands(Some(Role::Step)));
    }
}
