//! `offcut clean` and `offcut pin`: what stays and what goes.

use crate::arguments::{Clean, Everywhere, Format, Pinning};
use crate::config;
use crate::environment::Setup;
use crate::failure::Outcome;
use crate::housekeeping;
use offcut::retention::{self, Candidate, Hold, Policy, Sweep};
use offcut::retrieve;
use offcut::store::{Entry, Pin};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::SystemTime;

#[derive(Serialize)]
struct Result {
    removed: u64,
    removed_bytes: u64,
    left: u64,
    left_bytes: u64,
    over_quota: u64,
    dry_run: bool,
    ids: Vec<String>,
}

pub(crate) fn clean(everywhere: &Everywhere, clean: &Clean) -> Outcome {
    let setup = Setup::new(everywhere)?;
    let store = setup.store()?;
    let Some(_turn) = (match clean.auto {
        true => setup.directory().and_then(housekeeping::take_turn),
        false => Some(None),
    }) else {
        return Ok(());
    };
    let policy = policy(&setup, clean);
    // Entries that vanish meanwhile, or cannot be read, are passed over.
    let entries: Vec<Entry> = retrieve::entries(&*store, &store.ids()?).into_iter().flatten().collect();
    let mut candidates: Vec<Candidate> = entries.iter().map(Candidate::from).collect();
    if clean.older_than.is_none() {
        hold_what_is_never_cleaned(&entries, &mut candidates);
    }
    let mut sweep = retention::decide(&candidates, &policy, SystemTime::now());
    if !clean.dry_run {
        let mut progress = super::Progress::new("removing", sweep.remove.len());
        // Only what we removed ourselves counts: another cleaner may have been faster.
        sweep.remove.retain(|candidate| {
            progress.step();
            match store.remove(&candidate.id) {
                Ok(()) => true,
                Err(offcut::store::StoreError::NotFound { .. }) => false,
                Err(error) => {
                    eprintln!("offcut: {error}");
                    false
                }
            }
        });
    }
    if clean.auto {
        return Ok(());
    }
    match everywhere.format {
        Format::Json => super::print_json(&result(&sweep, clean.dry_run)),
        Format::Text => super::print(text(&sweep, clean.dry_run).as_bytes()),
    }
}

/// Flags over configuration over what the profile says.
fn policy(setup: &Setup, clean: &Clean) -> Policy {
    let configuration = &setup.configuration;
    let days = configuration.number("retention.days").or(setup.profile.retention_days.map(u64::from));
    let configured =
        days.filter(|&days| days > 0).map(|days| std::time::Duration::from_secs(days * 24 * 60 * 60));
    Policy {
        age: clean.older_than.or(configured),
        bytes: clean.max_total.or(configuration.number("retention.max_total")),
        entries: clean.max_entries.or(configuration.number("retention.max_entries")),
    }
}

/// Some documents never clean: what was kept under their profile goes only when an age is asked for by name.
fn hold_what_is_never_cleaned(entries: &[Entry], candidates: &mut [Candidate]) {
    let mut known: BTreeMap<&str, bool> = BTreeMap::new();
    for (entry, candidate) in entries.iter().zip(candidates) {
        let never = known.entry(&entry.profile).or_insert_with_key(|name| {
            config::profile(name).is_ok_and(|profile| profile.retention_days.is_none())
        });
        if *never && candidate.hold == Hold::Free {
            candidate.hold = Hold::Pinned;
        }
    }
}

fn result(sweep: &Sweep, dry_run: bool) -> Result {
    Result {
        removed: sweep.remove.len() as u64,
        removed_bytes: sweep.bytes_removed(),
        left: sweep.entries_left,
        left_bytes: sweep.bytes_left,
        over_quota: sweep.over_quota,
        dry_run,
        ids: sweep.remove.iter().map(|candidate| candidate.id.to_string()).collect(),
    }
}

fn text(sweep: &Sweep, dry_run: bool) -> String {
    let verb = if dry_run { "would remove" } else { "removed" };
    let mut text = format!(
        "{verb} {} outputs, {} bytes; {} stay, {} bytes\n",
        sweep.remove.len(),
        sweep.bytes_removed(),
        sweep.entries_left,
        sweep.bytes_left
    );
    if sweep.over_quota > 0 {
        text += &format!(
            "{} outputs over the quota stay: they are younger than a day, pinned or being written\n",
            sweep.over_quota
        );
    }
    text
}

pub(crate) fn pin(everywhere: &Everywhere, pinning: &Pinning) -> Outcome {
    let setup = Setup::new(everywhere)?;
    let pin = if pinning.remove { Pin::Loose } else { Pin::Pinned };
    for reference in &pinning.ids {
        let (store, _) = setup.store_of(reference)?;
        let id = retrieve::resolve(&*store, reference)?;
        store.pin(&id, pin)?;
        eprintln!("offcut: {} {id}", if pinning.remove { "let go of" } else { "pinned" });
    }
    Ok(())
}
