//! A server behind Streamable HTTP: each message of the client is a request, its answer a body or a stream of events.
//!
//! No typed model of the protocol: a message goes out and comes in as the text it is.

use crate::events::{Event, Events};
use crate::hub::Hub;
use crate::line::Lines;
use crate::message::{Message, text_in};
use crate::proxy::Proxy;
use base64::Engine;
use offcut::json::Node;
use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use ureq::http::{Response, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

/// Requests on their way at once; each has a thread.
const MOST_AT_ONCE: usize = 256;

/// How long we wait for answers when the client has left, and for a connection.
const GRACE: Duration = Duration::from_secs(5);
const CONNECTING: Duration = Duration::from_secs(30);

/// How often a stream that broke is taken up again without anything having come.
const ATTEMPTS: usize = 5;

/// The version that a message of a client without `initialize` carries.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Where the server is.
#[derive(Clone, Debug)]
pub struct Address {
    /// Its URL.
    pub url: String,
    /// What is sent along with every request: name and value.
    pub headers: Vec<(String, String)>,
}

struct Upstream {
    agent: Agent,
    address: Address,
    hub: Hub,
    session: Mutex<Session>,
    at_once: AtomicUsize,
}

/// What the server has told us to say from now on.
#[derive(Clone, Debug, Default)]
struct Session {
    id: Option<String>,
    version: Option<String>,
}

/// Stands between a client and a server behind HTTP until the client leaves.
pub fn proxy_http(
    proxy: Proxy,
    address: Address,
    input: impl Read,
    output: Box<dyn Write + Send>,
) -> io::Result<()> {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder()
        .http_status_as_error(false)
        // Another place is not the server that the user named, and the session is not its business.
        .max_redirects(0)
        .timeout_connect(Some(CONNECTING))
        .user_agent(concat!("offcut/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls)
        .build();
    let upstream = Arc::new(Upstream {
        agent: config.into(),
        address,
        hub: proxy.hub(output),
        session: Mutex::default(),
        at_once: AtomicUsize::new(0),
    });
    let followed = upstream.hub.follow_client(input, |line| upstream.clone().send(line));
    let deadline = Instant::now() + GRACE;
    while upstream.at_once.load(Ordering::SeqCst) > 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    upstream.leave();
    followed
}

impl Upstream {
    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a line of the client. What waits for an answer does so on a thread of its own.
    fn send(self: Arc<Self>, line: &[u8]) -> Result<(), String> {
        let document = std::str::from_utf8(line).ok().and_then(|text| Node::parse(text).ok());
        let Some(document) = document else {
            eprintln!("offcut: a line of the client is not JSON and was not sent");
            return Ok(());
        };
        let messages: Vec<Message<'_>> = Message::nodes(document).into_iter().map(Message::of).collect();
        let headers = headers(&messages);
        if !messages.iter().any(|message| matches!(message, Message::Request { .. })) {
            let is_ready = messages.iter().any(
                |message| matches!(message, Message::Notification { method, .. } if method == "notifications/initialized"),
            );
            // In order: the next message may depend on this one.
            match self.post(line, &headers) {
                Ok(response) if response.status().is_success() => {}
                Ok(response) => {
                    eprintln!("offcut: the server answered a notification with {}", response.status())
                }
                Err(error) => eprintln!("offcut: a notification did not reach the server: {error}"),
            }
            if is_ready {
                std::thread::spawn(move || self.listen());
            }
            return Ok(());
        }
        if self.at_once.fetch_add(1, Ordering::SeqCst) >= MOST_AT_ONCE {
            self.at_once.fetch_sub(1, Ordering::SeqCst);
            return Err(format!("more than {MOST_AT_ONCE} requests wait for the server"));
        }
        let line = line.to_vec();
        std::thread::spawn(move || {
            let result = self.exchange(&line, &headers);
            // Whatever is not answered by now never will be.
            let reason =
                result.err().unwrap_or_else(|| "the server ended the answer before it was whole".to_owned());
            let _ = self.hub.fail_line(&line, &reason);
            self.at_once.fetch_sub(1, Ordering::SeqCst);
        });
        Ok(())
    }

    /// A request and all that comes back for it.
    fn exchange(&self, line: &[u8], headers: &Headers) -> Result<(), String> {
        let response =
            self.post(line, headers).map_err(|error| format!("the server cannot be reached: {error}"))?;
        let status = response.status();
        if !status.is_success() {
            return self.refused(status, response, headers);
        }
        if let Some(id) = header(&response, "mcp-session-id") {
            self.session().id = Some(id);
        }
        if !is_stream(&response) {
            return self.whole(response, headers);
        }
        let mut place = Place::default();
        let mut failures = 0;
        let mut stream = Some(response);
        loop {
            let before = place.count;
            if let Some(response) = stream.take() {
                self.follow(response, &mut place, headers)?;
            }
            // A server may end a stream early and go on with it when it is asked to.
            let Some(last) = place.last.clone().filter(|_| self.hub.is_waiting(line)) else { return Ok(()) };
            failures = if place.count > before { 0 } else { failures + 1 };
            if failures >= ATTEMPTS {
                return Ok(());
            }
            std::thread::sleep(place.pause);
            stream =
                self.get(Some(&last)).ok().filter(|again| again.status().is_success() && is_stream(again));
        }
    }

    /// An answer in one piece.
    fn whole(&self, response: Response<Body>, headers: &Headers) -> Result<(), String> {
        let most = self.hub.largest as u64;
        let mut body = Vec::new();
        let reader = response.into_body().into_reader();
        reader
            .take(most + 1)
            .read_to_end(&mut body)
            .map_err(|error| format!("the answer broke off: {error}"))?;
        if body.len() as u64 > most {
            return Err(format!("the answer has more than the {most} bytes that are held"));
        }
        if body.trim_ascii().is_empty() {
            return Err("the server has accepted the request and does not answer it".to_owned());
        }
        self.deliver(&body, headers);
        Ok(())
    }

    /// Passes on the messages of a stream.
    fn follow(&self, response: Response<Body>, place: &mut Place, headers: &Headers) -> Result<(), String> {
        let mut events = Events::new(Lines::new(response.into_body().into_reader(), self.hub.largest));
        loop {
            let next = events.next();
            place.pause = events.pause;
            match next {
                Ok(Some(Event::Message { data, id })) => {
                    place.count += 1;
                    if id.is_some() {
                        place.last = id;
                    }
                    if !data.is_empty() {
                        self.deliver(&data, headers);
                    }
                }
                Ok(Some(Event::TooLong(long))) => {
                    let refusal = self.hub.refuse_server(&long).map_err(|error| error.to_string())?;
                    if let Some(refusal) = refusal {
                        let _ = self.post(refusal.as_bytes(), &Headers::default());
                    }
                }
                Ok(None) => return Ok(()),
                // A connection that breaks is taken up again like a stream that ends.
                Err(_) => return Ok(()),
            }
        }
    }

    /// A message for the client, on one line: line ends can only stand between values.
    fn deliver(&self, message: &[u8], headers: &Headers) {
        let message = message.trim_ascii();
        let flat = match memchr::memchr2(b'\n', b'\r', message) {
            None => Cow::Borrowed(message),
            Some(_) => {
                let flat = |&byte: &u8| if byte == b'\n' || byte == b'\r' { b' ' } else { byte };
                Cow::Owned(message.iter().map(flat).collect::<Vec<u8>>())
            }
        };
        if headers.is_initialize
            && let Some(document) = std::str::from_utf8(&flat).ok().and_then(|text| Node::parse(text).ok())
            && let Some(version) = text_in(document.get("result"), "protocolVersion")
        {
            self.session().version = Some(version);
        }
        // If the client does not read any more, its end of the input tells us, too.
        let _ = self.hub.pass_to_client(&flat);
    }

    /// What the server says of its own accord, as long as it wants to.
    fn listen(&self) {
        let mut place = Place::default();
        let mut failures = 0;
        while failures < ATTEMPTS {
            let before = place.count;
            match self.get(place.last.as_deref()) {
                Ok(response) if response.status().is_success() && is_stream(&response) => {
                    if self.follow(response, &mut place, &Headers::default()).is_err() {
                        return;
                    }
                }
                // Many servers have nothing to say.
                Ok(_) => return,
                Err(_) => {}
            }
            failures = if place.count > before { 0 } else { failures + 1 };
            std::thread::sleep(place.pause);
        }
    }

    /// An answer with the status of an error: if it is a message, the client gets it; else we say what came.
    fn refused(&self, status: StatusCode, response: Response<Body>, headers: &Headers) -> Result<(), String> {
        let mut body = Vec::new();
        let most = self.hub.largest as u64;
        let _ = response.into_body().into_reader().take(most).read_to_end(&mut body);
        if self.hub.answers(&body) {
            self.deliver(&body, headers);
            return Ok(());
        }
        body.truncate(2000);
        let body = String::from_utf8_lossy(&body);
        let body = body.trim();
        let hint = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; give it credentials with --header",
            StatusCode::NOT_FOUND if self.session().id.is_some() => {
                "; its session may have ended: start again"
            }
            _ => "",
        };
        let colon = if body.is_empty() { "" } else { ": " };
        Err(format!("the server answered {status}{colon}{body}{hint}"))
    }

    fn post(&self, line: &[u8], headers: &Headers) -> Result<Response<Body>, ureq::Error> {
        let mut request = self
            .agent
            .post(&self.address.url)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        for (name, value) in self.common(headers.version.as_deref()).iter().chain(&headers.values) {
            request = request.header(name, value);
        }
        request.send(line)
    }

    fn get(&self, last: Option<&str>) -> Result<Response<Body>, ureq::Error> {
        let mut request = self.agent.get(&self.address.url).header("Accept", "text/event-stream");
        for (name, value) in self.common(None) {
            request = request.header(name, value);
        }
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        request.call()
    }

    /// Ends the session, if there is one; whether the server minds is its own affair.
    fn leave(&self) {
        if self.session().id.is_none() {
            return;
        }
        let mut request = self.agent.delete(&self.address.url);
        for (name, value) in self.common(None) {
            request = request.header(name, value);
        }
        let _ = request.config().timeout_global(Some(GRACE)).build().call();
    }

    fn common(&self, version: Option<&str>) -> Vec<(String, String)> {
        let session = self.session().clone();
        let version = version.map(str::to_owned).or(session.version);
        let own = [("Mcp-Session-Id", session.id), ("MCP-Protocol-Version", version)];
        let own = own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        self.address.headers.iter().cloned().chain(own).collect()
    }
}

/// Where a stream has come to.
struct Place {
    last: Option<String>,
    count: u64,
    pause: Duration,
}

impl Default for Place {
    fn default() -> Self {
        Place { last: None, count: 0, pause: Duration::from_secs(1) }
    }
}

/// What the headers say of a message: newer versions of the protocol want it there, older ones do not mind.
#[derive(Clone, Debug, Default)]
struct Headers {
    values: Vec<(String, String)>,
    version: Option<String>,
    is_initialize: bool,
}

fn headers(messages: &[Message<'_>]) -> Headers {
    let [Message::Request { method, params, .. } | Message::Notification { method, params }] = messages
    else {
        return Headers::default();
    };
    let name = match method.as_str() {
        "tools/call" | "prompts/get" => text_in(*params, "name"),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => text_in(*params, "uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => text_in(*params, "taskId"),
        _ => None,
    };
    let values = [("Mcp-Method", Some(method.clone())), ("Mcp-Name", name)];
    Headers {
        values: values
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), header_value(&value?))))
            .collect(),
        version: text_in(params.and_then(|params| params.get("_meta")), VERSION),
        is_initialize: method == "initialize",
    }
}

/// A text as a header can carry it.
fn header_value(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (0x20..0x7F).contains(&byte)) && text.trim() == text;
    match is_plain && !text.starts_with("=?base64?") {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(text)),
    }
}

fn header(response: &Response<Body>, name: &str) -> Option<String> {
    response.headers().get(name)?.to_str().ok().map(str::to_owned)
}

fn is_stream(response: &Response<Body>) -> bool {
    header(response, "content-type").is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
}
