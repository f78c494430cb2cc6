//! The proxy for a server on Streamable HTTP: each packet of the client is an HTTP request; its answer is a body or a
//! stream of events. Messages are sent and received as text, without a typed model of the protocol.

use crate::events::{Event, Events};
use crate::hub::Hub;
use crate::message::{Answer, Message, Packet, RequestId, named_version, text_in};
use crate::proxy::Proxy;
use base64::Engine;
use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use ureq::http::{Response, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

/// The most concurrent requests; each has a thread.
const MOST_AT_ONCE: usize = 256;

/// How long answers may take after the client has closed its end.
const GRACE: Duration = Duration::from_secs(5);

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// How often a broken stream is resumed without a new event.
const ATTEMPTS: usize = 5;

/// The longest part of a body or a header that an error quotes. With the text around it, an error has at most 256 bytes, the
/// smallest limit that the native profile accepts.
const QUOTED: usize = 120;

/// The address of a server.
#[derive(Clone, Debug)]
pub struct Address {
    /// Its URL.
    pub url: String,
    /// Headers for every request: name and value.
    pub headers: Vec<(String, String)>,
}

struct Upstream {
    agent: Agent,
    address: Address,
    hub: Hub,
    session: Mutex<Session>,
    at_once: AtomicUsize,
}

/// What the server asked to be sent with every further request.
#[derive(Clone, Debug, Default)]
struct Session {
    id: Option<String>,
    version: Option<String>,
}

/// Passes messages between a client and a server on HTTP until the client closes its end.
pub fn proxy_http(
    proxy: Proxy,
    address: Address,
    input: impl Read,
    output: Box<dyn Write + Send>,
) -> io::Result<()> {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder()
        .http_status_as_error(false)
        // Credentials and the session are meant for the named server only.
        .max_redirects(0)
        .timeout_connect(Some(CONNECT_TIMEOUT))
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
    let followed = upstream.hub.follow_client(input, |packet| upstream.clone().send(packet));
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

    /// Sends a packet of the client. A request waits for its answer on a thread.
    fn send(self: Arc<Self>, packet: &Packet<'_>) -> Result<(), String> {
        if !packet.is_json() {
            (self.hub.say)("a line of the client is not JSON and was not sent");
            return Ok(());
        }
        let headers = headers(&packet.messages);
        let requests = packet.requests();
        if requests.is_empty() {
            let is_ready = packet.messages.iter().any(
                |message| matches!(message, Message::Notification { method, .. } if method == "notifications/initialized"),
            );
            // Not on a thread: the next message may depend on this one.
            match self.post(&packet.bytes, &headers) {
                Ok(response) if response.status().is_success() => {}
                Ok(response) => {
                    (self.hub.say)(&format!("the server answered a notification with {}", response.status()))
                }
                Err(error) => (self.hub.say)(&format!("a notification did not reach the server: {error}")),
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
        let bytes = packet.bytes.to_vec();
        std::thread::spawn(move || {
            let result = self.exchange(&bytes, &requests, &headers);
            // The server does not answer what is still pending.
            let reason = result.err().unwrap_or_else(|| "the server ended an incomplete answer".to_owned());
            let _ = self.hub.fail_pending(&requests, &reason);
            self.at_once.fetch_sub(1, Ordering::SeqCst);
        });
        Ok(())
    }

    /// Sends requests and passes on everything that the server answers.
    fn exchange(&self, bytes: &[u8], requests: &[RequestId], headers: &Headers) -> Result<(), String> {
        let response =
            self.post(bytes, headers).map_err(|error| format!("the server cannot be reached: {error}"))?;
        let status = response.status();
        if !status.is_success() {
            return self.refused(status, response, headers);
        }
        // No other encoding is requested.
        if let Some(encoding) =
            header(&response, "content-encoding").filter(|encoding| encoding != "identity")
        {
            let encoding = quote(encoding.as_bytes());
            return Err(format!(
                "the answer has the content encoding \"{encoding}\", although \"identity\" was requested"
            ));
        }
        if let Some(id) = header(&response, "mcp-session-id") {
            self.session().id = Some(id);
        }
        if !is_stream(&response) {
            return self.deliver_body(response, headers);
        }
        let mut place = Place::default();
        let mut failures = 0;
        let mut stream = Some(response);
        loop {
            let before = place.count;
            if let Some(response) = stream.take() {
                self.follow(response, &mut place, headers)?;
            }
            // A server may end a stream early and continue it on request.
            let is_pending = || requests.iter().any(|id| self.hub.relay.is_pending(id));
            let Some(last) = place.last.clone().filter(|_| is_pending()) else { return Ok(()) };
            failures = if place.count > before { 0 } else { failures + 1 };
            if failures >= ATTEMPTS {
                return Ok(());
            }
            std::thread::sleep(place.pause);
            stream =
                self.get(Some(&last)).ok().filter(|again| again.status().is_success() && is_stream(again));
        }
    }

    /// Passes on an answer that is one body.
    fn deliver_body(&self, response: Response<Body>, headers: &Headers) -> Result<(), String> {
        let most = self.hub.largest as u64;
        let mut body = Vec::new();
        let reader = response.into_body().into_reader();
        reader
            .take(most + 1)
            .read_to_end(&mut body)
            .map_err(|error| format!("the answer broke off: {error}"))?;
        if body.len() as u64 > most {
            return Err(format!("the answer has more than {most} bytes, the limit for a message"));
        }
        if body.trim_ascii().is_empty() {
            return Err("the server accepted the request without an answer".to_owned());
        }
        self.deliver(&body, headers).map_err(|()| format!("the answer is not JSON: {}", quote(&body)))
    }

    /// Passes on the messages of a stream.
    fn follow(&self, response: Response<Body>, place: &mut Place, headers: &Headers) -> Result<(), String> {
        let mut events = Events::new(response.into_body().into_reader(), self.hub.largest);
        loop {
            let next = events.next();
            place.pause = events.pause;
            match next {
                Ok(Some(Event::Message { data, id })) => {
                    place.count += 1;
                    if id.is_some() {
                        place.last = id;
                    }
                    if !data.is_empty() && self.deliver(&data, headers).is_err() {
                        (self.hub.say)("an event of the server is not JSON and was dropped");
                    }
                }
                Ok(Some(Event::TooLong(long))) => {
                    let refusal = self.hub.refuse_server(&long).map_err(|error| error.to_string())?;
                    if let Some(refusal) = refusal {
                        let _ = self.post(refusal.as_bytes(), &Headers::default());
                    }
                }
                Ok(None) => return Ok(()),
                // A broken connection is resumed like a stream that ended.
                Err(_) => return Ok(()),
            }
        }
    }

    /// Passes a packet on to the client; fails if it is not JSON.
    fn deliver(&self, message: &[u8], headers: &Headers) -> Result<(), ()> {
        let line = one_line(message);
        let text = String::from_utf8_lossy(&line);
        let packet = Packet::parse(&line, &text);
        if !packet.is_json() {
            return Err(());
        }
        self.deliver_packet(&packet, headers);
        Ok(())
    }

    fn deliver_packet(&self, packet: &Packet<'_>, headers: &Headers) {
        if headers.is_initialize
            && let Some((_, Answer::Result(result))) = packet.answers().next()
            && let Some(version) = text_in(Some(result), "protocolVersion")
        {
            self.session().version = Some(version);
        }
        // If the client no longer reads, the end of its input is noticed elsewhere.
        let _ = self.hub.pass_to_client(packet);
    }

    /// Passes on the messages that do not belong to a request, until the server ends the stream.
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
                // Many servers do not offer such a stream.
                Ok(_) => return,
                Err(_) => {}
            }
            failures = if place.count > before { 0 } else { failures + 1 };
            std::thread::sleep(place.pause);
        }
    }

    /// Handles an error status: passes on a body that answers a pending request, and reports any other.
    fn refused(&self, status: StatusCode, response: Response<Body>, headers: &Headers) -> Result<(), String> {
        let mut body = Vec::new();
        let most = self.hub.largest as u64;
        let _ = response.into_body().into_reader().take(most).read_to_end(&mut body);
        let line = one_line(&body);
        let text = String::from_utf8_lossy(&line);
        let packet = Packet::parse(&line, &text);
        if packet.answers().any(|(id, _)| self.hub.relay.is_pending(id)) {
            self.deliver_packet(&packet, headers);
            return Ok(());
        }
        let body = quote(&body);
        let hint = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; give it credentials with --header-env",
            StatusCode::NOT_FOUND if self.session().id.is_some() => {
                "; its session may have ended: start again"
            }
            _ => "",
        };
        let colon = if body.is_empty() { "" } else { ": " };
        Err(format!("the server answered {status}{colon}{body}{hint}"))
    }

    fn post(&self, bytes: &[u8], headers: &Headers) -> Result<Response<Body>, ureq::Error> {
        let mut request = self
            .agent
            .post(&self.address.url)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .header("Accept-Encoding", "identity");
        for (name, value) in self.common(headers.version.as_deref()).iter().chain(&headers.values) {
            request = request.header(name, value);
        }
        request.send(bytes)
    }

    fn get(&self, last: Option<&str>) -> Result<Response<Body>, ureq::Error> {
        let mut request = self
            .agent
            .get(&self.address.url)
            .header("Accept", "text/event-stream")
            .header("Accept-Encoding", "identity");
        for (name, value) in self.common(None) {
            request = request.header(name, value);
        }
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        request.call()
    }

    /// Ends the session, if there is one. The protocol allows the server to refuse that.
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

/// The progress of a stream of events.
struct Place {
    /// The id of the last event.
    last: Option<String>,
    count: u64,
    pause: Duration,
}

impl Default for Place {
    fn default() -> Self {
        Place { last: None, count: 0, pause: Duration::from_secs(1) }
    }
}

/// The headers that describe a message. Newer versions of the protocol require them, older ones ignore them.
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
        version: named_version(*params),
        is_initialize: method == "initialize",
    }
}

/// A message on one line: in JSON, line ends are only between values.
fn one_line(message: &[u8]) -> Cow<'_, [u8]> {
    let message = message.trim_ascii();
    if memchr::memchr2(b'\n', b'\r', message).is_none() {
        return Cow::Borrowed(message);
    }
    let flat = |&byte: &u8| if byte == b'\n' || byte == b'\r' { b' ' } else { byte };
    Cow::Owned(message.iter().map(flat).collect())
}

/// A text in a form that is valid in a header.
fn header_value(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (0x20..0x7F).contains(&byte)) && text.trim() == text;
    match is_plain && !text.starts_with("=?base64?") {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(text)),
    }
}

/// The beginning of a body, for an error.
fn quote(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(QUOTED)]);
    // An invalid byte becomes three.
    let ends = text.char_indices().map(|(start, letter)| start + letter.len_utf8());
    let end = ends.take_while(|end| *end <= QUOTED).last().unwrap_or(0);
    text[..end].trim().to_owned()
}

fn header(response: &Response<Body>, name: &str) -> Option<String> {
    response.headers().get(name)?.to_str().ok().map(str::to_owned)
}

fn is_stream(response: &Response<Body>) -> bool {
    header(response, "content-type").is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
}
