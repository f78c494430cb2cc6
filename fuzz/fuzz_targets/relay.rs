//! Passes any conversation through the MCP proxy. Lines that begin with `<` come from the server.

#![no_main]

use libfuzzer_sys::fuzz_target;
use offcut::results::Middleware;
use offcut::store::MemoryStore;
use offcut::{Limits, Profile, Rule, Storage, Truncator};
use offcut_mcp::{Library, Proxy, converse};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

fuzz_target!(|data: &[u8]| {
    let store = Arc::new(MemoryStore::new(|| UNIX_EPOCH));
    let library = Library::new(Ok(store.clone()));
    let make_middleware = move |_: &offcut_mcp::ResultKind<'_>| {
        let rule = Rule { limits: Limits { bytes: Some(300), ..Limits::default() }, ..Rule::default() };
        let truncator = Truncator::new(Profile::native()).storage(Storage::To(store.clone())).rule(rule);
        Middleware::new(truncator.expect("limits above the floor"))
    };
    let proxy = Proxy {
        make_middleware: Box::new(make_middleware),
        library,
        server_name: None,
        context: offcut::Context::default(),
        agent_of: |_| None,
        largest_message: 1 << 20,
        say: |_| {},
    };
    converse(proxy, data);
});
