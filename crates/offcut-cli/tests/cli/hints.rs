//! The command in a notice prints exactly the part of the output that it names.

use crate::harness::{Sandbox, numbered};
use offcut::notice::{Message, Notice, Tag};

/// Runs the command in the preview and compares its output with the original.
#[track_caller]
fn follow(sandbox: &Sandbox, shown: &str, text: &[u8]) {
    let Some(start) = shown.find("offcut read ").or_else(|| shown.find("offcut --store")) else {
        // Nothing but repetitions is missing.
        return assert!(shown.contains("offcut grep PATTERN "), "{shown}");
    };
    let command = shown[start..].split([',', ']']).next().unwrap();
    let ran = sandbox.paste(command);
    assert_eq!(ran.code, Some(0), "{command}: {}", ran.stderr);
    let range = |option: &str| -> Option<(usize, usize)> {
        let (first, last) = command.split_once(option)?.1.split_once(':')?;
        Some((first.parse().unwrap(), last.parse().unwrap()))
    };
    let expected: Vec<u8> = if let Some((first, last)) = range("--lines ") {
        assert!(last >= first);
        text.split_inclusive(|&byte| byte == b'\n')
            .skip(first - 1)
            .take(last + 1 - first)
            .flatten()
            .copied()
            .collect()
    } else if let Some((start, end)) = range("--bytes ") {
        text[start..end].to_vec()
    } else {
        return assert!(text.starts_with(&ran.stdout[..100]), "{command}");
    };
    assert_eq!(ran.stdout, expected, "{command} printed something else");
}

/// A small preview names the command also if the path of the store is long, unless the budget is too small for it.
#[test]
fn small_notice_has_a_command_for_a_store_with_a_long_path() {
    let sandbox = Sandbox::new();
    let text = numbered(30_000);
    let store = sandbox.path().join("a-project-with-a-normal-name/.cache/outputs").display().to_string();
    for limit in [["--max-lines", "4"], ["--max-bytes", "1500"], ["--max-tokens", "600"]] {
        let ran = sandbox.run(&[&["cut", "--store", &store], &limit[..]].concat(), text.as_bytes());
        follow(&sandbox, &ran.text(), text.as_bytes());
    }
}

#[test]
fn notice_command_prints_named_range_for_all_strategies_and_limits() {
    let wide: String =
        (0..3000).map(|number| format!("{number} {}\n", "漢字".repeat(number % 200))).collect();
    let mixed = format!("{}{}\n{}", numbered(50), "x".repeat(200_000), numbered(5000));
    let texts = [
        numbered(100_000),
        "x".repeat(1_000_000),
        "漢".repeat(100_000),
        wide,
        mixed,
        "\n".repeat(50_000),
        "no feed at the end\n".repeat(3000) + "end",
        format!("{}\n", "y".repeat(9_000)).repeat(3),
        "line\r\n".repeat(10_000),
    ];
    let sandbox = Sandbox::new();
    for text in &texts {
        for strategy in ["head", "tail", "head-tail", "auto"] {
            for most in ["256", "700", "9500", "50KiB"] {
                let ran = sandbox.run(&["cut", "--strategy", strategy, "--max-bytes", most], text.as_bytes());
                let shown = ran.text();
                if shown != *text {
                    follow(&sandbox, &shown, text.as_bytes());
                }
            }
        }
    }
}

#[test]
fn notice_command_names_store_given_by_flag() {
    let sandbox = Sandbox::new();
    let store = sandbox.path().join("it's a store");
    let text = numbered(100_000);
    let shown = sandbox.run(&["cut", "--store", store.to_str().unwrap()], text.as_bytes()).text();
    assert!(shown.contains("more: offcut --store "), "{}", shown.lines().last().unwrap());
    follow(&sandbox, &shown, text.as_bytes());
    assert!(!sandbox.store().exists());
}

#[test]
fn read_pages_chain_through_full_output() {
    let sandbox = Sandbox::new();
    let text = numbered(20_000);
    sandbox.run(&["cut"], text.as_bytes());
    let mut seen = String::new();
    let mut command = "offcut read last".to_owned();
    loop {
        let page = sandbox.paste(&command).text();
        assert!(page.len() <= 9500 && page.lines().count() <= 1900);
        match page.rsplit_once("[offcut ") {
            Some((content, footer)) => {
                seen += content;
                command = footer.split_once("more: ").unwrap().1.trim_end_matches("]\n").to_owned();
            }
            None => break seen += &page,
        }
    }
    assert_eq!(seen, text);
}

/// A command that does not find the store is worse than none: at any budget, a printed command works.
#[test]
fn notice_command_works_at_any_budget() {
    let sandbox = Sandbox::new();
    let text = numbered(20_000);
    for store in
        ["s", "a store with a much longer name than any budget for a notice would like to have in it"]
    {
        let store = sandbox.path().join(store);
        for most in ["256", "300", "364", "448", "700", "1000", "9500"] {
            let shown = sandbox
                .run(&["cut", "--store", store.to_str().unwrap(), "--max-bytes", most], text.as_bytes())
                .text();
            match shown.contains(" read ") {
                true => follow(&sandbox, &shown, text.as_bytes()),
                false => assert!(shown.contains("offcut://"), "{most}: {shown}"),
            }
        }
    }
}

#[test]
fn read_names_store_of_path_in_next_command() {
    let sandbox = Sandbox::new();
    let store = sandbox.path().join("elsewhere");
    let arguments = ["cut", "--format", "json", "--store", store.to_str().unwrap()];
    let result = sandbox.run(&arguments, numbered(5000).as_bytes()).json();
    let page = sandbox.run(&["read", result["saved"]["path"].as_str().unwrap(), "--lines", "1:2"], b"");
    assert_eq!(page.text(), "1\n2\n");
    let Some(Notice { tag: Tag::Entry(id), message: Message::Page { more: next, .. } }) =
        Notice::parse(page.stderr.trim())
    else {
        panic!("{}", page.stderr)
    };
    assert!(id.len() < 16 && next.contains(&format!(" read {id} --lines 3:")), "{next}");
    assert_eq!(sandbox.paste(&next).text(), "3\n4\n", "{next}");
}

#[test]
fn read_keeps_limits_and_range_in_next_command() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], format!("{}\n{}", "x".repeat(50_000), numbered(5000)).as_bytes());
    let page = sandbox
        .run(&["read", "last", "--lines", "1:2", "--max-bytes", "600", "--max-lines", "5"], b"")
        .text();
    assert!(page.len() <= 600 && page.lines().count() <= 5, "{page}");
    let next = page.rsplit_once("more: ").unwrap().1;
    assert!(
        next.contains("--max-bytes 600 --max-lines 5]") && next.contains(":50003 "),
        "the end of the requested range stays: {next}"
    );
    let around = sandbox.run(&["read", "last", "--around", "2500", "-C", "5000"], b"").text();
    assert!(around.contains("\n2499\n"), "the page contains the line itself");
}
