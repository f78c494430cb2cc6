//! The public API as a list, so that every change of it is visible in a review.
//!
//! The list is made from the sources: public items, fields and methods, variants of public enums and methods of public
//! traits, as rustfmt writes them. It does not resolve names: an item of a private module is listed even if no `pub use`
//! exports it.

#![expect(clippy::unwrap_used, reason = "a failed expectation of a test is a panic")]

use std::fs;
use std::path::{Path, PathBuf};

const UPDATE: &str = "OFFCUT_UPDATE_API=1 cargo test -p offcut --test public_api";

#[test]
fn public_api_is_the_checked_in_list() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = package.join("tests/public-api.txt");
    let mut items = Vec::new();
    for file in sources(&package.join("src")) {
        let name = file.strip_prefix(package.join("src")).unwrap().display().to_string();
        let text = fs::read_to_string(&file).unwrap();
        items.extend(public_items(&text).into_iter().map(|item| format!("{name}: {item}")));
    }
    items.sort();
    let found = items.join("\n") + "\n";
    if std::env::var_os("OFFCUT_UPDATE_API").is_some() {
        fs::write(&list, found).unwrap();
        return;
    }
    let listed = fs::read_to_string(&list).unwrap();
    let only_in = |one: &str, other: &str, sign: char| -> String {
        let known: Vec<&str> = other.lines().collect();
        one.lines().filter(|line| !known.contains(line)).map(|line| format!("{sign} {line}\n")).collect()
    };
    let difference = only_in(&listed, &found, '-') + &only_in(&found, &listed, '+');
    assert!(
        found == listed,
        "the public API is not the one in tests/public-api.txt:\n{difference}\nif that is intended, run: {UPDATE}"
    );
}

#[test]
fn items_fields_variants_and_methods_are_listed_and_private_ones_are_not() {
    let source = "pub struct A {\n    pub field: u8,\n    hidden: u8,\n}\n\nimpl A {\n    pub fn long(\n        \
                  self,\n        other: u8,\n    ) -> u8 {\n        0\n    }\n\n    pub(crate) fn inner() {}\n}\n\n\
                  pub enum E {\n    /// Documented.\n    One,\n    Two { inner: u8 },\n}\n\nenum Hidden {\n    Three,\n}\n\n\
                  pub trait T: Send {\n    fn method(&self);\n}\n\npub use a::{b, c};\n";
    let expected = [
        "A: pub field: u8",
        "A: pub fn long(self, other: u8) -> u8",
        "E: One",
        "E: Two",
        "T: fn method(&self)",
        "pub enum E",
        "pub struct A",
        "pub trait T: Send",
        "pub use a::{b, c}",
    ];
    let mut items = public_items(source);
    items.sort();
    assert_eq!(items, expected);
}

/// The Rust files under a directory.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// The public items of a file that rustfmt has formatted.
fn public_items(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    // The block of column 0 that contains the line, and its type.
    let mut block = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let body = line.trim_start();
        let is_top = line.len() == body.len();
        if is_top && line.ends_with('{') {
            block = line.trim_end_matches(" {").to_owned();
        } else if is_top && line.starts_with('}') {
            block.clear();
        }
        let is_member = line.len() - body.len() == 4;
        let is_variant = is_member
            && block.starts_with("pub enum ")
            && body.starts_with(|first: char| first.is_ascii_uppercase());
        let is_method = is_member && block.starts_with("pub trait ") && body.starts_with("fn ");
        if is_variant {
            let name: String = body.chars().take_while(|next| next.is_alphanumeric()).collect();
            items.push(format!("{}: {name}", owner(&block)));
        } else if body.starts_with("pub ") || is_method {
            let mut item = body.to_owned();
            while !item.ends_with(['{', ';', ',', '}']) || has_open_bracket(&item) {
                let Some(next) = lines.next() else { break };
                let next = next.trim();
                let is_tight = item.ends_with(['(', '<', '[', '{']) || next.starts_with([')', '>', ']', '}']);
                item += if is_tight { "" } else { " " };
                item += next;
            }
            let item = item.split(" = ").next().filter(|_| item.starts_with("pub const")).unwrap_or(&item);
            let item =
                item.trim_end_matches("{}").trim_end_matches(['{', ';', ',']).trim_end().replace(",)", ")");
            let owner = if is_top { String::new() } else { format!("{}: ", owner(&block)) };
            items.push(owner + &item);
        }
    }
    items
}

/// Whether an item goes on in the next line.
fn has_open_bracket(item: &str) -> bool {
    let count = |bracket: char| item.matches(bracket).count();
    count('(') > count(')') || item.starts_with("pub use") && count('{') > count('}')
}

/// The type that a block belongs to: `A<T>` of `impl<T> Trait for A<T>`.
fn owner(block: &str) -> &str {
    let words = block.split(" where").next().unwrap_or_default();
    let last = words.rsplit(" for ").next().unwrap_or_default();
    let name = last.trim_start_matches("pub ");
    let start = name.find(' ').map_or(0, |space| space + 1);
    name[start..].split([' ', ':']).next().unwrap_or_default()
}
