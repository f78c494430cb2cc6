//! An S3 server that fails at random: the command keeps its exit code, and each output can be read, on this machine until the
//! store has it. The server between offcut and the real one breaks connections off.

use crate::harness::{Ran, Sandbox, feed};
use crate::random::Random;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub(crate) fn missing() -> Option<String> {
    let is_set = std::env::var_os("OFFCUT_TEST_BUCKET").is_some() && cfg!(feature = "s3");
    (!is_set).then(|| "no S3 server: scripts/with-seaweedfs scripts/torture".to_owned())
}

/// How many of 100 connections fail.
type Failures = Arc<AtomicU64>;

/// Starts a relay to the real server; returns its address.
fn relay(server: String, failures: Failures, seed: u64) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut random = Random::new(seed);
        for client in listener.incoming().flatten() {
            let fails = random.below(100) < failures.load(Ordering::Relaxed) as usize;
            let (kind, after) = (random.below(4), random.size(50_000));
            let server = server.clone();
            std::thread::spawn(move || match (fails, kind) {
                // Refused, answered with an error, and hanging.
                (true, 0) => {}
                (true, 1) => {
                    let _ = (&client).write_all(
                        b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                    );
                }
                (true, 2) => std::thread::sleep(Duration::from_secs(5)),
                // Broken off after a number of bytes.
                (true, _) => forward(client, &server, after),
                (false, _) => forward(client, &server, usize::MAX),
            });
        }
    });
    address
}

fn forward(client: TcpStream, server: &str, most: usize) {
    let Ok(server) = TcpStream::connect(server) else { return };
    let (reader, writer) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || copy(reader, writer, most));
    copy(server, client, most);
}

fn copy(mut from: TcpStream, mut to: TcpStream, most: usize) {
    let (mut buffer, mut copied) = ([0; 16 << 10], 0);
    while copied < most {
        match from.read(&mut buffer) {
            Ok(count) if count > 0 && to.write_all(&buffer[..count]).is_ok() => copied += count,
            _ => break,
        }
    }
    let _ = from.shutdown(std::net::Shutdown::Both);
    let _ = to.shutdown(std::net::Shutdown::Both);
}

pub(crate) fn round(random: &mut Random) -> u64 {
    let variable = |name: &str| std::env::var(name).unwrap();
    let failures: Failures = Arc::new(AtomicU64::new(0));
    let server = variable("AWS_ENDPOINT_URL").trim_start_matches("http://").to_owned();
    let endpoint = format!("http://{}", relay(server, failures.clone(), random.number()));
    let store = format!(
        "s3://{}/torture/{:x}-{}",
        variable("OFFCUT_TEST_BUCKET"),
        random.number(),
        std::process::id()
    );
    let run = |sandbox: &Sandbox, arguments: &[&str], input: &[u8]| -> Ran {
        let mut command = sandbox.command();
        command
            .args(arguments)
            .env("OFFCUT_STORE", &store)
            .env("OFFCUT_STORE_DEADLINE", "2")
            .env("AWS_ENDPOINT_URL", &endpoint);
        for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"] {
            command.env(name, variable(name));
        }
        feed(command, input)
    };
    let (writer, reader) = (Sandbox::new(), Sandbox::new());
    let mut outputs = Vec::new();
    for _ in 0..3 {
        failures.store(*random.pick(&[0, 30, 100]), Ordering::Relaxed);
        let lines = 2000 + random.size(200_000);
        let text = random.lines(lines).into_bytes();
        let ran = run(&writer, &["run", "--shell", "/bin/cat; exit 7"], &text);
        let shown = String::from_utf8(ran.stdout).unwrap();
        assert!(
            ran.code == Some(7) && shown.len() <= 9500,
            "exit {:?}, {} bytes: {}",
            ran.code,
            shown.len(),
            ran.stderr
        );
        let id = shown.rsplit_once("[offcut ").unwrap().1[..10].to_owned();
        let is_local = shown.contains("only on this machine so far");
        assert!(is_local || shown.contains("nothing is lost"), "{shown}");
        failures.store(0, Ordering::Relaxed);
        if !is_local {
            assert!(
                run(&reader, &["cat", &id], b"").stdout == text,
                "another machine does not read what is stored"
            );
        }
        assert!(run(&writer, &["cat", &id], b"").stdout == text, "this machine does not read its output");
        outputs.push((id, text));
    }
    // Another process of offcut may still upload, and wait for a connection that hangs.
    crate::harness::until(|| {
        run(&writer, &["clean"], b"").text();
        outputs.iter().all(|(id, text)| run(&reader, &["cat", id], b"").stdout == *text)
    });
    3
}
