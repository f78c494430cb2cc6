//! A proxy between the store and the server that counts bytes and can simulate an outage or a hanging server.

use crate::harness::server;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

pub(crate) struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    mode: AtomicU8,
    /// Bytes from the server.
    received: AtomicU64,
    /// Bytes to the server.
    sent: AtomicU64,
}

/// What the proxy does with a connection.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    /// Passes everything on.
    Open = 0,
    /// Closes it at once.
    Down = 1,
    /// Accepts everything and never answers.
    Silent = 2,
}

impl Proxy {
    pub(crate) fn new() -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        // The thread runs until the test's process ends.
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(client, &state));
            }
        });
        Proxy { address, state }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.state.mode.store(mode as u8, Ordering::SeqCst);
    }

    /// Bytes from the server since the last call.
    pub(crate) fn take_received(&self) -> u64 {
        self.state.received.swap(0, Ordering::SeqCst)
    }

    pub(crate) fn sent(&self) -> u64 {
        self.state.sent.load(Ordering::SeqCst)
    }
}

fn serve(client: TcpStream, state: &Arc<State>) {
    let mode = || state.mode.load(Ordering::SeqCst);
    if mode() == Mode::Down as u8 {
        let _ = client.shutdown(Shutdown::Both);
        return;
    }
    let Ok(upstream) = TcpStream::connect(server()) else { return };
    let (from, to) = (client.try_clone().unwrap(), upstream.try_clone().unwrap());
    let other = Arc::clone(state);
    std::thread::spawn(move || pump(from, to, &other, &other.sent));
    pump(upstream, client, state, &state.received);
}

fn pump(mut from: TcpStream, mut to: TcpStream, state: &State, counter: &AtomicU64) {
    let mut block = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut block) {
        match state.mode.load(Ordering::SeqCst) {
            mode if mode == Mode::Down as u8 => break,
            mode if mode == Mode::Silent as u8 => continue,
            _ => {}
        }
        counter.fetch_add(count as u64, Ordering::SeqCst);
        if to.write_all(&block[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
