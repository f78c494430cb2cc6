//! What the two directions of a proxy share: the client's end, the relay and our own answers.

use crate::library::Library;
use crate::line::{Direction, Line, Lines, TooLong};
use crate::message::{Fault, Message, RequestId, answer, code};
use crate::relay::{ClientLine, Own, OwnRequest, Relay};
use crate::tools::{TEMPLATES, Tool};
use offcut::json::Node;
use std::io::{self, BufWriter, Read, Write};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

/// Requests to our own tool that may wait; then the client waits.
const QUEUE: usize = 64;

/// The client's end. Whoever writes waits for the client to read: nothing is queued.
pub(crate) struct Client(Mutex<BufWriter<Box<dyn Write + Send>>>);

impl Client {
    pub(crate) fn new(output: Box<dyn Write + Send>) -> Client {
        Client(Mutex::new(BufWriter::with_capacity(64 << 10, output)))
    }

    /// One message, on a line of its own.
    pub(crate) fn send(&self, line: &[u8]) -> io::Result<()> {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(line)?;
        output.write_all(b"\n")?;
        output.flush()
    }
}

/// What a proxy is made of, whatever its server is.
pub(crate) struct Hub {
    pub(crate) relay: Relay,
    pub(crate) library: Library,
    pub(crate) client: Client,
    pub(crate) largest: usize,
}

impl Hub {
    /// Answers a request with an error.
    pub(crate) fn fail(&self, id: &RequestId, message: &str) -> io::Result<()> {
        let fault = Fault::new(code::SERVER, message);
        self.client.send(answer(id.json(), &Err(fault)).as_bytes())
    }

    /// Answers every request that still waits with an error.
    pub(crate) fn fail_all(&self, message: &str) {
        for id in self.relay.give_up_all() {
            if self.fail(&id, message).is_err() {
                return;
            }
        }
    }

    /// Answers the requests of a message that could not be passed on.
    pub(crate) fn fail_line(&self, line: &[u8], message: &str) -> io::Result<()> {
        let document = std::str::from_utf8(line).ok().and_then(|text| Node::parse(text).ok());
        for node in document.map(Message::nodes).unwrap_or_default() {
            if let Message::Request { id, .. } = Message::of(node)
                && self.relay.give_up(&id)
            {
                self.fail(&id, message)?;
            }
        }
        Ok(())
    }

    /// Whether a request of this message still waits for its answer.
    pub(crate) fn is_waiting(&self, line: &[u8]) -> bool {
        let document = std::str::from_utf8(line).ok().and_then(|text| Node::parse(text).ok());
        document.map(Message::nodes).unwrap_or_default().into_iter().any(
            |node| matches!(Message::of(node), Message::Request { id, .. } if self.relay.is_waiting(&id)),
        )
    }

    /// Whether a message answers a request that waits.
    pub(crate) fn answers(&self, line: &[u8]) -> bool {
        let document = std::str::from_utf8(line).ok().and_then(|text| Node::parse(text).ok());
        document.map(Message::nodes).unwrap_or_default().into_iter().any(|node| match Message::of(node) {
            Message::Result { id, .. } | Message::Error { id, .. } => self.relay.is_waiting(&id),
            _ => false,
        })
    }

    /// Passes on what the client sends, until it sends no more, and answers what is ours.
    ///
    /// `forward` says why a message could not be passed on; it is then answered with that.
    pub(crate) fn follow_client(
        &self,
        input: impl Read,
        mut forward: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> io::Result<()> {
        let (queue, waiting) = sync_channel(QUEUE);
        std::thread::scope(|scope| {
            // Reading from the store takes a while; what goes to the server need not wait for it.
            let answering = scope.spawn(|| self.answer_own(waiting));
            let mut lines = Lines::new(input, self.largest);
            let mut follow = || -> io::Result<()> {
                while let Some(line) = lines.next()? {
                    let line = match line {
                        Line::Whole(line) => line,
                        Line::Unended(line) if is_json(line) => line,
                        Line::Unended(_) => {
                            eprintln!("offcut: the client ended in the middle of a message");
                            continue;
                        }
                        Line::TooLong(long) => {
                            self.refuse_client(&long, &mut forward)?;
                            continue;
                        }
                    };
                    let ClientLine { forward: passed, own } = self.relay.client_line(line);
                    if let Some(passed) = passed
                        && let Err(reason) = forward(&passed)
                    {
                        self.fail_line(&passed, &reason)?;
                    }
                    for request in own {
                        // The other end is there as long as this one.
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

    /// Passes on a message of the server.
    pub(crate) fn pass_to_client(&self, line: &[u8]) -> io::Result<()> {
        self.client.send(&self.relay.server_line(line))
    }

    /// A message of the server was too long: whoever waits for it is told. A request goes back as an error.
    pub(crate) fn refuse_server(&self, long: &TooLong) -> io::Result<Option<String>> {
        let message = self.too_long("server", long.bytes);
        match (&long.id, long.direction) {
            (Some(id), Direction::Answers) if self.relay.give_up(id) => {
                self.fail(id, &message).map(|()| None)
            }
            (Some(id), Direction::Asks) => {
                Ok(Some(answer(id.json(), &Err(Fault::new(code::SERVER, message)))))
            }
            _ => {
                eprintln!("offcut: {message}");
                Ok(None)
            }
        }
    }

    fn refuse_client(
        &self,
        long: &TooLong,
        forward: &mut impl FnMut(&[u8]) -> Result<(), String>,
    ) -> io::Result<()> {
        let message = self.too_long("client", long.bytes);
        match (&long.id, long.direction) {
            (Some(id), Direction::Asks) => self.fail(id, &message),
            (Some(id), Direction::Answers) => {
                let refusal = answer(id.json(), &Err(Fault::new(code::SERVER, message)));
                // If the server is gone, nobody waits for it.
                let _ = forward(refusal.as_bytes());
                Ok(())
            }
            _ => {
                eprintln!("offcut: {message}");
                Ok(())
            }
        }
    }

    fn too_long(&self, whose: &str, bytes: u64) -> String {
        format!("a message of the {whose} has {bytes} bytes, more than the {} that are held", self.largest)
    }

    fn answer_own(&self, waiting: Receiver<Own>) {
        for own in waiting {
            if self.client.send(self.answer(own).as_bytes()).is_err() {
                return;
            }
        }
    }

    /// What we say to a request that is ours.
    pub(crate) fn answer(&self, Own { id, request }: Own) -> String {
        let result = match request {
            OwnRequest::Call { name, arguments } => {
                Ok(self.library.call(Tool::Read, &name, arguments.as_deref()))
            }
            OwnRequest::Read { uri } => self.library.resource(&uri),
            OwnRequest::Resources => Ok("{\"resources\":[]}".to_owned()),
            OwnRequest::Templates => Ok(TEMPLATES.to_owned()),
            OwnRequest::Refuse(fault) => Err(fault),
        };
        answer(id.json(), &result)
    }
}

/// Whether a message that the end of the stream ends is whole.
pub(crate) fn is_json(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_ok_and(|text| Node::parse(text).is_ok())
}
