//! What `auto` shows of texts with a known structure: the lines that carry the structure, and exact counts.

use crate::common::{in_pieces, memory, native};
use crate::properties::{check, fits};
use offcut::strategy::StrategyName;
use offcut::terminal::Terminal;
use offcut::{Context, Limits, Rule, Truncator};
use proptest::prelude::*;

fn auto(limits: Limits, terminal: Terminal) -> Truncator {
    let strategy = Some(StrategyName::Auto);
    native(Rule { strategy, limits, terminal: Some(terminal), ..Rule::default() }, memory())
}

fn shown(text: &str, bytes: u64) -> String {
    let limits = Limits { bytes: Some(bytes), ..Limits::default() };
    let shown = auto(limits, Terminal::Rendered).apply(text.as_bytes(), &Context::default());
    String::from_utf8_lossy(shown.content()).into_owned()
}

#[test]
fn diff_shows_every_file() {
    let hunk = |file: usize, lines: usize| {
        let changes: String = (0..lines).map(|line| format!("+added {line} to file {file}\n")).collect();
        format!(
            "diff --git a/f{file} b/f{file}\n--- a/f{file}\n+++ b/f{file}\n@@ -1,0 +1,{lines} @@ fn {file}\n{changes}"
        )
    };
    let text: String = (0..30).map(|file| hunk(file, 50)).collect();
    let preview = shown(&text, 4000);
    assert!(preview.contains("diff of 30 files: 30 hunks, +1500 -0 lines"), "{preview}");
    for file in 0..30 {
        assert!(
            preview.contains(&format!("diff --git a/f{file} b/f{file}\n")),
            "{file} is missing:\n{preview}"
        );
    }
    let many: String = (0..3000).map(|file| hunk(file, 2)).collect();
    let preview = shown(&many, 2000);
    assert!(preview.contains("diff of 3000 files: 3000 hunks, +6000 -0 lines"), "{preview}");
}

#[test]
fn manifest_shows_kind_and_name_of_every_document() {
    let settings: String = (0..30).map(|number| format!("    setting{number}: {number}\n")).collect();
    let document = |number: usize| {
        format!(
            "apiVersion: v1\nkind: Kind{number}\nmetadata:\n  name: name{number}\nspec:\n  nested:\n{settings}"
        )
    };
    let text = (0..20).map(document).collect::<Vec<_>>().join("---\n");
    let preview = shown(&text, 4000);
    assert!(preview.contains("configuration of 20 documents"), "{preview}");
    for number in 0..20 {
        assert!(
            preview.contains(&format!("kind: Kind{number}\nmetadata:\n  name: name{number}\n")),
            "{preview}"
        );
    }
}

#[test]
fn failure_in_a_report_written_as_yaml_is_shown() {
    let task = |number: usize| match number {
        250 => "task-250:\n  status: bad\n  error: connection refused\n".to_owned(),
        _ => format!("task-{number}:\n  status: good\n  duration: {number}\n"),
    };
    let preview = shown(&(0..400).map(task).collect::<String>(), 2000);
    assert!(preview.contains("  error: connection refused\n"), "{preview}");
}

#[test]
fn unusual_value_of_a_key_is_shown() {
    for (usual, unusual) in
        [("status: passed", "status: failed"), ("exit_code: 0", "exit_code: 2"), ("tls: true", "tls: false")]
    {
        let item = |number: usize| {
            let value = if number == 700 { unusual } else { usual };
            format!("- name: item{number}\n  {value}\n  took: {}\n", number * 7 % 99)
        };
        let preview = shown(&(0..1500).map(item).collect::<String>(), 4000);
        assert!(preview.contains(unusual), "{preview}");
    }
}

/// Also if each document or table has the same keys, which name it.
#[test]
fn unusual_value_is_shown_before_the_names_of_documents() {
    for odd in [20, 61, 149] {
        let value = |number: usize, odd_value, usual| if number == odd { odd_value } else { usual };
        let document = |number: usize| {
            let (status, replicas) = (value(number, "failed", "passed"), value(number, "0", "3"));
            format!(
                "kind: Service\nmetadata:\n  name: svc{number}\nspec:\n  replicas: {replicas}\n  status: {status}\n"
            )
        };
        let table = |number: usize| {
            format!("[[test]]\nname = \"t{number}\"\nstatus = \"{}\"\n\n", value(number, "failed", "passed"))
        };
        for bytes in [4000, 8000] {
            let preview = shown(&(0..150).map(document).collect::<Vec<_>>().join("---\n"), bytes);
            assert!(preview.contains("status: failed\n") && preview.contains("replicas: 0\n"), "{preview}");
            let preview = shown(&(0..500).map(table).collect::<String>(), bytes);
            let test = format!("[[test]]\nname = \"t{odd}\"\nstatus = \"failed\"\n");
            assert!(preview.contains(&test), "{preview}");
        }
    }
}

#[test]
fn failure_in_a_page_and_in_a_document_is_shown() {
    let failure = "fatal: not a git repository";
    let sections = |section: fn(usize) -> String| -> String {
        (0..600)
            .map(|number| {
                section(number) + if number == 300 { "fatal: not a git repository\n\n" } else { "" }
            })
            .collect()
    };
    let page =
        sections(|number| format!("<h2>Section {number}</h2>\n<p>It explains one of the things here.</p>\n"));
    let document =
        sections(|number| format!("## Section {number}\n\nIt explains one of the things that are here.\n\n"));
    for (text, remark) in [(format!("<html>\n{page}</html>\n"), "HTML"), (document, "text")] {
        let preview = shown(&text, 8000);
        assert!(preview.contains(remark) && preview.contains(failure), "{preview}");
    }
}

#[test]
fn failure_among_echoed_statements_is_shown() {
    let statement = |number: usize| match number {
        200 => "Runtime error near line 200: UNIQUE constraint failed: goods.id (19)\n".to_owned(),
        _ => format!("INSERT INTO goods VALUES ({number}, 'name of {number}', {});\n", number * 7 % 100),
    };
    let text = "CREATE TABLE goods (id INTEGER, name TEXT, price INTEGER);\n".to_owned();
    let preview = shown(&(text + &(0..400).map(statement).collect::<String>()), 2000);
    assert!(
        preview.contains("source with") && preview.contains("\nRuntime error near line 200"),
        "{preview}"
    );
}

#[test]
fn page_shows_its_headings_before_scripts_and_navigation() {
    let script = "    window.settings.push({ theme_name: storage.getItem('theme_name') });\n".repeat(60);
    let section = |number: usize| {
        let text =
            "<p>It explains one of the things that this page is about, in some detail.</p>\n".repeat(8);
        format!("<div class=\"section\">\n<h2 id=\"s{number}\">Section {number}</h2>\n{text}</div>\n")
    };
    let body: String = (0..20).map(section).collect();
    let page = format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<title>Manual</title>\n<script>\n{script}</script>\n</head>\n<body>\n{body}</body>\n</html>\n"
    );
    let preview = shown(&page, 4000);
    assert!(preview.contains("HTML with 20 headings"), "{preview}");
    assert!(preview.contains("<title>Manual</title>"), "{preview}");
    for number in 0..20 {
        assert!(preview.contains(&format!(">Section {number}</h2>\n<p>It explains")), "{preview}");
    }
    assert!(!preview.contains("theme_name"), "{preview}");
    assert!(preview.len() > 3400, "{preview}");
}

/// A page and a report of tests without a line feed: what matters is found, and the markers say how much is between.
#[test]
fn markup_on_one_line_is_divided_into_elements() {
    let section = |number: usize| {
        let text = "<p>It explains <em>one</em> of the things that this page is about, in some detail.</p>"
            .repeat(8);
        format!("<div class=\"section\"><h2 id=\"s{number}\">Section {number}</h2>{text}</div>")
    };
    let body: String = (0..20).map(section).collect();
    let page = format!("<!DOCTYPE html><html><head><title>Manual</title></head><body>{body}</body></html>");
    let preview = shown(&page, 4000);
    assert!(
        preview.contains("HTML with 20 headings") && preview.contains("<title>Manual</title>"),
        "{preview}"
    );
    for number in 0..20 {
        assert!(preview.contains(&format!(">Section {number}</h2>")), "{number}: {preview}");
    }
    assert!(!preview.contains("\n</em>"), "{preview}");

    let test = |number: usize| match number {
        300 | 700 => format!(
            "<testcase name=\"adds_{number}\"><failure message=\"3 is not 4\">at shop.rs:12&#10;at main.rs:3</failure></testcase>"
        ),
        _ => format!("<testcase name=\"case_{number}\" time=\"0.01\"/>"),
    };
    let tests: String = (0..1000).map(test).collect();
    let report =
        format!("<?xml version=\"1.0\"?><testsuite tests=\"1000\" failures=\"2\">{tests}</testsuite>");
    for bytes in [1500, 4000, 8000] {
        let preview = shown(&report, bytes);
        assert!(preview.contains("XML with 1003 elements"), "{preview}");
        for expected in [&test(300), &test(700), "tests=\"1000\" failures=\"2\""] {
            assert!(preview.contains(expected), "{bytes} {expected}: {preview}");
        }
        assert!(preview.contains(" of line 1 not shown: "), "{preview}");
        assert!(preview.len() as u64 > bytes * 85 / 100, "{preview}");
    }
}

/// Elements that are longer than what is kept of a line: the nesting is known nevertheless, and a failure at an end is shown.
#[test]
fn long_elements_of_markup_are_outlined() {
    let test = |number: usize| {
        let log = format!("<![CDATA[{}]]>", "it goes on <and> on; ".repeat(100));
        let failure = match number {
            5 | 59 => format!("<failure message=\"3 is not 4\">{}</failure>", "at shop.rs:12 ".repeat(90)),
            _ => String::new(),
        };
        format!("<testcase name=\"case_{number}\">{failure}<system-out>{log}</system-out></testcase>")
    };
    let report =
        format!("\u{feff}<testsuite name=\"all\">{}</testsuite>", (0..60).map(test).collect::<String>());
    let path = |number: usize| format!("<path id=\"p{number}\" d=\"{}\"/>", "M0 1L2 3".repeat(400));
    let drawing = format!("<svg><g>{}</g></svg>", (0..40).map(path).collect::<String>());
    for (bytes, failures) in [(1200, 1), (4000, 2), (8000, 2)] {
        let preview = shown(&report, bytes);
        assert!(preview.contains("123 elements"), "{bytes}: {preview}");
        assert!(preview.matches("3 is not 4").count() >= failures, "{bytes}: {preview}");
        let preview = shown(&drawing, bytes);
        assert!(preview.contains("XML with at least 42 elements"), "{bytes}: {preview}");
    }
}

/// All parts of one line count as one line.
#[test]
fn limit_of_lines_leaves_room_for_markup_on_one_line() {
    let page = format!(
        "<list>{}</list>",
        (0..900).map(|at| format!("<item id=\"i{at}\">value</item>")).collect::<String>()
    );
    let limits = Limits { bytes: Some(4000), lines: Some(8), ..Limits::default() };
    let shown = auto(limits, Terminal::Rendered).apply(page.as_bytes(), &Context::default());
    assert!(shown.content().len() > 3400, "{}", String::from_utf8_lossy(shown.content()));
}

/// More failures than fit, all alike: as many as fit are shown, not none.
#[test]
fn equal_failures_fill_the_room() {
    let test = |number: usize| match number % 100 {
        50 => format!(
            "<testcase name=\"adds_{number}\"><failure>{}</failure></testcase>",
            "at shop.rs:12&#10;".repeat(40)
        ),
        _ => format!("<testcase name=\"case_{number}\" time=\"0.01\"/>"),
    };
    let report = format!("<testsuite>{}</testsuite>", (0..20_000).map(test).collect::<String>());
    for (bytes, least) in [(1500, 1), (3000, 2), (6000, 3)] {
        let preview = shown(&report, bytes);
        assert!(preview.matches("<failure>").count() >= least, "{preview}");
    }
}

#[test]
fn search_hits_show_some_of_each_file_and_the_total() {
    let text: String = (0..20)
        .flat_map(|file| (1..90).map(move |line| format!("src/file{file}.rs:{line}:let error = {line};\n")))
        .collect();
    let preview = shown(&text, 4000);
    assert!(preview.contains("1780 matches in 20 files"), "{preview}");
    for file in 0..20 {
        assert!(preview.contains(&format!("src/file{file}.rs:1:")), "{file} is missing:\n{preview}");
    }
}

#[test]
fn long_hunk_shows_the_functions_that_were_added() {
    let names = ["open_file", "read_header", "check_digest", "write_entry", "close_store"];
    let body: String = (0..20)
        .map(|line| format!("+    let total_{line} = total_{line} + input.len() * {line};\n"))
        .collect();
    let functions: String =
        names.iter().map(|name| format!("+pub fn {name}(input: &[u8]) -> usize {{\n{body}+}}\n")).collect();
    let lines = 22 * names.len();
    let header = format!("diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1,0 +1,{lines} @@\n");
    let preview = shown(&format!("{header}{functions}"), 3000);
    for name in names {
        assert!(preview.contains(&format!("+pub fn {name}(")), "{name} is missing:\n{preview}");
    }
}

#[test]
fn summary_of_a_report_is_shown_before_details() {
    let details = |at: usize| {
        let item = |item: usize| format!("- It is read in `src/part_{at}/file_{item}.rs` by the function.\n");
        format!("## Part {at}\n\n{}\n", (0..9).map(item).collect::<String>())
    };
    let summary = "- The first thing to do is to make it as fast as it was before.\n\
                   - The other is that the words of an error can be read by people.\n";
    let text = format!(
        "# A report\n\n{}## Recommendations\n\n{summary}\n{0}",
        (0..9).map(details).collect::<String>()
    );
    let preview = shown(&text, 2500);
    assert!(preview.contains(summary), "{preview}");
}

#[test]
fn long_line_among_short_ones_fills_the_room() {
    let long: String = (0..4000).map(|word| format!("word{word} ")).collect();
    for before in 0..6 {
        let lines: Vec<String> = (0..6)
            .map(|at| if at == before { long.clone() } else { format!("line {at} is short") })
            .collect();
        for bytes in [2000, 8192] {
            let preview = shown(&lines.join("\n"), bytes);
            assert!(preview.len() as u64 * 100 >= bytes * 85, "{before}, {bytes}: {}", preview.len());
        }
    }
}

#[test]
fn list_of_paths_shows_some_of_each_directory() {
    let paths =
        |directory: usize| (0..200).map(move |file| format!("top{directory}/src/module_{file}/mod.rs\n"));
    let text: String = (0..12).flat_map(paths).collect();
    let preview = shown(&text, 4000);
    assert!(preview.contains("list of 2400 paths"), "{preview}");
    assert!(preview.contains("entries, "), "{preview}");
    for directory in 0..12 {
        assert!(preview.contains(&format!("\ntop{directory}/")), "{directory} is missing:\n{preview}");
    }
    // So does one of many megabytes, to its end.
    let many: String = (0..2000).flat_map(|at| paths(at / 250)).collect();
    let preview = shown(&many, 4000);
    for directory in 0..8 {
        assert!(preview.contains(&format!("\ntop{directory}/")), "{directory} is missing:\n{preview}");
    }
}

#[test]
fn tree_shows_all_entries_of_the_root() {
    let branch = |at: usize| {
        format!("├── package_{at} v1.0.{at}\n{}", "│   ├── other_package v2.0.0\n".repeat(at % 30))
    };
    let preview = shown(&(0..40).map(branch).collect::<String>(), 4000);
    for at in 0..40 {
        assert!(preview.contains(&format!("─ package_{at} ")), "{at} is missing:\n{preview}");
    }
}

/// With room for more than the file names, some changes are shown.
#[test]
fn diff_of_many_files_shows_some_changes() {
    let hunk = |file: usize| {
        let hunks: String =
            (0..20).map(|hunk| format!("@@ -{hunk},2 +{hunk},2 @@ fn {hunk}\n a\n-b\n+c\n")).collect();
        format!("diff --git a/f{file} b/f{file}\n--- a/f{file}\n+++ b/f{file}\n{hunks} }}\n")
    };
    let text: String = (0..35).map(hunk).collect();
    let preview = shown(&text, 4000);
    assert!(preview.contains("diff --git a/f34 b/f34\n") && preview.contains("\n-b\n+c\n"), "{preview}");
}

/// What repeats the line before it is hidden only if it is the original's bytes.
#[test]
fn lines_of_coloured_hits_are_shown_whole() {
    let text: String =
        (1..300).map(|line| format!("src/shop.rs:{line}:let \x1b[31mname_{line}\x1b[0m = 1;\n")).collect();
    let preview = shown(&text, 3000);
    let hits = preview.lines().filter(|line| line.contains("let "));
    assert!(hits.clone().count() > 20, "{preview}");
    assert!(hits.into_iter().all(|line| line.starts_with("src/shop.rs:")), "{preview}");
    let plain = shown(&text.replace("\x1b[31m", "").replace("\x1b[0m", ""), 3000);
    assert!(plain.lines().any(|line| line.starts_with(|first: char| first.is_ascii_digit())), "{plain}");
}

/// Lines unlike the others are often what the reader looks for.
#[test]
fn lines_unlike_the_others_are_shown() {
    let paths = |range: std::ops::Range<u32>| {
        range.map(|file| format!("dir{:02}/file_{file:04}.dat\n", file / 100)).collect::<String>()
    };
    let files = |range: std::ops::Range<u32>| {
        range.map(|file| format!("-rw-r--r-- 1 a b 12 Jan 1 00:00 file{file}\n")).collect::<String>()
    };
    let hits = |range: std::ops::Range<u32>| {
        range.map(|line| format!("src/a.rs:{line}:let error = {line};\n")).collect::<String>()
    };
    let commits = |range: std::ops::Range<u32>| {
        range
            .map(|line| format!("{:07x} error: what changed\n", line * 7919 + 0xa00_0000))
            .collect::<String>()
    };
    type Lines = fn(std::ops::Range<u32>) -> String;
    let cases: [(&str, Lines, &str); 5] = [
        (
            "list of paths",
            paths,
            "rsync: [sender] send_files failed to open \"/a/b\": Permission denied (13)\n",
        ),
        ("list of paths", paths, "tar: a/dir17/file_042.dat: File removed before we read it\n"),
        ("listing of", files, "ls: cannot access 'x': Input/output error\n"),
        ("at least", hits, "rg: ./secret: Permission denied (os error 13)\n"),
        ("history of", commits, "warning: unable to read tree\n"),
    ];
    for (remark, lines, stray) in cases {
        let text = format!("{}{stray}{}", lines(0..1500), lines(1500..3000));
        let preview = shown(&text, 4000);
        assert!(preview.contains(remark) && preview.contains(stray), "{remark}, {stray}{preview}");
    }
    let listing: String = (0..200).map(|at| format!("./d{at}:\n{}\n", "name\nother\n".repeat(9))).collect();
    let preview =
        shown(&format!(".:\na\nb\n\n{listing}./e:\nSegmentation fault (core dumped)\n\n{listing}"), 4000);
    assert!(preview.contains("listing of") && preview.contains("Segmentation fault"), "{preview}");
    // Even many of them leave room for the others.
    let many: String =
        (0..60).map(|at| format!("tar: {at}: gone\n{}", paths(at * 50..(at + 1) * 50))).collect();
    let preview = shown(&many, 4000);
    let others = preview.lines().filter(|line| line.starts_with("dir")).count();
    assert!(others > 60, "{others}: {preview}");
}

/// Each paragraph is one long line, as in a transcript: only a few fit, but they fill the room in every budget.
#[test]
fn long_paragraphs_fill_the_room() {
    for sentences in [5, 12] {
        let text: String = (0..60)
            .map(|at| format!("## Part {at}\n\n{}\n\n", PARAGRAPH.replace('\n', " ").repeat(sentences)))
            .collect();
        for bytes in [4000, 7500, 8000, 16_000, 50_000] {
            let preview = shown(&text, bytes);
            assert!(preview.len() as u64 * 100 >= bytes * 75, "{} of {bytes}: {preview}", preview.len());
        }
    }
}

/// A paragraph of prose whose lines are wrapped. Some lines are fragments, and mention failures.
const PARAGRAPH: &str = "The reader follows the failure transitions of the automaton until it arrives at
the state where it began. An error: a file that
failed: cannot be read, or an exception of
the caller: is not caught here, because it would hide the reason that is
behind it from the people who have to know it.
";

/// Every heading is shown or named in a marker, in any of these styles. A sentence that mentions a failure is not one.
#[test]
fn headings_of_documents_are_shown_or_named() {
    let title = |at: usize| format!("Chapter {at}.");
    let underlined = |at: usize, mark: &str| format!("{}\n{}\n", title(at), mark.repeat(title(at).len()));
    let headings: [&dyn Fn(usize) -> String; 5] = [
        &|at| format!("## {}\n", title(at)),
        &|at| underlined(at, "="),
        &|at| underlined(at, "~"),
        &|at| format!("{}\n{}", "-".repeat(title(at).len()), underlined(at, "-")),
        &|at| format!("\\section{{{}}}\n", title(at)),
    ];
    for heading in headings {
        let section = |at: usize| format!("{}\n{}\n", heading(at), PARAGRAPH.repeat(1 + at % 2));
        let text: String = (0..40).map(section).collect();
        let preview = shown(&text, 6000);
        assert!(
            preview.lines().next().is_some_and(|line| line.contains("text with 40 headings")),
            "{preview}"
        );
        for at in 0..40 {
            assert!(preview.contains(&title(at)), "{at}: {preview}");
        }
        assert!(!preview.contains("]\nfailed: cannot"), "{preview}");
    }
}

#[test]
fn headings_are_shown_in_every_budget() {
    let rows: String =
        (0..60).map(|row| format!("tmpfs{row:<20}   246841{row:02}        0   0% /dev/shm\n")).collect();
    let heading = "Filesystem              1K-blocks     Used Use% Mounted on\n";
    for bytes in [400, 500, 600, 900, 2000] {
        let preview = shown(&format!("{heading}{rows}"), bytes);
        assert!(preview.contains(heading), "{bytes}: {preview}");
    }
    let records: String = (0..400).map(|row| format!("{row},name {row},a note\n")).collect();
    let limits = Limits { lines: Some(8), ..Limits::default() };
    let text = format!("id,name,note\n{records}");
    let shown =
        auto(limits, Terminal::Rendered).apply(text.as_bytes(), &Context::default()).content().to_vec();
    let preview = String::from_utf8_lossy(&shown);
    assert!(preview.contains("\nid,name,note\n") && preview.contains("\n399,name 399,a note\n"), "{preview}");
}

/// The newest commits are shown, not the shortest.
#[test]
fn history_shows_the_newest_commits() {
    let text: String = (0..89)
        .map(|commit| format!("{:07x} topic: {}\n", 0xa00_0000 + commit * 7919, "word ".repeat(commit % 7)))
        .collect();
    let preview = shown(&text, 2048);
    let newest: String = text.lines().take(20).map(|line| format!("{line}\n")).collect();
    assert!(preview.contains("history of 89 commits") && preview.contains(&newest), "{preview}");
    assert_eq!(preview.matches("\n[line").count(), 1, "{preview}");
}

/// Every subject is shown before any message.
#[test]
fn history_shows_all_subjects_before_messages() {
    let message = "    A sentence about src/file.rs and its read_line function.\n".repeat(12);
    let text: String = (0..12)
        .map(|commit| {
            format!("commit {commit:040x}\nAuthor: A <a@b>\nDate:   today\n\n    subject {commit}\n    \n{message}\n")
        })
        .collect();
    let preview = shown(&text, 3000);
    for commit in 0..12 {
        assert!(preview.contains(&format!("    subject {commit}\n")), "{commit}: {preview}");
    }
}

/// The author of a commit says nothing without the subject.
#[test]
fn history_shows_no_author_without_the_subject() {
    let text: String = (0..200)
        .map(|commit| {
            let body = "    A sentence about read_line.\n".repeat(commit % 5);
            format!("commit {commit:040x}\nAuthor: A{} <a@b>\nDate:   today\n\n    subject {commit}\n    \n{body}\n", commit % 3)
        })
        .collect();
    for bytes in (1500..9000).step_by(250) {
        let preview = shown(&text, bytes);
        let lines: Vec<&str> = preview.lines().collect();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("Author: ")) {
            assert!(lines[at..].len() > 3 && lines[at + 3].starts_with("    subject"), "{line}: {preview}");
        }
    }
}

#[test]
fn history_with_files_is_recognised() {
    for status in ["", "M\t", "R100\told/path.rs\t"] {
        let text: String = (0..60)
            .map(|commit| {
                let files: String = (0..9).map(|file| format!("{status}src/dir{commit}/f{file}.rs\n")).collect();
                format!("commit {commit:040x}\nAuthor: A <a@b>\nDate:   today\n\n    subject {commit}\n\n{files}\n")
            })
            .collect();
        let preview = shown(&text, 4000);
        assert!(preview.contains("history of 60 commits"), "{preview}");
    }
}

/// A marker is shorter than the text it replaces.
#[test]
fn no_marker_replaces_a_shorter_text() {
    let commits: String = (0..200)
        .map(|commit| {
            format!("commit {commit:040x}\nAuthor: A <a@b>\nDate:   today\n\n    subject {commit}\n\n")
        })
        .collect();
    let directories: String = (0..900).map(|number| format!("./a{number}:\nb\nc\n\n")).collect();
    let listing = format!(".:\nfirst\nsecond\n\n{directories}./z:\n{}", "a name\n".repeat(900));
    for text in [commits, listing] {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for bytes in [1000, 3000, 8000] {
            let preview = shown(&text, bytes);
            for line in preview.lines().filter(|line| line.starts_with("[line")) {
                let range = line.trim_start_matches("[lines ").trim_start_matches("[line ");
                let (range, _) = range.split_once(" not shown").unwrap();
                let (first, last) = range.split_once(':').unwrap_or((range, range));
                let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
                let hidden: usize = lines[first - 1..last].iter().map(|line| line.len()).sum();
                assert!(hidden > line.len() + 1, "{line} hides {hidden} bytes:\n{preview}");
            }
        }
    }
}

/// The hint names a full page, not only the first two lines that are not shown.
#[test]
fn hint_offers_the_largest_page() {
    let hits: String = (1..=40)
        .flat_map(|file| {
            (1..=5 * file).map(move |line| format!("src/{file}.rs:{line}:let number = {line};\n"))
        })
        .collect();
    let preview = shown(&hits, 4000);
    let offered = preview.rsplit_once(" --lines ").unwrap().1.split_once(',').unwrap().0;
    let (first, last) = offered.split_once(':').unwrap();
    assert!(preview.contains(&format!("\n[lines {first}:")), "{preview}");
    let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
    assert!((150..=200).contains(&(last + 1 - first)), "{preview}");
}

#[test]
fn markers_differ_from_similar_text() {
    let text: String = (0..900).map(|line| format!("src/a.rs:{line}:let a = {line};\n")).collect();
    assert!(shown(&text, 2000).contains("\n[lines "));
    let preview = shown(&format!("{text}[lines 3:4 not shown]\n"), 2000);
    assert!(
        preview.contains("\n[offcut: lines ") && preview.contains("\n[lines 3:4 not shown]\n"),
        "{preview}"
    );
}

/// Text that begins like a listing and becomes a log is shown as a log.
#[test]
fn text_that_changes_its_form_is_still_shown() {
    let hits: String = (0..3000).map(|line| format!("src/a.rs:{line}:let a = {line};\n")).collect();
    let log: String = (0..9000).map(|step| format!("12:00:00 INFO step {step} is done\n")).collect();
    let preview = shown(&format!("{hits}{log}12:00:00 FATAL it is broken\n{log}"), 4000);
    assert!(preview.contains("FATAL it is broken"), "{preview}");
    let document = format!("{{\"a\": [{}1]}}\n", "1, ".repeat(30_000));
    let preview = shown(&format!("{document}{log}12:00:00 FATAL it is broken\n{log}"), 4000);
    assert!(preview.contains("FATAL it is broken"), "{preview}");
}

/// Lines of one form, with a few others.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn x\n a\n-b\n+c\n"),
        Just("src/a.rs:12:let a = 1;\nsrc/a.rs:13:let b = 2;\nsrc/b.rs:1:use a;\n"),
        Just("-rw-r--r-- 1 a b 12 Jan 1 00:00 name\n"),
        Just("commit 0123456789abcdef\nAuthor: A\nDate:   today\n\n    subject\n\n"),
        Just("├─┬ a@1.0.0\n│ └── b@1.0.0\n"),
        Just("fn a() {\n    let b = 1;\n}\n"),
        Just("| a | b |\n"),
        Just("<a>\n  <b c=\"1\">x</b>\n</a>\n"),
        Just("<?xml?><a><b c=\"1\">x<i>y</i></b><b/></a>"),
        Just("<html><h1>a</h1><p>it explains one of the things</p>"),
        Just("{\"a\": [1, 2, {\"b\": null}]}\n"),
    ];
    let other = prop_oneof![
        6 => Just(String::new()),
        1 => "[ -~]{0,40}\n".prop_map(|line| line),
        1 => ("(é|x){1,3}", 1..900_usize).prop_map(|(unit, times)| format!("src/b.rs:7:{}\n", unit.repeat(times))),
        1 => Just("src/c.rs:1:\x1b[31mred\x1b[0m\n".to_owned()),
        1 => Just("[lines 3:4 not shown]\n".to_owned()),
    ];
    (line, 4..60_usize, prop::collection::vec(other, 1..4), 1..6_usize).prop_map(
        |(line, times, others, rounds)| {
            others.iter().map(|other| line.repeat(times) + other).collect::<String>().repeat(rounds)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    /// The preview keeps every limit and consists of original lines and notices, for any chunking.
    #[test]
    fn shapes_keep_the_invariants(
        text in text(),
        bytes in 256..4000_u64,
        lines in prop::option::of(4..60_u64),
        tokens in prop::option::of(128..900_u64),
        terminal in prop::sample::select(vec![Terminal::Rendered, Terminal::Raw]),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
    ) {
        let limits = Limits { bytes: Some(bytes), lines, tokens, ..Limits::default() };
        let whole = auto(limits, terminal);
        let whole = whole.apply(text.as_bytes(), &Context::default());
        if let Some(preview) = whole.preview() {
            fits(preview.content(), limits).map_err(TestCaseError::fail)?;
            prop_assert!(preview.content().len() <= text.len().max(512));
            // In JSON, markers are not separate lines; the properties of the json strategy cover them.
            if !text.starts_with('{') {
                check(text.as_bytes(), preview, terminal)?;
            }
        }
        let truncator = auto(limits, terminal);
        prop_assert_eq!(in_pieces(&truncator, text.as_bytes(), places), String::from_utf8_lossy(whole.content()));
    }
}
