//! Parses anything that users write by hand: profiles, sizes, ranges, references, and JSON to be made readable.

#![no_main]

use libfuzzer_sys::fuzz_target;
use offcut::limits::parse_size;
use offcut::retrieve::{Range, readable, resolve};
use offcut::store::MemoryStore;
use offcut::{Context, Profile, Rule};
use std::time::UNIX_EPOCH;

fuzz_target!(|data: &[u8]| {
    let _ = readable(data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = parse_size(text);
    let _ = resolve(&MemoryStore::new(|| UNIX_EPOCH), text);
    for range in [Range::lines(text), Range::bytes(text)].into_iter().flatten() {
        let _ = range.option();
    }
    if let Ok(profile) = Profile::parse(text) {
        let _ = profile.settings(Context::tool(text).tool.as_deref(), Rule::default());
    }
});
