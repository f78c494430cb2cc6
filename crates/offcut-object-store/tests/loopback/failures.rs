//! Each class of failure, by the status and code that the server answers or by what happens to the connection.

use crate::server::{self, Request};
use crate::{put, store};
use offcut::store::{Id, Store, UploadState};
use std::net::TcpListener;

/// Checks what the store at this endpoint reports for a listing and for an output.
#[track_caller]
fn check_endpoint(endpoint: &str, location: &str, expected: &str) {
    let spool = tempfile::tempdir().unwrap();
    let store = store(endpoint, location, spool.path());
    let listed = store.ids().unwrap_err().to_string();
    let entry = put(&store, b"some output\n");
    let UploadState::LocalOnly { reason } = entry.upload_state else { panic!("{entry:?}") };
    for text in [listed, reason] {
        let (place, text) = text.split_once(": ").unwrap();
        assert_eq!(place, location);
        assert!(text.starts_with(expected), "{text:?} does not start with {expected:?}");
        assert!(text.len() <= 140 && !text.contains("AKIA") && !text.contains('\n'), "{text:?}");
    }
}

#[track_caller]
fn check(status: &'static str, body: &str, expected: &str) {
    let body = body.as_bytes().to_vec();
    let endpoint = server::start(move |_| (status, body.clone()));
    check_endpoint(&endpoint, "s3://bucket/team", expected);
}

/// An error as S3 sends it, which contains the name of the key.
fn error(code: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>"
    )
}

#[test]
fn denied_requests_are_classified_by_code() {
    check("403 Forbidden", &error("InvalidAccessKeyId"), "wrong credentials (InvalidAccessKeyId): check");
    check("403 Forbidden", &error("SignatureDoesNotMatch"), "wrong credentials (SignatureDoesNotMatch)");
    check("403 Forbidden", &error("RequestTimeTooSkewed"), "this machine's clock is wrong");
    check("400 Bad Request", &error("ExpiredToken"), "the session token has expired (ExpiredToken)");
    check("403 Forbidden", &error("AccessDenied"), "access denied (AccessDenied): these keys");
}

#[test]
fn other_answers_are_classified_by_status() {
    check("401 Unauthorized", "", "access denied: these keys");
    check("403 Forbidden", &error(&"x".repeat(500)), "access denied: these keys");
    check("404 Not Found", &error("NoSuchBucket"), "there is no such bucket (NoSuchBucket): create it");
    check("301 Moved Permanently", "", "the bucket is in another region: set AWS_REGION");
    check("301 Moved Permanently", &error("PermanentRedirect"), "the bucket is in another region (Perm");
    check("503 Service Unavailable", &error("SlowDown"), "the server is overloaded (SlowDown)");
    check("429 Too Many Requests", "", "the server is overloaded: it will be tried again");
    check("500 Internal Server Error", &error("InternalError"), "the server answered 500 (InternalError)");
    check("418 I'm a teapot", "", "the server answered 418: see its log");
    // What a server with TLS answers to a request without.
    check(
        "400 Bad Request",
        "an HTTP request to an HTTPS server",
        "the server answered 400 without an S3 error: check AWS_ENDPOINT_URL",
    );
}

#[test]
fn transport_failures_are_classified_by_type() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    check_endpoint(&format!("http://{closed}"), "s3://bucket/team", "the endpoint is down: start");
    // The location contains the names of other failures.
    check_endpoint(&format!("http://{closed}"), "s3://tls-certificate/NoSuchBucket", "the endpoint is down:");
    check_endpoint("http://no-such-host.invalid", "s3://bucket/team", "unknown host: check");
    let plain = server::start(|_| ("200 OK", Vec::new())).replace("http:", "https:");
    check_endpoint(&plain, "s3://bucket/team", "TLS error: the server does not speak TLS");

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().for_each(drop));
    check_endpoint(&endpoint, "s3://bucket/team", "the endpoint is down or expects https://");
}

#[test]
fn a_failure_inside_a_successful_answer_is_reported() {
    let id = Id::new(std::time::SystemTime::now(), 1);
    let list = format!(
        "<ListBucketResult><Contents><Key>team/entry/2026/11/15/{id}.c.1.1.native...json</Key><Size>1</Size>\
         <LastModified>2026-11-15T00:00:00.000Z</LastModified></Contents></ListBucketResult>"
    );
    let deleted = "<DeleteResult><Error><Key>x</Key><Code>AccessDenied</Code><Message>no</Message></Error></DeleteResult>";
    let endpoint = server::start(move |request: Request| match request.method.as_str() {
        "GET" => ("200 OK", list.clone().into_bytes()),
        _ => ("200 OK", deleted.as_bytes().to_vec()),
    });
    let spool = tempfile::tempdir().unwrap();
    let error = store(&endpoint, "s3://bucket/team", spool.path()).remove(&id).unwrap_err().to_string();
    assert!(error.contains("access denied (AccessDenied): these keys may not do this"), "{error}");
}
