//! The proxy: a client on one side, a server on the other.

use crate::hub::{Client, Hub, is_json};
use crate::library::Library;
use crate::line::{Line, Lines};
use crate::relay::{Bounding, Relay};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a server may take to end when nobody speaks to it any more, and again when it was told to end.
const GRACE: Duration = Duration::from_secs(5);

/// What a proxy is set up with.
pub struct Proxy {
    /// Makes the middleware for each tool.
    pub bounding: Box<Bounding>,
    /// What our own tool reads.
    pub library: Library,
    /// The server's name in the configuration: its tools are `mcp__NAME__TOOL` there.
    pub server_name: Option<String>,
    /// The session that outputs are kept under.
    pub session: Option<String>,
    /// The largest message that is held.
    pub largest_message: usize,
}

impl Proxy {
    pub(crate) fn hub(self, output: Box<dyn Write + Send>) -> Hub {
        Hub {
            relay: Relay::new(self.bounding, self.server_name, self.session),
            library: self.library,
            client: Client::new(output),
            largest: self.largest_message,
        }
    }
}

/// How a proxy ended.
#[derive(Clone, Copy, Debug)]
pub enum Ended {
    /// The client has left.
    ByClient,
    /// The server ended by itself.
    ByServer(ExitStatus),
}

enum Event {
    ClientLeft,
    ServerSilent,
    Signal(i32),
}

/// Runs a server and stands between it and the client, until one of them ends.
pub fn proxy(
    proxy: Proxy,
    mut command: Command,
    input: impl Read + Send + 'static,
    output: Box<dyn Write + Send>,
) -> io::Result<Ended> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(to_server), Some(from_server)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("the server has no pipes"));
    };
    let hub = Arc::new(proxy.hub(output));
    let to_server = Arc::new(Mutex::new(Some(to_server)));
    let (events, happened) = channel();
    watch_signals(events.clone())?;
    let server = {
        let (hub, to_server, events) = (hub.clone(), to_server.clone(), events.clone());
        std::thread::spawn(move || {
            let followed = follow_server(&hub, from_server, &to_server);
            let _ = events.send(if followed.is_ok() { Event::ServerSilent } else { Event::ClientLeft });
        })
    };
    {
        let hub = hub.clone();
        std::thread::spawn(move || {
            let forward = |line: &[u8]| {
                write(&to_server, line).map_err(|error| format!("the server does not listen: {error}"))
            };
            if let Err(error) = hub.follow_client(input, forward) {
                eprintln!("offcut: the client cannot be read: {error}");
            }
            // Our own end is all that keeps the server waiting for more.
            to_server.lock().unwrap_or_else(PoisonError::into_inner).take();
            let _ = events.send(Event::ClientLeft);
        });
    }
    let ended = wait_for_an_end(&mut child, &hub, &happened)?;
    // What it has said last is on its way; something that it started may hold the pipe open for ever.
    let deadline = Instant::now() + GRACE;
    while !server.is_finished() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(ended)
}

fn wait_for_an_end(child: &mut Child, hub: &Hub, happened: &Receiver<Event>) -> io::Result<Ended> {
    match happened.recv() {
        Ok(Event::ServerSilent) => {
            let status = end(child, GRACE)?;
            hub.fail_all(&format!("the server has ended ({status}) before it answered"));
            Ok(Ended::ByServer(status))
        }
        Ok(Event::Signal(signal)) => {
            if let (Some(pid), Some(signal)) =
                (Pid::from_raw(child.id() as i32), Signal::from_named_raw(signal))
            {
                let _ = kill_process(pid, signal);
            }
            end(child, GRACE).map(|_| Ended::ByClient)
        }
        Ok(Event::ClientLeft) | Err(_) => end(child, GRACE).map(|_| Ended::ByClient),
    }
}

/// Waits for a server to end; one that does not is told to, and then made to.
fn end(child: &mut Child, grace: Duration) -> io::Result<ExitStatus> {
    for signal in [Some(Signal::TERM), None] {
        let deadline = Instant::now() + grace;
        while Instant::now() < deadline {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        match (signal, Pid::from_raw(child.id() as i32)) {
            (Some(signal), Some(pid)) => drop(kill_process(pid, signal)),
            _ => child.kill()?,
        }
    }
    child.wait()
}

/// Passes on what the server says, until it says no more. An error is the client's: it does not read any more.
fn follow_server(
    hub: &Arc<Hub>,
    output: impl Read,
    to_server: &Arc<Mutex<Option<ChildStdin>>>,
) -> io::Result<()> {
    let mut lines = Lines::new(output, hub.largest);
    loop {
        match lines.next() {
            Ok(Some(Line::Whole(line))) => hub.pass_to_client(line)?,
            Ok(Some(Line::Unended(line))) if is_json(line) => hub.pass_to_client(line)?,
            Ok(Some(Line::Unended(_))) => eprintln!("offcut: the server ended in the middle of a message"),
            Ok(Some(Line::TooLong(long))) => {
                if let Some(refusal) = hub.refuse_server(&long)? {
                    // The server may not read before we do: waiting for it here could last for ever.
                    let to_server = to_server.clone();
                    std::thread::spawn(move || write(&to_server, refusal.as_bytes()));
                }
            }
            Ok(None) => return Ok(()),
            Err(error) => {
                eprintln!("offcut: the server cannot be read: {error}");
                return Ok(());
            }
        }
    }
}

/// One message for the server.
fn write(to_server: &Mutex<Option<ChildStdin>>, line: &[u8]) -> io::Result<()> {
    let mut pipe = to_server.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(pipe) = pipe.as_mut() else { return Err(io::ErrorKind::BrokenPipe.into()) };
    // In one piece, so that the server wakes up once.
    let mut message = Vec::with_capacity(line.len() + 1);
    message.extend_from_slice(line);
    message.push(b'\n');
    pipe.write_all(&message)
}

/// What a host sends to end its server is meant for the server.
fn watch_signals(events: Sender<Event>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if events.send(Event::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}
