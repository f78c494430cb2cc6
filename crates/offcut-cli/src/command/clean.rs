//! `offcut clean` and `offcut pin`: what stays and what goes.

use crate::arguments::{Clean, Everywhere, Format, Pinning};
use crate::config;
use crate::environment::Setup;
use crate::failure::{Failure, Outcome};
use crate::fleet::UploadReport;
use crate::housekeeping;
use offcut::retention::{self, Candidate, CleaningPlan, Policy, Protection};
use offcut::retrieve;
use offcut::store::{Id, Item, Pin, Selection, StoreError};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
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
    /// Outputs that were only on this machine and are now in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved: Option<u64>,
    /// Outputs that still are.
    #[serde(skip_serializing_if = "Option::is_none")]
    only_local: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    only_local_bytes: Option<u64>,
}

pub(crate) fn clean(everywhere: &Everywhere, clean: &Clean) -> Outcome {
    let setup = Setup::new(everywhere)?;
    let store = setup.store()?;
    let Some(_turn) = (match clean.auto {
        true => setup.directory().and_then(housekeeping::take_turn),
        false => Some(None),
    }) else {
        // Of a store that many share only what waits is seen to.
        return move_up(&setup).map(drop);
    };
    let moved = if clean.dry_run { None } else { move_up(&setup)? };
    let policy = policy(&setup, clean);
    let items = store.select(&Selection::default()).inspect_err(|_| super::list::tell_what_waits(&setup))?;
    // Oldest first.
    let mut candidates: Vec<Candidate> = items.iter().rev().map(Candidate::from).collect();
    if clean.older_than.is_none() {
        hold_what_is_never_cleaned(items.iter().rev(), &mut candidates);
    }
    let mut sweep = retention::decide(&candidates, &policy, SystemTime::now());
    if !clean.dry_run {
        let mut progress = super::Progress::new("removing", sweep.remove.len());
        let ids: Vec<Id> = sweep.remove.iter().map(|candidate| candidate.id).collect();
        // Only what we removed ourselves counts: another cleaner may have been faster.
        let mut removed = BTreeSet::new();
        store.remove_all(&ids, &mut |id, result| {
            progress.step();
            match result {
                Ok(()) => drop(removed.insert(*id)),
                Err(StoreError::NotFound { .. }) => {}
                Err(error) => eprintln!("offcut: {error}"),
            }
        });
        sweep.remove.retain(|candidate| removed.contains(&candidate.id));
    }
    if clean.auto {
        return Ok(());
    }
    let waiting = setup.fleet().and_then(|fleet| fleet.pending().ok());
    match everywhere.format {
        Format::Json => super::print_json(&Result {
            moved: moved.as_ref().map(|moved| moved.entries),
            only_local: waiting.as_ref().map(|waiting| waiting.entries),
            only_local_bytes: waiting.as_ref().map(|waiting| waiting.bytes),
            ..result(&sweep, clean.dry_run)
        }),
        Format::Text => {
            if let Some(moved) = moved.filter(|moved| moved.entries > 0) {
                let (entries, bytes) = (moved.entries, moved.bytes);
                super::print(format!("moved {entries} outputs, {bytes} bytes, to the store\n").as_bytes())?;
            }
            super::print(text(&sweep, clean.dry_run).as_bytes())?;
            super::list::tell_what_waits(&setup);
            Ok(())
        }
    }
}

/// Moves what is only on this machine to the store of a fleet, if there is one and it can take it.
fn move_up(setup: &Setup) -> std::result::Result<Option<UploadReport>, Failure> {
    let Some(fleet) = setup.fleet() else { return Ok(None) };
    let moved = fleet.upload_pending()?;
    match moved.error {
        Some(error) => {
            super::list::tell_what_waits(setup);
            Err(error.into())
        }
        None => Ok(Some(moved)),
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
fn hold_what_is_never_cleaned<'a>(items: impl Iterator<Item = &'a Item>, candidates: &mut [Candidate]) {
    let mut known: BTreeMap<&str, bool> = BTreeMap::new();
    for (item, candidate) in items.zip(candidates) {
        let never = known.entry(&item.profile).or_insert_with_key(|name| {
            config::profile(name).is_ok_and(|profile| profile.retention_days.is_none())
        });
        if *never && candidate.hold == Protection::Free {
            candidate.hold = Protection::Pinned;
        }
    }
}

fn result(sweep: &CleaningPlan, dry_run: bool) -> Result {
    Result {
        removed: sweep.remove.len() as u64,
        removed_bytes: sweep.bytes_removed(),
        left: sweep.entries_left,
        left_bytes: sweep.bytes_left,
        over_quota: sweep.over_quota,
        dry_run,
        ids: sweep.remove.iter().map(|candidate| candidate.id.to_string()).collect(),
        moved: None,
        only_local: None,
        only_local_bytes: None,
    }
}

fn text(sweep: &CleaningPlan, dry_run: bool) -> String {
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
