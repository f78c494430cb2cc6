//! Checks the configuration, and the store by storing something.

use super::findings::{Findings, Verdict};
use crate::command::clean::max_total;
use crate::config;
use crate::environment::Setup;
use crate::fallback;
use crate::human;
use offcut::store::{EntryFilter, EntryState, Store, StoreError};
use offcut::{Context, Profile, Saved, Storage, Truncator};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Checks the configuration and the store.
pub(super) fn check(findings: &mut Findings, setup: &Setup) {
    for problem in &setup.configuration.problems {
        findings.add(Verdict::Bad, "configuration", problem.0.clone());
    }
    for message in setup.configuration.raised_limits(&setup.profile) {
        findings.add(Verdict::Note, "configuration", message);
    }
    if setup.configuration.problems.is_empty() {
        findings.add(Verdict::Good, "configuration", sources(setup));
    }
    let Some(directory) = setup.directory() else {
        return match setup.is_storing() {
            true => check_shared(findings, setup),
            false => findings.add(Verdict::Note, "store", "none: outputs are shortened but not stored"),
        };
    };
    check_writable(findings, directory, setup);
    if let Ok(found) = directory.metadata() {
        let mode = found.permissions().mode() & 0o777;
        findings.result(
            "permissions",
            match mode & 0o077 {
                0 => Ok(format!("readable only by you ({mode:o})")),
                _ => Err(format!(
                    "other users can read the store ({mode:o}); run: chmod 700 {}",
                    directory.display()
                )),
            },
        );
    }
    if let Some(stored) = setup.store().ok().and_then(|store| StoredOutputs::count(&*store).ok()) {
        check_outputs(findings, &stored, max_total(setup));
    }
}

/// What the metadata of the stored outputs says. Their bytes are not read.
#[derive(Default)]
struct StoredOutputs {
    outputs: u64,
    bytes: u64,
    damaged: u64,
    incomplete: u64,
}

impl StoredOutputs {
    fn count(store: &dyn Store) -> Result<StoredOutputs, StoreError> {
        let mut stored = StoredOutputs::default();
        store.visit(&EntryFilter::default(), &mut |entry| {
            stored.outputs += 1;
            stored.bytes += entry.bytes;
            match entry.state {
                EntryState::Damaged { .. } => stored.damaged += 1,
                EntryState::Capped { .. } | EntryState::Abandoned => stored.incomplete += 1,
                EntryState::Running | EntryState::Complete | EntryState::Unsupported { .. } => {}
            }
        })?;
        Ok(stored)
    }
}

/// Compares the stored outputs with the quota, and mentions those that are not whole.
fn check_outputs(findings: &mut Findings, stored: &StoredOutputs, quota: Option<u64>) {
    let StoredOutputs { outputs, bytes, damaged, incomplete } = *stored;
    let message = format!("{outputs} outputs, {}", human::size(bytes));
    match quota {
        // Cleaning keeps what is pinned, younger than a day, or kept forever.
        Some(most) if bytes > most => findings.add(
            Verdict::Note,
            "quota",
            format!("{message}, more than {}; `offcut clean` removes what is old", human::size(most)),
        ),
        Some(most) => findings.add(Verdict::Good, "quota", format!("{message} of {}", human::size(most))),
        None => findings.add(Verdict::Good, "quota", message),
    }
    if damaged + incomplete > 0 {
        let message = format!("{damaged} damaged, {incomplete} incomplete; `offcut fsck` lists them");
        findings.add(Verdict::Note, "outputs", message);
    }
}

/// Checks that a file can be written to the store, or to the temporary directory that replaces it in a sandbox.
fn check_writable(findings: &mut Findings, directory: &Path, setup: &Setup) {
    let tried = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .and_then(|()| tempfile::Builder::new().prefix(".doctor").tempfile_in(directory))
        .and_then(|mut file| file.write_all(b"x"));
    let Err(error) = tried else {
        return findings.add(Verdict::Good, "store", directory.display().to_string());
    };
    let message = format!("cannot write to {}: {error}", directory.display());
    let temporary = setup.directory_with_fallback().filter(|_| fallback::is_denied(&error));
    match temporary.and_then(fallback::usable_directory) {
        Some(temporary) => findings.add(
            Verdict::Note,
            "store",
            format!(
                "{message}; outputs are stored in {} until a later call can move them",
                temporary.display()
            ),
        ),
        None => findings.add(Verdict::Bad, "store", message),
    }
}

/// The files and variables in force.
fn sources(setup: &Setup) -> String {
    let files =
        [config::user_file(), config::project_file()].into_iter().flatten().filter(|file| file.is_file());
    let variables = setup.configuration.environment.settings.iter().map(|setting| setting.origin.to_string());
    let sources: Vec<String> = files.map(|file| file.display().to_string()).chain(variables).collect();
    match sources.is_empty() {
        true => "no configuration file; using defaults".to_owned(),
        false => sources.join(", "),
    }
}

/// Stores, reads and removes an output in a shared store.
fn check_shared(findings: &mut Findings, setup: &Setup) {
    let place = setup.fleet().map_or_else(String::new, |fleet| format!("{}: ", fleet.location()));
    let store = setup.store().map_err(|failure| failure.reason().unwrap_or_default());
    let started = Instant::now();
    findings.result(
        "store",
        match store.and_then(|store| probe(&store)) {
            Ok(()) => {
                let time = started.elapsed().as_millis();
                Ok(format!("{place}stored, read and removed an output in {time} ms"))
            }
            // Some errors name the store themselves.
            Err(error) => Err(format!("{place}{}", error.strip_prefix(&place).unwrap_or(&error))),
        },
    );
    if let Some(Ok(waiting)) = setup.fleet().map(|fleet| fleet.pending())
        && waiting.entries > 0
    {
        let (entries, size) = (waiting.entries, human::size(waiting.bytes));
        let message = format!("{entries} outputs, {size}, wait on this machine; run: offcut clean");
        findings.add(Verdict::Note, "upload", message);
    }
}

/// Stores an output, reads it and removes it.
fn probe(store: &Arc<dyn Store>) -> Result<(), String> {
    let text = "offcut doctor\n".repeat(2000);
    let truncator = Truncator::new(Profile::native()).storage(Storage::To(Arc::clone(store)));
    let shown = truncator.apply(&text, &Context::tool("offcut-doctor"));
    let entry = match shown.preview().map(|preview| preview.saved()) {
        Some(Saved::Complete(entry)) => entry,
        Some(Saved::Failed { error, .. }) => return Err(error.clone()),
        _ => return Err("the output was not stored".to_owned()),
    };
    let mut stored = vec![0; text.len() + 1];
    let read = store.read(&entry.id, 0, &mut stored).map_err(|error| error.to_string());
    let removed = store.remove(&entry.id).map_err(|error| error.to_string());
    if let Some(reason) = offcut::report::only_local(entry) {
        return Err(reason.to_owned());
    }
    match read? == text.len() && stored.starts_with(text.as_bytes()) {
        true => removed,
        false => Err("the output that was read is not the one that was stored".to_owned()),
    }
}
