//! `OFFCUT_PASS=1`: the output of one call is passed on whole, neither shortened nor stored.

use crate::config::PASS_VARIABLE;

/// Whether the variable is set for this call.
pub(crate) fn is_set() -> bool {
    std::env::var_os(PASS_VARIABLE).is_some_and(|value| passes(&value.to_string_lossy()))
}

/// Whether a command line sets the variable itself, as in `OFFCUT_PASS=1 make`: offcut, which starts the shell that does so,
/// does not have it.
pub(crate) fn is_set_in(line: &str) -> bool {
    let assignment = format!("{PASS_VARIABLE}=");
    line.match_indices(&assignment).any(|(start, _)| {
        let value = line[start + assignment.len()..].trim_start_matches(['"', '\'']);
        let value =
            value.split(|letter: char| letter.is_whitespace() || "\"';&|()<>".contains(letter)).next();
        begins_command(&line[..start]) && value.is_some_and(passes)
    })
}

fn passes(value: &str) -> bool {
    !value.is_empty() && value != "0"
}

/// Whether an assignment after this part of a line is at the beginning of a command. Claude Code runs `eval 'LINE'`.
fn begins_command(before: &str) -> bool {
    let command = before.rsplit([';', '&', '|', '(', '`', '\n']).next().unwrap_or_default();
    let command = ["eval '", "eval \""]
        .iter()
        .fold(command, |command, quote| command.rsplit_once(quote).map_or(command, |(_, inner)| inner));
    let may_precede = |word: &str| {
        matches!(word, "export" | "env" | "then" | "do" | "else" | "!" | "{" | "time") || word.contains('=')
    };
    (command.is_empty() || command.ends_with(char::is_whitespace))
        && command.split_whitespace().all(may_precede)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignment_before_a_command_passes_its_line() {
        for line in [
            "OFFCUT_PASS=1 make",
            "  OFFCUT_PASS=1 make",
            "cd x && OFFCUT_PASS=1 make",
            "cd x\nOFFCUT_PASS=1 make",
            ". /o.sh;OFFCUT_PASS=1 make",
            "(OFFCUT_PASS=1 make)",
            "cat x | OFFCUT_PASS=yes sort",
            "export OFFCUT_PASS=1; make",
            "LANG=C OFFCUT_PASS=\"1\" make",
            "env OFFCUT_PASS=1 make",
            "if true; then OFFCUT_PASS=1 make; fi",
            "source s.sh && eval 'OFFCUT_PASS=1 make' < /dev/null && pwd -P >| /tmp/x",
            "source s.sh && eval \"OFFCUT_PASS=1 echo 'x'\"",
        ] {
            assert!(is_set_in(line), "{line}");
        }
    }

    #[test]
    fn assignment_elsewhere_or_of_another_value_passes_nothing() {
        for line in [
            "echo use OFFCUT_PASS=1 here; seq 100000",
            "grep -r 'OFFCUT_PASS=1 ' docs",
            "echo OFFCUT_PASS=1",
            "MY_OFFCUT_PASS=1 make",
            "X=OFFCUT_PASS=1 make",
            "OFFCUT_PASS=0 make",
            "OFFCUT_PASS= make",
            "OFFCUT_PASS='' make",
            "OFFCUT_PASS=; make",
            "make",
        ] {
            assert!(!is_set_in(line), "{line}");
        }
    }
}
