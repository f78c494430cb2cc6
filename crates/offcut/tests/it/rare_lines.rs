//! Tests of the `smart` strategy: one line that matters among thousands of others is shown.

use crate::smart::shown;

#[test]
fn unusual_line_that_no_rule_matches_is_shown() {
    let numbers =
        |from: usize, to: usize| (from..=to).map(|number| format!("{number}\n")).collect::<String>();
    let text = format!("START\n{}MIDDLE_NEEDLE\n{}END\n", numbers(1, 50_000), numbers(50_001, 100_000));
    let shown = shown(&text, 8000);
    for line in ["START", "MIDDLE_NEEDLE", "END"] {
        assert!(shown.lines().any(|shown| shown == line), "{line} is not shown");
    }
}

/// More different lines than are matched against the rules.
#[test]
fn failure_among_tens_of_thousands_of_passed_tests_is_shown() {
    let word = |number: u64| -> String {
        let letters = (0..6).map(|at| number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (8 * at + 8) & 15);
        letters.map(|letter| char::from(b'a' + letter as u8)).collect()
    };
    for (passed, failed) in [
        ("ok # - @", "not ok # - @"),
        ("2026-11-18T12:00:00.000Z ok # - @", "2026-11-18T12:00:00.000Z not ok # - @"),
        ("tests/test_@.py::test_@ PASSED", "tests/test_@.py::test_@ FAILED"),
        ("--- PASS: Test@ (0.00s)", "--- FAIL: Test@ (0.00s)"),
        ("  ✓ @ of @", "  ✗ @ of @"),
    ] {
        let line = |pattern: &str, number: u64| {
            pattern.replace('#', &number.to_string()).replace('@', &word(number)) + "\n"
        };
        let lines = (0..30_000).map(|number| line(if number == 15_000 { failed } else { passed }, number));
        let shown = shown(&lines.collect::<String>(), 8000);
        assert!(shown.contains(&line(failed, 15_000)), "{failed} is not shown");
    }
}

#[test]
fn error_among_json_lines_with_different_messages_is_shown() {
    let words = ["alpha", "river", "stone", "cloud", "green", "table", "paper"];
    for error in
        ["\"level\":\"error\"", "\"severity\": \"ERROR\"", "\"level\":50", "\"log.level\":\"critical\""]
    {
        let line = |at: usize| match at {
            1500 => format!("{{\"ts\":{at},{error},\"msg\":\"the card was declined\"}}\n"),
            _ => {
                let word = |step: usize| words[at * step % 101 % words.len()];
                format!(
                    "{{\"ts\":{at},\"level\":\"info\",\"msg\":\"{} {} {}\"}}\n",
                    word(3),
                    word(7),
                    word(11)
                )
            }
        };
        let shown = shown(&(0..3000).map(line).collect::<String>(), 4000);
        assert!(shown.contains("the card was declined"), "{error} is not shown");
    }
}

#[test]
fn unusual_value_of_a_constant_number_is_shown() {
    for (ordinary, odd) in [
        ("job # finished with exit code 0", "job 5000 finished with exit code 1"),
        ("job # finished with exit code 0", "job 5000 finished with exit code 137"),
        ("GET /api/items/# 200 12ms", "GET /api/items/5000 503 12ms"),
        ("\"GET /x/# HTTP/1.1\" 200 512", "\"GET /x/5000 HTTP/1.1\" 500 512"),
        ("module #: 0 errors, 0 warnings", "module 5000: 3 errors, 0 warnings"),
        ("step # rc=0", "step 5000 rc=1"),
        ("status: 0 of #", "status: -11 of 5000"),
        ("ping #: 0% packet loss", "ping 5000: 100% packet loss"),
        ("balance #: 100", "balance 5000: -100"),
        ("call f(#) -> 0", "call f(5000) -> -1"),
        ("accept from 10.0.0.1 id #", "accept from 66.6.6.6 id 5000"),
        ("Zeit #: 3,50 ms", "Zeit 5000: 99117,20 ms"),
    ] {
        let lines = |from: usize, to: usize| {
            (from..to).map(|number| ordinary.replace('#', &number.to_string()) + "\n").collect::<String>()
        };
        let text = format!("{}{odd}\n{}", lines(0, 5000), lines(5001, 10_000));
        let shown = shown(&text, 8000);
        assert!(shown.lines().any(|line| line == odd), "{odd:?} is not shown:\n{shown}");
    }
}

/// The other lines are all new, have error words, or are very long.
#[test]
fn fatal_line_among_many_error_lines_is_shown() {
    let word = |number: u32| -> String {
        (0..6)
            .map(|at| char::from(b'a' + (number.wrapping_mul(2_654_435_761) >> (at * 5)) as u8 % 26))
            .collect()
    };
    let many = |range: std::ops::Range<u32>, line: &str| -> String {
        range.map(|number| line.replace("one", &word(number)).replace("two", &word(!number)) + "\n").collect()
    };
    for (lines, line) in [
        (50_000, "07:00:00 INFO [one] processed two: 0 errors"),
        (50_000, "WARN one: two failed, will retry"),
        (50_000, "test errors::one::fails_on_two ... ok"),
        (250, "ERROR one two failed for one"),
    ] {
        let text = format!(
            "{}FATAL: out of disk: shutting down\n{}",
            many(0..lines, line),
            many(lines..2 * lines, line)
        );
        assert!(shown(&text, 8000).contains("FATAL: out of disk"), "{line}");
    }
    let long = format!("a\n{}\nERROR: boom\n{}\n", "y".repeat(20_000), "z".repeat(20_000));
    assert!(shown(&long, 8000).contains("ERROR: boom\n"));
}

/// Lines 0 to 4999, of which line 3001 is another one.
fn with_other_line(line: impl Fn(u64) -> String, other: &str) -> String {
    (0..5000).map(|at| if at == 3001 { other.to_owned() } else { line(at) } + "\n").collect()
}

#[track_caller]
fn check_other_line_is_shown(line: impl Fn(u64) -> String, other: &str) {
    let text = with_other_line(line, other);
    for bytes in [4000, 8000, 50_000] {
        let shown = shown(&text, bytes);
        assert!(shown.lines().any(|line| line == other), "{other:?} is not shown:\n{shown}");
    }
}

/// A number that goes up and down.
fn varied(at: u64, from: u64, to: u64) -> u64 {
    from + at.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(24) % (to - from)
}

#[test]
fn only_server_error_of_an_access_log_is_shown() {
    let time = |at: u64| format!("13:{:02}:{:02}", at / 60 % 60, at % 60);
    let address = |at| format!("10.0.{}.{}", varied(at, 0, 255), varied(at + 1, 1, 254));
    let common = |at: u64, rest: &str| {
        format!("{} - - [10/Oct/2026:{} +0000] \"GET /a HTTP/1.1\" {rest}", address(at), time(at))
    };
    check_other_line_is_shown(|at| common(at, "200 512"), &common(3001, "503 512"));
    check_other_line_is_shown(|at| common(at, "200 512"), &common(3001, "200 99887766"));
    let combined =
        |at: u64, rest: &str| common(at, rest) + " \"https://x.com/\" \"Mozilla/5.0 (X11; Linux x86_64)\"";
    check_other_line_is_shown(
        |at| combined(at, &format!("200 {}", varied(at, 200, 9000))),
        &combined(3001, "503 312"),
    );
    let codes = [200, 200, 301, 304, 404, 200, 200];
    let mixed = |at: u64, code: u64| {
        let (path, size) = (varied(at, 1, 9999), varied(at, 200, 9000));
        let address = address(at);
        format!("{address} - - [10/Oct/2026:{} +0000] \"GET /items/{path} HTTP/1.1\" {code} {size}", time(at))
    };
    check_other_line_is_shown(|at| mixed(at, codes[varied(at, 0, 7) as usize]), &mixed(3001, 500));
    let iis = |at: u64, code: u64| {
        let (address, page, ms) = (address(at), varied(at, 1, 99), varied(at, 3, 90));
        format!(
            "2026-10-10 {} 10.0.0.1 GET /a/{page} - 443 - {address} Mozilla/5.0 {code} 0 0 {ms}",
            time(at)
        )
    };
    check_other_line_is_shown(|at| iis(at, 200), &iis(3001, 500));
    let haproxy = |at: u64, code: u64| {
        let (address, time, port, size) =
            (address(at), time(at), varied(at, 1000, 60000), varied(at, 100, 999));
        format!(
            "Oct 10 {time} lb haproxy[123]: {address}:{port} [10/Oct/2026:{time}.{size}] fe be/s1 0/0/1/{}/15 \
             {code} {size} - - ---- 1/1/0/0/0 0/0 \"GET / HTTP/1.1\"",
            varied(at, 2, 9)
        )
    };
    check_other_line_is_shown(|at| haproxy(at, 200), &haproxy(3001, 503));
    let balancer = |at: u64, code: u64| {
        let (address, time, ms) = (address(at), time(at), varied(at, 10, 99));
        format!(
            "http 2026-10-10T{time}.1234{ms}Z app/lb/50dc6c495c0c9188 {address}:2817 10.0.0.1:80 0.0{ms} 0.0{ms} \
             0.000 {code} {code} 34 366 \"GET http://www.example.com:80/ HTTP/1.1\" \"curl/7.46.0\" - -"
        )
    };
    check_other_line_is_shown(|at| balancer(at, 200), &balancer(3001, 502));
}

#[test]
fn rare_line_is_shown_whatever_its_level_is() {
    for (ordinary, other) in [
        (
            "INFO:     127.0.0.1:40000 - \"GET /items HTTP/1.1\" 200 OK",
            "INFO:     127.0.0.1:40000 - \"GET /items HTTP/1.1\" 500 Internal Server Error",
        ),
        ("INFO job # result ok", "INFO job 1200 result error"),
        ("DEBUG probe # passed", "DEBUG probe 1200 failed"),
        ("2026-10-10 INFO [pool-#] job # done", "2026-10-10 INFO [pool-7] job 1200 failed"),
        (
            "{\"level\":\"info\",\"job\":#,\"result\":\"ok\"}",
            "{\"level\":\"info\",\"job\":1200,\"result\":\"error\"}",
        ),
    ] {
        check_other_line_is_shown(|at| ordinary.replace('#', &at.to_string()), other);
    }
}
