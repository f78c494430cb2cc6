//! Reading bytes as fast as they come: standard input, and what a command prints.

use crate::process::enlarge_pipe;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;

/// One read takes at most this much: what an enlarged pipe holds.
pub(crate) const BLOCK: usize = 1 << 20;

/// Reads once, whatever interrupts it. Nothing read is the end.
pub(crate) fn read_block(reader: &mut impl Read, block: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(block) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Reads to the end.
pub(crate) fn read_all(mut reader: impl Read + AsFd, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    enlarge_pipe(&reader);
    let mut block = vec![0; BLOCK];
    loop {
        match read_block(&mut reader, &mut block)? {
            0 => return Ok(()),
            count => take(&block[..count]),
        }
    }
}
