//! Tests of the `smart` strategy: the lines that matter are shown, wherever they are.

use crate::common::{in_pieces, memory, native};
use offcut::strategy::StrategyName;
use offcut::{Context, Limits, Profile, Rule, Storage, Truncator};
use proptest::prelude::*;

fn smart(bytes: u64) -> Truncator {
    let limits = Limits { bytes: Some(bytes), lines: Some(2000), ..Limits::default() };
    native(Rule { strategy: Some(StrategyName::Smart), limits, ..Rule::default() }, memory())
}

pub(crate) fn shown(text: &str, bytes: u64) -> String {
    String::from_utf8_lossy(smart(bytes).apply(text.as_bytes(), &Context::default()).content()).into_owned()
}

#[test]
fn named_strategy_and_strategy_object_show_the_same() {
    let text: String = (0..400)
        .map(|at| {
            format!("test shop::case_{at} ... FAILED\nstep {at} of the shop {}\n", "goes on ".repeat(at % 7))
        })
        .collect();
    for bytes in [2000, 4000, 8000] {
        let limits = Limits { bytes: Some(bytes), ..Limits::default() };
        let rule = Rule { limits, ..Rule::default() };
        let own = native(rule, memory()).strategy(offcut::strategy::Smart::default());
        let named = smart(bytes).apply(text.as_bytes(), &Context::default()).content().to_vec();
        let given = own.apply(text.as_bytes(), &Context::default()).content().to_vec();
        assert_eq!(String::from_utf8_lossy(&given), String::from_utf8_lossy(&named));
    }
}

/// Ordinary lines that differ slightly.
fn ordinary(count: usize) -> String {
    (0..count)
        .map(|number| format!("12:00:{:02} INFO worker-{} did job {number}\n", number % 60, number % 7))
        .collect()
}

/// Puts `middle` between many ordinary lines and checks that all `expected` lines are shown.
#[track_caller]
fn check(middle: &str, expected: &[&str]) {
    check_within(4000, middle, expected);
}

#[track_caller]
fn check_within(bytes: u64, middle: &str, expected: &[&str]) {
    let text = format!("{}{middle}{}", ordinary(3000), ordinary(3000));
    let shown = shown(&text, bytes);
    for line in expected {
        assert!(shown.lines().any(|shown| shown == *line), "{line:?} is not shown:\n{shown}");
    }
}

#[test]
fn fatal_line_is_shown() {
    check("12:00:00 FATAL worker-3 disk is gone\n", &["12:00:00 FATAL worker-3 disk is gone"]);
}

/// `pytest -rA` prints the output of passed tests under the same headings as failures.
#[test]
fn sections_about_passed_tests_are_not_shown() {
    let section = |name: &str, line: &str| format!("____________ {name} ____________\n{line}\n");
    let failures: String =
        (0..2).map(|at| section(&format!("test_bad_{at}"), "E       assert 1 == 2")).collect();
    let passes: String = (0..300).map(|at| section(&format!("test_good_{at}"), "printed")).collect();
    let text = format!(
        "{}=========== FAILURES ===========\n{failures}=========== PASSES ===========\n{passes}=========== short test summary info ===========\nFAILED test_bad_0\n",
        ordinary(300)
    );
    let shown = shown(&text, 4000);
    assert!(shown.contains("test_bad_1 __") && shown.contains("E       assert 1 == 2"), "{shown}");
    assert!(shown.matches("test_good").count() < 20, "{shown}");
}

#[test]
fn diagnostic_is_shown_with_its_snippet() {
    let diagnostic = "error[E0308]: mismatched types\n  --> src/main.rs:2:18\n   |\n2  |     let a: u32 = \"x\";\n   |            ---   ^^^ expected `u32`, found `&str`\n   |            |\n   |            expected due to this\n   = note: for a reason\n";
    check(diagnostic, &diagnostic.lines().collect::<Vec<_>>());
    let diagnostic = "src/a.c: In function 'main':\nsrc/a.c:3:5: error: expected ';' before 'return'\n    3 |     return 0;\n      |     ^~~~~~\n";
    check(diagnostic, &diagnostic.lines().collect::<Vec<_>>());
}

#[test]
fn caret_is_not_shown_without_its_diagnostic() {
    let warnings: String = (0..400)
        .map(|number| format!("A.java:{number}: warning: [deprecation] f{number}() in B has been deprecated\n    b.f{number}();\n     ^\n"))
        .collect();
    let shown =
        shown(&format!("{warnings}A.java:9: error: cannot find symbol\n    c();\n    ^\n1 error\n"), 4000);
    let mut before = "";
    for line in shown.lines() {
        assert!(line.trim() != "^" || !before.starts_with("[offcut"), "{shown}");
        before = line;
    }
    assert!(shown.contains("cannot find symbol\n    c();\n    ^\n"), "{shown}");
}

#[test]
fn traceback_is_shown_with_its_last_line() {
    let frames: String = (0..40)
        .map(|number| format!("  File \"/app/deep{number}.py\", line {number}, in call\n    return call()\n"))
        .collect();
    let trace = format!(
        "Traceback (most recent call last):\n{frames}  File \"/app/last.py\", line 9, in boom\n    raise Broken('it is broken')\napp.Broken: it is broken\n"
    );
    check(
        &trace,
        &[
            "Traceback (most recent call last):",
            "  File \"/app/last.py\", line 9, in boom",
            "    raise Broken('it is broken')",
            "app.Broken: it is broken",
        ],
    );
}

#[test]
fn causes_of_an_exception_are_shown() {
    let frames = |count: usize| {
        (0..count).map(|number| format!("\tat com.a.B.call{number}(B.java:{number})\n")).collect::<String>()
    };
    let trace = format!(
        "com.a.TopException: at the top\n{}Caused by: com.a.DeepException: at the bottom\n{}\t... 12 more\n",
        frames(60),
        frames(30)
    );
    check(
        &trace,
        &[
            "com.a.TopException: at the top",
            "\tat com.a.B.call0(B.java:0)",
            "Caused by: com.a.DeepException: at the bottom",
        ],
    );
}

#[test]
fn names_of_failed_tests_are_shown() {
    let names: String = (0..12)
        .map(|number| format!("    parser::case_{}\n", "abcdefghijkl".chars().nth(number).unwrap()))
        .collect();
    let text = format!("failures:\n{names}\ntest result: FAILED. 80 passed; 12 failed\n");
    check(
        &text,
        &[
            "failures:",
            "    parser::case_a",
            "    parser::case_l",
            "test result: FAILED. 80 passed; 12 failed",
        ],
    );
    check(
        "--- FAIL: TestParse (0.00s)\n    parse_test.go:12: got 1, want 2\n",
        &["--- FAIL: TestParse (0.00s)", "    parse_test.go:12: got 1, want 2"],
    );
    check(
        "    [junit] Testcase: adds took 0.1 sec\n    [junit] \tFAILED\n",
        &["    [junit] Testcase: adds took 0.1 sec", "    [junit] \tFAILED"],
    );
}

/// Checks that all lines of a block that are not blank are shown.
#[track_caller]
fn check_whole(block: &str) {
    check(block, &block.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>());
}

#[test]
fn failure_reports_of_many_tools_are_shown_whole() {
    check_whole(
        "  1) test adds up (ShopTest)\n     test/shop_test.exs:5\n     Assertion with == failed\n     code:  assert total() == 4\n     left:  3\n     right: 4\n     stacktrace:\n       test/shop_test.exs:6: (test)\n",
    );
    check_whole(
        "There was 1 failure:\n\n1) Tests\\BasketTest::testTotal\nFailed asserting that 3 matches expected 4.\n\n/app/tests/BasketTest.php:12\n\nFAILURES!\nTests: 12, Assertions: 30, Failures: 1.\n",
    );
    check_whole(
        "  1) Basket adds up\n     Failure/Error: expect(total).to eq 4\n\n       expected: 4\n            got: 3\n\n     # ./spec/shop_spec.rb:12:in `block'\n\n12 examples, 1 failure\n",
    );
    check_whole(
        "/usr/bin/ld: main.o: in function `main':\nmain.c:(.text+0x13): undefined reference to `price'\ncollect2: error: ld returned 1 exit status\nmake: *** [Makefile:3: shop] Error 1\n",
    );
    check_whole("shop.rb:3:in `total': no stock (RuntimeError)\n\tfrom shop.rb:12:in `<main>'\n");
    check_whole(
        "panic: no stock\n\ngoroutine 1 [running]:\nmain.total(...)\n\t/app/main.go:12 +0x1d\nexit status 2\n",
    );
    check_whole(
        "not ok 3 - adds up\n  ---\n  location: '/app/shop.test.js:3:1'\n  error: 'Expected values to be strictly equal'\n  expected: 4\n  actual: 3\n  ...\n",
    );
    check_whole(
        "/usr/include/c++/bits/algo.h: In instantiation of 'void sort(I, I)':\nshop.cc:5:14:   required from here\n/usr/include/c++/bits/algo.h:12:50: error: no match for 'operator-'\n   12 |   first - last\n      |         ^\n/usr/include/c++/bits/iterator.h:3:5: note: candidate: operator-(const T&)\n",
    );
}

#[test]
fn detail_is_not_shown_without_its_message() {
    let word = |at: u32| -> String {
        (0..5).map(|digit| char::from(b'a' + (at >> (2 * digit)) as u8 % 4)).collect()
    };
    let errors: String = (0..200)
        .map(|at| {
            let name = word(at);
            format!(
                "[ERROR] /src/main/java/shop/{name}/Basket.java:[{at},8] cannot find symbol\n  symbol:   class Price\n  location: class shop.{name}.Basket\n"
            )
        })
        .collect();
    let shown = shown(&errors, 4000);
    let count = |text: &str| shown.matches(text).count();
    assert!(count("cannot find symbol") > 10, "{shown}");
    assert!(count("location:") <= count("cannot find symbol") + 1, "{shown}");
}

#[test]
fn report_ends_at_a_warning() {
    let warnings: String = (0..8)
        .map(|at| {
            format!(
                "warning: unused import\n --> src/cart.rs:{at}:5\n  |\n{at} | use shop;\n  |     ^^^^\n\n"
            )
        })
        .collect();
    let error = |name: &str| {
        format!(
            "error[E0425]: cannot find value `{name}` in this scope\n --> src/{name}.rs:3:9\n  |\n3 |     {name} + 1\n  |     ^^^^^ not found in this scope\n"
        )
    };
    let errors: String = ["price", "stock", "total", "order", "count"]
        .iter()
        .map(|name| error(name) + "\n" + &warnings)
        .collect();
    let expected = ["price", "stock", "total", "order", "count"].map(|name| format!("3 |     {name} + 1"));
    check_within(2500, &errors, &expected.each_ref().map(String::as_str));
}

#[test]
fn failures_of_an_unknown_runner_are_shown_by_their_marks() {
    let word = |at: u32| -> String {
        (0..6).map(|digit| char::from(b'a' + (at.wrapping_mul(7919) >> (3 * digit)) as u8 % 26)).collect()
    };
    for (passed, failed) in [("[+] #", "[-] #"), ("# ... done", "# ... bad"), ("☑ #", "☒ #"), (". #", "X #")]
    {
        let tests = |range: std::ops::Range<u32>| -> String {
            range
                .map(|at| passed.replace('#', &format!("sorts {} and {}", word(at), word(at + 7))) + "\n")
                .collect()
        };
        let failure = failed.replace('#', "sorts pears");
        let text = format!("{}{failure}\n   wanted apples\n{}", tests(0..400), tests(400..800));
        let shown = shown(&text, 4000);
        assert!(shown.contains(&format!("{failure}\n   wanted apples\n")), "{shown}");
    }
}

#[test]
fn every_limit_leaves_room_between_the_ends() {
    let failures: String = (0..300)
        .map(|at| format!("--- FAIL: TestShop{at} (0.00s)\n    shop_test.go:{at}: got {at}, want 0\n"))
        .collect();
    let text = format!("{}{failures}{}", ordinary(2000), ordinary(2000));
    for limits in [
        Limits { bytes: Some(4000), ..Limits::default() },
        Limits { tokens: Some(1000), ..Limits::default() },
        Limits { chars: Some(4000), ..Limits::default() },
        Limits { lines: Some(100), ..Limits::default() },
    ] {
        let rule = Rule { strategy: Some(StrategyName::Smart), limits, ..Rule::default() };
        let shown = native(rule, memory()).apply(text.as_bytes(), &Context::default()).text().into_owned();
        let (failed, ordinary) = (shown.matches("FAIL:").count(), shown.matches("INFO").count());
        assert!(failed > 30 && (4..40).contains(&ordinary), "{limits:?}: {shown}");
    }
}

#[test]
fn first_line_of_a_new_kind_is_shown() {
    let kinds = ["warm", "cold", "fast", "slow", "deep", "flat", "high", "wide", "long", "thin", "calm"];
    let steps = |range: std::ops::Range<usize>, loss: &str| {
        range.map(|step| format!("{} step {step} loss {loss}\n", kinds[step * 7 % 11])).collect::<String>()
    };
    let text = format!("{}{}done\n", steps(0..3000, "0.197"), steps(3000..6000, "nan"));
    let shown = shown(&text, 4000);
    assert!(shown.contains("step 3000 loss nan"), "{shown}");
}

/// No rule matches the headline; its location on the next line identifies it.
#[test]
fn headline_above_a_location_is_shown() {
    let finding = |code: &str, line: u32| {
        format!("{code}\n  --> shop/cart.py:{line}:5\n   |\n{line} | total = {line}\n   | ^^^^^\n   |\n\n")
    };
    let usual = |range: std::ops::Range<u32>| {
        range.map(|line| finding("UP031 Use format specifiers instead of percent", line)).collect::<String>()
    };
    let text =
        format!("{}{}{}", usual(0..400), finding("X821 Name `totl` is a mystery", 500), usual(600..900));
    let shown = shown(&text, 4000);
    assert!(shown.contains("X821 Name `totl` is a mystery\n  --> shop/cart.py:500:5\n"), "{shown}");
}

#[test]
fn frames_outside_libraries_are_shown_first() {
    let jvm = |name: &str, count: usize| {
        (0..count).map(|at| format!("\tat {name}.call{at}(File.java:{at})\n")).collect::<String>()
    };
    let trace = format!(
        "java.lang.NumberFormatException: For input string: x\n{}\tat shop.Cart.total(Cart.java:12)\n{}",
        jvm("java.base/java.lang.Integer", 30),
        jvm("org.junit.Runner", 40),
    );
    check_within(1200, &trace, &["\tat shop.Cart.total(Cart.java:12)"]);
    let python = |path: &str, count: usize| {
        (0..count)
            .map(|at| format!("  File \"{path}\", line {at}, in call{at}\n    call()\n"))
            .collect::<String>()
    };
    let trace = format!(
        "Traceback (most recent call last):\n{}  File \"/app/shop.py\", line 7, in total\n    parse(x)\n{}ValueError: x\n",
        python("/usr/lib/python3.11/unittest/case.py", 3),
        python("/venv/lib/python3.11/site-packages/parser.py", 6),
    );
    check_within(
        2000,
        &trace,
        &["  File \"/app/shop.py\", line 7, in total", "    parse(x)", "ValueError: x"],
    );
}

#[test]
fn output_of_passed_tests_scores_less_than_failures() {
    let tests = |range: std::ops::Range<u32>| {
        range
            .map(|test| {
                format!(
                    "=== RUN   TestShop{test}\n    shop_test.go:{test}: stock {test}\n--- PASS: TestShop{test} (0.00s)\n"
                )
            })
            .collect::<String>()
    };
    let failure = "=== RUN   TestCart\n    cart_test.go:34: total 3, want 4\n--- FAIL: TestCart (0.00s)\n";
    let text = format!("{}{failure}{}FAIL\n", tests(0..200), tests(200..400));
    let shown = shown(&text, 2000);
    assert!(shown.contains("cart_test.go:34: total 3, want 4\n--- FAIL: TestCart"), "{shown}");
    assert!(shown.matches("shop_test.go").count() < 25, "{shown}");
    let passed: String = (0..400).map(|test| format!("PASSED tests/test_shop.py::test_{test}\n")).collect();
    let text = format!(
        "{}==== short test summary info ====\n{passed}FAILED tests/test_shop.py::test_cart - x\n",
        ordinary(400)
    );
    let shown = self::shown(&text, 3000);
    assert!(shown.matches("PASSED").count() < 20 && shown.contains("FAILED tests/test_shop.py"), "{shown}");
}

#[test]
fn unique_names_of_passed_tests_are_not_rare_lines() {
    let word = |number: u32| -> String {
        (0..6).map(|at| char::from(b'a' + ((number * 7919) >> (at * 3)) as u8 % 26)).collect()
    };
    let tests = |range: std::ops::Range<u32>| -> String {
        range
            .map(|test| match test % 40 {
                0 => format!("ok {test} - {} {}\n", word(test), word(test + 9)),
                _ => format!("ok {test}\n"),
            })
            .collect()
    };
    let failure = "#   Failed test 'Warnings'\n#   at t/shop.t line 115.\n#          got: 'record 2'\n#     expected: 'record 3'\n";
    let shown = shown(&format!("{}{failure}{}", tests(0..3000), tests(3000..6000)), 4000);
    assert!(shown.contains("#     expected: 'record 3'"), "{shown}");
    assert!(shown.matches("- ").count() < 40, "{shown}");
}

#[test]
fn template_error_shows_the_line_that_caused_it() {
    let candidates: String = (0..30)
        .map(|at| {
            format!(
                "/usr/include/c++/12/ostream:{at}:7: note: candidate: 'operator<<(kind{at})'\n  {at} |   operator<<(x)\n      |   ^~~~~~~~\n"
            )
        })
        .collect();
    let error = "In instantiation of 'void f() [with T = A]':\nshop.cc:12:7:   required from here\n/usr/include/c++/12/ops.h:45:23: error: no match for 'operator<'\n";
    let text = format!("{candidates}{error}{candidates}").repeat(4);
    let shown = shown(&text, 1500);
    assert!(
        shown.contains("shop.cc:12:7:   required from here\n/usr/include/c++/12/ops.h:45:23: error:"),
        "{shown}"
    );
}

#[test]
fn harmless_error_words_are_not_shown() {
    let noise =
        ["0 errors, 0 warnings", "gcc -Wall -Werror -c error_handler.c -o a.o", "test fails_on_error ... ok"];
    let noise: String = noise.iter().cycle().take(600).map(|line| format!("{line}\n")).collect();
    check(&format!("{noise}panic: it is broken\n{noise}"), &["panic: it is broken"]);
}

#[test]
fn lines_around_a_failure_are_shown_without_a_marker_for_each_passed_test() {
    let test = |number: usize| match number {
        400 => "=== RUN   TestA400\n    a_test.go:12: got 1 want 2\n--- FAIL: TestA400 (0.01s)\n".to_owned(),
        _ => format!("=== RUN   TestA{number}\n--- PASS: TestA{number} (0.00s)\n"),
    };
    let shown = shown(&(0..800).map(test).collect::<String>(), 4096);
    assert!(shown.contains("got 1 want 2"), "{shown}");
    assert!(shown.matches(" not shown]").count() <= 3, "{shown}");
}

#[test]
fn repeated_lines_do_not_use_up_the_room() {
    let same: String = (0..4000).map(|number| format!("src/a.c:{number}:5: error: expected ';'\n")).collect();
    let text = format!("{same}src/b.c:7:1: error: unknown type name 'foo'\n{same}");
    check(&text, &["src/a.c:0:5: error: expected ';'", "src/b.c:7:1: error: unknown type name 'foo'"]);
}

/// A line as tools print it; some are important.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (0..9999_u32).prop_map(|number| format!("step {number} of the build is done\n")),
        2 => "[a-z ]{0,60}\n".prop_map(|line| line),
        1 => "error: [a-z]{3,9} is wrong\n".prop_map(|line| line),
        1 => Just("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    f()\nValueError: no\n".to_owned()),
        1 => "    at [a-z]{3,6}\\.[a-z]{3}\\(A\\.java:1\\)\n".prop_map(|line| line),
        1 => ("(é|x){1,3}", 1..900_usize).prop_map(|(unit, times)| format!("{}\n", unit.repeat(times))),
        1 => (40..120_u32).prop_map(|count| (0..count).map(|number| format!("waiting, {number} s\n")).collect()),
        1 => prop::collection::vec("[0-9]{3}[a-f0-9]{5}", 60..120).prop_map(|ids| {
            ids.iter().map(|id| format!("part {id} is done{}\n", " and so on".repeat(25))).collect()
        }),
        1 => Just(format!("{}\n", "long ".repeat(3000))),
        1 => Just("\n".to_owned()),
        1 => Just("\x1B[31mFAIL: test_it (a.Test)\x1B[0m\r\n".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    /// Also when there are more important lines than fit into memory.
    #[test]
    fn preview_does_not_depend_on_chunks(
        lines in prop::collection::vec(line(), 0..300),
        bytes in 256..6000_u64,
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
    ) {
        let text = lines.concat();
        let whole = smart(bytes).apply(text.as_bytes(), &Context::default()).content().to_vec();
        prop_assert!(whole.len() as u64 <= bytes.max(512));
        let truncator = smart(bytes);
        prop_assert_eq!(in_pieces(&truncator, text.as_bytes(), places), String::from_utf8_lossy(&whole));
    }
}

/// A limit of few lines keeps the error under any byte limit, and every profile uses the lines it has.
#[test]
fn keeps_the_error_within_a_small_line_limit() {
    let numbers = |count: u32| (1..=count).map(|number| format!("{number}\n")).collect::<String>();
    let output = format!("{}ERROR: boom\n{}", numbers(5000), numbers(5000));
    for profile in Profile::names() {
        for most in [10, 20, 50, 100] {
            let limits = Limits { lines: Some(most), ..Limits::default() };
            let rule = Rule { limits, strategy: Some(StrategyName::Smart), ..Rule::default() };
            let truncator = Truncator::new(Profile::named(profile).unwrap()).storage(Storage::To(memory()));
            let truncator = truncator.rule(rule).unwrap();
            let outcome = truncator.apply(&output, &Context::default());
            let text = outcome.text();
            assert!(text.contains("ERROR: boom\n"), "{profile} {most}: {text}");
            let shown =
                text.lines().filter(|line| line.parse::<u32>().is_ok() || line.contains("boom")).count();
            assert!(shown as u64 <= most && shown as u64 >= most * 6 / 10, "{profile} {most}: {shown} lines");
        }
    }
}

/// Numbers that say something are folded only where they do not fit; counters are folded at once.
#[test]
fn similar_lines_fill_the_budget_unless_they_only_count() {
    let bounded = |text: &str| {
        let preview =
            Truncator::new(Profile::native()).apply(text.as_bytes(), &Context::default()).into_preview();
        preview.unwrap().content().len()
    };
    let scores: String = (0..490).map(|user| format!("user {user} score {}\n", user * 7919 % 9973)).collect();
    assert!((9500..9700).contains(&scores.len()), "a little over the limit: {}", scores.len());
    assert!(bounded(&scores) > 9000, "{}", bounded(&scores));
    let many: String =
        (0..50_000).map(|user| format!("user {user} score {}\n", user * 7919 % 9973)).collect();
    assert!(bounded(&many) > 8075, "{}", bounded(&many));
    for count in [600, 50_000] {
        let steps: String = (0..count).map(|step| format!("step {step} of 50000 done\n")).collect();
        assert!(bounded(&steps) < 1000, "{count}: {}", bounded(&steps));
    }
}

/// Many programs show the cursor again when they end: a last line without a line feed that renders to nothing.
#[test]
fn line_that_renders_to_nothing_costs_at_most_a_line() {
    let words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
    let line = |number: usize| {
        (0..3 + number % 9).map(|at| words[(number * 5 + at * 3) % 8]).collect::<Vec<_>>().join(" ")
    };
    let text: String = (0..900).map(|number| line(number) + "\n").collect();
    let shown = |text: &str, bytes: u64| {
        let limits = Limits { bytes: Some(bytes), ..Limits::default() };
        let truncator = Truncator::new(Profile::native()).rule(Rule { limits, ..Rule::default() }).unwrap();
        truncator.apply(text.as_bytes(), &Context::default()).into_preview().unwrap().content().len()
    };
    for bytes in [2000, 4000, 8000, 9500] {
        let (plain, ended) = (shown(&text, bytes), shown(&format!("{text}\x1b[?25h"), bytes));
        assert!(ended + 200 > plain, "{bytes}: {ended} instead of {plain}");
    }
}
