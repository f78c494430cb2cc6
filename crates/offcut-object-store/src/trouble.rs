//! What a server's refusal means, and what to do about it.
//!
//! The texts of the client are not shown as they are: they may hold key names and signatures.

use crate::access::NO_KEYS;
use crate::location::Location;
use offcut::store::StoreError;

/// A failure as a store reports it.
pub(crate) fn refused(location: &Location, reason: &str) -> StoreError {
    StoreError::Refused { reason: format!("{location}: {reason}") }
}

/// The same for what the client said.
pub(crate) fn explained(location: &Location, error: &object_store::Error) -> StoreError {
    refused(location, &explain(error))
}

/// In one line: which failure it is, and what to do.
pub(crate) fn explain(error: &object_store::Error) -> String {
    meaning(&chain(error))
}

/// Everything that is said about an error, its causes included.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!(" / {cause}");
        source = cause.source();
    }
    text
}

/// Words that tell what is wrong with a connection by TLS, and what to do.
const TLS: [(&[&str], &str); 4] = [
    (
        &["invalidcontenttype", "corrupt message"],
        "the server does not speak TLS there; check http:// or https:// in AWS_ENDPOINT_URL",
    ),
    (
        &["causedasendentity"],
        "its certificate is that of an authority (CA:TRUE); give the server one with CA:FALSE",
    ),
    (
        &["not valid for name", "notvalidforname"],
        "its certificate is for another name; check AWS_ENDPOINT_URL",
    ),
    (
        &["expired", "not valid yet", "notvalidyet"],
        "its certificate is not valid now; renew it, or set this machine's clock",
    ),
];
const UNTRUSTED: &str =
    "its certificate is not trusted; name yours in AWS_CA_BUNDLE, or check AWS_ENDPOINT_URL";

fn meaning(text: &str) -> String {
    let code =
        text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>")).map(|(code, _)| code);
    let status = text.split_once("status code: ").map(|(_, rest)| rest.chars().take(3).collect::<String>());
    // Buckets and prefixes may have any name, also that of a failure.
    let is_name = |word: &&str| word.contains("://");
    let lower = text.to_ascii_lowercase();
    let lower = lower.split_whitespace().filter(|word| !is_name(word)).collect::<Vec<_>>().join(" ");
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let with_code = |what: &str, advice: &str| match code {
        Some(code) if code.chars().all(|char| char.is_ascii_alphanumeric()) && code.len() < 60 => {
            format!("{what} ({code}): {advice}")
        }
        _ => format!("{what}: {advice}"),
    };
    match code.unwrap_or_default() {
        "RequestTimeTooSkewed" => {
            return with_code("this machine's clock is wrong", "set it, for example with NTP");
        }
        "InvalidAccessKeyId"
        | "SignatureDoesNotMatch"
        | "InvalidClientTokenId"
        | "AuthorizationHeaderMalformed" => {
            return with_code(
                "wrong credentials",
                "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE and AWS_REGION",
            );
        }
        "ExpiredToken" | "InvalidToken" | "TokenRefreshRequired" => {
            return with_code(
                "the session token has expired",
                "get a new AWS_SESSION_TOKEN, or sign in again",
            );
        }
        "NoSuchBucket" => return with_code("there is no such bucket", "create it, or correct --store"),
        "NoSuchUpload" => {
            return with_code("the upload was aborted by somebody else", "it will be tried again");
        }
        "PermanentRedirect" => return with_code("the bucket is in another region", "set AWS_REGION"),
        _ => {}
    }
    if ["//169.254.169.254", "//169.254.170.2"].iter().any(|address| text.contains(address))
        || has(&["instance metadata"])
    {
        return NO_KEYS.to_owned();
    }
    if has(&["http request to an https server"]) {
        return "the server speaks TLS there: write https:// in AWS_ENDPOINT_URL".to_owned();
    }
    if has(&["certificate", "tls", "handshake", "invalidcontenttype", "corrupt message"]) {
        let known = TLS.iter().find(|(words, _)| has(words));
        let advice = known.map_or(UNTRUSTED, |(_, advice)| advice);
        return format!("TLS error: {advice}");
    }
    if has(&["dns error", "failed to lookup", "name or service not known"]) {
        return "the endpoint's name is not known: check AWS_ENDPOINT_URL and AWS_REGION".to_owned();
    }
    if has(&["without location", "incorrectly configured region"]) {
        return "the bucket is in another region: set AWS_REGION".to_owned();
    }
    match status.as_deref() {
        Some("401" | "403") => {
            return with_code(
                "access denied",
                "these keys may not do this; check the bucket's policy, and --store",
            );
        }
        Some("404") => {
            return with_code("there is no such bucket or object", "check --store and AWS_ENDPOINT_URL");
        }
        Some("429" | "503") => return with_code("the server is overloaded", "it will be tried again"),
        Some(status) => {
            return with_code(&format!("the server answered {status}"), "see its log");
        }
        None => {}
    }
    if has(&["timed out"]) {
        return "the endpoint does not answer in time: is the server up and reachable?".to_owned();
    }
    // A server that speaks TLS closes a connection on which nobody does.
    if has(&["reset by peer", "incomplete message", "connection closed"]) {
        return "the endpoint is down, or wants https://: start the server, or check AWS_ENDPOINT_URL"
            .to_owned();
    }
    if has(&["connection refused", "connect error", "error trying to connect", "error sending request"]) {
        return "the endpoint is down: start the server, or check AWS_ENDPOINT_URL".to_owned();
    }
    "the request failed: check AWS_ENDPOINT_URL, and whether the server speaks S3".to_owned()
}

#[cfg(test)]
mod tests {
    use super::meaning;

    /// One door: what the client says, and how our sentence begins.
    #[track_caller]
    fn check(text: &str, begins: &str) {
        let found = meaning(text);
        assert!(found.starts_with(begins), "{found:?} does not begin with {begins:?}");
        assert!(found.len() <= 140 && !found.contains("AKIA") && !found.contains('\n'), "{found:?}");
    }

    fn answer(status: u16, code: &str) -> String {
        format!(
            "Error performing PUT http://h/b/k in 1ms - Server returned non-2xx status code: {status} X: \
             <?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>"
        )
    }

    #[test]
    fn each_failure_has_its_own_words() {
        check(&answer(403, "InvalidAccessKeyId"), "wrong credentials (InvalidAccessKeyId): check");
        check(&answer(403, "SignatureDoesNotMatch"), "wrong credentials");
        check(&answer(403, "AccessDenied"), "access denied (AccessDenied)");
        check(&answer(403, "RequestTimeTooSkewed"), "this machine's clock is wrong");
        check(&answer(400, "ExpiredToken"), "the session token has expired");
        check(&answer(404, "NoSuchBucket"), "there is no such bucket");
        check(&answer(404, "NoSuchKey"), "there is no such bucket or object");
        check(&answer(503, "SlowDown"), "the server is overloaded");
        check(&answer(500, "InternalError"), "the server answered 500");
        check(
            "error / client error (Connect) / tcp connect error / Connection refused (os error 111)",
            "the endpoint is down",
        );
        check("error / invalid peer certificate: UnknownIssuer", "TLS error: its certificate is not trusted");
        check(
            "error / invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))",
            "TLS error: its certificate is that of an authority",
        );
        check(
            "error / invalid peer certificate: certificate not valid for name \"vm\"; only for \"localhost\"",
            "TLS error: its certificate is for another name",
        );
        check(
            "error / invalid peer certificate: certificate expired: verification time 1",
            "TLS error: its certificate is not valid now",
        );
        check("status code: 400 / Client sent an HTTP request to an HTTPS server.", "the server speaks TLS");
        check("error / connection closed before message completed", "the endpoint is down, or wants https");
        check(
            "Error performing PUT http://h/tls/certificate in 1ms - connection refused",
            "the endpoint is down:",
        );
        check(
            "error / received corrupt message of type InvalidContentType",
            "TLS error: the server does not speak",
        );
        check("error / dns error / failed to lookup address information", "the endpoint's name");
        check("error / operation timed out", "the endpoint does not answer");
        check("Error performing PUT http://169.254.169.254/latest/api/token", "there are no keys");
        check("something else", "the request failed");
        check(&answer(403, &"x".repeat(500)), "access denied: these keys");
    }
}
