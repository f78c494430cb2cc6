//! `offcut grep`: searches stored outputs.

use crate::agents;
use crate::arguments::{Format, GlobalOptions, Grep};
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use crate::pattern::regex_or_text;
use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::ColorChoice;
use offcut::report::SearchReport;
use offcut::retrieve::{self, Hit, HitKind, OutputMatches, PageLimits, Query, Search, SearchResult};
use offcut::store::Id;
use offcut::terminal::printable;
use std::io::IsTerminal;

pub(crate) fn grep(global: &GlobalOptions, grep: &Grep) -> CommandResult {
    let setup = Setup::new(global)?;
    let (patterns, references) = grep.patterns_and_references();
    let with_ids = references.len() > 1 || references.iter().any(|reference| reference == "all");
    let mut search = Search::new(&query(grep, patterns), PageLimits::default())?;
    if with_ids {
        search = search.with_ids();
    }
    let mut failures = Vec::new();
    for reference in &references {
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
    match global.format {
        Format::Json => super::print_json(&SearchReport::new(&result))?,
        Format::Text => {
            let text = text(grep, &result, with_ids, &Colours::new(grep.color));
            super::print(&text)?;
            // Of several outputs, one represents all.
            if let Some(output) = result.outputs.iter().find(|output| output.matches > 0) {
                setup.record_reading(&output.id, text.len());
            }
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
    if grep.without_match {
        let is_listed = result.outputs.iter().any(|output| output.matches == 0);
        return if is_listed { Ok(()) } else { Err(Failure::NoMatch) };
    }
    if result.matches == 0 {
        diagnostic::say(no_match(&result.outputs));
        return Err(Failure::NoMatch);
    }
    Ok(())
}

fn query(grep: &Grep, patterns: Vec<String>) -> Query {
    let mut patterns = patterns.into_iter().map(|pattern| match grep.fixed_strings {
        true => pattern,
        false => regex_or_text(&pattern),
    });
    Query {
        pattern: patterns.next().unwrap_or_default(),
        alternatives: patterns.collect(),
        literal: grep.fixed_strings,
        ignore_case: grep.ignore_case,
        word: grep.word_regexp,
        invert: grep.invert_match,
        only_matching: grep.only_matching,
        context: grep.context,
        before: grep.before_context,
        after: grep.after_context,
        max_count: grep.max_count,
    }
}

/// Searches the output that `reference` names, or all.
fn add(search: &mut Search, setup: &Setup, reference: &str) -> CommandResult {
    let (store, _) = setup.store_of(reference)?;
    let ids = if reference == "all" { store.ids()? } else { vec![retrieve::resolve(&*store, reference)?] };
    Ok(search.add_all(&*store, &ids)?)
}

/// The colours of grep.
#[derive(Default)]
struct Colours {
    id: Style,
    line: Style,
    found: Style,
}

impl Colours {
    fn new(when: ColorChoice) -> Colours {
        let stdout = std::io::stdout();
        let is_coloured = match when {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            // Not in a pipe, and not on a terminal of an agent: these bytes are for programs and models.
            ColorChoice::Auto => {
                stdout.is_terminal()
                    && agents::caller().is_none()
                    && AutoStream::choice(&stdout) != anstream::ColorChoice::Never
            }
        };
        if !is_coloured {
            return Colours::default();
        }
        Colours {
            id: AnsiColor::Magenta.on_default(),
            line: AnsiColor::Green.on_default(),
            found: AnsiColor::Red.on_default().bold(),
        }
    }

    fn id(&self, id: &Id) -> String {
        format!("{}{id}{:#}", self.id, self.id)
    }

    /// A line as [`SearchResult::to_text`] prints it.
    fn hit(&self, hit: &Hit, with_ids: bool) -> Vec<u8> {
        let separator = match hit.kind {
            HitKind::Match => ":",
            HitKind::Break => return b"--\n".to_vec(),
            _ => "-",
        };
        let id = if with_ids { self.id(&hit.id) + separator } else { String::new() };
        let mut text = format!("{id}{}{}{:#}{separator}", self.line, hit.line, self.line).into_bytes();
        let (before, after) = (self.found.render().to_string(), self.found.render_reset().to_string());
        let mut at = 0;
        for found in &hit.found {
            let parts =
                [&hit.text[at..found.start], before.as_bytes(), &hit.text[found.clone()], after.as_bytes()];
            text.extend(parts.concat());
            at = found.end;
        }
        text.extend_from_slice(&hit.text[at..]);
        text.push(b'\n');
        text
    }
}

fn text(grep: &Grep, result: &SearchResult, with_ids: bool, colours: &Colours) -> Vec<u8> {
    let outputs = result.outputs.iter();
    let with_matches = outputs.clone().filter(|output| output.matches > 0);
    let id = |output: &OutputMatches| format!("{}\n", colours.id(&output.id));
    let count = |output: &OutputMatches| output.matches.min(grep.max_count.unwrap_or(u64::MAX));
    let listing: String = if grep.with_matches {
        with_matches.map(id).collect()
    } else if grep.without_match {
        outputs.filter(|output| output.matches == 0).map(id).collect()
    } else if grep.count && with_ids {
        with_matches.map(|output| format!("{}:{}\n", colours.id(&output.id), count(output))).collect()
    } else if grep.count {
        format!("{}\n", outputs.map(count).sum::<u64>())
    } else {
        let mut text: Vec<u8> = result.hits.iter().flat_map(|hit| colours.hit(hit, with_ids)).collect();
        if result.shown < result.matches {
            text.extend_from_slice(format!("{}\n", result.notice()).as_bytes());
        }
        return text;
    };
    listing.into_bytes()
}

/// Says what was searched in vain.
fn no_match(outputs: &[OutputMatches]) -> String {
    let lines: Option<u64> = outputs.iter().map(|output| output.lines).sum();
    let lines = lines.map_or_else(String::new, |lines| format!("{lines} lines of "));
    match outputs {
        [output] => format!("no match in {lines}{}", output.id.short()),
        outputs => format!("no match in {lines}{} outputs", outputs.len()),
    }
}
