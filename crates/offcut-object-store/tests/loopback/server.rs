//! An HTTP server on a free port of this machine whose answers are a function of the request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

pub(crate) struct Request {
    pub(crate) method: String,
    /// Without the query.
    pub(crate) path: String,
    /// After the question mark.
    pub(crate) query: String,
    pub(crate) body: Vec<u8>,
}

/// A status line, and a body.
pub(crate) type Answer = (&'static str, Vec<u8>);

/// Starts a server, which runs until the process ends, and returns its endpoint.
pub(crate) fn start(answer: impl Fn(Request) -> Answer + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            serve(stream, &answer);
        }
    });
    endpoint
}

fn serve(stream: TcpStream, answer: &dyn Fn(Request) -> Answer) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).is_err() {
        // A request by TLS is not text.
        return reader.into_inner().write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").ok();
    }
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let is_head = method == "HEAD";
    let (status, body) = answer(Request { method, path, query, body });
    let length = body.len();
    let mut stream = reader.into_inner();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nETag: \"x\"\r\nConnection: close\r\n\
         Last-Modified: Sun, 15 Nov 2026 00:00:00 GMT\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok()?;
    if !is_head {
        stream.write_all(&body).ok()?;
    }
    stream.shutdown(Shutdown::Write).ok()
}
