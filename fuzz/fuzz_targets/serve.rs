//! Sends any input to the MCP server: every answer is a line of JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;
use offcut::store::MemoryStore;
use offcut_mcp::{Library, serve};
use serde_json::value::RawValue;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

#[derive(Clone, Default)]
struct Answers(Arc<Mutex<Vec<u8>>>);

impl Write for Answers {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("the lock is not poisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fuzz_target!(|data: &[u8]| {
    let library = Library::new(Ok(Arc::new(MemoryStore::new(|| UNIX_EPOCH))));
    let answers = Answers::default();
    serve(&library, 1 << 16, data, Box::new(answers.clone())).expect("writing to memory does not fail");
    let answers = answers.0.lock().expect("the lock is not poisoned");
    for line in answers.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        serde_json::from_slice::<&RawValue>(line).expect("answers are JSON");
    }
});
