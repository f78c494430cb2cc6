//! What lines are worth: every weight.
//!
//! The value of a line is the base of its role, less a discount for earlier lines with the same template, less one for
//! earlier lines of the same class: the more of the budget a class has filled already, the less another line of it says.
//! A line gains from the lines around it, from being rare, and from being near an end of the text.
//!
//! The numbers are a plateau: a change of a tenth moves hardly any preview. Their order matters.

use super::message_code::MessageCode;
use crate::strategy::logarithm::log2;
use crate::strategy::rules::Role;

/// The class of a role, whose lines share the discount for crowding, the value of its first line, and what each doubling
/// of the lines with the same template takes off.
const fn weight(role: Role) -> (Class, i32, i32) {
    match role {
        Role::Fatal => (Class::Stopped, 900, 80),
        Role::Failed | Role::Verdict => (Class::Failure, 850, 25),
        Role::Exception => (Class::Exception, 760, 110),
        Role::Diagnostic => (Class::Diagnostic, 750, 60),
        Role::Stopped => (Class::Stopped, 750, 80),
        Role::Summary => (Class::Summary, 740, 40),
        Role::Detail | Role::Location => (Class::Detail, 620, 70),
        Role::Traceback => (Class::Trace, 400, 40),
        Role::Suspect => (Class::Suspect, 400, 90),
        Role::Frame => (Class::Trace, 330, 60),
        Role::LibraryFrame => (Class::Trace, 300, 60),
        Role::Warning => (Class::Warning, 190, 120),
        Role::Step | Role::Title | Role::PassedSection | Role::Passed | Role::Noise | Role::Info => {
            (Class::Idle, 0, 0)
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Failure,
    Diagnostic,
    Stopped,
    Exception,
    Summary,
    Detail,
    Trace,
    Suspect,
    Warning,
    Idle,
}

const CLASSES: usize = Class::Idle as usize + 1;

impl Class {
    /// The class of a role.
    pub(super) const fn of(role: Role) -> Class {
        weight(role).0
    }

    /// Whether a line of this class begins a report.
    pub(super) const fn begins_report(self) -> bool {
        matches!(self, Class::Failure | Class::Diagnostic | Class::Exception)
    }

    /// Whether a line of this class ends a report that began with a line of class `begun`.
    pub(super) fn ends_report(self, begun: Class) -> bool {
        self == begun || self == Class::Warning
    }
}

/// What a line loses for every doubling of 1 + the bytes that its class has filled, in units of [`CROWDED_SHARE`] of the
/// budget.
const CROWDING: f32 = 60.0;
const CROWDED_SHARE: f32 = 1.0 / 16.0;

/// How much a byte counts for the crowding of a message with a code: more if it is in a message with the same code, less in
/// any other of its class. So the one undefined variable is shown among thousands of remarks on style.
const SAME_CODE: f32 = 3.0;
const OTHER_CODE: f32 = 0.2;

/// From this value on, a line matters: what is indented under it is part of it.
pub(super) const STRONG: i32 = 300;

/// From this value on, a line by itself says what went wrong.
pub(super) const TROUBLE: i32 = 500;

/// From this value on, a line has a value for its content, not only for its position.
pub(super) const INFORMATIVE: i32 = 60;

/// A share of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share(i32, i32);

impl Share {
    pub(super) const fn of(self, value: i32) -> i32 {
        value * self.0 / self.1
    }
}

/// The share that lines within reach of a line get. They lose 1 for each line between.
pub(super) const NEIGHBOUR: Share = Share(1, 3);

/// What a line that reports success is worth next to trouble: it is shown if its marker would take more room.
pub(super) const BETWEEN_TROUBLE: i32 = 1;

/// The share of the first line that is indented under a line. It falls to nothing over [`INDENTED_REACH`] times the reach.
pub(super) const INDENTED: Share = Share(8, 10);
pub(super) const INDENTED_REACH: i32 = 4;

/// What each doubling of the lines with its template takes off what a line gains as part of a report or of a line that it is
/// indented under: the tenth report often repeats the first.
const REPETITION: f32 = 35.0;

/// The share that the lines of a report get: those after a line that says what went wrong, until the next of its class. They
/// lose [`REPORT_STEP`] for each line between, over [`REPORT_REACH`] times the reach.
pub(super) const REPORT: Share = Share(3, 4);
pub(super) const REPORT_STEP: i32 = 5;
pub(super) const REPORT_REACH: usize = 3;

/// The most that a detail is worth, as a share of the line that its report begins with. A detail without its message says
/// little, and one of a message that was repeated often is hardly news.
pub(super) const DETAIL: Share = Share(9, 10);

/// The share of the line that a line is indented under, and of the title of a failed test's suite.
pub(super) const HEADING: Share = Share(9, 10);

/// How much less a frame of a library gains from the lines around it than other lines.
pub(super) const LIBRARY_FRAME: i32 = 45;

/// How many lines around a line gain from it, for this budget.
pub(super) fn reach(budget: usize) -> usize {
    (budget >> 10).clamp(6, 30)
}

/// The value of a line near an end of the text, by the share of the room between it and the end: the end of a text in
/// which nothing went wrong, of one in which trouble is near the end, and of one in which all trouble is elsewhere.
pub(super) const QUIET_TAIL: [(f64, i32); 5] = [(0.06, 900), (0.10, 660), (0.35, 60), (0.65, 50), (1.0, 20)];
pub(super) const EARNED_TAIL: [(f64, i32); 5] =
    [(0.06, 900), (0.20, 500), (0.35, 240), (0.65, 140), (1.0, 20)];
pub(super) const UNEARNED_TAIL: [(f64, i32); 3] = [(0.06, 900), (0.15, 500), (1.0, 20)];
pub(super) const HEAD: [(f64, i32); 4] = [(0.02, 850), (0.05, 450), (0.12, 60), (1.0, 10)];

/// The same for the beginning if more than this many bytes may be shown: a list of findings often begins with those that matter.
pub(super) const LARGE_BYTES: u64 = 12_000;
pub(super) const LARGE_HEAD: [(f64, i32); 4] = [(0.02, 850), (0.10, 450), (0.20, 60), (1.0, 10)];

/// Trouble at most this far from the end, in shares of the room, earns the end its room.
pub(super) const TAIL_REACH: f64 = 0.65;

/// How many routine lines, such as the clean-up of a CI runner, are as far from the end as one other line, and the share of
/// its value that such a line keeps.
pub(super) const ROUTINE_LENGTHS: u64 = 4;
pub(super) const ROUTINE_VALUE: Share = Share(1, 6);

/// The most that a line gains for being near the end, which more often says why the command ended, and how far from the end
/// lines gain, in budgets.
pub(super) const RECENCY: i32 = 180;
pub(super) const RECENCY_REACH: f64 = 4.0;

/// The value of a line that starts something new: the first of at least this many with its template, after the
/// first twentieth of the text.
pub(super) const ONSET: i32 = 150;
pub(super) const ONSET_LINES: u32 = 8;
pub(super) const ONSET_AFTER: u64 = 20;

/// The value of a rare line for each doubling of the mean number of lines per template, and the most doublings that
/// count. A line is rare if its template has at most this many lines.
pub(super) const RARITY: f32 = 70.0;
pub(super) const RARITY_DOUBLINGS: f32 = 8.0;
pub(super) const RARE_LINES: u32 = 3;

/// The value of folded lines that are more than a repetition: they are shown if room is left.
pub(super) const FOLDED: i32 = -1;

/// How much of each class there was so far.
pub(super) struct Weights {
    /// How many bytes crowd a class.
    crowded_bytes: f32,
    bytes: [u64; CLASSES],
    /// By code.
    bytes_of_code: [u64; MessageCode::COUNT],
}

impl Weights {
    /// `budget` is about how many bytes may be shown.
    pub(super) fn new(budget: usize) -> Weights {
        Weights {
            crowded_bytes: budget as f32 * CROWDED_SHARE,
            bytes: [0; CLASSES],
            bytes_of_code: [0; MessageCode::COUNT],
        }
    }

    /// Counts a line that belongs to a line of this class.
    pub(super) fn add(&mut self, class: Class, length: usize) {
        self.bytes[class as usize] += length as u64;
    }

    /// The value of the next line with this role. `before` is how many lines with its template came before it.
    pub(super) fn value(&mut self, role: Role, code: Option<MessageCode>, before: u32, length: usize) -> i32 {
        let (class, base, repeat) = weight(role);
        if class == Class::Idle {
            return 0;
        }
        let of_class = self.bytes[class as usize] as f32;
        let bytes = match code {
            None => of_class,
            Some(code) => {
                let of_code = &mut self.bytes_of_code[code.index()];
                let bytes = SAME_CODE * *of_code as f32 + OTHER_CODE * of_class;
                *of_code += length as u64;
                bytes
            }
        };
        let crowding = CROWDING * log2(1.0 + bytes / self.crowded_bytes);
        // A repetition hardly adds to what the class says.
        self.add(class, length / (1 + before as usize));
        (base - (crowding + repeat as f32 * log2(1.0 + before as f32)) as i32).max(1)
    }
}

/// What a line that is part of something loses because its template occurred before.
pub(super) fn repetition(before: u32) -> i32 {
    (REPETITION * log2(1.0 + before as f32)) as i32
}
