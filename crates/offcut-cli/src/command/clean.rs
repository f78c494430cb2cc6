//! `offcut clean` and `offcut pin`: which outputs are removed and which stay.

use crate::arguments::{Clean, Format, GlobalOptions, Pinning, Unpinning};
use crate::config;
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use crate::fallback;
use crate::fleet::UploadReport;
use crate::housekeeping;
use crate::human;
use offcut::report::CleaningReport;
use offcut::retention::{self, Candidate, CleaningPlan, Policy};
use offcut::retrieve;
use offcut::store::{FsStore, LeftoverFile, Pin, Stray};
use offcut::terminal::printable;
use serde::Serialize;
use std::time::SystemTime;

/// The most bytes that are stored in a directory, unless another number is configured.
pub(crate) const MAX_TOTAL: u64 = 5 << 30;

/// The most bytes that are stored. The outputs in a shared store belong to other machines too.
pub(crate) fn max_total(setup: &Setup) -> Option<u64> {
    match setup.configuration.get("retention.max_total") {
        Some(setting) => setting.value.as_u64(),
        None => Some(MAX_TOTAL).filter(|_| setup.fleet().is_none()),
    }
}

pub(crate) fn clean(global: &GlobalOptions, clean: &Clean) -> CommandResult {
    let setup = Setup::new(global)?;
    let store = setup.store()?;
    if let Some(directory) = setup.directory().filter(|_| clean.auto) {
        fallback::move_entries(directory, setup.cap());
    }
    let lock = setup.directory().filter(|_| clean.auto).and_then(housekeeping::lock_if_due);
    if clean.auto && lock.is_none() {
        // A shared store is not cleaned automatically; only what waits is uploaded.
        return upload(&setup).map(drop);
    }
    // Before anything is removed, so that an error in the flags changes nothing.
    let mut leftovers = if clean.adopt { Some(leftovers(&setup, clean)?) } else { None };
    let moved = if clean.dry_run { None } else { upload(&setup)? };
    let policy = Policy {
        age: clean.older_than,
        bytes: clean.max_total.or_else(|| max_total(&setup)),
        entries: clean.max_entries.or(setup.configuration.number("retention.max_entries")),
    };
    let retention_of = |profile: &str| {
        let named = config::profile(profile);
        setup.retention(named.as_ref().unwrap_or(&setup.profile))
    };
    let mut now = SystemTime::now();
    if clean.auto {
        now = retention::trusted_time(&store.ids()?, now);
    }
    let mut plan = retention::plan(&*store, &policy, retention_of, now)
        .inspect_err(|_| super::list::warn_if_not_uploaded(&setup))?;
    if !clean.dry_run {
        let mut progress = super::Progress::new("removing", plan.remove.len());
        plan = plan.execute(&*store, &mut |result| {
            progress.step();
            if let Err(error) = result {
                diagnostic::say(error);
            }
        });
        if let Err(error) = retention::remove_remnants(&*store, now) {
            diagnostic::say(error);
        }
        if let Some(files) = &mut leftovers {
            files.retain(|file| file.remove().inspect_err(|error| diagnostic::say(error)).is_ok());
        }
    }
    if clean.auto {
        return Ok(());
    }
    let waiting = setup.fleet().and_then(|fleet| fleet.pending().ok());
    let path = |file: &LeftoverFile| file.path.display().to_string();
    let report = CleaningReport {
        leftovers: leftovers.as_ref().map(|files| files.iter().map(path).collect()),
        leftover_bytes: leftovers.as_ref().map(|files| files.iter().map(|file| file.bytes).sum()),
        moved: moved.as_ref().map(|moved| moved.entries),
        only_local: waiting.as_ref().map(|waiting| waiting.entries),
        only_local_bytes: waiting.as_ref().map(|waiting| waiting.bytes),
        ..CleaningReport::new(&plan, clean.dry_run)
    };
    match global.format {
        Format::Json => super::print_json(&report),
        Format::Text => {
            if let Some(UploadReport { entries: entries @ 1.., bytes, .. }) = moved {
                super::print(
                    format!("uploaded {entries} outputs, {bytes} bytes, to the store\n").as_bytes(),
                )?;
            }
            super::print(text(&report).as_bytes())?;
            if clean.dry_run {
                super::print(listing(&plan, &retention::remnants(&*store, now)?).as_bytes())?;
            }
            super::list::warn_if_not_uploaded(&setup);
            Ok(())
        }
    }
}

/// The expired files that the original tool of the profile left in the store's directory.
fn leftovers(setup: &Setup, clean: &Clean) -> Result<Vec<LeftoverFile>, Failure> {
    let profile = &setup.profile;
    let Some(leftovers) = profile.leftovers() else {
        return Err(Failure::Usage(anyhow::anyhow!(
            "profile {} does not say which files its original tool left: \
             use --adopt with --profile opencode or --profile coding-agent",
            profile.name()
        )));
    };
    let Some(directory) = setup.directory() else {
        return Err(Failure::Usage(anyhow::anyhow!("--adopt needs a store in a directory")));
    };
    let Some(max_age) = clean.older_than.or(setup.retention(profile).max_age()) else {
        return Ok(Vec::new());
    };
    Ok(FsStore::new(directory, SystemTime::now).leftovers(leftovers, max_age, SystemTime::now())?)
}

/// Uploads the entries that wait for a shared store, if the store is one.
fn upload(setup: &Setup) -> Result<Option<UploadReport>, Failure> {
    let Some(fleet) = setup.fleet() else { return Ok(None) };
    let moved = fleet.upload_pending()?;
    match moved.error {
        Some(error) => {
            super::list::warn_if_not_uploaded(setup);
            Err(error.into())
        }
        None => Ok(Some(moved)),
    }
}

/// What would be removed, for people.
fn listing(plan: &CleaningPlan, remnants: &[Stray]) -> String {
    let row = |candidate: &Candidate| {
        let Candidate { id, bytes, .. } = candidate;
        [id.to_string(), human::local_time(id.time()), bytes.to_string()]
    };
    let mut text = String::new();
    if !plan.remove.is_empty() {
        let head = ["ID", "TIME", "BYTES"].map(str::to_owned);
        let rows: Vec<[String; 3]> = [head].into_iter().chain(plan.remove.iter().map(row)).collect();
        text += &super::align(&rows, &[2]);
    }
    if !remnants.is_empty() {
        text += &format!("would remove {} files that killed processes left\n", remnants.len());
        text.extend(remnants.iter().map(|stray| format!("{}\n", printable(&stray.place, 2000))));
    }
    text
}

fn text(report: &CleaningReport) -> String {
    let verb = if report.dry_run { "would remove" } else { "removed" };
    let CleaningReport { removed, removed_bytes, left, left_bytes, over_quota, .. } = report;
    let mut text =
        format!("{verb} {removed} outputs, {removed_bytes} bytes; {left} stay, {left_bytes} bytes\n");
    if *over_quota > 0 {
        text += &format!(
            "{over_quota} outputs over the quota stay: they are younger than a day, pinned or being written\n"
        );
    }
    if let (Some(files), Some(bytes)) = (&report.leftovers, report.leftover_bytes) {
        text += &format!("{verb} {} files of the original tool, {bytes} bytes\n", files.len());
        if report.dry_run {
            text.extend(files.iter().map(|file| format!("{file}\n")));
        }
    }
    text
}

pub(crate) fn pin(global: &GlobalOptions, pinning: &Pinning) -> CommandResult {
    set_pin(global, &pinning.ids, if pinning.remove { Pin::Loose } else { Pin::Pinned })
}

pub(crate) fn unpin(global: &GlobalOptions, unpinning: &Unpinning) -> CommandResult {
    set_pin(global, &unpinning.ids, Pin::Loose)
}

/// What `offcut pin` and `offcut unpin` did.
#[derive(Serialize)]
struct PinReport {
    /// Whether the outputs are pinned now.
    pinned: bool,
    ids: Vec<String>,
}

fn set_pin(global: &GlobalOptions, references: &[String], pin: Pin) -> CommandResult {
    let setup = Setup::new(global)?;
    let mut report = PinReport { pinned: pin == Pin::Pinned, ids: Vec::new() };
    let result = references.iter().try_for_each(|reference| {
        let (store, _) = setup.store_of(reference)?;
        let id = retrieve::resolve(&*store, reference)?;
        store.pin(&id, pin)?;
        report.ids.push(id.to_string());
        Ok(())
    });
    match global.format {
        Format::Json => super::print_json(&report)?,
        Format::Text => {
            let done = if report.pinned { "pinned" } else { "unpinned" };
            report.ids.iter().for_each(|id| diagnostic::say(format_args!("{done} {id}")));
        }
    }
    result
}
