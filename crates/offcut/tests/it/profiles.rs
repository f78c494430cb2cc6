//! What applies to every profile: file names, changes of limits, the cap.

use crate::common::noon;
use offcut::store::{FsStore, Store};
use offcut::strategy::StrategyName;
use offcut::{Context, Limits, Profile, Rule, Saved, Storage, Truncator};
use std::sync::Arc;

#[test]
fn every_profile_keeps_hostile_names_inside_the_store() {
    let hostile = [
        "../../x",
        "a\nb",
        "-rf",
        "nul\0",
        "漢字",
        "",
        ".",
        "..",
        "/etc/passwd",
        "{call_id}",
        "con",
        &"x".repeat(2000),
    ];
    for profile in Profile::names() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("store");
        let store = Arc::new(FsStore::new(&directory, noon));
        let truncator = Truncator::new(Profile::named(profile).unwrap()).storage(Storage::To(store));
        let text = "line\n".repeat(60_000);
        for name in hostile {
            let context = Context {
                tool: Some(name.into()),
                call_id: Some(name.into()),
                session: Some(name.into()),
                ..Context::default()
            };
            let shown = truncator.apply(text.as_bytes(), &context);
            let Some(Saved::Complete(entry)) = shown.preview().map(|preview| preview.saved()) else {
                panic!("{profile} {name:?}")
            };
            let path = entry.path.as_ref().unwrap();
            assert_eq!(path.parent(), Some(directory.as_path()), "{profile} {name:?}");
            let file = path.file_name().unwrap().to_str().unwrap();
            assert!(file.bytes().all(|byte| byte.is_ascii_graphic()) && !file.starts_with('-'), "{file:?}");
        }
        let outside: Vec<_> =
            std::fs::read_dir(home.path()).unwrap().map(|item| item.unwrap().file_name()).collect();
        assert_eq!(outside, ["store"], "{profile}");
    }
}

#[test]
fn limits_can_change_between_calls() {
    let mut truncator = Truncator::new(Profile::named("coding-agent").unwrap());
    let text = (1..=50).map(|number| format!("line{number}\n")).collect::<String>();
    let cut = |truncator: &Truncator, tool: &str| {
        truncator.apply(text.as_bytes(), &Context::tool(tool)).preview().is_some()
    };
    let lines = |most| Rule { limits: Limits { lines: Some(most), ..Limits::default() }, ..Rule::default() };
    assert!(!cut(&truncator, "bash"));
    // Seed 000 §4.1 setToolConfig: the tool's direction stays when only its lines are set.
    truncator.update_tool("bash", lines(10)).unwrap();
    assert!(cut(&truncator, "bash") && !cut(&truncator, "other"));
    assert_eq!(truncator.settings(&Context::tool("bash")).strategy, StrategyName::Tail);
    // Seed 000 §4.1 updateConfig.
    truncator.update(lines(20)).unwrap();
    assert!(cut(&truncator, "other"));
    assert!(truncator.update(lines(0)).is_err() && truncator.update_tool("bash", lines(0)).is_err());
    assert!(cut(&truncator, "other"), "a refused change changes nothing");
}

#[test]
fn output_over_the_cap_is_stored_in_part_and_reported() {
    let home = tempfile::tempdir().unwrap();
    let store = Arc::new(FsStore::new(home.path().join("store"), noon));
    let truncator = Truncator::new(Profile::native()).storage(Storage::To(store.clone())).cap(100_000);
    let mut spool = truncator.spool(Context::default());
    for _ in 0..100 {
        spool.observe(&b"0123456789\n".repeat(1000));
    }
    let shown = spool.finish();
    let Some(Saved::Failed { error, part: Some(part) }) = shown.preview().map(|preview| preview.saved())
    else {
        panic!()
    };
    let id = store.ids().unwrap()[0];
    assert_eq!(error, "one output may have at most 100000 bytes (max_output)");
    assert_eq!(*part, offcut::outcome::StoredPart { id, bytes: 100_000 });
    let entry = store.entry(&id).unwrap();
    assert_eq!((entry.bytes, entry.summary.unwrap().original.bytes), (100_000, 1_100_000));
}
