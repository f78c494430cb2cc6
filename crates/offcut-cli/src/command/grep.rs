//! `offcut grep`: searches kept outputs.

use crate::arguments::{Everywhere, Format, Grep};
use crate::environment::Setup;
use crate::failure::{Failure, Outcome};
use offcut::retrieve::{self, Case, Found, Hit, HitKind, PageLimits, Query, View};
use serde::Serialize;

#[derive(Serialize)]
struct Result<'a> {
    matches: u64,
    shown: u64,
    hits: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    line: u64,
    offset: u64,
    text: String,
    is_match: bool,
}

pub(crate) fn grep(everywhere: &Everywhere, grep: &Grep) -> Outcome {
    let setup = Setup::new(everywhere)?;
    let last = [String::from("last")];
    let references = if grep.ids.is_empty() { &last[..] } else { &grep.ids[..] };
    let query = Query {
        pattern: grep.pattern.clone(),
        case: if grep.ignore_case { Case::Insensitive } else { Case::Sensitive },
        context: grep.context,
        most: grep.max_count,
    };
    let mut left = PageLimits::default();
    let mut found = Found::default();
    for reference in references {
        let (store, _) = setup.store_of(reference)?;
        let ids =
            if reference == "all" { store.ids()? } else { vec![retrieve::resolve(&*store, reference)?] };
        let part = retrieve::search(&View::new(store), &ids, &query, left)?;
        left.bytes = left.bytes.saturating_sub(part.hits.iter().map(|hit| hit.text.len() as u64 + 32).sum());
        left.lines = left.lines.saturating_sub(part.hits.len() as u64);
        found.matches += part.matches;
        found.shown += part.shown;
        found.hits.extend(part.hits);
    }
    let several = references.len() > 1 || references.iter().any(|reference| reference == "all");
    match (everywhere.format, grep.count) {
        (Format::Json, _) => print_json(&found)?,
        (Format::Text, true) => super::print(format!("{}\n", found.matches).as_bytes())?,
        (Format::Text, false) => super::print(&text(&found, several))?,
    }
    if found.matches == 0 { Err(Failure::NoMatch) } else { Ok(()) }
}

fn text(found: &Found, several: bool) -> Vec<u8> {
    let mut text = Vec::new();
    for Hit { id, line, text: content, kind, .. } in &found.hits {
        let sign = match kind {
            HitKind::Break => {
                text.extend_from_slice(b"--\n");
                continue;
            }
            HitKind::Match => ':',
            HitKind::Context => '-',
        };
        let place = if several { format!("{id}{sign}{line}{sign}") } else { format!("{line}{sign}") };
        text.extend_from_slice(place.as_bytes());
        text.extend_from_slice(content);
        text.push(b'\n');
    }
    let missing = found.matches - found.shown;
    if missing > 0 {
        // A sample must never pass for the whole.
        let note = format!(
            "[offcut: {} of {} matching lines shown; {missing} more: narrow the pattern, or read around a line]\n",
            found.shown, found.matches
        );
        text.extend_from_slice(note.as_bytes());
    }
    text
}

fn print_json(found: &Found) -> Outcome {
    let hits = found
        .hits
        .iter()
        .filter(|hit| hit.kind != HitKind::Break)
        .map(|hit| Row {
            id: hit.id.as_str(),
            line: hit.line,
            offset: hit.offset,
            text: offcut::measure::as_text(&hit.text).into_owned(),
            is_match: hit.kind == HitKind::Match,
        })
        .collect();
    super::print_json(&Result { matches: found.matches, shown: found.shown, hits })
}
