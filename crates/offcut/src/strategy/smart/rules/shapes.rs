//! Headings of sections: the files and hunks of a diff.

use super::{Group, Role, Rule};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "diff-file",
        group: Group::Shapes,
        role: Role::Heading,
        keywords: &["diff --git", "diff -", "--- a/", "+++ b/"],
        pattern: r"^diff -|^(---|\+\+\+) [ab]/",
        hit: "diff --git a/src/error.rs b/src/error.rs",
        miss: "a diff --git of it",
    },
    Rule {
        name: "diff-hunk",
        group: Group::Shapes,
        role: Role::Heading,
        keywords: &["@@ -"],
        pattern: r"^@@ -\d+(,\d+)? \+\d+(,\d+)? @@",
        hit: "@@ -1,7 +1,9 @@ fn error() {",
        miss: "@@ -x @@",
    },
    Rule {
        name: "diff-line",
        group: Group::Shapes,
        role: Role::Harmless,
        keywords: &["+", "-"],
        pattern: r"^[+-]\s*(//|\*|#|\w+ ?[=(.]|(pub|fn|let|const|return|if|throw|raise|def|class|import|use)\b)",
        hit: "+    return Error: failed",
        miss: "- nothing provides foo",
    },
];
