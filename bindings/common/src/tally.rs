//! Events, collected for one call.

use crate::foreign::lock;
use serde_json::Value;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Collects events as the lines that the binary would write.
#[derive(Clone, Default)]
pub(crate) struct Tally(Arc<Mutex<Vec<u8>>>);

impl Tally {
    pub(crate) fn events(&self) -> Vec<Value> {
        let lines = lock(&self.0);
        lines.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }
}

impl Write for Tally {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
