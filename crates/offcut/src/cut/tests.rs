//! Tests of pieces and gaps.

use super::*;

fn piece(text: &str, start: usize, end: usize) -> Piece<'_> {
    let before = &text.as_bytes()[..start];
    Piece {
        start: start as u64,
        end: end as u64,
        line: 1 + measure::newlines(before),
        part: if before.is_empty() || before.ends_with(b"\n") {
            LinePosition::Start
        } else {
            LinePosition::Inside
        },
        form: PieceKind::Verbatim,
        text: Cow::Borrowed(&text.as_bytes()[start..end]),
    }
}

/// Shows these ranges and checks the gaps, written as `start..end lines why`.
#[track_caller]
fn check(text: &str, shown: &[(usize, usize)], expected: &[&str]) {
    let pieces = shown.iter().map(|&(start, end)| piece(text, start, end)).collect();
    let lines = measure::lines(text.as_bytes(), measure::LineConvention::Terminated);
    let cut = Cut::new(pieces, text.len() as u64, lines);
    assert_eq!(told(&cut), expected, "{text:?} {shown:?}");
}

fn told(cut: &Cut<'_>) -> Vec<String> {
    let tell = |gap: &Gap| {
        let Gap { start, end, first_line, last_line, why, .. } = gap;
        format!("{start}..{end} {first_line}-{last_line} {}", why.as_str())
    };
    cut.gaps.iter().map(tell).collect()
}

#[test]
fn gaps_between_pieces() {
    check("a\nb\nc\nd\n", &[(0, 2), (6, 8)], &["2..6 2-3 omitted"]);
    check("a\nb\nc\nd\n", &[(0, 1)], &["1..8 1-4 omitted"]);
    check("a\nb\nc", &[(4, 5)], &["0..4 1-2 omitted"]);
    check("a\nb\nc", &[(0, 4)], &["4..5 3-3 omitted"]);
    check("aaaaaaaaaa", &[(0, 2), (8, 10)], &["2..8 1-1 line"]);
    check("aaaaaaaaaa", &[(8, 10)], &["0..8 1-1 line"]);
    check("a\n", &[(0, 1)], &["1..2 1-1 line"]);
    check("a\nbbbb\n", &[(0, 4)], &["4..7 2-2 line"]);
}

/// The second of three lines as a terminal shows it: all of it, its beginning, its end, or both.
#[test]
fn drawn_lines() {
    let text = "one\n\rtwo\rTWO\nthree\n";
    let drawn = |form, shown: &'static str| Piece {
        form,
        part: if form == PieceKind::RenderedEnd { LinePosition::Inside } else { LinePosition::Start },
        text: Cow::Borrowed(shown.as_bytes()),
        ..piece(text, 4, 13)
    };
    let (before, after) = (piece(text, 0, 4), piece(text, 13, 19));
    let whole = drawn(PieceKind::Rendered, "TWO\n");
    let (start, end) = (drawn(PieceKind::RenderedStart, "T"), drawn(PieceKind::RenderedEnd, "O\n"));
    let check = |pieces: &[&Piece<'static>], shown: &str, expected: &[&str]| {
        let cut = Cut::new(pieces.iter().map(|&piece| piece.clone()).collect(), 19, 3);
        assert_eq!(String::from_utf8_lossy(&cut.text()), shown);
        assert_eq!(told(&cut), expected, "{pieces:?}");
    };
    check(&[&before, &whole, &after], "one\nTWO\nthree\n", &["4..13 2-2 control"]);
    check(&[&whole], "TWO\n", &["0..4 1-1 omitted", "4..13 2-2 control", "13..19 3-3 omitted"]);
    check(&[&before, &start, &after], "one\nTthree\n", &["4..13 2-2 line"]);
    check(&[&before, &start], "one\nT", &["4..19 2-3 omitted"]);
    check(&[&end, &after], "O\nthree\n", &["0..13 1-2 omitted"]);
    check(&[&before, &start, &end, &after], "one\nTO\nthree\n", &["4..13 2-2 line"]);
    check(&[&start, &whole, &end, &after], "TWO\nthree\n", &["0..4 1-1 omitted", "4..13 2-2 control"]);
    let wrong = Piece { form: PieceKind::Verbatim, ..whole.clone() };
    check(&[&before, &wrong, &after], "one\nTWO\nthree\n", &["4..13 2-2 control"]);
    let across = piece(text, 2, 19);
    check(&[&whole, &across], "e\n\rtwo\rTWO\nthree\n", &["0..2 1-1 line"]);
}

#[test]
fn gaps_inside_repeats() {
    let text = "a\nb\nb\nb\nb\nc\nlonger\n";
    let check = |shown: &[(usize, usize)], repeats: &[(u64, u64)], expected: &[&str]| {
        let ranges: Vec<Range<u64>> = repeats.iter().map(|&(start, end)| start..end).collect();
        let pieces = shown.iter().map(|&(start, end)| piece(text, start, end)).collect();
        let cut = Cut::new(pieces, text.len() as u64, 7).folded(&ranges);
        assert_eq!(told(&cut), expected, "{shown:?} {repeats:?}");
    };
    let shown = [(0, 4), (8, 19)];
    check(&shown, &[(2, 10)], &["4..8 3-4 repeated"]);
    check(&shown, &[(0, 2), (2, 8), (10, 12)], &["4..8 3-4 repeated"]);
    check(&shown, &[(6, 10)], &["4..8 3-4 omitted"]);
    check(&shown, &[(0, 6), (6, 12)], &["4..8 3-4 omitted"]);
    check(&[(0, 13)], &[(0, 19)], &["13..19 7-7 line"]);
}

#[test]
fn pieces_may_overlap_touch_and_stand_in_any_order() {
    check("0123456789", &[(8, 10), (0, 3), (2, 5), (5, 6), (1, 2)], &["6..8 1-1 line"]);
    check("0123456789", &[(0, 10)], &[]);
    check("0123456789", &[], &["0..10 1-1 omitted"]);
}
