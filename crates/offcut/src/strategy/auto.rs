//! The `auto` strategy: chooses a strategy by the beginning of the text.
//!
//! Logs and other output of commands go to `smart`. Other formats do not: words like `error` are common in source code
//! and search hits, and mean nothing there. JSON is shortened; other known formats are outlined. `smart` observes the
//! text too, and takes over if it turns out not to have the format that its beginning suggests; only a text that had one
//! format for megabytes keeps it.

use super::json::{self, Json};
use super::outline::{self, Outline};
use super::{BothEnds, Ends, Room, Selection, Selector, Smart, Split, Strategy};
use crate::cut::{PieceKind, Segment};
use crate::profile::Settings;

/// How many bytes at the beginning decide.
const OPENING_BYTES: usize = 64 << 10;

/// JSON Lines shorter than this on average are treated as a log. `smart` would have to cut longer ones.
const MAX_LOG_LINE_BYTES: usize = 600;

/// Chooses a strategy by the content.
#[derive(Clone, Copy, Debug)]
pub struct Auto {
    /// How the room is divided where both ends are shown.
    pub split: Split,
}

impl Strategy for Auto {
    fn start(&self, settings: &Settings) -> Box<dyn Selector> {
        Box::new(AutoSelector {
            auto: *self,
            most_bytes: settings.keep.ceiling(),
            smart: Smart::default().start(settings),
            kind: Kind::Undecided,
            opening: Vec::new(),
            segments: Vec::new(),
        })
    }
}

struct AutoSelector {
    auto: Auto,
    most_bytes: u64,
    smart: Box<dyn Selector>,
    kind: Kind,
    /// The text until its kind is known, and the segments it came in.
    opening: Vec<u8>,
    segments: Vec<BufferedSegment>,
}

/// A segment whose text is in the opening.
struct BufferedSegment {
    length: usize,
    start: u64,
    end: u64,
    form: PieceKind,
}

/// The kind of a text.
enum Kind {
    Undecided,
    Log,
    Json(Box<json::JsonSelector>, Documents),
    Outlined(Box<Outline>),
}

/// How many documents a text may have that is shown as JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Documents {
    Any,
    /// One that is complete: the answer after HTTP headers.
    One,
}

impl Kind {
    fn of(opening: &[u8], auto: Auto, most_bytes: u64) -> Kind {
        let opening = &opening[..opening.len().min(OPENING_BYTES)];
        match json::documents(opening) {
            // Logs may be JSON Lines, and one line in a million may be the important one.
            Some(documents) if documents > 1 && opening.len() / documents < MAX_LOG_LINE_BYTES => {
                return Kind::Log;
            }
            // So may JSON with a line for each value that follows other lines, such as the report of a test runner.
            Some(count) => {
                let documents = match begins_with_json(opening) || outline::has_long_lines(opening) {
                    true => Documents::Any,
                    false if count == 1 && opening.starts_with(b"HTTP/") => Documents::One,
                    false => return Kind::Log,
                };
                let json = Json { split: auto.split }.selector(most_bytes);
                return Kind::Json(Box::new(json), documents);
            }
            None => {}
        }
        outline::recognise(opening, most_bytes).map_or(Kind::Log, |outline| Kind::Outlined(Box::new(outline)))
    }

    /// Whether the kind no longer changes, even if other text follows.
    fn is_settled(&self) -> bool {
        match self {
            Kind::Undecided | Kind::Log => false,
            Kind::Json(json, documents) => documents == &Documents::Any && json.is_settled(),
            Kind::Outlined(outline) => outline.is_settled(),
        }
    }

    fn observe(&mut self, segment: Segment<'_>) {
        match self {
            Kind::Undecided | Kind::Log => {}
            Kind::Json(json, _) => json.observe(segment),
            Kind::Outlined(outline) => {
                outline.observe(segment);
                if !outline.can_match() {
                    *self = Kind::Log;
                }
            }
        }
    }
}

/// Whether nothing comes before the JSON.
fn begins_with_json(opening: &[u8]) -> bool {
    matches!(opening.trim_ascii_start().first(), Some(b'{' | b'['))
}

impl AutoSelector {
    fn decide(&mut self) {
        self.kind = Kind::of(&self.opening, self.auto, self.most_bytes);
        let mut from = 0;
        for BufferedSegment { length, start, end, form } in std::mem::take(&mut self.segments) {
            self.kind.observe(Segment { text: &self.opening[from..from + length], start, end, form });
            from += length;
        }
        self.opening = Vec::new();
    }
}

impl Selector for AutoSelector {
    fn observe(&mut self, segment: Segment<'_>) {
        if !self.kind.is_settled() {
            self.smart.observe(segment);
        }
        if !matches!(self.kind, Kind::Undecided) {
            return self.kind.observe(segment);
        }
        let Segment { text, start, end, form } = segment;
        let wanted = OPENING_BYTES - self.opening.len();
        // Only the beginning of a long segment is buffered; the rest is passed on below.
        let buffered = if form == PieceKind::Verbatim { text.len().min(wanted) } else { text.len() };
        let middle = if buffered < text.len() { start + buffered as u64 } else { end };
        self.opening.extend_from_slice(&text[..buffered]);
        self.segments.push(BufferedSegment { length: buffered, start, end: middle, form });
        if self.opening.len() >= OPENING_BYTES {
            self.decide();
            if buffered < text.len() {
                self.kind.observe(Segment::verbatim(&text[buffered..], middle));
            }
        }
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        if matches!(self.kind, Kind::Undecided) {
            self.decide();
        }
        let is_settled = self.kind.is_settled();
        let AutoSelector { kind, smart, auto, .. } = self;
        let selection = match kind {
            Kind::Json(json, documents) => {
                let is_json = match documents {
                    Documents::Any => is_settled || json.is_json(),
                    Documents::One => json.is_one_document(),
                };
                if is_json { json.finish(ends, room) } else { Selection::default() }
            }
            Kind::Outlined(outline) => outline.finish(ends, room),
            _ => Selection::default(),
        };
        match (selection.pieces.is_empty(), is_settled) {
            (false, _) => selection,
            // `smart` has not seen the end of the text.
            (true, true) => BothEnds(auto.split).choose_at_least_something(ends, room).into(),
            (true, false) => smart.finish(ends, room),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a text of this kind is described.
    fn description(mut kind: Kind, text: &str) -> String {
        kind.observe(Segment::verbatim(text.as_bytes(), 0));
        match kind {
            Kind::Undecided | Kind::Log => "log".to_owned(),
            Kind::Json(..) => "JSON".to_owned(),
            Kind::Outlined(outline) => outline.remark(),
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let auto = Auto { split: Split { head: 1, tail: 2 } };
        let text = &text[..text.floor_char_boundary(OPENING_BYTES)];
        let found = description(Kind::of(text.as_bytes(), auto, 9500), text);
        assert!(found.starts_with(expected), "{found}, not {expected}: {}", &text[..text.len().min(80)]);
    }

    #[test]
    fn kinds_of_text_are_recognised() {
        check(include_str!("auto.rs"), "source");
        check(include_str!("../truncator.rs"), "source");
        check("{\"a\": [1, 2]}", "JSON");
        check("[\n  {\"a\": 1}\n]", "JSON");
        check(&format!("{{\"a\": \"{}\"}}\n", "b".repeat(900)).repeat(9), "JSON");
        check("", "log");
        check(&"web_1  | GET /index 200\n".repeat(50), "log");
        check(&"src/a.c:12:static int error(void)\nsrc/b.c:3:int b;\n".repeat(50), "100 matches in 2 files");
        check(
            &"src/a.rs\n12:fn a() {\n14-}\n\nsrc/b.rs\n1:fn b() {}\n\n".repeat(20),
            "40 matches in 2 files",
        );
        check(&format!("NAME   READY  STATUS\n{}", "pod-1  1/1    Running\n".repeat(30)), "table of 30 rows");
        check(
            &format!("Package Version\n------- -------\n{}", "a-b     1.0\n".repeat(30)),
            "table of 30 rows",
        );
        check(
            &format!("total 12\n{}", "-rw-r--r-- 1 a b 12 Jan 1 00:00 name\n".repeat(30)),
            "listing of 30 entries",
        );
        check(&format!("| a | b |\n|---|---|\n{}", "| 1 | 2 |\n".repeat(30)), "table of 30 rows");
        check(
            &"commit 0123456789abcdef\nAuthor: A\nDate:   today\n\n    subject\n\n".repeat(9),
            "history of 9 commits",
        );
        check(&format!("it@1.0.0 /it\n{}", "├─┬ a@1.0.0\n│ └── b@1.0.0\n".repeat(20)), "tree of 40 entries");
        check(&format!(".:\na\nb\n\n{}", "./a:\nc\nd\n\n".repeat(20)), "listing of 21 directories, 42 names");
        let hunk =
            "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn\n a\n-b\n+c\n";
        check(&hunk.repeat(9), "diff of 9 files: 9 hunks, +9 -9 lines");
        let commit = "commit 0123456789abcdef\nAuthor: A\n\n    subject\n\n";
        check(&format!("{commit}{hunk}").repeat(9), "diff of 9 files in 9 commits: 9 hunks");
        check(&format!("{}{commit}", hunk.repeat(90)), "diff of 90 files and 1 commit: 90 hunks");
    }

    #[test]
    fn rows_entries_and_matches_are_counted_exactly() {
        let long = "-rw-r--r-- 1 a b 12 Jan 1 00:00 a name\n".repeat(4);
        check(
            &format!("x:\ntotal 12\n{long}\n{}", format!("x/a b:\ntotal 9\n{long}\n").repeat(20)),
            "listing of 21 directories, 84 names",
        );
        let odd = "/usr/share/man/Foo::Bar.3pm.gz\n/usr/share/a name/b c\n";
        check(&format!("/usr\n{odd}{}", "/usr/share/a/b.c\n".repeat(97)), "list of 100 paths");
        check(&format!(".\n{}", "./a/b.c\n".repeat(97)), "list of 98 paths");
        let denied = "find: '/usr/x': Permission denied\n";
        check(&format!("/usr\n{denied}{}", "/usr/share/a/b.c\n".repeat(97)), "list of paths");
        check(
            &format!("{} 30 files changed, 60 insertions(+)\n", " src/a.rs | 2 ++\n".repeat(30)),
            "table of 30 rows",
        );
        check(&format!(" a | b\n---+---\n{}(30 rows)\n", " 1 | 2\n".repeat(30)), "table of 30 rows");
        check(
            &format!("+---+---+\n| a | b |\n+---+---+\n{}+---+---+\n", "| 1 | 2 |\n".repeat(30)),
            "table of 30 rows",
        );
        let hits = "src/a.rs:12:let a = 1;\n".repeat(30);
        check(
            &format!("{hits}grep: src/b.bin: binary file matches\n"),
            "at least 30 matches in at least 1 file",
        );
    }

    #[test]
    fn tables_of_other_styles_are_recognised() {
        let rows = "tmpfs                    24684100        0  24684100   0% /dev/shm\n".repeat(20);
        check(
            &format!("Filesystem              1K-blocks     Used Available Use% Mounted on\n{rows}"),
            "table of 20 rows",
        );
        check(
            &format!("id,name,\"a note\"\n{}", "1,one,\"a, \"\"b\"\"\nc\"\n".repeat(20)),
            "table of 20 rows",
        );
        check(&format!("id\tname\tnote\n{}", "1\tone\t\n".repeat(20)), "table of 20 rows");
        let legend = "Desired=Unknown/Install\n| Status=Not/Inst\n|/ Err?=(none)\n";
        let heading =
            "||/ Name    Version Architecture Description\n+++-=======-=======-============-===========\n";
        let row = "ii  adduser 3.118   all          add and remove users\n";
        check(&format!("{legend}{heading}{}", row.repeat(20)), "table of 20 rows");
        check(&format!("{legend}{heading}{}short\n", row.repeat(40)), "table of at least 40 rows");
    }

    #[test]
    fn histories_of_one_line_each() {
        let name =
            |number: u64| format!("{:07x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 36 | 0x100_0000);
        let log =
            |with: &dyn Fn(String) -> String| (1..30).map(|number| with(name(number))).collect::<String>();
        check(&log(&|name| format!("{name} topic: what changed\n")), "history of 29 commits");
        check(&log(&|name| format!("* {name} topic\n| * {name}1 more\n|/\n")), "history of 58 commits");
        check(&log(&|name| format!("{name} topic\nsrc/a.rs\nMakefile\n")), "history of 29 commits");
        check(&log(&|name| format!("{name} topic\nM\tsrc/a.rs\n")), "history of 29 commits");
        check(
            &log(&|name| format!("* commit {name}\n| Author: A\n|\n|     topic\n|\n")),
            "history of 29 commits",
        );
        check(&log(&|name| format!("{name} (A 2026) a line\n{name} (A 2026) another\n")), "log");
        check(&log(&|name| format!("{name} HEAD@{{1}}: commit: topic\n")), "log");
        check(&(0..900).map(|at| format!("{:07x} 1234 abcd\n", at * 16)).collect::<String>(), "log");
        check(&(0..900).map(|at| format!("{} it goes on\n", 1_700_000_000 + at)).collect::<String>(), "log");
    }

    #[test]
    fn search_hits_with_error_words_are_not_diagnostics() {
        check(
            &"lib/a.py:12:    error = None\nlib/b.py:3:errors: list\n".repeat(50),
            "100 matches in 2 files",
        );
        check(&"lib/a.py-11-x = 1\nlib/a.py:12:    error = None\n--\n".repeat(50), "50 matches in 1 file");
    }

    #[test]
    fn diff_of_directories_counts_one_sided_files() {
        let file = "diff -ru a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn\n a\n-b\n+c\n";
        let text =
            format!("{}Binary files a/y and b/y differ\n{}", "Only in a: z\n".repeat(30), file.repeat(9));
        check(&text, "diff of 10 files: 9 hunks, +9 -9 lines, 30 only on one side");
    }

    #[test]
    fn source_with_more_documentation_than_code_is_source() {
        let function = |name: u32| {
            let documentation =
                "    The address is resolved once, and the answer is kept for later calls.\n".repeat(6);
            format!(
                "def find_{name}(address):\n    \"\"\"Finds a host.\n\n{documentation}\n    Raises:\n      \
                 ValueError: if the address is empty\n      OSError: connection refused\n    \"\"\"\n    \
                 # The assertion failed: 3 is not 4\n    host = lookup(address)\n    return host\n\n"
            )
        };
        check(&(0..30).map(function).collect::<String>(), "source with 30 definitions");
        let constant = |number: u32| format!("#define STATE_{number} {number}  /* the state */\n");
        check(&(0..90).map(constant).collect::<String>(), "source with 90 definitions");
        let module = "package Host;\nsub find {\n    return 1;\n}\n".repeat(9);
        let documentation = "=item find\n\nerror: unknown host if it has none.\n\n".repeat(20);
        check(&format!("{module}=head1 NAME\n\n{documentation}=cut\n1;\n"), "source with 9 definitions");
    }

    #[test]
    fn lists_with_long_items_are_prose() {
        let release = |number: u32| {
            let item = "- **client**: Retries on reset\n  connections\n  ([#12], [#13])\n- Update `tower`\n  to 0.5\n";
            format!("## 0.{number}.0 (2026-11-18)\n\n### Fixed\n\n{}\n", item.repeat(3))
        };
        check(&(0..30).map(release).collect::<String>(), "text with 60 headings");
        let note = " * The command \"fetch\" has learned to read what is in the cache,\n   in order of age.\n\n\
                    bpo-45495: The context keywords are added to a file if they are new.\n\n";
        check(&format!("Notes on the release\n\n{}", note.repeat(30)), "text");
    }

    #[test]
    fn messages_with_the_same_first_word_are_no_configuration() {
        let names = (0..300).map(|at| format!("  inflating: tests/case_{at}.js\n")).collect::<String>();
        check(&format!("Archive:  tests.zip\n{names}"), "log");
    }

    #[test]
    fn source_followed_by_a_build_log_is_no_source() {
        let source = include_str!("../truncator.rs").repeat(4);
        let warning = |at: u32| {
            format!(
                "f{at}.c: In function 'f{at}':\nf{at}.c:1:2: warning: unused\n  1 | int a;\n    |     ^\n    |     |\n"
            )
        };
        let log: String = (0..300).map(warning).collect();
        let auto = Auto { split: Split { head: 1, tail: 2 } };
        let mut kind = Kind::of(source.as_bytes(), auto, 9500);
        kind.observe(Segment::verbatim(source.as_bytes(), 0));
        let Kind::Outlined(outline) = &mut kind else { panic!("the text begins with source code") };
        assert!(outline.is_match());
        kind.observe(Segment::verbatim(log.as_bytes(), source.len() as u64));
        assert!(matches!(kind, Kind::Log));
    }

    #[test]
    fn outputs_of_several_commands_are_divided() {
        let source = "fn name() -> u64 {\n    let value = compute(12);\n    value + 1\n}\n\n".repeat(13);
        let hits = "src/a.rs:12:    let total = count(a);\nsrc/b.rs:3:fn count() {}\n".repeat(10);
        let history: String = (0..15)
            .map(|number: u64| {
                format!("{:07x} topic: what changed\n", number.wrapping_mul(0x9E37_79B9) | 0xA00_0000)
            })
            .collect();
        let diff =
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn\n a();\n-    old(b);\n+    new(c);\n"
                .repeat(9);
        let page = include_str!("../../../../docs/mcp.md");
        let status = "On branch main\nnothing to commit, working tree clean\n";
        for (text, expected) in [
            (
                format!("{source}{hits}{history}"),
                "3 parts: source with 13 definitions, 20 matches in 2 files, history of 15 commits",
            ),
            (format!("{hits}{source}"), "2 parts: 20 matches in 2 files, source with 13 definitions"),
            (
                format!("$ find .\n.\n{}$ rg count\n{hits}", "./src/a.rs\n./src/b/c.rs\n".repeat(20)),
                "2 parts: list of 41 paths, 20 matches in 2 files",
            ),
            (
                format!("{status}{diff}{hits}"),
                "3 parts: 2 other lines, diff of 9 files: 9 hunks, +9 -9 lines, 20 matches in 2 files",
            ),
            (
                format!("=== a ===\n{source}=== b ===\n{page}"),
                "2 parts: source with 13 definitions, text with",
            ),
            (
                format!("==> a.rs <==\n{source}\n==> b.md <==\n{page}"),
                "2 parts: source with 13 definitions, text with",
            ),
            (
                format!("$ cat a.rs\n{source}$ rg count\n{hits}$ git status\n{status}"),
                "3 parts: source with 13 definitions, 20 matches in 2 files, 2 other lines",
            ),
            (
                format!("{diff}---\n{source}---\n{hits}---\n{history}---\n{status}"),
                "6 parts: diff of 9 files: 9 hunks, +9 -9 lines, source with",
            ),
        ] {
            check(&text, expected);
        }
    }

    #[test]
    fn separators_within_one_text_are_no_seams() {
        let page = include_str!("../../../../docs/mcp.md");
        check(&page.replace("\n## ", "\n---\n\n### "), "text with");
        check(&format!("{page}\n$ offcut ls\n\n$ offcut show\n\n{page}"), "text with");
        let source = include_str!("names.rs");
        check(&format!("{source}\n### other ###\n{source}"), "source with");
        check(&format!("=== a ===\n{source}=== b ===\n{source}"), "source with");
        let failure = "def test_total():\n>       assert total([1, 2]) == 4\nE       assert 3 == 4\n\ntests/test_a.py:12: AssertionError\n";
        check(
            &format!(
                "=========== FAILURES ===========\n{}=========== 9 failed in 0.12s ===========\n",
                failure.repeat(9)
            ),
            "log",
        );
        let diff =
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn\n a();\n-    old(b);\n+    new(c);\n"
                .repeat(9);
        check(&diff, "diff of 9 files");
        // `smart` finds the failures.
        check(&format!("=== diff ===\n{diff}=== tests ===\n{}", failure.repeat(9)), "log");
        let steps = "Step 12 of 20 is done\n".repeat(40);
        check(&format!("=== build ===\n{steps}=== test ===\n{steps}"), "log");
    }

    #[test]
    fn help_and_shell_scripts_are_recognised() {
        let option = |at: u32| {
            format!("      --option{at} <VALUE>\n          Stop if the command failed {at} times\n\n")
        };
        let help: String = (0..20).map(option).collect();
        check(&format!("Usage: tool [OPTIONS]\n\nOptions:\n{help}"), "text");
        let part = "install() {\n    if [ ! -e \"$1\" ]; then\n        echo 'FAILED: no file'\n        failed=1\n    fi\n}\n";
        check(&format!("#!/bin/sh\nset -e\n{}", part.repeat(10)), "source with 10 definitions");
    }

    #[test]
    fn data_is_not_source_code() {
        check(&format!("// numbers\n[\n{}0]\n", "  // one\n  1,\n".repeat(90)), "log");
    }

    #[test]
    fn logs_are_recognised_as_logs() {
        check("[INFO] Scanning for projects...\n", "log");
        check(
            &format!("Starting  the build\n{}", "Compiled  one 12\nLinked    two of them\n".repeat(50)),
            "log",
        );
        check(&"INFO  main  step 12 is done\n".repeat(50), "log");
        check(&"src/a.c:1:5: error: expected ';'\n    1 | int a\n      |      ^\n".repeat(50), "log");
        check(&"src/a.py:12:80: E501 line too long (90 > 79 characters)\n".repeat(50), "log");
        check(&"src/a.py:12: error: Incompatible types\n".repeat(50), "log");
        check(&"Foo.java:12: warning: [deprecation] bar\n".repeat(50), "log");
        check(&"test parser::case_one ... ok\n".repeat(100), "log");
        check(&"    at com.a.B.call(B.java:12)\n".repeat(100), "log");
        check(&"12:00:01 INFO it goes on\n".repeat(100), "log");
        check(&"2026-01-01T12:00:01.123 it goes on\n".repeat(100), "log");
        check(&"{\"level\": \"info\", \"message\": \"it goes on\"}\n".repeat(100), "log");
        check(&format!("RUN ALL TESTS\n{}", "step 12 went well and took 3 s\n".repeat(99)), "log");
        check(&format!("A title\n-------\n{}", "some words of a text\n".repeat(99)), "log");
        check(&"seventy\n".repeat(100), "log");
        check(&(0..500).map(|number| format!("{number}\n")).collect::<String>(), "log");
    }
}
