//! Fills a store with many small outputs, to measure commands that read all of them.
//!
//! `cargo run --release -p offcut --example fill_store -- DIRECTORY 1000000`, then for example
//! `/usr/bin/time -v offcut --store DIRECTORY stats`. Without arguments it fills a temporary directory with ten.

use offcut::Context;
use offcut::store::{EntryState, FsStore, NewEntry, Origin, Retention, Store, Summary};
use std::error::Error;
use std::path::PathBuf;
use std::time::SystemTime;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let temporary = tempfile::tempdir()?;
    let directory = arguments.next().map_or_else(|| temporary.path().join("store"), PathBuf::from);
    let count: u64 = arguments.next().map_or(Ok(10), |count| count.parse())?;
    let store = FsStore::new(directory, SystemTime::now);
    for number in 0..count {
        let origin = Origin {
            command: Some(format!("cargo test --package part-{} -- --nocapture", number % 1000)),
            directory: Some(format!("/home/you/project-{}", number % 10)),
            user: Some("you".to_owned()),
        };
        let context = Context {
            session: Some(format!("session-{}", number / 100)),
            agent: Some("claude".to_owned()),
            origin,
            ..Context::tool(["bash", "grep", "read", "cargo"][(number % 4) as usize])
        };
        let new = NewEntry { retention: Some(Retention::Days(7)), ..NewEntry::new(&context, "native") };
        let output = format!("output {number}\n").repeat(3);
        let mut writer = store.create(&new)?;
        writer.write(output.as_bytes())?;
        let exit_code = Some(i32::from(number % 7 == 0));
        let summary = Summary { exit_code, ..Summary::of_whole(output.as_bytes()) };
        writer.commit(EntryState::Complete, &summary)?;
    }
    Ok(())
}
