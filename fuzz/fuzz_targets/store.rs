//! Reads any metadata of an entry: it is accepted or rejected, and accepted metadata is written back unchanged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use offcut::store::{Entry, Id};

fuzz_target!(|data: &[u8]| {
    let id = Id::parse("1q1jhprfq70femhn").expect("an id");
    let Ok(entry) = Entry::from_json(&id, data) else { return };
    let written = entry.to_json();
    let again = Entry::from_json(&id, &written).expect("written metadata can be read");
    assert_eq!(again.to_json(), written);
});
