//! `docs/documents.md` has a row for every section of the five documents, and every row names tests that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const SECTIONS: &str = include_str!("../fixtures/document-sections.txt");

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Document → section → the tests that its row names.
fn index() -> BTreeMap<String, BTreeMap<String, Vec<String>>> {
    let text = fs::read_to_string(workspace().join("docs/documents.md")).unwrap();
    let mut index = BTreeMap::new();
    for document in text.split("\n## ").skip(1) {
        let rows = document.lines().filter(|line| line.starts_with("| ")).skip(1);
        let sections = rows.map(|row| {
            // The row begins with a bar.
            let cells: Vec<&str> = row.split('|').skip(1).map(str::trim).collect();
            assert_eq!(cells.len(), 7, "{row}");
            let tests = cells[4].split('`').skip(1).step_by(2).map(str::to_owned).collect();
            (cells[0].to_owned(), tests)
        });
        index.insert(document[..3].to_owned(), sections.collect());
    }
    index
}

/// The names of all tests of the crates.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut directories = vec![workspace().join("crates")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(path).unwrap();
                let marked = text.split("#[test]").skip(1).chain(text.split("#[tokio::test").skip(1));
                let name = |rest: &str| Some(rest.split_once("fn ")?.1.split_once('(')?.0.to_owned());
                names.extend(marked.filter_map(name));
            }
        }
    }
    names
}

#[test]
fn every_section_has_a_row() {
    let index = index();
    let listed: BTreeSet<(&str, &str)> = SECTIONS
        .lines()
        .filter(|line| !line.starts_with(['#', '~']))
        .map(|line| line.split_once(' ').unwrap())
        .collect();
    assert_eq!(listed.iter().map(|(document, _)| document).collect::<BTreeSet<_>>().len(), 5);
    let rows: BTreeSet<(&str, &str)> = index
        .iter()
        .flat_map(|(document, rows)| rows.keys().map(move |section| (document.as_str(), section.as_str())))
        .collect();
    assert_eq!(rows.symmetric_difference(&listed).collect::<Vec<_>>(), Vec::<&(&str, &str)>::new());
}

#[test]
fn every_row_names_tests_that_exist() {
    let existing = tests();
    for (document, rows) in index() {
        for (section, tests) in rows {
            assert!(!tests.is_empty(), "{document} {section}: no test");
            let missing: Vec<&String> = tests.iter().filter(|test| !existing.contains(*test)).collect();
            assert!(missing.is_empty(), "{document} {section}: no such test: {missing:?}");
        }
    }
}
