//! The parts of a proxy that do not depend on how it reaches its server: the client, the relay, and local answers.

use crate::library::Library;
use crate::line::{Direction, Line, Lines, TooLong, outline};
use crate::message::{Fault, Packet, RequestId, Versioning, answer_line, code};
use crate::relay::{ClientPacket, LocalMethod, LocalRequest, Relay};
use crate::tools::Tool;
use std::io::{self, BufWriter, Read, Write};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

/// The most local requests that are queued; then the client waits.
const QUEUE: usize = 64;

/// The longest answer that passes although it is not JSON. Some clients accept more than JSON allows, such as `NaN`.
const LONGEST_INVALID: usize = 8 << 10;

/// The client's end. A writer waits until the client reads: nothing is queued.
pub(crate) struct Client(Mutex<BufWriter<Box<dyn Write + Send>>>);

impl Client {
    pub(crate) fn new(output: Box<dyn Write + Send>) -> Client {
        Client(Mutex::new(BufWriter::with_capacity(64 << 10, output)))
    }

    /// Sends one message as one line.
    pub(crate) fn send(&self, line: &[u8]) -> io::Result<()> {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(line)?;
        output.write_all(b"\n")?;
        output.flush()
    }
}

pub(crate) struct Hub {
    pub(crate) relay: Relay,
    pub(crate) library: Library,
    pub(crate) client: Client,
    pub(crate) largest: usize,
    /// Prints a message for people.
    pub(crate) say: fn(&str),
}

impl Hub {
    /// Answers a request with an error.
    fn fail(&self, id: &RequestId, message: &str) -> io::Result<()> {
        self.client.send(refusal(id, message).as_bytes())
    }

    /// Answers those of the requests that are pending with an error.
    pub(crate) fn fail_pending(&self, requests: &[RequestId], message: &str) -> io::Result<()> {
        let mut pending = requests.iter().filter(|id| self.relay.forget(id));
        pending.try_for_each(|id| self.fail(id, message))
    }

    /// Answers every pending request with an error.
    pub(crate) fn fail_all(&self, message: &str) {
        // If the client does not read, there is nobody left to answer.
        let _ = self.relay.forget_all().iter().try_for_each(|id| self.fail(id, message));
    }

    /// Passes on what the client sends until it closes its end, and answers local requests.
    ///
    /// If `forward` fails, the requests in the packet are answered with its error.
    pub(crate) fn follow_client(
        &self,
        input: impl Read,
        mut forward: impl FnMut(&Packet<'_>) -> Result<(), String>,
    ) -> io::Result<()> {
        let (queue, queued) = sync_channel(QUEUE);
        std::thread::scope(|scope| {
            // Reading from the store takes time; messages for the server do not wait for it.
            let answering = scope.spawn(|| self.answer_local(queued));
            let mut lines = Lines::new(input, self.largest);
            let mut follow = || -> io::Result<()> {
                while let Some(line) = lines.next()? {
                    let (bytes, is_whole) = match line {
                        Line::Whole(bytes) => (bytes, true),
                        Line::Unended(bytes) => (bytes, false),
                        Line::TooLong(long) => {
                            self.refuse_client(&long, &mut forward)?;
                            continue;
                        }
                    };
                    let text = String::from_utf8_lossy(bytes);
                    let packet = Packet::parse(bytes, &text);
                    if !is_whole && !packet.is_json() {
                        (self.say)("the client ended in the middle of a message");
                        continue;
                    }
                    let ClientPacket { forward: packet, local } = self.relay.client_packet(packet);
                    if let Some(packet) = packet
                        && let Err(reason) = forward(&packet)
                    {
                        self.fail_pending(&packet.requests(), &reason)?;
                    }
                    for request in local {
                        // The receiver exists as long as this loop.
                        let _ = queue.send(request);
                    }
                }
                Ok(())
            };
            let followed = follow();
            drop(queue);
            let _ = answering.join();
            followed
        })
    }

    /// Passes on a packet of the server.
    pub(crate) fn pass_to_client(&self, packet: &Packet<'_>) -> io::Result<()> {
        if !packet.is_json() && packet.bytes.len() > LONGEST_INVALID {
            let TooLong { id, direction, .. } = outline(&packet.bytes);
            if let (Some(id), Direction::Response) = (id, direction)
                && self.relay.forget(&id)
            {
                return self.fail(&id, "the answer of the server is not valid JSON");
            }
        }
        match self.relay.server_packet(packet) {
            Some(changed) => self.client.send(changed.as_bytes()),
            None => self.client.send(&packet.bytes),
        }
    }

    /// Handles a message of the server that is too long: the client's request fails; a request of the server is answered
    /// with the error that is returned.
    pub(crate) fn refuse_server(&self, long: &TooLong) -> io::Result<Option<String>> {
        let message = self.too_long("server", long.bytes);
        match (&long.id, long.direction) {
            (Some(id), Direction::Response) if self.relay.forget(id) => {
                self.fail(id, &message).map(|()| None)
            }
            (Some(id), Direction::Request) => Ok(Some(refusal(id, &message))),
            _ => {
                (self.say)(&message);
                Ok(None)
            }
        }
    }

    fn refuse_client(
        &self,
        long: &TooLong,
        forward: &mut impl FnMut(&Packet<'_>) -> Result<(), String>,
    ) -> io::Result<()> {
        let message = self.too_long("client", long.bytes);
        match (&long.id, long.direction) {
            (Some(id), Direction::Request) => self.fail(id, &message),
            (Some(id), Direction::Response) => {
                let refusal = refusal(id, &message);
                // If the server has ended, nothing waits for the answer.
                let _ = forward(&Packet::parse(refusal.as_bytes(), &refusal));
                Ok(())
            }
            _ => {
                (self.say)(&message);
                Ok(())
            }
        }
    }

    fn too_long(&self, sender: &str, bytes: u64) -> String {
        format!("a message of the {sender} has {bytes} bytes; the limit is {}", self.largest)
    }

    fn answer_local(&self, queued: Receiver<LocalRequest>) {
        for request in queued {
            if self.client.send(self.answer(request).as_bytes()).is_err() {
                return;
            }
        }
    }

    /// The answer to a local request.
    pub(crate) fn answer(&self, LocalRequest { id, versioning, method }: LocalRequest) -> String {
        let result = match method {
            LocalMethod::CallTool { name, arguments } => {
                Ok(self.library.call(Tool::Read, &name, arguments.as_deref()))
            }
            LocalMethod::ReadResource { uri } => self.library.resource(&uri),
            LocalMethod::List(listing) => Ok(listing.result()),
            LocalMethod::Refuse(fault) => Err(fault),
        };
        answer_line(id.json(), versioning, &result)
    }
}

/// The error that answers a request. It is the same in every version of the protocol.
fn refusal(id: &RequestId, message: &str) -> String {
    answer_line(id.json(), Versioning::Session, &Err(Fault::new(code::SERVER, message)))
}
