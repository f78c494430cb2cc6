//! The store at `s3://…`, which many machines share, from the configuration and the environment of this process.

#[cfg(feature = "s3")]
pub(crate) use offcut_object_store::{FleetStore, Location, UploadReport};
#[cfg(not(feature = "s3"))]
mod disabled;
#[cfg(not(feature = "s3"))]
pub(crate) use disabled::{FleetStore, Location, UploadReport, open};

/// How many seconds a call waits for the store by default.
#[cfg(feature = "s3")]
const DEADLINE: u64 = 10;

/// The store at `location`. Makes no request yet.
#[cfg(feature = "s3")]
pub(crate) fn open(
    location: Location,
    configuration: &crate::config::Configuration,
) -> Result<FleetStore, String> {
    use etcetera::{BaseStrategy, choose_base_strategy};
    use offcut_object_store::{Access, Options};
    use std::path::PathBuf;
    use std::time::{Duration, SystemTime};

    let base = choose_base_strategy().ok();
    let default_spool = || Some(base.as_ref()?.data_dir().join("offcut-spool"));
    let spool = configuration
        .text("store.spool")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(default_spool)
        .ok_or("there is no home directory: name a spool directory with OFFCUT_SPOOL")?;
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let access = Access::new(variables, base.as_ref().map(|base| base.home_dir().to_owned()));
    let host = configuration.host();
    let deadline = Duration::from_secs(configuration.number("store.deadline").unwrap_or(DEADLINE));
    let share_commands = configuration.switch("store.share_commands");
    let options = Options { host, deadline, share_commands, clock: SystemTime::now };
    let spool = spool.join(location.folder());
    Ok(FleetStore::new(location, access, spool, options))
}
