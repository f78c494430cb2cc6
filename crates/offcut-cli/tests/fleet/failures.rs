//! A store that fails: the preview is unchanged, nothing is lost, and the message says what to do.

use crate::harness::{numbered, until};
use crate::{Machine, place, variable};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

/// Checks every command with one variable that breaks the store, and what it reports.
#[track_caller]
fn check(name: &str, value: &str, expected: &str) {
    let mut machine = Machine::new("ci", &place());
    machine.set(name, value);
    let ran = machine.run(&["run", "--shell", "seq 1 5000; exit 7"], b"");
    let shown = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(ran.code, Some(7), "the exit code of the command is kept");
    assert!(shown.len() <= 9500 && shown.contains(expected), "{expected:?} is not in {shown}");
    assert!(shown.contains("only on this machine so far"), "{shown}");
    let all = shown + &ran.stderr;
    assert!(!all.contains("testsecret") && !all.contains("testkey"), "{all}");
    let id = all.split("[offcut ").nth(1).unwrap()[..10].to_owned();
    assert_eq!(
        machine.run(&["cat", &id], b"").text(),
        numbered(5000),
        "the output can be read on this machine"
    );
    machine.run(&["ls"], b"").failed(4, expected);
    let listed = machine.run(&["ls"], b"");
    assert!(String::from_utf8_lossy(&listed.stdout).contains("local only"), "{listed:?}");
    let cleaned = machine.run(&["clean"], b"");
    cleaned.failed(4, "1 output is only on this machine so far, 23893 bytes");
    cleaned.failed(4, expected);
    machine.run(&["read", "1q0wegy12pwkanrm"], b"").failed(4, expected);
}

#[test]
fn ls_applies_its_filters_while_the_store_is_unavailable() {
    let mut machine = Machine::new("ci", &place());
    machine.set("AWS_SECRET_ACCESS_KEY", "wrong");
    let ids = ["bash", "read", "bash"].map(|tool| machine.cut(&["--tool", tool], numbered(5000).as_bytes()));
    let listed = |options: &[&str]| {
        let ran = machine.run(&[&["ls"], options].concat(), b"");
        ran.failed(4, "wrong credentials");
        String::from_utf8(ran.stdout).unwrap()
    };
    let has = |table: &str| ids.clone().map(|id| table.contains(&id));
    assert_eq!(has(&listed(&[])), [true, true, true]);
    assert_eq!(has(&listed(&["--tool", "read"])), [false, true, false]);
    assert_eq!(has(&listed(&["--limit", "1"])), [false, false, true]);
    assert_eq!(has(&listed(&["--day", "2001-01-01"])), [false, false, false]);
    let spool = machine.sandbox.path().join(".local/share/offcut-spool");
    let folder = std::fs::read_dir(spool).unwrap().next().unwrap().unwrap().path().join(".offcut");
    for file in std::fs::read_dir(folder).unwrap().flatten() {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o77, 0, "{file:?} is private");
    }
}

#[test]
fn rejects_values_that_no_client_can_use() {
    let endpoint = variable("AWS_ENDPOINT_URL");
    let port = endpoint.rsplit(':').next().unwrap();
    let url = "the endpoint is not a URL like http://server:8333: check AWS_ENDPOINT_URL";
    for wrong in [
        &format!("127.0.0.1:{port}"),
        "localhost",
        "http://",
        "http://[::1",
        "http://a b/",
        "http://127.0.0.1:99999",
        "ftp://127.0.0.1",
        "/",
        &format!("{endpoint}?x=y"),
    ] {
        check("AWS_ENDPOINT_URL", wrong, url);
    }
    check("AWS_ACCESS_KEY_ID", "two\nlines", "AWS_ACCESS_KEY_ID contains a line break or another control");
    check("AWS_SESSION_TOKEN", "a\u{1}b", "AWS_SESSION_TOKEN contains a line break or another control");
    check("AWS_REGION", "us east", "AWS_REGION is not the name of a region");
    check(
        "AWS_SECRET_ACCESS_KEY",
        "",
        "one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is missing: set both",
    );
    check("AWS_CA_BUNDLE", "/etc/passwd", "AWS_CA_BUNDLE names a file without certificates");
}

#[test]
fn rejects_a_certificate_that_is_not_trusted() {
    let (endpoint, certificate) = (variable("OFFCUT_TEST_TLS"), variable("OFFCUT_TEST_CERTIFICATE"));
    check(
        "AWS_ENDPOINT_URL",
        &endpoint,
        "TLS error: its certificate is not trusted; name yours in AWS_CA_BUNDLE",
    );
    check("AWS_ENDPOINT_URL", &endpoint.replace("localhost", "127.0.0.1"), "TLS error: its certificate is");
    for name in ["AWS_CA_BUNDLE", "SSL_CERT_FILE"] {
        let mut machine = Machine::new("ci", &place());
        machine.set("AWS_ENDPOINT_URL", &endpoint).set(name, &certificate);
        let id = machine.cut(&[], numbered(5000).as_bytes());
        assert_eq!(machine.run(&["cat", &id], b"").text(), numbered(5000));
        assert!(!machine.run(&["ls"], b"").stderr.contains("only on this machine"), "{name}");
    }
}

#[test]
fn ignores_blanks_and_line_breaks_around_values() {
    let endpoint = variable("AWS_ENDPOINT_URL");
    let port = endpoint.rsplit(':').next().unwrap();
    for (name, value) in [
        ("AWS_ACCESS_KEY_ID", "testkey\n"),
        ("AWS_SECRET_ACCESS_KEY", " testsecret\r\n"),
        ("AWS_ENDPOINT_URL", &format!("HTTP://localhost:{port}//\n")),
    ] {
        let mut machine = Machine::new("ci", &place());
        machine.set(name, value);
        let id = machine.cut(&[], numbered(5000).as_bytes());
        assert!(machine.run(&["ls"], b"").text().contains(&id), "{name}");
        assert!(!machine.run(&["ls"], b"").stderr.contains("only on this machine"), "{name}");
    }
}

#[test]
fn each_failure_is_reported_with_advice() {
    let endpoint = variable("AWS_ENDPOINT_URL");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    check(
        "AWS_SECRET_ACCESS_KEY",
        "wrong",
        "wrong credentials (SignatureDoesNotMatch): check AWS_ACCESS_KEY_ID",
    );
    check("AWS_ACCESS_KEY_ID", "nobody", "wrong credentials (InvalidAccessKeyId): check AWS_ACCESS_KEY_ID");
    check("AWS_ENDPOINT_URL", "http://no-such-host.invalid", "unknown host: check");
    check(
        "AWS_ENDPOINT_URL",
        &format!("http://{closed}"),
        "the endpoint is down: start the server, or check",
    );
    check(
        "AWS_ENDPOINT_URL",
        &endpoint.replace("http:", "https:"),
        "TLS error: the server does not speak TLS",
    );
    check("AWS_CA_BUNDLE", "/nowhere.pem", "cannot read the certificates of AWS_CA_BUNDLE");
    check(
        "OFFCUT_STORE",
        "s3://there-is-no-such-bucket/x",
        "there is no such bucket (NoSuchBucket): create it, or correct",
    );
}

#[test]
fn the_next_run_uploads_what_an_outage_left() {
    let store = place();
    let (mut machine, reader) = (Machine::new("ci", &store), Machine::new("other", &store));
    let endpoint = variable("AWS_ENDPOINT_URL");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    machine.set("AWS_ENDPOINT_URL", &format!("http://{closed}"));
    let ids: Vec<String> =
        (0..3).map(|number| machine.cut(&[], numbered(5000 + number).as_bytes())).collect();
    machine.set("AWS_ENDPOINT_URL", &endpoint);
    let last = machine.cut(&[], numbered(6000).as_bytes());
    let listed = || reader.run(&["ls", "--all", "--format", "json"], b"").json().as_array().unwrap().len();
    until(|| listed() == 4);
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(reader.run(&["cat", id], b"").text(), numbered(5000 + number));
    }
    assert_eq!(reader.run(&["cat", &last], b"").text(), numbered(6000));
    until(|| !machine.run(&["ls"], b"").stderr.contains("only on this machine"));
}

#[test]
fn reports_the_reason_on_stderr_for_profiles_with_their_own_notices() {
    let mut machine = Machine::new("ci", &place());
    machine.set("AWS_SECRET_ACCESS_KEY", "wrong");
    let ran = machine.run(&["cut", "--profile", "opencode"], numbered(5000).as_bytes());
    assert!(
        ran.stderr.contains("is only on this machine so far: ") && ran.stderr.contains("wrong credentials")
    );
    assert!(ran.text().contains("truncated"));
}

#[test]
fn rejects_locations_that_are_not_a_store() {
    let mut machine = Machine::new("ci", "");
    for (store, expected) in [
        ("s3://b/../other", "bucket name"),
        ("s3://bucket/../other", "prefix has parts"),
        (&format!("s3://bucket/{}", "x".repeat(181)), "180 bytes in all"),
        ("s3://key:secret@bucket/x", "credentials come from the environment"),
        ("s3://bucket/x?key=secret", "credentials come from the environment"),
        ("gs://key:secret@bucket/x", "give a directory or s3://bucket/prefix"),
    ] {
        machine.store = store.to_owned();
        let shown = machine.run(&["cut"], numbered(5000).as_bytes()).text();
        assert!(shown.len() <= 9500 && shown.contains("not stored"), "{shown}");
        let ran = machine.run(&["ls"], b"");
        ran.failed(4, expected);
        assert!(!(shown + &ran.stderr).contains("secret"), "{}", ran.stderr);
    }
}
