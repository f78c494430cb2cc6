//! Why a request failed, and what to do about it, in one line.
//!
//! Failures are classified by type and status: a status and S3's error code by [`crate::http`], transport failures by
//! the types in the chain of causes. The client's own texts are never shown: they may contain key names and signatures.

use crate::access::NO_KEYS;
use crate::location::Location;
use object_store::client::{HttpError, HttpErrorKind};
use offcut::store::StoreError;
use rustls::CertificateError;
use std::error::Error;
use std::fmt;

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server answered with this status and, if the answer has a body in S3's format, this error code.
    Status {
        status: u16,
        code: Option<String>,
    },
    /// Nothing was configured, and no service of the machine lends credentials.
    NoCredentials,
    UnknownHost,
    Timeout,
    /// No connection could be made.
    Unreachable,
    /// The connection was closed before the answer was complete.
    Closed,
    /// The TLS handshake failed; the text says why and what to do.
    Tls(&'static str),
    /// There is another object under the same key.
    Exists,
    /// Anything else; the text says what.
    Other(String),
}

/// A failure as a store reports it.
pub(crate) fn refused(location: &Location, reason: impl fmt::Display) -> StoreError {
    StoreError::Refused { reason: format!("{location}: {reason}") }
}

/// The same for an error of the client.
pub(crate) fn explained(location: &Location, error: &object_store::Error) -> StoreError {
    refused(location, Failure::of(error))
}

impl From<Failure> for object_store::Error {
    fn from(failure: Failure) -> Self {
        object_store::Error::Generic { store: "S3", source: failure.into() }
    }
}

impl Failure {
    /// The failure in the chain of causes; what a cause below the HTTP error says is more precise than its kind.
    pub(crate) fn of(error: &object_store::Error) -> Failure {
        use object_store::Error::{AlreadyExists, NotFound, Precondition};
        let find = |of: fn(&(dyn Error + 'static)) -> Option<Failure>| causes(error).find_map(of);
        find(|cause| cause.downcast_ref::<Failure>().cloned())
            .or_else(|| find(|cause| cause.downcast_ref().map(tls_advice).map(Failure::Tls)))
            .or_else(|| find(|cause| Failure::of_kind(cause.downcast_ref::<HttpError>()?.kind())))
            .unwrap_or_else(|| match error {
                NotFound { .. } => Failure::Status { status: 404, code: None },
                AlreadyExists { .. } | Precondition { .. } => Failure::Exists,
                _ => Failure::Other(
                    "the request failed: check AWS_ENDPOINT_URL, and that the server provides S3".to_owned(),
                ),
            })
    }

    fn of_kind(kind: HttpErrorKind) -> Option<Failure> {
        match kind {
            HttpErrorKind::Timeout => Some(Failure::Timeout),
            HttpErrorKind::Connect => Some(Failure::Unreachable),
            HttpErrorKind::Request | HttpErrorKind::Interrupted => Some(Failure::Closed),
            _ => None,
        }
    }

    /// Whether the server refused one object, and may accept another.
    pub(crate) fn is_of_object(&self) -> bool {
        match self {
            Failure::Status { status, .. } => !matches!(status, 401 | 403 | 404 | 408 | 429 | 503),
            Failure::Exists => true,
            _ => false,
        }
    }

    /// Whether the server answered with this S3 error code.
    pub(crate) fn has_code(&self, expected: &str) -> bool {
        matches!(self, Failure::Status { code: Some(code), .. } if code == expected)
    }
}

/// An error and its causes. An `io::Error` hides what it wraps from `source`.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        wrapped.map(|wrapped| wrapped as &(dyn Error + 'static)).or_else(|| error.source())
    })
}

fn tls_advice(error: &rustls::Error) -> &'static str {
    use CertificateError::{
        Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet, NotValidYetContext,
    };
    match error {
        rustls::Error::InvalidMessage(_) => {
            "the server does not speak TLS there; check http:// or https:// in AWS_ENDPOINT_URL"
        }
        rustls::Error::InvalidCertificate(reason) => match reason {
            Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. } => {
                "its certificate is not valid now; renew it, or set this machine's clock"
            }
            NotValidForName | NotValidForNameContext { .. } => {
                "its certificate is for another name; check AWS_ENDPOINT_URL"
            }
            // The type of this reason belongs to a crate that rustls does not export; its name is all there is.
            CertificateError::Other(reason) if format!("{:?}", reason.0) == "CaUsedAsEndEntity" => {
                "its certificate is that of an authority (CA:TRUE); give the server one with CA:FALSE"
            }
            _ => "its certificate is not trusted; name yours in AWS_CA_BUNDLE, or check AWS_ENDPOINT_URL",
        },
        _ => "the handshake failed; check the server's TLS settings and AWS_ENDPOINT_URL",
    }
}

/// The error code in the body of a response: the text of the first `Code` element, if it looks like one.
pub(crate) fn s3_code(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    let (code, _) = text.split_once("<Code>")?.1.split_once("</Code>")?;
    let is_code = code.len() < 60 && code.chars().all(|char| char.is_ascii_alphanumeric());
    is_code.then(|| code.to_owned())
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Failure::Status { status, code } => {
                return write_status(formatter, *status, code.as_deref());
            }
            Failure::Tls(advice) => return write!(formatter, "TLS error: {advice}"),
            Failure::Other(text) => text,
            Failure::NoCredentials => NO_KEYS,
            Failure::UnknownHost => "unknown host: check AWS_ENDPOINT_URL and AWS_REGION",
            Failure::Timeout => {
                "the endpoint does not answer in time: check that the server is up and reachable"
            }
            Failure::Unreachable => "the endpoint is down: start the server, or check AWS_ENDPOINT_URL",
            // A server that expects TLS closes a connection without it.
            Failure::Closed => {
                "the endpoint is down or expects https://: start the server, or check AWS_ENDPOINT_URL"
            }
            Failure::Exists => "another output has the same id: run the command again",
        })
    }
}

/// What a status and a code mean, and what to do: the code decides if it is known, else the status.
fn write_status(formatter: &mut fmt::Formatter<'_>, status: u16, code: Option<&str>) -> fmt::Result {
    let answered = format!("the server answered {status}");
    let (what, advice) = match (status, code.unwrap_or_default()) {
        (_, "RequestTimeTooSkewed") => ("this machine's clock is wrong", "set it, for example with NTP"),
        (
            _,
            "InvalidAccessKeyId"
            | "SignatureDoesNotMatch"
            | "InvalidClientTokenId"
            | "AuthorizationHeaderMalformed",
        ) => (
            "wrong credentials",
            "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE and AWS_REGION",
        ),
        (_, "ExpiredToken" | "ExpiredTokenException" | "InvalidToken" | "TokenRefreshRequired") => {
            ("the session token has expired", "get a new AWS_SESSION_TOKEN, or sign in again")
        }
        (_, "NoSuchBucket") => ("there is no such bucket", "create it, or correct --store"),
        (_, "NoSuchUpload") => ("the upload was aborted elsewhere", "it will be tried again"),
        (300..400, _) => ("the bucket is in another region", "set AWS_REGION"),
        (401 | 403, _) | (_, "AccessDenied") => {
            ("access denied", "these keys may not do this; check the bucket's policy, and --store")
        }
        (404, _) => ("there is no such bucket or object", "check --store and AWS_ENDPOINT_URL"),
        (429 | 503, _) | (_, "SlowDown") => ("the server is overloaded", "it will be tried again"),
        (400, "") => (
            "the server answered 400 without an S3 error",
            "check AWS_ENDPOINT_URL; does the server need https://?",
        ),
        _ => (&*answered, "see its log"),
    };
    match code {
        Some(code) => write!(formatter, "{what} ({code}): {advice}"),
        None => write!(formatter, "{what}: {advice}"),
    }
}

impl Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::Arc;

    /// Checks what is reported for a failure of the transport, wrapped as the client does.
    #[track_caller]
    fn check(kind: HttpErrorKind, cause: impl Error + Send + Sync + 'static, expected: &str) {
        let error = HttpError::new(kind, io::Error::other(io::Error::other(cause)));
        let error = object_store::Error::Generic { store: "S3", source: error.into() };
        let text = Failure::of(&error).to_string();
        assert!(text.starts_with(expected), "{text:?} does not start with {expected:?}");
    }

    #[test]
    fn tls_failures_are_classified_by_type() {
        #[derive(Debug)]
        struct CaUsedAsEndEntity;
        impl fmt::Display for CaUsedAsEndEntity {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                Ok(())
            }
        }
        impl Error for CaUsedAsEndEntity {}
        let of_authority = CertificateError::Other(rustls::OtherError(Arc::new(CaUsedAsEndEntity)));
        for (reason, expected) in [
            (CertificateError::UnknownIssuer, "TLS error: its certificate is not trusted; name yours"),
            (CertificateError::NotValidForName, "TLS error: its certificate is for another name"),
            (CertificateError::Expired, "TLS error: its certificate is not valid now"),
            (CertificateError::NotValidYet, "TLS error: its certificate is not valid now"),
            (of_authority, "TLS error: its certificate is that of an authority"),
        ] {
            check(HttpErrorKind::Connect, rustls::Error::InvalidCertificate(reason), expected);
        }
        check(HttpErrorKind::Connect, rustls::Error::HandshakeNotComplete, "TLS error: the handshake failed");
    }

    #[test]
    fn transport_failures_are_classified_by_kind() {
        check(HttpErrorKind::Timeout, io::Error::other("x"), "the endpoint does not answer in time");
        check(HttpErrorKind::Connect, io::Error::other("x"), "the endpoint is down: start the server");
        check(HttpErrorKind::Connect, Failure::UnknownHost, "unknown host");
        check(HttpErrorKind::Connect, Failure::NoCredentials, "no credentials found");
        check(HttpErrorKind::Interrupted, io::Error::other("x"), "the endpoint is down or expects https://");
        check(HttpErrorKind::Unknown, io::Error::other("timed out"), "the request failed: check");
    }

    #[test]
    fn the_code_of_an_answer_is_the_text_of_its_code_element() {
        assert_eq!(s3_code(b"<Error><Code>NoSuchKey</Code></Error>").as_deref(), Some("NoSuchKey"));
        for body in [&b""[..], b"\xff<Code>x</Code>", b"<Code>x", b"<Code>a b</Code>", b"NoSuchKey"] {
            assert_eq!(s3_code(body), None);
        }
    }
}
