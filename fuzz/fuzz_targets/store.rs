//! Foreign metadata beside a kept output: taken or refused, and what was taken is written as it was read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use offcut::store::{Entry, Id};

fuzz_target!(|data: &[u8]| {
    let id = Id::parse("1q1jhprfq70femhn").expect("an id");
    let Ok(entry) = Entry::from_json(&id, data) else { return };
    let written = entry.to_json();
    let again = Entry::from_json(&id, &written).expect("we read what we write");
    assert_eq!(again.to_json(), written);
});
