//! A store that fails: the output is bounded all the same, nothing is lost, and the message says what to do.

use crate::harness::{numbered, until};
use crate::{Machine, place, variable};
use std::net::TcpListener;

/// One door: a variable that spoils something, and what is said then.
#[track_caller]
fn check(name: &str, value: &str, says: &str) {
    let mut machine = Machine::new("ci", &place());
    machine.set(name, value);
    let ran = machine.run(&["run", "--shell", "seq 1 5000; exit 7"], b"");
    let shown = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(ran.code, Some(7), "the command ends as it ends");
    assert!(shown.len() <= 9500 && shown.contains(says), "{says:?} is not in {shown}");
    assert!(shown.contains("only on this machine so far"), "{shown}");
    let all = shown + &ran.stderr;
    assert!(!all.contains("testsecret") && !all.contains("testkey"), "{all}");
    let id = all.split("[offcut ").nth(1).unwrap()[..16].to_owned();
    assert_eq!(machine.run(&["cat", &id], b"").text(), numbered(5000), "it can be read here");
    machine.run(&["ls"], b"").failed(4, says);
    let listed = machine.run(&["ls"], b"");
    assert!(String::from_utf8_lossy(&listed.stdout).contains("only here"), "{listed:?}");
    machine.run(&["clean"], b"").failed(4, "1 output is only on this machine so far, 23893 bytes");
}

#[test]
fn each_failure_says_what_to_do() {
    let endpoint = variable("AWS_ENDPOINT_URL");
    let nowhere = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    check(
        "AWS_SECRET_ACCESS_KEY",
        "wrong",
        "wrong credentials (SignatureDoesNotMatch): check AWS_ACCESS_KEY_ID",
    );
    check(
        "AWS_ENDPOINT_URL",
        &format!("http://{nowhere}"),
        "the endpoint is down: start the server, or check",
    );
    check(
        "AWS_ENDPOINT_URL",
        &endpoint.replace("http:", "https:"),
        "TLS error: the server does not speak TLS",
    );
    check("AWS_CA_BUNDLE", "/nowhere.pem", "AWS_CA_BUNDLE cannot be read");
    check(
        "OFFCUT_STORE",
        "s3://there-is-no-such-bucket/x",
        "there is no such bucket (NoSuchBucket): create it, or correct",
    );
}

#[test]
fn the_next_run_with_the_store_back_moves_it_up() {
    let store = place();
    let (mut machine, reader) = (Machine::new("ci", &store), Machine::new("other", &store));
    let endpoint = variable("AWS_ENDPOINT_URL");
    let nowhere = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    machine.set("AWS_ENDPOINT_URL", &format!("http://{nowhere}"));
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
fn documents_have_their_own_words_and_the_reason_is_told_beside_them() {
    let mut machine = Machine::new("ci", &place());
    machine.set("AWS_SECRET_ACCESS_KEY", "wrong");
    let ran = machine.run(&["cut", "--profile", "opencode"], numbered(5000).as_bytes());
    assert!(
        ran.stderr.contains("is only on this machine so far: ") && ran.stderr.contains("wrong credentials")
    );
    assert!(ran.text().contains("truncated"));
}

#[test]
fn names_that_are_no_store() {
    let mut machine = Machine::new("ci", "");
    for (store, says) in [
        ("s3://b/../other", "bucket's name"),
        ("s3://bucket/../other", "prefix has parts"),
        ("s3://key:secret@bucket/x", "keys come from the environment"),
        ("gs://bucket/x", "name a directory or s3://bucket/prefix"),
    ] {
        machine.store = store.to_owned();
        let shown = machine.run(&["cut"], numbered(5000).as_bytes()).text();
        assert!(shown.len() <= 9500 && shown.contains("not kept"), "{shown}");
        machine.run(&["ls"], b"").failed(4, says);
    }
}
