use super::*;
use proptest::prelude::*;

/// Renders `chunks`. Returns the text, and the range of each rendered segment.
fn show(chunks: &[&[u8]]) -> (Vec<u8>, Vec<(u64, u64)>) {
    let (mut text, mut rendered, mut at) = (Vec::new(), Vec::new(), 0);
    let mut each = |segment: Segment<'_>| {
        assert_eq!(segment.start, at, "segments leave no gap");
        assert!(segment.end > segment.start);
        at = segment.end;
        text.extend_from_slice(segment.text);
        match segment.form {
            PieceKind::Verbatim => assert_eq!(segment.text.len() as u64, segment.end - segment.start),
            _ => rendered.push((segment.start, segment.end)),
        }
    };
    let mut screen = Screen::new();
    chunks.iter().for_each(|chunk| screen.observe(chunk, &mut each));
    screen.finish(&mut each);
    assert_eq!(at, chunks.iter().map(|chunk| chunk.len() as u64).sum::<u64>());
    (text, rendered)
}

/// Checks what a terminal shows of a text, whole and divided at every byte.
#[track_caller]
fn check(raw: &str, expected: &str) {
    let raw = raw.as_bytes();
    let whole = show(&[raw]);
    assert_eq!(String::from_utf8_lossy(&whole.0), expected, "{}", raw.escape_ascii());
    for at in 0..=raw.len() {
        assert_eq!(show(&[&raw[..at], &raw[at..]]), whole, "split at {at}");
    }
    let bytes: Vec<&[u8]> = raw.chunks(1).collect();
    assert_eq!(show(&bytes), whole);
}

#[test]
fn printable_text_is_one_line_of_limited_length() {
    assert_eq!(printable("tool 漢字", 20), "tool 漢字");
    assert_eq!(printable("a\nb\r\n\x1b[2Jc\0\u{202E}d", 20), "a b  ?[2Jc??d");
    assert_eq!(printable("a\u{61C}b\u{2067}c", 20), "a?b?c", "marks that change the direction of the text");
    assert_eq!(printable("1234567890", 10), "1234567890");
    assert_eq!(printable("12345678901", 10), "123456789…");
    assert_eq!(printable("abc", 0), "…");
}

#[test]
fn plain_text_passes_unchanged() {
    for text in
        ["", "a", "a\nb\n", "\n\n", "a\tb\n", "crlf\r\nlines\r\n\r\n", "漢字🙂\né", "no feed\r\nat the end"]
    {
        check(text, text);
        assert!(show(&[text.as_bytes()]).1.is_empty(), "nothing of {text:?} is rendered");
    }
    let (text, rendered) = show(&[b"\xFF\xFE plain \xE2\x82\n"]);
    assert_eq!(
        (text, rendered),
        (b"\xFF\xFE plain \xE2\x82\n".to_vec(), vec![]),
        "invalid UTF-8 passes, too"
    );
}

#[test]
fn carriage_return_overwrites_the_line() {
    check("\rprogress 1%\rprogress 2%\rprogress 3%\ndone\n", "progress 3%\ndone\n");
    check("downloading\rdone", "doneloading");
    check("downloading\rdone\x1b[K", "done");
    check("\x1b[31mold\x1b[0m\x1b[2K\rnew\n", "new\n");
    check("long line\rshort\x1b[K\nfinal", "short\nfinal");
    check("50%\r100%\r\nnext\n", "100%\nnext\n");
    check("left\r", "left");
    check("doubled\r\r\nnext\r\r\n", "doubled\nnext\n");
    check("漢字\rab漢", "ab漢");
}

#[test]
fn cursor_movements_and_erasing_apply_to_the_line() {
    check("abc\x08X\x1b[2D!\n", "a!X\n");
    check("\x08\x08a\x08\x08b\n", "b\n");
    check("abc\x1b[2Kx\n", "   x\n");
    check("abcdef\x1b[3D\x1b[1Kx\n", "   xef\n");
    check("abc\x1b[1K\rx\n", "x\n");
    check("abc\r\x1b[Jx\n", "x\n");
    check("abc\x1b[2G-\x1b[G+\x1b[3C!\n", "+-c !\n");
    check("a\x1b[3Cb\n", "a   b\n");
    check("abc\x1b[99D-\n", "-bc\n");
    check("a\x1b[99999999999Cb\n", &format!("a{}b\n", " ".repeat(255)));
    check("abc\r\x1b[?2Kx\x1b[2 Ky\n", "xyc\n");
}

#[test]
fn other_sequences_are_removed() {
    check("\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mrgb\x1b[m\n", "red rgb\n");
    check("before\x1b]52;c;secret\x07after\x1bPignored\x1b\\done", "beforeafterdone");
    check("\x1b_application\x1b\\a\x1b^private\x1b\\b\x1bXstart\x1b\\c\n", "abc\n");
    check("\x1b]8;;http://example.com/✓\x1b\\link\x1b]8;;\x1b\\\n", "link\n");
    check("\x1b[?25la\x1b[2A\x1b[5;5Hb\x1b(Bc\x1b7\x1b8\x1b=\n", "abc\n");
    check("a\x07b\0c\x0Bd\x0Ce\x7Ff\u{9b}g\n", "abcdefg\n");
    check("a\x1b[12\x18b\n", "ab\n");
    check("a\x1b[3\r1mb\n", "b\n");
    check("end\n\x1b[0m", "end\n");
    check("\x1b", "");
}

#[test]
fn line_feed_ends_unfinished_sequences() {
    check("a\x1b]0;never ended\nb\n\x1bPnor this\nc\x1b[\nd\n", "a\nb\n\nc\nd\n");
}

#[test]
fn line_with_control_characters_is_one_segment() {
    let (_, rendered) = show(&[b"plain\n\x1b[1mbold\x1b[m\nplain\r\na\rb\nend\x1b[0m"]);
    assert_eq!(rendered, [(6, 18), (25, 29), (29, 36)]);
    let (text, rendered) = show(&[b"\x1b[1m\xFFb\xE2\x82c\xF0\x9F\x1b[m\n"]);
    assert_eq!((&text[..], rendered.len()), (&b"\xFFb\xE2\x82c\xF0\x9F\n"[..], 1), "invalid UTF-8 stays");
}

#[test]
fn lines_over_the_cell_limit_are_split() {
    for length in [MAX_CELLS - 1, MAX_CELLS, MAX_CELLS + 1] {
        let line = format!("{}\rX\x1b[31mY\n", "a".repeat(length));
        let line = line.as_bytes();
        let whole = show(&[line]);
        if length < MAX_CELLS {
            assert!(whole.0.starts_with(b"XYaa") && whole.0.len() == length + 1);
        } else {
            assert!(
                whole.0.starts_with(b"aaaa") && whole.0.ends_with(b"aXY\n"),
                "rendered from the control character on"
            );
            assert_eq!(whole.1, [(length as u64, line.len() as u64)]);
        }
        for at in [1, length - 1, length, length + 1, length + 2, length + 5, line.len() - 1] {
            assert_eq!(show(&[&line[..at], &line[at..]]), whole, "{length} split at {at}");
        }
    }
    let line = format!("\x1b[31m{}\rZ\n", "漢a".repeat(MAX_CELLS));
    let line = line.as_bytes();
    let (text, rendered) = show(&[line]);
    assert_eq!(rendered.len(), 3, "split at the cell limit");
    assert_eq!(text.len(), 4 * MAX_CELLS + 2, "nothing is lost");
    for size in [1, 3, 1000, 65_536, 100_000] {
        let chunks: Vec<&[u8]> = line.chunks(size).collect();
        assert_eq!(show(&chunks), (text.clone(), rendered.clone()));
    }
}

#[test]
fn any_number_of_frames_takes_the_memory_of_one_line() {
    let mut screen = Screen::new();
    let mut given = Vec::new();
    let mut each = |segment: Segment<'_>| given.push((segment.text.to_vec(), segment.start, segment.end));
    for frame in 0..100_000 {
        screen.observe(format!("\x1b[2K\rPROGRESS index={frame:05}").as_bytes(), &mut each);
    }
    screen.observe(b"\nFINAL\n", &mut each);
    screen.finish(&mut each);
    assert_eq!(
        given,
        [(b"PROGRESS index=99999\n".to_vec(), 0, 2_500_001), (b"FINAL\n".to_vec(), 2_500_001, 2_500_007)]
    );
    assert!(screen.line.capacity() < 1000, "{}", screen.line.capacity());
}

/// The work per byte is bounded, measured in cells instead of seconds.
#[test]
fn hostile_input_is_rendered_in_bounded_memory() {
    let hostile: [&[u8]; 9] =
        [b"\x1b", b"\r", b"\x08", b"\x1b[1K", b"\x1b[255Cx", b"\x1b[2Kx", b"\xE2", b"a\r", b"\x1b]0;x"];
    for unit in hostile {
        let text = [b"\x1b[m".to_vec(), b"y".repeat(60_000), unit.repeat(200_000 / unit.len())].concat();
        let mut screen = Screen::new();
        let mut shown = 0;
        screen.observe(&text, &mut |segment| shown += segment.text.len());
        screen.finish(&mut |segment| shown += segment.text.len());
        assert!(shown <= text.len() * 64, "{shown} for {}", unit.escape_ascii());
        assert!(screen.line.capacity() <= 4 * MAX_CELLS);
    }
}

/// A reference implementation of one line of a terminal, slow and simple.
fn reference(raw: &str) -> String {
    let mut cells: Vec<char> = Vec::new();
    let mut column = 0_usize;
    let mut rest = raw;
    while let Some(char) = rest.chars().next() {
        rest = &rest[char.len_utf8()..];
        match char {
            '\r' => column = 0,
            '\x08' => column = column.saturating_sub(1),
            '\x1b' => {
                let sequence: String = rest.chars().take_while(|char| !char.is_ascii_alphabetic()).collect();
                let Some(letter) = rest[sequence.len()..].chars().next() else { break };
                rest = &rest[sequence.len() + 1..];
                let number = sequence.trim_start_matches('[').parse::<usize>().ok();
                match letter {
                    'D' => column = column.saturating_sub(number.unwrap_or(1).max(1)),
                    'C' => column += number.unwrap_or(1).max(1),
                    'K' if number == Some(2) => cells.fill(' '),
                    'K' => cells.truncate(column),
                    _ => {}
                }
            }
            _ => {
                while cells.len() <= column {
                    cells.push(' ');
                }
                cells[column] = char;
                column += 1;
            }
        }
    }
    cells.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    /// Trailing spaces are ignored.
    #[test]
    fn lines_match_the_reference_terminal(
        lines in prop::collection::vec("(a|bc|漢|🙂| |\r|\x08|\x1b\\[[0-9]?[DC]|\x1b\\[2?K|\x1b\\[[0-9;]{0,4}m){0,20}", 1..6),
    ) {
        let raw = lines.join("\n");
        let (text, _) = show(&[raw.as_bytes()]);
        let text = String::from_utf8(text).unwrap();
        let seen: Vec<&str> = text.split('\n').map(|line| line.trim_end_matches([' ', '\r'])).collect();
        let expected: Vec<String> = lines.iter().map(|line| reference(line).trim_end().to_owned()).collect();
        prop_assert_eq!(seen, expected);
    }

    /// Nothing panics, chunks do not matter, no control character is shown, and the number of lines stays the same.
    #[test]
    fn random_bytes_are_rendered_the_same_in_any_chunks(
        parts in prop::collection::vec(prop_oneof![
            prop::collection::vec(any::<u8>(), 0..20),
            prop::collection::vec(prop::sample::select(b"\x1b[]PX_^\\0129;?KJDCGm\r\n\x08\x07\x18\xE2\x82\xACa".to_vec()), 0..40),
            Just("\x1b[31m漢字\x1b[0m\r\n".as_bytes().to_vec()),
        ], 0..12),
        mut places in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let raw = parts.concat();
        let whole = show(&[&raw]);
        let mut cuts: Vec<usize> = places.drain(..).map(|place| place.index(raw.len() + 1)).collect();
        cuts.extend([0, raw.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &raw[pair[0]..pair[1]]).collect();
        prop_assert_eq!(&show(&chunks), &whole);
        let (text, _) = whole;
        prop_assert_eq!(crate::measure::newlines(&text), crate::measure::newlines(&raw));
        let control = text.iter().enumerate().find(|&(place, &byte)| {
            scan::is_control(byte) && !(byte == b'\r' && text.get(place + 1) == Some(&b'\n'))
        });
        prop_assert_eq!(control, None);
    }
}
