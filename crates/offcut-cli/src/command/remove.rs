//! `offcut rm`.

use crate::arguments::{GlobalOptions, Rm};
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use offcut::retrieve;
use offcut::store::Pin;

pub(crate) fn rm(global: &GlobalOptions, rm: &Rm) -> CommandResult {
    // Resolve all before removing any: `rm last last` must not remove two.
    let setup = Setup::new(global)?;
    let mut found = Vec::new();
    for reference in &rm.ids {
        let store = setup.store_of(reference)?.0;
        let id = retrieve::resolve(&*store, reference)?;
        // An entry that cannot be read can be removed.
        if !rm.force && store.entry(&id).is_ok_and(|entry| entry.pin == Pin::Pinned) {
            let reason = "is pinned; unpin it with `offcut pin --remove`, or use --force";
            return Err(Failure::Usage(anyhow::anyhow!("cannot remove {id}: it {reason}")));
        }
        if !found.iter().any(|(_, known)| known == &id) {
            found.push((store, id));
        }
    }
    let mut failures = Vec::new();
    for (store, id) in found {
        match store.remove(&id) {
            Ok(()) => diagnostic::say(format_args!("removed {id}")),
            Err(error) => failures.push(Failure::from(error)),
        }
    }
    super::fail_with(failures)
}
