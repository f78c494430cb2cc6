//! The events of one call.

use crate::foreign::lock;
use serde_json::Value;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Collects events as the JSON lines that the command line writes.
#[derive(Clone, Default)]
pub(crate) struct EventLog(Arc<Mutex<Vec<u8>>>);

impl EventLog {
    pub(crate) fn events(&self) -> Vec<Value> {
        let lines = lock(&self.0);
        lines.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }
}

impl Write for EventLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
