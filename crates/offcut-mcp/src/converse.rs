//! A conversation without processes, for the fuzzer.

use crate::proxy::Proxy;
use crate::relay::ClientLine;
use std::io;

/// Passes every line on; one that begins with `<` is the server's. What a message becomes is JSON if it was.
#[doc(hidden)]
pub fn converse(proxy: Proxy, said: &[u8]) {
    let hub = proxy.hub(Box::new(io::sink()));
    for line in said.split(|&byte| byte == b'\n') {
        let is_json = |text: &[u8]| serde_json::from_slice::<&serde_json::value::RawValue>(text).is_ok();
        match line.strip_prefix(b"<") {
            Some(line) => {
                let passed = hub.relay.server_line(line);
                assert!(*passed == *line || is_json(&passed), "{}", passed.escape_ascii());
            }
            None => {
                let ClientLine { forward, own } = hub.relay.client_line(line);
                if let Some(forward) = forward {
                    assert!(*forward == *line || is_json(&forward), "{}", forward.escape_ascii());
                }
                for request in own {
                    let answer = hub.answer(request);
                    assert!(is_json(answer.as_bytes()), "{answer}");
                }
            }
        }
    }
}
