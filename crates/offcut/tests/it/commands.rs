//! Tests of command output: the last line, commands that keep running, entries that another process ends, and output
//! that is large enough for a background writer.

use crate::common::{Fault, Faulty, memory, native};
use offcut::measure::{CountTokens, EstimatedTokens, LineConvention, lines};
use offcut::store::{EntryState, FsStore, Store};
use offcut::{CommandEnd, Context, Limits, Profile, Rule, Saved, Storage, Truncator};
use proptest::prelude::*;
use std::io::Write;
use std::sync::Arc;
use std::time::SystemTime;

fn ending(remark: &str) -> CommandEnd {
    CommandEnd { exit_code: Some(7), status: remark.to_owned(), ..CommandEnd::default() }
}

pub(crate) fn directory_store() -> (tempfile::TempDir, Arc<FsStore>) {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(FsStore::new(directory.path().join("store"), SystemTime::now));
    (directory, store)
}

fn numbered(count: u64) -> Vec<u8> {
    (1..=count).flat_map(|number| format!("{number}\n").into_bytes()).collect()
}

fn limits() -> impl Strategy<Value = Limits> {
    (256..4000_u64, prop::option::of(4..60_u64), prop::option::of(128..600_u64))
        .prop_map(|(bytes, lines, tokens)| Limits { bytes: Some(bytes), lines, tokens, ..Limits::default() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The last line describes the command, or says that more output follows.
    #[test]
    fn preview_with_last_line_is_within_the_limits(
        limits in limits(),
        line in "[a-z]{0,60}",
        count in 0..300_usize,
        open_end in "[a-z]{0,400}",
        remark in "(exit [0-9]{1,3} after [0-9]{1,4}.[0-9] s)?",
        goes_on in any::<bool>(),
        stored in any::<bool>(),
    ) {
        let text = format!("{}{open_end}", format!("{line}\n").repeat(count)).into_bytes();
        let rule = Rule { limits, ..Rule::default() };
        let (_directory, store) = directory_store();
        let storage = if stored { Storage::To(store) } else { Storage::Off };
        let truncator = Truncator::new(Profile::native()).storage(storage).rule(rule).unwrap();
        let mut spool = truncator.spool(Context::default());
        spool.observe(&text);
        let shown = if goes_on { spool.pause(ending(&remark)).0 } else { spool.finish_with(ending(&remark)) };
        let content = shown.content();
        let within = |limit: Option<u64>, size: u64| limit.is_none_or(|limit| size <= limit);
        prop_assert!(within(limits.bytes, content.len() as u64));
        prop_assert!(within(limits.lines, lines(content, LineConvention::Terminated)), "{}", String::from_utf8_lossy(content));
        prop_assert!(within(limits.tokens, EstimatedTokens.count(content)));
        if shown.preview().is_some()
            && (!remark.is_empty() || goes_on)
        {
            let last = String::from_utf8_lossy(content).lines().last().unwrap_or_default().to_owned();
            prop_assert!(last.contains(&remark) && last.starts_with("[offcut"), "{last}");
            prop_assert_eq!(last.contains("still running"), goes_on, "{}", last);
        }
        prop_assert!(goes_on || shown.preview().is_none() || !content.is_empty());
    }
}

#[test]
fn running_output_is_stored_and_ended_by_another_process() {
    for (first, later) in
        [(numbered(3), numbered(5)), (numbered(5000), b"open end".to_vec()), (vec![], vec![b'x'])]
    {
        let (_directory, store) = directory_store();
        let truncator = native(Rule::default(), store.clone());
        let mut spool = truncator.spool(Context::tool("bash"));
        spool.observe(&first);
        let (shown, file) = spool.pause(ending("exit 7 after 0.1 s"));
        let Saved::Running(entry) = &shown.preview().unwrap().saved() else { panic!("{shown:?}") };
        assert_eq!(store.entry(&entry.id).unwrap().state, EntryState::Running);
        let mut file = file.unwrap();
        file.write_all(&later).unwrap();
        // While the file is open, the entry does not count as abandoned.
        assert_eq!(store.entry(&entry.id).unwrap().state, EntryState::Running);
        let finished = store.finalize(&entry.id, EntryState::Complete).unwrap();
        drop(file);
        let all = [first.clone(), later.clone()].concat();
        assert_eq!(finished, store.entry(&entry.id).unwrap());
        assert_eq!((finished.state.clone(), finished.bytes), (EntryState::Complete, all.len() as u64));
        let summary = finished.summary.unwrap();
        assert_eq!(summary.digest, blake3::hash(&all).to_hex().as_str());
        assert_eq!((summary.exit_code, summary.original.bytes), (Some(7), all.len() as u64));
        assert_eq!(summary.lines, lines(&all, LineConvention::Terminated));
        let missing: u64 = summary.gaps.iter().map(offcut::cut::Gap::bytes).sum();
        assert_eq!(missing + summary.shown.bytes, all.len() as u64, "what came later was not shown");
    }
}

#[test]
fn abandoned_entry_is_repaired_when_it_is_read() {
    let (_directory, store) = directory_store();
    let truncator = native(Rule::default(), store.clone());
    let text = numbered(5000);
    let mut spool = truncator.spool(Context::default());
    spool.observe(&text);
    let id = store.ids().unwrap()[0];
    assert_eq!(store.entry(&id).unwrap().state, EntryState::Running);
    drop(spool);
    let metadata = store.directory().join(".offcut").join(format!("{id}.json"));
    assert!(std::fs::read_to_string(&metadata).unwrap().contains("\"running\""));
    let entry = store.entry(&id).unwrap();
    assert_eq!((entry.state.clone(), entry.bytes), (EntryState::Abandoned, text.len() as u64));
    let summary = entry.summary.clone().unwrap();
    assert_eq!((summary.lines, summary.digest.as_str()), (5000, blake3::hash(&text).to_hex().as_str()));
    let repaired = std::fs::read_to_string(&metadata).unwrap();
    assert!(
        repaired.contains("\"abandoned\"") && repaired.contains("the writing process ended early"),
        "{repaired}"
    );
    assert_eq!(store.entry(&id).unwrap(), entry);
}

/// A store without files cannot continue an entry, and reports that.
#[test]
fn output_that_cannot_continue_is_not_reported_as_stored() {
    let stores: [(Arc<dyn Store>, &str); 3] = [
        (memory(), "continued after it was shown"),
        (Faulty::new(Fault::Create), "No space left"),
        (Faulty::new(Fault::Commit), "continued after it was shown"),
    ];
    for (store, says) in stores {
        for text in [numbered(3), numbered(5000)] {
            let truncator = native(Rule::default(), store.clone());
            let mut spool = truncator.spool(Context::default());
            spool.observe(&text);
            let (shown, file) = spool.pause(ending("exit 7 after 0.1 s"));
            assert!(file.is_none());
            let Saved::Failed { error, .. } = &shown.preview().unwrap().saved() else { panic!("{shown:?}") };
            assert!(error.contains(says), "{error}");
            let content = String::from_utf8_lossy(shown.content());
            assert!(content.contains("still running, later output is not stored"), "{content}");
        }
    }
}

/// Large outputs are written by another thread.
#[test]
fn background_writer_changes_nothing_else() {
    let text = numbered(2_000_000);
    for fault in
        [None, Some(Fault::WriteAfter(1 << 20)), Some(Fault::WriteAfter(9_000_001)), Some(Fault::Commit)]
    {
        let results: Vec<_> = [text.len(), 1 << 20, 70_001]
            .into_iter()
            .map(|chunk| {
                let store: Arc<dyn Store> = match fault {
                    None => memory(),
                    Some(fault) => Faulty::new(fault),
                };
                let truncator = native(Rule::default(), store.clone());
                let mut spool = truncator.spool(Context::default());
                text.chunks(chunk).for_each(|chunk| spool.observe(chunk));
                let shown = spool.finish();
                let kept = match &shown.preview().unwrap().saved() {
                    Saved::Complete(entry) => Ok(entry.summary.clone().unwrap().digest),
                    Saved::Failed { error, .. } => {
                        Err(error.replace(&store.ids().unwrap()[0].to_string(), "ID"))
                    }
                    other => panic!("{other:?}"),
                };
                let entry = store.entry(&store.ids().unwrap()[0]).unwrap();
                (kept, entry.bytes, entry.state, entry.summary.map(|summary| summary.digest))
            })
            .collect();
        assert!(results.iter().all(|result| result == &results[0]), "{fault:?} {results:?}");
        let (kept, bytes, _, digest) = &results[0];
        assert_eq!(kept.is_ok(), fault.is_none());
        if let Some(digest) = digest {
            assert_eq!(digest, blake3::hash(&text[..*bytes as usize]).to_hex().as_str(), "{fault:?}");
        }
    }
}
