//! A line in a text file of the user, such as an `.env` file or a startup file of the shell.

use super::edit::{EditedText, Presence};

/// A line that can be added, recognised and removed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// The variable that the line sets. If another line sets it, the file stays unchanged.
    pub(crate) variable: Option<&'static str>,
    /// A text that identifies lines written by offcut; the end of the line if it sets a variable.
    pub(crate) signature: &'static str,
    pub(crate) position: Position,
    pub(crate) presence: Presence,
}

/// Where a new line goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    First,
    Last,
}

impl Line {
    /// A line that sets a variable.
    pub(crate) fn variable(name: &'static str, value: &str, signature: &'static str) -> Line {
        let text = format!("{name}={value}");
        let (position, presence) = (Position::Last, Presence::Present);
        Line { text, variable: Some(name), signature, position, presence }
    }

    /// The same line, wanted or not.
    pub(crate) fn with_presence(self, presence: Presence) -> Line {
        Line { presence, ..self }
    }

    pub(super) fn apply(&self, text: &str) -> EditedText {
        if self.presence == Presence::Absent {
            return EditedText { text: self.undo(text), warnings: Vec::new() };
        }
        let own = text.lines().find(|line| self.is_own(line));
        let other = self.variable.filter(|name| text.lines().any(|line| is_set(line, name)));
        let edited = match (own, other, self.position) {
            (Some(own), ..) => text.replacen(own, &self.text, 1),
            (None, Some(name), _) => {
                let warning = format!("{name} already has another value; left unchanged");
                return EditedText { text: text.to_owned(), warnings: vec![warning] };
            }
            (None, None, Position::First) => format!("{}\n{text}", self.text),
            (None, None, Position::Last) if text.is_empty() || text.ends_with('\n') => {
                format!("{text}{}\n", self.text)
            }
            (None, None, Position::Last) => format!("{text}\n{}\n", self.text),
        };
        EditedText { text: edited, warnings: Vec::new() }
    }

    pub(super) fn undo(&self, text: &str) -> String {
        text.split_inclusive('\n').filter(|line| !self.is_own(line)).collect()
    }

    /// Whether a line was written by offcut.
    pub(super) fn is_own(&self, line: &str) -> bool {
        match self.variable {
            // A value that only contains the signature is the user's: 20000 instead of 20.
            Some(name) => {
                is_set(line, name) && line.trim_end().trim_end_matches(['\'', '"']).ends_with(self.signature)
            }
            None => line.contains(self.signature),
        }
    }
}

/// Whether a line sets a variable.
fn is_set(line: &str, name: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line);
    line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_of_the_user_stays() {
        let pause = Line::variable("pause", "20", "pause=20");
        let users = "pause=20000\n";
        let edited = pause.apply(users);
        assert_eq!((edited.text.as_str(), edited.warnings.len()), (users, 1));
        assert_eq!(pause.undo(users), users);
        assert_eq!(pause.undo(&pause.apply("a=1\n").text), "a=1\n");
    }
}
