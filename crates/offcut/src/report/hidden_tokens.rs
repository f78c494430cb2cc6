//! Counts the tokens of what was not shown of an output.

use crate::cut::Gap;
use crate::measure::CountTokens;
use crate::store::{Entry, Store};

/// Blocks in which hidden text is read to count its tokens.
const BLOCK: usize = 1 << 20;

/// The tokens of what was not shown, counted block by block.
pub fn hidden_tokens(store: &dyn Store, entry: &Entry, gaps: &[Gap], tokens: &dyn CountTokens) -> u64 {
    let mut block = vec![0; BLOCK];
    let mut total = 0;
    for gap in gaps {
        let mut offset = gap.start;
        while offset < gap.end.min(entry.bytes) {
            let length = BLOCK.min((gap.end - offset) as usize);
            match store.read(&entry.id, offset, &mut block[..length]) {
                Ok(0) | Err(_) => break,
                Ok(count) => {
                    total += tokens.count(&block[..count]);
                    offset += count as u64;
                }
            }
        }
    }
    total
}
