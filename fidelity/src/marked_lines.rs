//! Finds which marked lines of a log a preview shows.

use crate::labels::{Alternative, Log};
use std::collections::HashSet;

/// The facts that the preview does not show. Lines are compared by text, and count only if all of them is in the preview.
pub(crate) fn missed(log: &Log, preview: &[u8]) -> Vec<usize> {
    let shown: HashSet<Vec<u8>> = preview.split(|&byte| byte == b'\n').map(plain).collect();
    let lines: Vec<&[u8]> = log.text.split(|&byte| byte == b'\n').collect();
    let is_shown = |number: &usize| {
        number
            .checked_sub(1)
            .and_then(|index| lines.get(index))
            .is_some_and(|line| shown.contains(&plain(line)))
    };
    let survives = |alternative: &Alternative| alternative.lines.iter().all(is_shown);
    let facts = log.labels.facts.iter().enumerate();
    facts.filter(|(_, fact)| !fact.alternatives.iter().any(survives)).map(|(index, _)| index).collect()
}

/// The text of a line without control sequences, carriage returns and white space at its ends.
pub(crate) fn plain(line: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            0x1B => rest = skip_control_sequence(after),
            0..0x20 if byte != b'\t' => {}
            _ => text.push(byte),
        }
    }
    text.trim_ascii().to_vec()
}

fn skip_control_sequence(text: &[u8]) -> &[u8] {
    match text.split_first() {
        Some((b'[', rest)) => {
            let end =
                rest.iter().position(|byte| (0x40..=0x7E).contains(byte)).map_or(rest.len(), |at| at + 1);
            &rest[end..]
        }
        Some((b']', rest)) => {
            let end = rest.iter().position(|&byte| byte == 0x07).map_or(0, |at| at + 1);
            &rest[end..]
        }
        Some((_, rest)) => rest,
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::{Fact, Labels};

    #[track_caller]
    fn check(text: &str, preview: &str, alternatives: &[&[usize]], survives: bool) {
        let alternatives = alternatives.iter().map(|lines| Alternative { lines: lines.to_vec() }).collect();
        let labels = Labels {
            corpus: "test".to_owned(),
            file: "test".to_owned(),
            facts: vec![Fact { name: "fact".to_owned(), alternatives }],
        };
        let log = Log { labels, text: text.as_bytes().to_vec() };
        assert_eq!(missed(&log, preview.as_bytes()).is_empty(), survives, "{text:?} {preview:?}");
    }

    #[test]
    fn fact_is_shown_if_all_lines_of_an_alternative_are() {
        let text = "one\ntwo words\n\x1B[31mthree\x1B[0m\r\n";
        check(text, "one\n", &[&[1]], true);
        check(text, "one\n", &[&[1, 2]], false);
        check(text, "one\n", &[&[2], &[1]], true);
        check(text, "two\n", &[&[2]], false);
        check(text, "three\n", &[&[3]], true);
        check(text, "one\n", &[&[9]], false);
    }
}
