//! Random operations on a store, compared with a simple model of it.

use offcut::Context;
use offcut::fsck;
use offcut::retention::{self, Policy};
use offcut::store::{
    EntryFilter, EntryState, FsStore, Id, MemoryStore, NewEntry, Pin, Retention, Store, StoreError, Summary,
    Writer,
};
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Clone, Debug)]
enum Operation {
    Create,
    /// Appends this many bytes to the entry with this number.
    Write(usize, usize),
    Commit(usize),
    Cap(usize),
    /// The writer is dropped.
    Crash(usize),
    Read(usize, u64, usize),
    Pin(usize, bool),
    Remove(usize),
    /// Removes what is older than this many hours.
    Clean(u64),
    /// The clock advances by this many hours.
    Wait(u64),
    /// The store is opened by another process.
    Reopen,
}

fn operation() -> impl Strategy<Value = Operation> {
    let number = || 0..8_usize;
    prop_oneof![
        3 => Just(Operation::Create),
        4 => (number(), 0..3000_usize).prop_map(|(number, bytes)| Operation::Write(number, bytes)),
        2 => number().prop_map(Operation::Commit),
        1 => number().prop_map(Operation::Cap),
        1 => number().prop_map(Operation::Crash),
        2 => (number(), 0..4000_u64, 0..2000_usize).prop_map(|(number, at, count)| Operation::Read(number, at, count)),
        1 => (number(), any::<bool>()).prop_map(|(number, pinned)| Operation::Pin(number, pinned)),
        1 => number().prop_map(Operation::Remove),
        1 => (0..40_u64).prop_map(Operation::Clean),
        1 => (0..40_u64).prop_map(Operation::Wait),
        1 => Just(Operation::Reopen),
    ]
}

thread_local! {
    static SECONDS: Cell<u64> = const { Cell::new(0) };
}

fn clock() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_771_860_645 + SECONDS.get())
}

/// What the store must know about an entry.
#[derive(Debug)]
struct Model {
    bytes: Vec<u8>,
    state: EntryState,
    pin: Pin,
}

/// A store, its model, and the writers that are open.
struct Run {
    store: Box<dyn Store>,
    reopen: Box<dyn Fn() -> Box<dyn Store>>,
    model: BTreeMap<Id, Model>,
    /// In order of creation; an entry keeps its number when it is removed.
    ids: Vec<Id>,
    writers: BTreeMap<Id, Box<dyn Writer>>,
}

impl Run {
    fn new(reopen: Box<dyn Fn() -> Box<dyn Store>>) -> Run {
        SECONDS.set(0);
        let store = reopen();
        Run { store, reopen, model: BTreeMap::new(), ids: Vec::new(), writers: BTreeMap::new() }
    }

    fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Create => {
                let context = Context::tool("model");
                let new =
                    NewEntry { retention: Some(Retention::Days(30)), ..NewEntry::new(&context, "native") };
                let writer = self.store.create(&new).unwrap();
                let id = writer.id();
                assert!(self.ids.last().is_none_or(|last| *last < id), "ids are in order of creation");
                self.model
                    .insert(id, Model { bytes: Vec::new(), state: EntryState::Running, pin: Pin::Loose });
                self.ids.push(id);
                self.writers.insert(id, writer);
            }
            Operation::Write(number, count) => {
                let Some(id) = self.id(number) else { return };
                let chunk: Vec<u8> = (0..count).map(|place| (place * 7 + number) as u8).collect();
                if let (Some(writer), Some(model)) = (self.writers.get_mut(&id), self.model.get_mut(&id)) {
                    writer.write(&chunk).unwrap();
                    model.bytes.extend_from_slice(&chunk);
                }
            }
            Operation::Commit(number) => self.close(number, EntryState::Complete),
            Operation::Cap(number) => self.close(number, EntryState::Capped { reason: "full".to_owned() }),
            Operation::Crash(number) => {
                let Some(id) = self.id(number) else { return };
                if self.writers.remove(&id).is_some()
                    && let Some(model) = self.model.get_mut(&id)
                {
                    model.state = EntryState::Abandoned;
                }
            }
            Operation::Read(number, at, count) => {
                let Some(id) = self.id(number) else { return };
                let mut buffer = vec![0; count];
                let read = self.store.read(&id, at, &mut buffer);
                match self.model.get(&id) {
                    None => assert!(matches!(read, Err(StoreError::NotFound { .. }))),
                    Some(model) => {
                        let start = model.bytes.len().min(at as usize);
                        let end = model.bytes.len().min(start + count);
                        buffer.truncate(read.unwrap());
                        assert_eq!(buffer, &model.bytes[start..end]);
                    }
                }
            }
            Operation::Pin(number, pinned) => {
                let Some(id) = self.id(number) else { return };
                let pin = if pinned { Pin::Pinned } else { Pin::Loose };
                let result = self.store.pin(&id, pin);
                match self.model.get_mut(&id) {
                    None => assert!(result.is_err()),
                    Some(model) => (result.unwrap(), model.pin = pin).0,
                }
            }
            Operation::Remove(number) => {
                let Some(id) = self.id(number) else { return };
                let removed = self.store.remove(&id);
                assert_eq!(removed.is_ok(), self.model.remove(&id).is_some());
            }
            Operation::Clean(hours) => {
                let age = Duration::from_secs(hours * 60 * 60);
                let policy = Policy { age: Some(age), ..Policy::default() };
                let plan = retention::plan(&*self.store, &policy, |_| Retention::Forever, clock()).unwrap();
                plan.execute(&*self.store, &mut |result| result.unwrap());
                self.model.retain(|id, model| {
                    let is_old = clock().duration_since(id.time()).is_ok_and(|found| found > age);
                    !is_old || model.pin == Pin::Pinned || model.state == EntryState::Running
                });
            }
            Operation::Wait(hours) => SECONDS.set(SECONDS.get() + hours * 60 * 60),
            Operation::Reopen => {
                // Ids of one millisecond are ordered only within a process.
                SECONDS.set(SECONDS.get() + 1);
                self.store = (self.reopen)();
            }
        }
    }

    fn id(&self, number: usize) -> Option<Id> {
        self.ids.get(number).copied()
    }

    fn close(&mut self, number: usize, state: EntryState) {
        let Some(writer) = self.id(number).and_then(|id| self.writers.remove(&id)) else { return };
        let id = writer.id();
        match self.model.get_mut(&id) {
            // What was removed while it was written does not come back.
            None => assert!(writer.commit(state, &Summary::default()).is_err()),
            Some(model) => {
                let entry = writer.commit(state.clone(), &Summary::of_whole(&model.bytes)).unwrap();
                assert_eq!((entry.id, &entry.state), (id, &state));
                model.state = state;
            }
        }
    }

    fn check(&self) {
        let ids: Vec<Id> = self.model.keys().copied().collect();
        assert_eq!(self.store.ids().unwrap(), ids);
        let newest_first: Vec<Id> = ids.iter().rev().copied().collect();
        let selected = self.store.select(&EntryFilter::default()).unwrap();
        assert_eq!(selected.iter().map(|entry| entry.id).collect::<Vec<_>>(), newest_first);
        for (entry, (id, model)) in selected.iter().rev().zip(&self.model) {
            let found = self.store.entry(id).unwrap();
            for entry in [entry, &found] {
                let known = (&entry.state, entry.bytes, entry.pin);
                assert_eq!(known, (&model.state, model.bytes.len() as u64, model.pin), "{id}");
            }
        }
        let checked =
            fsck::check_entries(&*self.store, &ids, &mut |problem| assert_eq!(problem, None)).unwrap();
        assert_eq!(checked.entries, ids.len() as u64);
        fsck::check_surroundings(&*self.store, clock(), &mut |problem| panic!("{problem:?}")).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn stores_behave_like_the_model(operations in proptest::collection::vec(operation(), 0..40)) {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("store");
        let memory = MemoryStore::new(clock);
        let stores: [Box<dyn Fn() -> Box<dyn Store>>; 2] = [
            Box::new(move || Box::new(FsStore::new(&directory, clock))),
            Box::new(move || Box::new(memory.clone())),
        ];
        for store in stores {
            let mut run = Run::new(store);
            for operation in &operations {
                run.apply(operation);
                run.check();
            }
        }
    }
}
