//! Progress frames, colour and binary output.

use crate::harness::Sandbox;

fn frames(count: usize) -> String {
    let frames: String =
        (0..count).map(|frame| format!("\r\x1b[2K\x1b[32mbuilt {frame} of {count}\x1b[0m")).collect();
    format!("{frames}\ndone\n")
}

#[test]
fn cut_shows_last_progress_frame_and_stores_all() {
    let sandbox = Sandbox::new();
    let text = frames(100_000);
    let shown = sandbox.run(&["cut"], text.as_bytes()).text();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 3, "{shown}");
    assert!(lines[0].contains("; terminal control not shown; nothing is lost: /"), "{shown}");
    assert_eq!(lines[1..], ["built 99999 of 100000", "done"]);
    assert_eq!(sandbox.run(&["cat", "last"], b"").stdout, text.as_bytes());

    let result = sandbox.run(&["cut", "--format", "json"], text.as_bytes()).json();
    assert_eq!((&result["truncated"], &result["gaps"][0]["why"]), (&true.into(), &"control".into()));
    assert_eq!((&result["gaps"][0]["start"], &result["gaps"][0]["first_line"]), (&0.into(), &1.into()));
    assert_eq!(result["shown"]["bytes"], "built 99999 of 100000\ndone\n".len());
    let removed = result["removed"]["bytes"].as_u64().unwrap();
    assert_eq!(removed + result["shown"]["bytes"].as_u64().unwrap(), text.len() as u64);
}

#[test]
fn cut_raw_shows_escape_sequences_and_binary_bytes() {
    let sandbox = Sandbox::new();
    let text = frames(5000);
    let shown = sandbox.run(&["cut", "--raw"], text.as_bytes()).text();
    assert!(shown.contains("\r\x1b[2K\x1b[32mbuilt 0 of 5000"), "{shown:?}");
    let binary: Vec<u8> = (0..=255_u8).cycle().take(20_000).collect();
    let shown = sandbox.run(&["cut", "--raw"], &binary).stdout;
    assert!(shown.windows(256).any(|window| window == &binary[..256]));
}

#[test]
fn terminal_setting_raw_applies_to_tool() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join(".offcut.toml"), "[tools.shell]\nterminal = \"raw\"\n").unwrap();
    let text = frames(5000);
    assert!(sandbox.run(&["cut", "--tool", "shell"], text.as_bytes()).text().contains("\x1b[32mbuilt 0 of"));
    assert!(!sandbox.run(&["cut"], text.as_bytes()).text().contains('\x1b'));
}

#[test]
fn cut_describes_binary_output() {
    let sandbox = Sandbox::new();
    let binary: Vec<u8> = b"\x1f\x8b\x08\0".iter().copied().chain((0..=255).cycle().take(200_000)).collect();
    let shown = sandbox.run(&["cut"], &binary).text();
    let lines: Vec<&str> = shown.lines().collect();
    assert!(
        lines[0].contains("binary output (application/gzip), 200004 bytes, not shown; nothing is lost: /"),
        "{shown}"
    );
    assert!(lines[1].starts_with("00000000: 1f8b 0800 0001 "), "{shown}");
    assert_eq!(sandbox.run(&["cat", "last"], b"").stdout, binary);
}
