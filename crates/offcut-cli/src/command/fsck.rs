//! `offcut fsck`: checks the store.

use crate::arguments::{Format, Fsck, GlobalOptions};
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use offcut::fsck::{self, Checked, Problem, Remedy};
use offcut::retrieve;
use offcut::store::Id;
use offcut::terminal::printable;
use serde::Serialize;
use std::time::SystemTime;

/// Longer texts are cut: metadata is not trusted.
const MAX_CHARS: usize = 2000;

#[derive(Serialize)]
struct Report {
    entries: u64,
    bytes: u64,
    /// Entries that were left out: they are being written, or from a newer version.
    skipped: u64,
    problems: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    /// The id of an entry, or a path or key.
    place: String,
    problem: String,
    /// What to do.
    command: Option<String>,
}

pub(crate) fn fsck(global: &GlobalOptions, fsck: &Fsck) -> CommandResult {
    let setup = Setup::new(global)?;
    let (store, program) = setup.store_of("all")?;
    let ids = match fsck.ids.as_slice() {
        [] => store.ids()?,
        named => named.iter().map(|id| retrieve::resolve(&*store, id)).collect::<Result<Vec<Id>, _>>()?,
    };
    let mut rows = Vec::new();
    let mut progress = super::Progress::new("checking", ids.len());
    let checked = fsck::check_entries(&*store, &ids, &mut |problem| {
        progress.step();
        rows.extend(problem.map(|problem| row(problem, &program)));
    })?;
    if fsck.ids.is_empty() {
        let now = SystemTime::now();
        fsck::check_surroundings(&*store, now, &mut |problem| rows.push(row(problem, &program)))?;
    }
    drop(progress);
    let is_well = rows.is_empty();
    print(global, checked, rows)?;
    if is_well { Ok(()) } else { Err(Failure::Problems) }
}

fn row(problem: Problem, program: &str) -> Row {
    let quoted = |path: &str| shlex::try_quote(path).map(|path| path.into_owned()).ok();
    let command = match &problem.remedy {
        Remedy::RemoveEntry(id) => Some(format!("{program} rm {id}")),
        Remedy::Clean => Some(format!("{program} clean")),
        // The key of an object is no path.
        Remedy::RemoveFile(place) if place.starts_with('/') => {
            quoted(place).map(|place| format!("rm -- {place}"))
        }
        Remedy::MakePrivate(path) => {
            path.to_str().and_then(quoted).map(|path| format!("chmod go= -- {path}"))
        }
        _ => None,
    };
    Row { place: problem.place, problem: problem.message, command }
}

fn print(global: &GlobalOptions, checked: Checked, problems: Vec<Row>) -> CommandResult {
    let Checked { entries, bytes, skipped } = checked;
    if global.format == Format::Json {
        return super::print_json(&Report { entries, bytes, skipped, problems });
    }
    let mut text = String::new();
    for Row { place, problem, command } in &problems {
        let remedy = command.as_ref().map_or_else(String::new, |command| format!("; run `{command}`"));
        text += &printable(&format!("{place}: {problem}{remedy}"), MAX_CHARS);
        text.push('\n');
    }
    super::print(text.as_bytes())?;
    let found = match problems.len() {
        0 => "no problems".to_owned(),
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    };
    diagnostic::say(format_args!("checked {entries} outputs, {bytes} bytes: {found}"));
    Ok(())
}
