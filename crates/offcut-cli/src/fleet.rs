//! A store that many machines share, set up from what this process was given.

use crate::config::Configuration;
use etcetera::{BaseStrategy, choose_base_strategy};
use offcut_object_store::{Access, FleetStore, Location, Options};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// How many seconds a call waits for a store elsewhere, if nobody says otherwise.
const DEADLINE: u64 = 10;

/// The store at `location`. Nothing is read but variables, and nobody is asked yet.
pub(crate) fn open(location: Location, configuration: &Configuration) -> Result<FleetStore, String> {
    let base = choose_base_strategy().ok();
    let own = || Some(base.as_ref()?.data_dir().join("offcut-spool"));
    let spool = configuration
        .text("store.spool")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(own)
        .ok_or("there is no home directory: name a folder for what is on its way with OFFCUT_SPOOL")?;
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let access = Access::new(variables, base.as_ref().map(|base| base.home_dir().to_owned()));
    let host = configuration.text("host").map_or_else(host, |host| Some(host.to_owned()));
    let deadline = Duration::from_secs(configuration.number("store.deadline").unwrap_or(DEADLINE));
    let options = Options { host, deadline, clock: SystemTime::now };
    let folder = spool.join(location.folder());
    Ok(FleetStore::new(location, access, folder, options))
}

fn host() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().filter(|name| !name.is_empty()).map(str::to_owned)
}
