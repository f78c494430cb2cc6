//! `offcut rules`: the rules by which `smart` recognises the lines of tools.

use crate::arguments::{Format, GlobalOptions, Rules, RulesCommand};
use crate::failure::{CommandResult, Failure};
use crate::suggestion;
use anyhow::{Context, anyhow};
use offcut::strategy::{RuleFile, annotated_role};
use serde::Serialize;
use std::io::Read;
use std::path::Path;

#[derive(Serialize)]
struct Row {
    name: &'static str,
    rules: usize,
    about: &'static str,
}

pub(crate) fn rules(global: &GlobalOptions, rules: &Rules) -> CommandResult {
    match (&rules.command, &rules.name) {
        (Some(RulesCommand::Test { file }), _) => test(file),
        (None, Some(name)) => print_one(name),
        (None, None) => list(global.format),
    }
}

fn list(format: Format) -> CommandResult {
    let row = |file: &RuleFile| Row { name: file.name, rules: file.rules(), about: file.about };
    let rows: Vec<Row> = RuleFile::all().iter().map(row).collect();
    if format == Format::Json {
        return super::print_json(&rows);
    }
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let line = |row: &Row| format!("{:width$} {:>3}  {}\n", row.name, row.rules, row.about);
    super::print(rows.iter().map(line).collect::<String>().as_bytes())
}

fn print_one(name: &str) -> CommandResult {
    let file = RuleFile::all().iter().find(|file| file.name == name).ok_or_else(|| {
        let nearest = suggestion::nearest(name, RuleFile::all().iter().map(|file| file.name));
        let hint = nearest.map_or_else(
            || "`offcut rules` lists them".to_owned(),
            |nearest| format!("did you mean {nearest:?}?"),
        );
        Failure::Usage(anyhow!("no rules named {name:?}: {hint}"))
    })?;
    super::print(file.text.as_bytes())
}

/// Prints a log as a transcript: the role of each line, a bar, the line.
fn test(file: &Path) -> CommandResult {
    let mut text = Vec::new();
    let read = match file.to_str() {
        Some("-") => std::io::stdin().lock().read_to_end(&mut text),
        _ => std::fs::File::open(file).and_then(|mut file| file.read_to_end(&mut text)),
    };
    read.with_context(|| format!("cannot read {}", file.display())).map_err(Failure::Usage)?;
    let mut transcript = Vec::new();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let line = line.trim_ascii_end();
        let role = annotated_role(line);
        transcript.extend_from_slice(format!("{role:<14} |").as_bytes());
        if !line.is_empty() {
            transcript.push(b' ');
            transcript.extend_from_slice(line);
        }
        transcript.push(b'\n');
    }
    super::print(&transcript)
}
