//! The proxy for a server that it starts as a process.

use crate::hub::{Client, Hub};
use crate::library::Library;
use crate::line::{Line, Lines};
use crate::message::Packet;
use crate::relay::{MakeMiddleware, Relay};
use offcut::Context;
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a server may take to end after its input is closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_secs(3);

/// The interval between checks whether the server has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The settings of a proxy.
pub struct Proxy {
    /// Makes the middleware for each kind of result.
    pub make_middleware: Box<MakeMiddleware>,
    /// The stored outputs that the read tool prints.
    pub library: Library,
    /// The server's name in the configuration: its tools are `mcp__NAME__TOOL` there.
    pub server_name: Option<String>,
    /// What is stored with every output: the session, the directory and the user, and the agent if it is known.
    pub context: Context,
    /// The name of the agent that has the client of this name, if it is known.
    pub agent_of: fn(&str) -> Option<&'static str>,
    /// The size limit for one message in bytes.
    pub largest_message: usize,
    /// Prints a message for people. It may quote the other side, and must not fail.
    pub say: fn(&str),
}

impl Proxy {
    pub(crate) fn hub(self, output: Box<dyn Write + Send>) -> Hub {
        Hub {
            relay: Relay::new(self.make_middleware, self.server_name, self.context, self.agent_of),
            library: self.library,
            client: Client::new(output),
            largest: self.largest_message,
            say: self.say,
        }
    }
}

/// How a proxy ended.
#[derive(Clone, Copy, Debug)]
pub enum ProxyEnd {
    /// The client closed its end.
    ByClient,
    /// The server ended by itself.
    ByServer(ExitStatus),
}

enum Event {
    ClientLeft,
    ServerSilent,
    Signal(i32),
}

/// Runs a server and passes messages between it and the client until one of them ends.
pub fn proxy(
    proxy: Proxy,
    mut command: Command,
    input: impl Read + Send + 'static,
    output: Box<dyn Write + Send>,
) -> io::Result<ProxyEnd> {
    // A process group, because the command may be a wrapper (`npx`, a shell) and signals must reach the server.
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0).spawn()?;
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
            let mut lines = Lines::new(from_server, hub.largest);
            if follow_server(&hub, &mut lines, &to_server).is_err() {
                let _ = events.send(Event::ClientLeft);
                // The client no longer reads. Read on, so that the server does not block before it ends.
                while let Ok(Some(_)) = lines.next() {}
            }
            let _ = events.send(Event::ServerSilent);
        })
    };
    {
        let hub = hub.clone();
        std::thread::spawn(move || {
            let forward = |packet: &Packet<'_>| {
                write(&to_server, &packet.bytes)
                    .map_err(|error| format!("the server does not read its input: {error}"))
            };
            if let Err(error) = hub.follow_client(input, forward) {
                (hub.say)(&format!("the client cannot be read: {error}"));
            }
            // Closes the server's input.
            to_server.lock().unwrap_or_else(PoisonError::into_inner).take();
            let _ = events.send(Event::ClientLeft);
        });
    }
    let (status, first) = wait_for_the_end(&mut child, &happened)?;
    // Its last messages may still be in the pipe; a process that it started may keep the pipe open for ever.
    let deadline = Instant::now() + GRACE;
    while !server.is_finished() && Instant::now() < deadline {
        std::thread::sleep(POLL_INTERVAL);
    }
    match first {
        First::Server => {
            hub.fail_all(&format!("the server has ended ({status}) before it answered"));
            Ok(ProxyEnd::ByServer(status))
        }
        First::Client => Ok(ProxyEnd::ByClient),
    }
}

/// Who ended first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Client,
    Server,
}

/// Waits for the server to end. After the client has left or the server has closed its output, it has [`GRACE`] to end
/// before SIGTERM, and again before SIGKILL. Signals from the host are passed on at once.
fn wait_for_the_end(child: &mut Child, happened: &Receiver<Event>) -> io::Result<(ExitStatus, First)> {
    let mut first = None;
    let mut deadline: Option<Instant> = None;
    let mut next_signal = Signal::TERM;
    loop {
        // Before the first event there is no deadline.
        let event = match deadline {
            None => happened.recv().ok(),
            Some(_) => happened.recv_timeout(POLL_INTERVAL).ok(),
        };
        match event {
            Some(Event::Signal(signal)) => {
                first.get_or_insert(First::Client);
                send_signal(child, Signal::from_named_raw(signal).unwrap_or(Signal::TERM));
            }
            Some(Event::ClientLeft) => drop(first.get_or_insert(First::Client)),
            Some(Event::ServerSilent) => drop(first.get_or_insert(First::Server)),
            None => {}
        }
        if let Some(status) = child.try_wait()? {
            return Ok((status, first.unwrap_or(First::Server)));
        }
        let now = Instant::now();
        if *deadline.get_or_insert(now + GRACE) <= now {
            deadline = Some(now + GRACE);
            send_signal(child, next_signal);
            next_signal = Signal::KILL;
        }
    }
}

fn send_signal(child: &Child, signal: Signal) {
    // An error means that it has ended.
    let _ = kill_process_group(Pid::from_child(child), signal);
}

/// Passes on what the server sends until it closes its output. An error means that the client no longer reads.
fn follow_server(
    hub: &Arc<Hub>,
    lines: &mut Lines<impl Read>,
    to_server: &Arc<Mutex<Option<ChildStdin>>>,
) -> io::Result<()> {
    loop {
        match lines.next() {
            Ok(Some(line @ (Line::Whole(bytes) | Line::Unended(bytes)))) => {
                let text = String::from_utf8_lossy(bytes);
                let packet = Packet::parse(bytes, &text);
                match line {
                    Line::Unended(_) if !packet.is_json() => {
                        (hub.say)("the server ended in the middle of a message");
                    }
                    _ => hub.pass_to_client(&packet)?,
                }
            }
            Ok(Some(Line::TooLong(long))) => {
                if let Some(refusal) = hub.refuse_server(&long)? {
                    // On a thread: the server may not read before its output is read.
                    let to_server = to_server.clone();
                    std::thread::spawn(move || write(&to_server, refusal.as_bytes()));
                }
            }
            Ok(None) => return Ok(()),
            Err(error) => {
                (hub.say)(&format!("the server cannot be read: {error}"));
                return Ok(());
            }
        }
    }
}

/// Sends one message to the server.
fn write(to_server: &Mutex<Option<ChildStdin>>, line: &[u8]) -> io::Result<()> {
    let mut pipe = to_server.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(pipe) = pipe.as_mut() else { return Err(io::ErrorKind::BrokenPipe.into()) };
    // One write, so that the server wakes up once.
    let mut message = Vec::with_capacity(line.len() + 1);
    message.extend_from_slice(line);
    message.push(b'\n');
    pipe.write_all(&message)
}

/// Reports the signals by which a host ends its server.
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
