//! Runs a conversation without processes, for the fuzzer.

use crate::message::Packet;
use crate::proxy::Proxy;
use crate::relay::ClientPacket;
use std::io;

/// Passes every line on. A line that begins with `<` is from the server. A changed line must be JSON.
#[doc(hidden)]
pub fn converse(proxy: Proxy, lines: &[u8]) {
    let hub = proxy.hub(Box::new(io::sink()));
    for line in lines.split(|&byte| byte == b'\n') {
        let is_json = |text: &[u8]| serde_json::from_slice::<&serde_json::value::RawValue>(text).is_ok();
        match line.strip_prefix(b"<") {
            Some(line) => {
                let text = String::from_utf8_lossy(line);
                if let Some(changed) = hub.relay.server_packet(&Packet::parse(line, &text)) {
                    assert!(is_json(changed.as_bytes()), "{changed}");
                }
            }
            None => {
                let text = String::from_utf8_lossy(line);
                let ClientPacket { forward, local } = hub.relay.client_packet(Packet::parse(line, &text));
                if let Some(Packet { bytes, .. }) = forward {
                    assert!(*bytes == *line || is_json(&bytes), "{}", bytes.escape_ascii());
                }
                for request in local {
                    let answer = hub.answer(request);
                    assert!(is_json(answer.as_bytes()), "{answer}");
                }
            }
        }
    }
}
