//! A server that overwrites whatever it is asked not to, as some do.

use crate::harness::{Place, access, put};
use offcut::store::UploadState;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Careless {
    objects: BTreeMap<String, Vec<u8>>,
    /// Methods and paths, in order.
    requests: Vec<(String, String)>,
}

fn serve(stream: TcpStream, state: &Mutex<Careless>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let (method, path) = (line.split(' ').next()?.to_owned(), line.split(' ').nth(1)?.to_owned());
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
    let mut state = state.lock().unwrap();
    let key = path.split('?').next()?.to_owned();
    state.requests.push((method.clone(), key.clone()));
    let found = state.objects.get(&key).cloned();
    let (status, body) = match (method.as_str(), found) {
        ("PUT", _) => {
            state.objects.insert(key, body);
            ("200 OK", Vec::new())
        }
        ("GET" | "HEAD", Some(found)) => ("200 OK", found),
        _ => ("404 Not Found", b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nETag: \"x\"\r\nConnection: close\r\n\
         Last-Modified: Sun, 15 Nov 2026 00:00:00 GMT\r\n\r\n"
    );
    let mut stream = reader.into_inner();
    stream.write_all(head.as_bytes()).ok()?;
    if method != "HEAD" {
        stream.write_all(&body).ok()?;
    }
    Some(())
}

#[test]
fn where_the_server_overwrites_we_look_first() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let state = Arc::new(Mutex::new(Careless::default()));
    let shared = Arc::clone(&state);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            serve(stream, &shared);
        }
    });
    let place = Place::new();
    for _ in 0..2 {
        // The second store remembers what the first one found out.
        let store = place.store_by(access(&endpoint));
        let entry = put(&store, "bash", b"some output\n");
        assert_eq!(entry.upload_state, UploadState::Uploaded);
        assert!(store.waiting().unwrap().entries == 0);
    }
    let state = state.lock().unwrap();
    let probes =
        state.requests.iter().filter(|(method, key)| method == "PUT" && key.ends_with("/probe")).count();
    assert_eq!(probes, 2, "the same object twice, and only once on this machine");
    let written: Vec<usize> = state
        .requests
        .iter()
        .enumerate()
        .filter(|(_, (method, key))| method == "PUT" && !key.ends_with("/probe"))
        .map(|(number, _)| number)
        .collect();
    assert_eq!(written.len(), 4, "bytes and description of each");
    for number in written {
        let key = &state.requests[number].1;
        assert_eq!(
            state.requests[number - 1],
            ("HEAD".to_owned(), key.clone()),
            "looked for before it is written"
        );
    }
}
