//! Commands, their formats and their exit codes.

use crate::harness::{Sandbox, numbered};
use crate::terminal::Terminal;

#[test]
fn cut_passes_input_through_when_within_limits() {
    let sandbox = Sandbox::new();
    for text in [&b""[..], b"x", b"no feed", b"\xFF\x00\xFE\r\n", b"a\n\n\n"] {
        assert_eq!(sandbox.run(&["cut"], text).stdout, text);
    }
    let exactly = "x".repeat(9500);
    assert_eq!(sandbox.run(&["cut"], exactly.as_bytes()).stdout, exactly.as_bytes());
    assert!(!sandbox.store().exists());
}

#[test]
fn cut_prints_all_fields_as_json() {
    let sandbox = Sandbox::new();
    let text = numbered(100_000);
    let arguments = ["cut", "--format", "json", "--tool", "bash", "--call-id", "c1", "--session", "s1"];
    let result = sandbox.run(&arguments, text.as_bytes()).json();
    let keys: Vec<&String> = result.as_object().unwrap().keys().collect();
    assert_eq!(
        keys.iter().map(|key| key.as_str()).collect::<std::collections::BTreeSet<_>>(),
        ["content", "truncated", "saved", "save_error", "original", "shown", "removed", "limited_by", "gaps"]
            .into()
    );
    assert_eq!(result["truncated"], true);
    assert_eq!(result["original"]["bytes"], 588_895);
    assert_eq!(result["original"]["lines"], 100_000);
    assert_eq!(result["limited_by"], "lines", "line 1901 begins before byte 9500");
    assert_eq!(result["save_error"], serde_json::Value::Null);
    let shown = result["shown"]["bytes"].as_u64().unwrap();
    assert_eq!(shown + result["removed"]["bytes"].as_u64().unwrap(), 588_895);
    let gap = &result["gaps"][0];
    assert_eq!(gap["why"], "omitted");
    assert_eq!(
        gap["end"].as_u64().unwrap() - gap["start"].as_u64().unwrap(),
        result["removed"]["bytes"].as_u64().unwrap()
    );
    let path = result["saved"]["path"].as_str().unwrap();
    assert!(
        result["content"].as_str().unwrap().contains(path),
        "the path in the text is the path in the field"
    );
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    assert_eq!(result["saved"]["digest"], blake3::hash(text.as_bytes()).to_hex().as_str());
    assert_eq!(result["saved"]["uri"], format!("offcut://{}", result["saved"]["id"].as_str().unwrap()));

    let fits = sandbox.run(&["cut", "--format", "json"], b"\xFFsmall\n").json();
    assert_eq!(
        (&fits["truncated"], &fits["saved"], &fits["content"]),
        (&false.into(), &serde_json::Value::Null, &"?small\n".into())
    );
}

/// Replacing an invalid byte with U+FFFD would take three bytes.
#[test]
fn cut_json_stays_within_byte_limit_when_input_is_not_utf8() {
    let sandbox = Sandbox::new();
    let line = |number: u32| [&b"f\xFCr die Gr\xF6\xDFe "[..], number.to_string().as_bytes(), b"\n"].concat();
    let latin: Vec<u8> = (0..1000).flat_map(line).collect();
    for strategy in ["head", "tail", "head-tail", "smart", "auto"] {
        let arguments = ["cut", "--format", "json", "--max-bytes", "1000", "--strategy", strategy];
        let result = sandbox.run(&arguments, &latin).json();
        let content = result["content"].as_str().unwrap();
        assert!(
            content.len() <= 1000 && content.contains("f?r die Gr??e "),
            "{strategy}: {} {content}",
            content.len()
        );
    }
}

#[test]
fn cut_rejects_invalid_limits() {
    let sandbox = Sandbox::new();
    for (arguments, message) in [
        (["cut", "--max-bytes", "0"], "expected a positive size"),
        (["cut", "--max-bytes", "-5"], "expected a positive size"),
        (["cut", "--max-lines", "abc"], "expected a positive size"),
        (["cut", "--max-lines", "99999999999999999999"], "expected a positive size"),
        (["cut", "--max-bytes", "255"], "give at least 256"),
        (["cut", "--max-lines", "3"], "give at least 4"),
        (["cut", "--strategy", "middle"], "possible values"),
        (["cut", "--profile", "nope"], "available: native, opencode, coding-agent, unified, takumi, klaude"),
    ] {
        sandbox.run(&arguments, b"text").failed(2, message);
    }
    assert_eq!(sandbox.run(&["cut", "--max-bytes", "1", "--profile", "opencode"], b"x").stdout, b"x");
}

#[test]
fn read_cat_ls_and_rm_work_on_stored_outputs() {
    let sandbox = Sandbox::new();
    let first = numbered(5000);
    let second = "x".repeat(100_000);
    sandbox.run(&["cut", "--tool", "seq"], first.as_bytes());
    sandbox.run(&["cut", "--tool", "evil\x1b[2J\n"], second.as_bytes());

    assert_eq!(sandbox.run(&["cat", "last-1"], b"").stdout, first.as_bytes());
    assert_eq!(sandbox.run(&["cat", "last"], b"").stdout, second.as_bytes());
    assert_eq!(sandbox.run(&["read", "last-1", "--lines", "7:9"], b"").text(), "7\n8\n9\n");
    assert_eq!(sandbox.run(&["read", "last-1", "--lines", "-2:"], b"").text(), "4999\n5000\n");
    assert_eq!(sandbox.run(&["read", "last-1", "--around", "100", "-C", "1"], b"").text(), "99\n100\n101\n");
    assert_eq!(sandbox.run(&["read", "last", "--bytes", "10:15"], b"").text(), "xxxxx");
    let page = sandbox.run(&["read", "last-1", "--lines", "7:9", "--format", "json"], b"").json();
    assert_eq!(
        (&page["content"], &page["first_line"], &page["satisfied"]),
        (&"7\n8\n9\n".into(), &7.into(), &true.into())
    );
    sandbox
        .run(&["read", "last-1", "--lines", "5001:"], b"")
        .failed(3, "has no line 5001: it has 5000 lines");
    sandbox.run(&["read", "last-1", "--lines", "9:7"], b"").failed(2, "not a range");
    sandbox.run(&["read", "last-7"], b"").failed(3, "no stored output");
    sandbox.run(&["read", "../../etc/passwd"], b"").failed(3, "no stored output");
    sandbox
        .run(&["read", "last", "--store", "none"], b"")
        .failed(2, "cannot read stored outputs with --store none");

    let table = sandbox.run(&["ls"], b"").text();
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 3, "{table}");
    assert!(
        rows[1].contains("evil?[2J  ") && rows[1].contains(" 100000 ") && rows[1].contains("  complete  "),
        "{table}"
    );
    assert!(rows[2].contains("seq") && rows[2].contains(" 5000 "), "{table}");
    let listed = sandbox.run(&["ls", "--format", "json"], b"").json();
    let path = listed[1]["path"].as_str().unwrap();
    assert_eq!(
        sandbox.run(&["read", path, "--lines", "3"], b"").text(),
        "3\n",
        "a path is accepted as a reference"
    );

    let id = listed[1]["id"].as_str().unwrap();
    assert_eq!(sandbox.run(&["rm", id], b"").code, Some(0));
    sandbox.run(&["cat", id], b"").failed(3, "no stored output");
    assert!(!std::path::Path::new(path).exists());
    assert_eq!(sandbox.run(&["rm", "last", "last"], b"").code, Some(0));
    assert_eq!(sandbox.run(&["ls"], b"").text().lines().count(), 1);
    sandbox.run(&["rm", "last"], b"").failed(3, "no stored output");
}

#[test]
fn profiles_lists_and_prints_built_in_profiles() {
    let sandbox = Sandbox::new();
    let list = sandbox.run(&["profiles"], b"").text();
    for name in ["native", "opencode", "coding-agent"] {
        assert!(list.contains(name), "{list}");
        let text = sandbox.run(&["profiles", name], b"").text();
        assert!(text.contains(&format!("name = \"{name}\"")), "{text}");
    }
    sandbox.run(&["profiles", "nope"], b"").failed(2, "no profile");
}

#[test]
fn rules_lists_tools_and_prints_the_rules_of_one() {
    let sandbox = Sandbox::new();
    let list = sandbox.run(&["rules"], b"").text();
    assert!(list.lines().any(|line| line.starts_with("pytest ") && line.ends_with("  pytest")), "{list}");
    let rows = sandbox.run(&["rules", "--format", "json"], b"").json();
    let of_pytest = rows.as_array().unwrap().iter().find(|row| row["name"] == "pytest").unwrap();
    let text = sandbox.run(&["rules", "pytest"], b"").text();
    assert_eq!(text.matches("{ role = \"").count() as u64, of_pytest["rules"].as_u64().unwrap(), "{text}");
    sandbox.run(&["rules", "pytst"], b"").failed(2, "did you mean \"pytest\"?");
    sandbox.run(&["rules", "?"], b"").failed(2, "`offcut rules` lists them");
}

#[test]
fn rules_test_prints_a_log_as_a_transcript() {
    let sandbox = Sandbox::new();
    let rules = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../offcut/rules");
    let transcript = std::fs::read_to_string(rules.join("pytest.txt")).unwrap();
    let line = |line: &str| line.get("list-heading   | ".len()..).unwrap_or_default().to_owned() + "\n";
    let log: String = transcript.lines().map(line).collect();
    assert_eq!(sandbox.run(&["rules", "test"], log.as_bytes()).text(), transcript);
    assert_eq!(sandbox.run(&["rules", "test", "-"], log.as_bytes()).text(), transcript);
    let file = sandbox.path().join("test.log");
    std::fs::write(&file, &log).unwrap();
    assert_eq!(sandbox.run(&["rules", "test", file.to_str().unwrap()], b"").text(), transcript);
    assert!(sandbox.run(&["rules", "test"], b"").text().is_empty());
    sandbox.run(&["rules", "test", "no.log"], b"").failed(2, "cannot read no.log");
}

#[test]
fn store_directory_contains_files_named_by_profile() {
    let sandbox = Sandbox::new();
    let store = sandbox.path().join("outputs");
    let text = numbered(3000);
    let arguments =
        ["cut", "--profile", "coding-agent", "--tool", "my tool", "--store", store.to_str().unwrap()];
    let shown = sandbox.run(&arguments, text.as_bytes()).text();
    let files: Vec<String> = std::fs::read_dir(&store)
        .unwrap()
        .map(|item| item.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != ".offcut")
        .collect();
    assert!(files.len() == 1 && files[0].starts_with("my_tool_") && files[0].ends_with(".txt"), "{files:?}");
    assert!(shown.contains(&format!("Full output saved to: {}/{}\n", store.display(), files[0])), "{shown}");
}

#[test]
fn help_of_every_command_has_examples() {
    let sandbox = Sandbox::new();
    for command in [
        "cut",
        "read",
        "cat",
        "ls",
        "rm",
        "profiles",
        "rules",
        "grep",
        "show",
        "pin",
        "clean",
        "stats",
        "config",
        "completions",
        "man",
    ] {
        let help = sandbox.run(&[command, "--help"], b"").text();
        assert!(help.contains("Example"), "{command}: {help}");
    }
    assert!(sandbox.run(&["--version"], b"").text().starts_with("offcut "));
    assert_eq!(sandbox.run(&["frobnicate"], b"").code, Some(2));
}

#[test]
fn cat_ends_without_error_when_pipe_is_closed() {
    let sandbox = Sandbox::new();
    let text = numbered(200_000);
    sandbox.run(&["cut"], text.as_bytes());
    let ran = sandbox.paste("offcut cat last | while read -r line; do echo $line; exit; done");
    assert_eq!((ran.text().as_str(), ran.stderr.as_str()), ("1\n", ""));
}

/// Names come from other programs, and none of them may prevent shortening. A limit alone does not apply to a tool that the
/// profile exempts (coding-agent, seed 000 §9.1: `read`); `--force` does.
#[test]
fn cut_accepts_any_name_and_limits_exempt_tool_when_forced() {
    let sandbox = Sandbox::new();
    let text = numbered(9000);
    let ran =
        sandbox.run(&["cut", "--tool", "-rf", "--call-id", "--help", "--session", "-"], text.as_bytes());
    assert!(ran.text().len() <= 9500);
    let exempt = ["cut", "--profile", "coding-agent", "--tool", "read"];
    assert_eq!(sandbox.run(&exempt, text.as_bytes()).stdout, text.as_bytes());
    let limited: Vec<&str> = exempt.into_iter().chain(["--max-lines", "100"]).collect();
    assert_eq!(sandbox.run(&limited, text.as_bytes()).stdout, text.as_bytes());
    let forced: Vec<&str> = limited.into_iter().chain(["--force"]).collect();
    assert!(sandbox.run(&forced, text.as_bytes()).text().contains("...8901 lines truncated..."));
}

#[test]
fn cat_reports_checksum_mismatch_when_file_was_modified() {
    let sandbox = Sandbox::new();
    let path = sandbox.run(&["cut", "--format", "json"], numbered(5000).as_bytes()).json()["saved"]["path"]
        .as_str()
        .unwrap()
        .to_owned();
    std::fs::write(&path, numbered(5000).replace("4321", "1234")).unwrap();
    assert!(sandbox.run(&["cat", "last"], b"").stderr.contains("checksum mismatch"));
}

#[test]
fn rm_refuses_a_pinned_output_without_force() {
    let sandbox = Sandbox::new();
    for _ in 0..2 {
        sandbox.run(&["cut"], numbered(5000).as_bytes());
    }
    sandbox.run(&["pin", "last"], b"");
    sandbox.run(&["rm", "last-1", "last"], b"").failed(2, "it is pinned; unpin it with `offcut unpin ");
    assert_eq!(sandbox.run(&["ls", "--format", "json"], b"").json().as_array().unwrap().len(), 2);
    assert_eq!(sandbox.run(&["rm", "--force", "last"], b"").code, Some(0));
    assert_eq!(sandbox.run(&["rm", "last"], b"").code, Some(0), "the other one is not pinned");
}

#[test]
fn notice_of_a_page_follows_its_text_on_a_terminal() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], numbered(5000).as_bytes());
    for (options, text) in
        [("--lines 3:6", "3\r\n4\r\n5\r\n6\r\n[offcut "), ("--bytes 0:3", "1\r\n2\r\n[offcut ")]
    {
        let (seen, code) = Terminal::open_shell(&sandbox, &format!("\"$offcut\" read {options}")).close();
        assert!(seen.contains(text) && code == Some(0), "{seen:?}");
    }
}
