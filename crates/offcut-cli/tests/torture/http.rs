//! Hostile MCP servers over HTTP: each request is answered, and no answer exceeds the budget.

use crate::harness::Sandbox;
use crate::mcp::{self, BUDGET};
use crate::random::Random;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

pub(crate) fn round(random: &mut Random) -> u64 {
    let sandbox = Sandbox::new();
    let count = 1 + random.below(6);
    let answers: Vec<Vec<u8>> = (0..count).map(|id| response(random, id)).collect();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    // The thread ends with the tests: it waits for connections that no longer come.
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let answers = answers.clone();
            std::thread::spawn(move || serve(connection, &answers));
        }
    });
    let mut command = sandbox.command();
    command.args(["mcp", "proxy", "--max-bytes", &BUDGET.to_string(), "--url", &url]);
    let mut requests: String = (0..count).map(|id| mcp::call(id) + "\n").collect();
    requests += "{\"jsonrpc\":\"2.0\",\"id\":\"last-request\",\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}\n";
    let seen = mcp::converse(command, requests.into_bytes());
    let last = mcp::check_answers(&seen, (0..count).collect());
    assert!(
        last.is_some_and(|last| last.to_string().contains("offcut_read")),
        "no bounded answer to the last request"
    );
    count as u64
}

fn serve(connection: TcpStream, answers: &[Vec<u8>]) -> Option<()> {
    let mut reader = BufReader::new(&connection);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length =
        head.split_once("content-length: ").and_then(|(_, rest)| rest.split("\r\n").next()?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8_lossy(&body);
    let id = (0..answers.len()).find(|id| body.contains(&format!("\"id\":{id},")));
    let answer = match id {
        Some(id) => answers[id].clone(),
        None if body.contains("last-request") => {
            let body = mcp::large_result("\"last-request\"");
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).into_bytes()
        }
        None => b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec(),
    };
    (&connection).write_all(&answer).ok()
}

/// A response with a hostile body, or one that is itself hostile.
fn response(random: &mut Random, id: usize) -> Vec<u8> {
    let body = mcp::answer(random, id);
    let status = *random.pick(&[
        "200 OK",
        "200 OK",
        "200 OK",
        "202 Accepted",
        "404 Not Found",
        "500 Oh no",
        "302 Found",
        "999 \u{1b}[31m",
    ]);
    let kind = *random.pick(&[
        "application/json",
        "text/event-stream",
        "text/html",
        "",
        "application/json; charset=utf-16",
    ]);
    let body = match (kind, random.below(3)) {
        ("text/event-stream", 0) => [b"data: ", &body[..], b"\n\n"].concat(),
        ("text/event-stream", 1) => body
            .split(|&byte| byte == b',')
            .flat_map(|part| [b"data: ", part, b"\n"].concat())
            .chain(*b"\n")
            .collect(),
        _ => body,
    };
    let length = match random.below(5) {
        0 => body.len() + 1 + random.size(10_000),
        1 => random.size(body.len() + 2),
        _ => body.len(),
    };
    let extra = *random.pick(&[
        "",
        "",
        "Content-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Location: /mcp\r\n",
        "Mcp-Session-Id: \u{7f}x\r\n",
    ]);
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{extra}Connection: close\r\n\r\n"
    );
    match random.below(12) {
        0 => random.bytes(300),
        1 => Vec::new(),
        2 => head.into_bytes()[..40].to_vec(),
        _ => [head.into_bytes(), body].concat(),
    }
}
