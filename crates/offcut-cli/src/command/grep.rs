//! `offcut grep`: searches stored outputs.

use crate::arguments::{Format, GlobalOptions, Grep};
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use offcut::report::SearchReport;
use offcut::retrieve::{self, PageLimits, Query, Search};
use offcut::terminal::printable;

pub(crate) fn grep(global: &GlobalOptions, grep: &Grep) -> CommandResult {
    let setup = Setup::new(global)?;
    let query = Query {
        pattern: grep.pattern.clone(),
        ignore_case: grep.ignore_case,
        context: grep.context,
        max_count: grep.max_count,
    };
    let last = [String::from("last")];
    let references = if grep.ids.is_empty() { &last[..] } else { &grep.ids[..] };
    let with_ids = references.len() > 1 || references.iter().any(|reference| reference == "all");
    let mut search = Search::new(&query, PageLimits::default())?;
    if with_ids {
        search = search.with_ids();
    }
    let mut failures = Vec::new();
    for reference in references {
        if let Err(failure) = add(&mut search, &setup, reference) {
            failures.push(failure);
        }
    }
    // A single output that cannot be searched is an error; one of several must not hide the others.
    if references.len() == 1
        && let Some(failure) = failures.pop()
    {
        return Err(failure);
    }
    let result = search.finish();
    match (global.format, grep.count) {
        (Format::Json, _) => super::print_json(&SearchReport::new(&result))?,
        (Format::Text, true) => super::print(format!("{}\n", result.matches).as_bytes())?,
        (Format::Text, false) => {
            let mut text = result.to_text(with_ids);
            if result.shown < result.matches {
                text.extend_from_slice(format!("{}\n", result.notice()).as_bytes());
            }
            super::print(&text)?;
        }
    }
    for notice in &result.incomplete {
        diagnostic::print(&format!("{}\n", printable(&notice.to_string(), 2000)));
    }
    if result.unlisted > 0 {
        diagnostic::say(format_args!(
            "{} more outputs were not searched as a whole; `offcut fsck` lists the damaged ones",
            result.unlisted
        ));
    }
    failures.extend(result.errors.into_iter().map(Failure::from));
    super::fail_with(failures)?;
    if result.matches == 0 { Err(Failure::NoMatch) } else { Ok(()) }
}

/// Searches the output that `reference` names, or all.
fn add(search: &mut Search, setup: &Setup, reference: &str) -> CommandResult {
    let (store, _) = setup.store_of(reference)?;
    let ids = if reference == "all" { store.ids()? } else { vec![retrieve::resolve(&*store, reference)?] };
    Ok(search.add_all(&*store, &ids)?)
}
