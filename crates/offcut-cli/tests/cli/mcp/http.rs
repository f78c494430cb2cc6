//! A server on Streamable HTTP that runs on a thread of the test.

use super::{CALL, Client, large, text_result, texts};
use crate::harness::Sandbox;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// One request that the server received.
#[derive(Clone, Debug)]
struct Seen {
    /// The method and the headers, in lower case.
    head: String,
    body: String,
}

/// A server that answers by a function.
struct Server {
    url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    fn start<A: AsRef<[u8]>>(answer: impl Fn(&Seen) -> A + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (all, answer) = (seen.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let (all, answer) = (all.clone(), answer.clone());
                std::thread::spawn(move || {
                    let mut connection = connection.unwrap();
                    let request = receive(&connection);
                    all.lock().unwrap().push(request.clone());
                    let _ = connection.write_all(answer(&request).as_ref());
                });
            }
        });
        Server { url, seen }
    }

    fn seen(&self, sign: &str) -> Option<Seen> {
        self.seen
            .lock()
            .unwrap()
            .iter()
            .find(|seen| seen.body.contains(sign) || seen.head.contains(sign))
            .cloned()
    }
}

fn receive(connection: &TcpStream) -> Seen {
    let mut reader = BufReader::new(connection);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let head = head.to_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Seen { head, body: String::from_utf8(body).unwrap() }
}

fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

fn json_response(body: &str) -> String {
    response("200 OK", "content-type: application/json\r\nmcp-session-id: s1\r\n", body)
}

fn stream(body: &str) -> String {
    response("200 OK", "content-type: text/event-stream; charset=utf-8\r\n", body)
}

fn client(sandbox: &Sandbox, server: &Server) -> Client {
    Client::start(sandbox, &["mcp", "proxy", "--header", "X-Key: secret", "--url", &server.url])
}

#[test]
fn messages_pass_unchanged_and_results_are_bounded() {
    let initialized = "{\"jsonrpc\":\"2.0\",\r\n \"id\":0, \"result\":{\"protocolVersion\":\"2099-01-01\", \"n\":1e2,\n\"capabilities\":{}}}";
    let before =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{ \"x\":9223372036854775809}}";
    let server = Server::start(move |seen| match &seen.body {
        body if body.contains("initialize\"") => json_response(initialized),
        body if body.contains("tools/call") => stream(&format!(
            ": hello\nid: 1\ndata: {before}\n\nevent: message\ndata:{}\n\n",
            text_result(1, &large()).trim_end()
        )),
        body if body.contains("notifications/") => response("202 Accepted", "", ""),
        _ => response("405 Method Not Allowed", "", ""),
    });
    let sandbox = Sandbox::new();
    let mut client = client(&sandbox, &server);
    client.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"future":1e2}}"#);
    // A line end between values becomes a space; every other byte is unchanged.
    assert_eq!(client.line(), initialized.replace(['\r', '\n'], " "));
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    client.send(CALL);
    assert_eq!(client.line(), before);
    let answer = client.json();
    let shown = texts(&answer["result"]).concat();
    assert!(shown.len() <= 9500 && shown.contains("ERROR: the needle is here"), "{shown}");
    let (found, _) = client.read(json!({"id": "last", "pattern": "needle"}));
    assert_eq!(found[0], "12346:ERROR: the needle is here\n");
    assert_eq!(client.leave().0, Some(0));
    let call = server.seen("tools/call").unwrap();
    assert_eq!(call.body, CALL);
    for header in [
        "x-key: secret",
        "mcp-session-id: s1",
        "mcp-protocol-version: 2099-01-01",
        "mcp-method: tools/call",
        "mcp-name: big",
        "accept: application/json, text/event-stream",
        "accept-encoding: identity",
    ] {
        assert!(call.head.contains(header), "{header}: {}", call.head);
    }
    assert!(server.seen("initialize\"").unwrap().body.contains("\"future\":1e2"));
    assert!(server.seen("delete /mcp").unwrap().head.contains("mcp-session-id: s1"));
}

#[test]
fn stream_that_ends_early_is_resumed() {
    let server = Server::start(|seen| match &seen.head {
        head if head.starts_with("get") && head.contains("last-event-id: e7") => {
            stream(&format!("id: e8\ndata: {}\n\n", text_result(1, "the rest").trim_end()))
        }
        head if head.starts_with("post") => stream("retry: 1\nid: e7\ndata:\n\n"),
        _ => response("405 Method Not Allowed", "", ""),
    });
    let sandbox = Sandbox::new();
    let mut client = client(&sandbox, &server);
    client.send(CALL);
    assert_eq!(client.line() + "\n", text_result(1, "the rest"));
}

#[test]
fn failures_answer_the_pending_request() {
    let check = |answer: String, says: &str| {
        let server = Server::start(move |_| answer.clone());
        let sandbox = Sandbox::new();
        let mut client = client(&sandbox, &server);
        client.send(CALL);
        let got: Value = client.json();
        assert_eq!(got["id"], 1);
        let message = got["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{message:.2000}");
        // The smallest limit that a user can set.
        assert!(message.len() <= 256, "{} bytes: {message}", message.len());
    };
    check(
        response("401 Unauthorized", "", "no"),
        "401 Unauthorized: no; give it credentials with --header-env",
    );
    check(response("500 Internal Server Error", "", ""), "500");
    check(response("202 Accepted", "", ""), "without an answer");
    check(stream("data: {\"jsonrpc\":"), "incomplete answer");
    check(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{".to_owned(),
        "broke off",
    );
    check(response("302 Found", "location: http://127.0.0.1:1/\r\n", ""), "302 Found");
    // Neither passes a body that is not a message, at any size.
    let lines = large();
    check(response("200 OK", "content-type: text/plain\r\n", &lines), "not JSON: line 0 of an output");
    let gzip = "content-type: application/json\r\ncontent-encoding: gzip\r\n";
    check(response("200 OK", gzip, &lines), "content encoding \"gzip\", although \"identity\" was requested");
    let gzip = "content-type: text/event-stream\r\ncontent-encoding: gzip\r\n";
    check(response("200 OK", gzip, &lines), "content encoding \"gzip\"");
    let unknown = format!("content-type: application/json\r\ncontent-encoding: {}\r\n", "\"x".repeat(1000));
    check(response("200 OK", &unknown, &lines), "content encoding");
    check(response("511 Network Authentication Required", "", &lines), "511 Network");
    check(stream(&format!("data: {}\n\n", "x".repeat(500_000))), "incomplete answer");
    // A protocol error passes unchanged with any status.
    let error =
        r#"{"jsonrpc":"2.0", "id":1,"error":{"code":-32004,"message":"no","data":{"supported":[1e2]}}}"#;
    let server =
        Server::start(move |_| response("400 Bad Request", "content-type: application/json\r\n", error));
    let sandbox = Sandbox::new();
    let mut client = self::client(&sandbox, &server);
    client.send(CALL);
    assert_eq!(client.line(), error);
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &["mcp", "proxy", "--url", "http://127.0.0.1:1/"]);
    client.send(CALL);
    assert!(client.json()["error"]["message"].as_str().unwrap().contains("cannot be reached"));
    sandbox.run(&["mcp", "proxy", "--url", "ftp://x"], b"").failed(2, "invalid URL");
    sandbox.run(&["mcp", "proxy", "--url", "http://x", "--header", "x"], b"").failed(2, "invalid header");
}

#[test]
fn error_about_a_header_does_not_quote_it() {
    let sandbox = Sandbox::new();
    let run = sandbox.run(&["mcp", "proxy", "--url", "http://x", "--header", "Bearer sesame"], b"");
    run.failed(2, "invalid header");
    assert!(!run.stderr.contains("sesame"), "{run:?}");
}

#[test]
fn answers_in_every_form_are_bounded() {
    let answer = text_result(1, &large());
    let answer = answer.trim_end();
    let wrong = [b"{\"x\":\"\xFF\",", &answer.as_bytes()[1..]].concat();
    let json = |body: &[u8]| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    };
    for response in [
        stream(&format!("data: {answer}\r\r")).into_bytes(),
        stream(&format!(": x\rid: 1\rdata: {answer}\rdata:\r\r")).into_bytes(),
        stream(&format!("data: {answer}\r\n\r\n")).into_bytes(),
        stream(&format!("data: {answer}\ndata: \n\n")).into_bytes(),
        json(&wrong),
    ] {
        let server = Server::start(move |_| response.clone());
        let sandbox = Sandbox::new();
        let mut client = client(&sandbox, &server);
        client.send(CALL);
        let line = client.line();
        assert!(
            line.len() < 11_000 && line.contains("ERROR: the needle is here"),
            "{} bytes: {line:.300}",
            line.len()
        );
    }
}

/// Other users can see the arguments of a process, but neither its files nor its environment.
#[test]
fn headers_come_from_files_and_variables() {
    let server = Server::start(|_| json_response(text_result(1, "hello").trim_end()));
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join("headers"), "X-File: one: two\n\nX-Other:3\r\n").unwrap();
    let mut arguments = vec!["mcp", "proxy", "--url", &server.url, "--header", "@headers"];
    arguments.extend(["--header-env", "Authorization=TOKEN", "--header", "X-Plain: 4"]);
    let mut client = Client::start_with(&sandbox, &arguments, &[("TOKEN", "Bearer secret")]);
    client.send(CALL);
    client.line();
    let seen = server.seen("tools/call").unwrap().head;
    for header in ["x-file: one: two", "x-other: 3", "authorization: bearer secret", "x-plain: 4"] {
        assert!(seen.contains(header), "{header}: {seen}");
    }
    let fails = |option: &[&str], says: &str| {
        let arguments = [&["mcp", "proxy", "--url", "http://x"], option].concat();
        sandbox.run(&arguments, b"").failed(2, says);
    };
    fails(&["--header", "@nothing"], "cannot read the headers in \"nothing\"");
    fails(&["--header-env", "X"], "expected NAME=VARIABLE");
    fails(&["--header-env", "X=OFFCUT_NO_SUCH_VARIABLE"], "\"OFFCUT_NO_SUCH_VARIABLE\"");
    std::fs::write(sandbox.path().join("headers"), "a secret\n").unwrap();
    fails(&["--header", "@headers"], "line 1 of \"headers\"");
}
