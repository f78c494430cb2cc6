use super::*;
use offcut::{Profile, Truncator};
use proptest::prelude::*;

fn relay() -> Relay {
    Relay::new(
        Box::new(|_| Middleware::new(Truncator::new(Profile::native()))),
        None,
        Context::default(),
        |_| None,
    )
}

fn packet(line: &str) -> Packet<'_> {
    Packet::parse(line.as_bytes(), line)
}

proptest! {
    #[test]
    fn passes_lines_that_are_not_requests_unchanged(
        line in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            "[\\[{ ]*\"(id|method|result|params|jsonrpc)\" ?: ?[\\[{\"0-9ae\\\\,:}\\]]{0,40}[}\\] ]*".prop_map(String::into_bytes),
        ]
    ) {
        let text = String::from_utf8_lossy(&line);
        let (relay, packet) = (relay(), Packet::parse(&line, &text));
        prop_assert_eq!(relay.server_packet(&packet), None);
        let ClientPacket { forward, local } = relay.client_packet(Packet::parse(&line, &text));
        prop_assert!(local.is_empty());
        prop_assert_eq!(forward.as_ref().map(|packet| &*packet.bytes), Some(&line[..]));
        prop_assert_eq!(relay.server_packet(&packet), None);
    }
}

#[test]
fn forgets_cancelled_requests() {
    let relay = relay();
    let client = |line: &str| drop(relay.client_packet(packet(line)));
    client(r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}"#);
    client(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#);
    client(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0061"}}"#);
    // A request of the server may have the id of a request of the client.
    relay.server_packet(&packet(r#"{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage"}"#));
    assert_eq!(relay.forget_all(), [RequestId::of("7").unwrap()]);
}

#[test]
fn bounds_the_message_and_the_data_of_a_protocol_error() {
    let relay = relay();
    relay.client_packet(packet(r#"{"id":1,"method":"tools/call","params":{"name":"x"}}"#));
    let long = "failed\\n".repeat(20_000);
    let line = format!(
        r#"{{"id":1,"error":{{"code":-32603,"message":"{long}","data":{{"trace":"{long}","line":7}}}}}}"#
    );
    let changed = relay.server_packet(&packet(&line)).unwrap();
    let bounded: serde_json::Value = serde_json::from_str(&changed).unwrap();
    let error = &bounded["error"];
    assert_eq!((&error["code"], &error["data"]["line"]), (&(-32603).into(), &7.into()));
    assert!(error["message"].as_str().unwrap().len() < 10_000, "{error:.500}");
    assert!(error["data"].to_string().len() < 10_000, "{error:.500}");
    assert_eq!(error["data"]["offcut"]["bytes"], line.len() - 2 - line.find("{\"trace").unwrap());
    assert!(error["_meta"].is_null(), "{error:.500}");
}
