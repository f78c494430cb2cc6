"""Generates the labelled cases of this folder: real tools on small real programs, each with one thing wrong.

Run `python3 generate.py [NAME...]` here; it writes `*.log` and `labels.jsonl`. It needs gcc, g++, make, cmake, javac, node,
npm, cargo, go, ruby with minitest, perl, tar and python3; pytest, ruff, pylint and the JavaScript tools are installed into
the folder TOOLS, which is kept between runs.
Each case gives the lines that a reader must see as text; their line numbers are looked up in what the tool printed.
"""

import itertools
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
TOOLS = pathlib.Path(os.environ.get("TOOLS", pathlib.Path(tempfile.gettempdir(), "offcut-case-tools")))
PYTEST = TOOLS / "venv/bin/python"
SCRIPTS = TOOLS / "js/node_modules"


def install():
    """Installs the tools that most machines lack, once."""
    if not PYTEST.exists():
        subprocess.run([sys.executable, "-m", "venv", TOOLS / "venv"], check=True)
        subprocess.run([PYTEST, "-m", "pip", "install", "-q", "pytest", "ruff", "pylint"], check=True)
    if not SCRIPTS.exists():
        (TOOLS / "js").mkdir(parents=True, exist_ok=True)
        packages = ["typescript", "mocha", "jest", "vitest", "tape"]
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", *packages], cwd=TOOLS / "js", check=True)


def run(files, command):
    """Writes files into a temporary folder, runs a command there and returns everything it printed."""
    with tempfile.TemporaryDirectory(prefix="case-") as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "CI": "1"}
        ran = subprocess.run(
            command, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        text = ran.stdout.decode().replace(folder, "/build").replace(str(TOOLS), "/tools")
        return text.replace(str(pathlib.Path.home()), "/home/user").replace(platform.release(), "6.1.0")


def progress_lines(count, words):
    """A shell loop that prints `count` harmless lines."""
    return f"for n in $(seq 1 {count}); do echo {words} $n; done"


def gcc_one_error_among_warnings():
    files = {f"m{n}.c": f"int f{n}(int a) {{ int unused{n}; int other{n} = a; return a + {n}; }}\n" for n in range(120)}
    files["m60.c"] = "struct point { int x; };\nint f60(struct point *p) { return p->z; }\n"
    files["Makefile"] = "CFLAGS = -Wall -Wextra\nall: $(patsubst %.c,%.o,$(wildcard *.c))\n"
    facts = {
        "the error": ["m60.c:2:36: error: ‘struct point’ has no member named ‘z’"],
        "make stopped": ["make: *** [<builtin>: m60.o] Error 1"],
    }
    return run(files, "make -k"), facts


def python_unittest_two_failures():
    tests = "".join(f"    def test_case_{n}(self):\n        self.assertEqual({n}, {n})\n" for n in range(400))
    tests += "    def test_total(self):\n        self.assertEqual(add(1, 2), 4)\n"
    tests += "    def test_lookup(self):\n        self.assertEqual(find({}, 'key'), 1)\n"
    source = "import unittest\ndef add(a, b):\n    return a + b\ndef find(table, key):\n    return table[key]\n"
    files = {"test_shop.py": f"{source}class ShopTest(unittest.TestCase):\n{tests}"}
    facts = {
        "test_total": ["FAIL: test_total (test_shop.ShopTest", "AssertionError: 3 != 4"],
        "test_lookup": ["ERROR: test_lookup (test_shop.ShopTest", "KeyError: 'key'"],
        "the summary": ["FAILED (failures=1, errors=1)"],
    }
    return run(files, "python3 -m unittest -v; for n in $(seq 1 300); do echo uploading part $n; done"), facts


def cargo_test_one_failure():
    tests = "".join(f"    #[test]\n    fn case_{n}() {{ assert_eq!(super::add({n}, 1), {n + 1}); }}\n" for n in range(300))
    tests += "    #[test]\n    fn adds_the_largest() { assert_eq!(super::add(2, 2), 5, \"two and two\"); }\n"
    files = {
        "Cargo.toml": "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        "src/lib.rs": f"pub fn add(a: u32, b: u32) -> u32 {{ a + b }}\n#[cfg(test)]\nmod tests {{\n{tests}}}\n",
    }
    facts = {
        "the test": ["---- tests::adds_the_largest stdout ----"],
        "the values": ["assertion `left == right` failed: two and two", "  left: 4", " right: 5"],
        "the summary": ["test result: FAILED. 300 passed; 1 failed"],
    }
    return run(files, "cargo test --offline -- --test-threads=1; for n in $(seq 1 300); do echo removing layer $n; done"), facts


def node_exception_in_the_middle():
    source = "for (let n = 0; n < 1500; n++) { console.log(`served request ${n}`);\n"
    source += "  if (n === 700) Promise.resolve().then(() => { const user = undefined; console.log(user.name); }).catch((e) => console.error(e)); }\n"
    loop = "for (let n = 1500; n < 3000; n++) setTimeout(() => console.log(`served request ${n}`), 1);\n"
    facts = {"the exception": ["TypeError: Cannot read properties of undefined (reading 'name')"]}
    return run({"serve.js": source + loop}, "node serve.js"), facts


def javac_two_errors():
    files = {f"A{n}.java": f"class A{n} {{ int f() {{ return new java.util.Date().getYear() + {n}; }} }}\n" for n in range(150)}
    files["Shop.java"] = "class Shop {\n    int total() {\n        return count + \"1\";\n    }\n}\n"
    facts = {
        "the symbol": ["Shop.java:3: error: cannot find symbol", "        return count + \"1\";", "  symbol:   variable count"],
        "the summary": ["1 error"],
    }
    return run(files, "javac -Xlint:all -Xmaxwarns 1000 *.java"), facts


def gxx_template_error():
    files = {f"m{n}.cc": f"int f{n}(int a) {{ int unused{n}; return a + {n}; }}\n" for n in range(60)}
    files["m30.cc"] = (
        "#include <algorithm>\n#include <list>\nstruct Item { int price; };\n"
        "void order(std::list<Item> &items) {\n    std::sort(items.begin(), items.end());\n}\n"
    )
    files["Makefile"] = "CXXFLAGS = -Wall -Wextra\nall: $(patsubst %.cc,%.o,$(wildcard *.cc))\n"
    facts = {
        "the error": ["/usr/include/c++/12/bits/stl_algo.h:1938:50: error: no match for ‘operator-’"],
        "the location": ["m30.cc:5:14:   required from here"],
        "make stopped": ["make: *** [<builtin>: m30.o] Error 1"],
    }
    return run(files, "make -k"), facts


def linker_undefined_function():
    files = {f"m{n}.c": f"int f{n}(int a) {{ return a + {n}; }}\n" for n in range(150)}
    files["main.c"] = "int price(int);\nint f1(int);\nint main(void) { return f1(2) + price(3); }\n"
    files["Makefile"] = (
        "CFLAGS = -Wall -O1 -fno-plt -fstack-protector-strong -DVERSION=12\n"
        "shop: $(patsubst %.c,%.o,$(wildcard *.c))\n\t$(CC) -o $@ $^\n"
    )
    facts = {
        "the function": ["main.c:(.text+"],
        "the linker": ["collect2: error: ld returned 1 exit status"],
        "make stopped": ["make: *** [Makefile:3: shop] Error 1"],
    }
    return run(files, f"make; {progress_lines(200, 'uploading artifact part')}"), facts


def pytest_one_failure():
    many = "import pytest\nfrom shop import total\n@pytest.mark.parametrize('n', range(300))\n"
    many += "def test_counts(n):\n    assert total([n]) == n\n"
    one = "from shop import total\ndef test_discount_is_applied():\n    basket = [10, 20, 30]\n    assert total(basket, discount=10) == 50\n"
    source = "import warnings\ndef total(items, discount=0):\n    warnings.warn('total() is deprecated', DeprecationWarning)\n    return sum(items)\n"
    files = {"shop.py": source, "test_many.py": many, "test_basket.py": one}
    facts = {
        "the test": ["FAILED test_basket.py::test_discount_is_applied"],
        "the values": ["E       assert 60 == 50"],
        "the source": [">       assert total(basket, discount=10) == 50"],
        "the summary": ["1 failed, 300 passed, 301 warnings in"],
    }
    return run(files, f"{PYTEST} -m pytest -v -p no:cacheprovider; {progress_lines(200, 'saved coverage of module')}"), facts


def node_test_one_failure():
    tests = "".join(f"test('adds {n}', () => assert.equal(add({n}, 1), {n + 1}));\n" for n in range(250))
    source = (
        "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "const add = (a, b) => (a === 7000 ? NaN : a + b);\n"
        f"{tests}test('adds the largest', () => assert.equal(add(7000, 1), 7001));\n{tests.replace('adds', 'sums')}"
    )
    facts = {
        "the test": ["not ok 251 - adds the largest"],
        "the values": ["expected: 7001", "actual: NaN"],
        "the summary": ["# fail 1"],
    }
    return run({"shop.test.js": source}, "node --test --test-reporter=tap shop.test.js"), facts


def tsc_two_errors():
    files = {f"src/m{n}.ts": f"export const value{n}: number = {n};\n" for n in range(160)}
    files["src/shop.ts"] = (
        "import { value1 } from './m1';\nimport { missing } from './m2';\n"
        "interface Item { price: number }\nconst item: Item = { price: 'ten' };\nconsole.log(value1, missing, item);\n"
    )
    files["tsconfig.json"] = '{"compilerOptions": {"strict": true, "noEmit": true, "types": []}, "include": ["src"]}\n'
    facts = {
        "the name": ["src/shop.ts(2,10): error TS2305: Module '\"./m2\"' has no exported member 'missing'."],
        "the type": ["src/shop.ts(4,22): error TS2322: Type 'string' is not assignable to type 'number'."],
    }
    command = f"{progress_lines(200, 'fetched package')}; node {SCRIPTS}/typescript/bin/tsc --listFiles --pretty false; {progress_lines(200, 'removing layer')}"
    return run(files, command), facts


def jest_one_failure():
    tests = "".join(f"test('counts {n}', () => expect(count([{n}])).toBe(1));\n" for n in range(200))
    files = {
        "package.json": '{"name": "shop", "version": "1.0.0"}\n',
        "shop.js": "exports.count = (items) => items.filter((item) => item !== 'hat').length;\n",
        "many.test.js": f"const {{ count }} = require('./shop');\n{tests}",
        "hats.test.js": "const { count } = require('./shop');\ntest('counts hats', () => {\n  expect(count(['hat', 'hat'])).toBe(2);\n});\n",
    }
    facts = {
        "the test": ["● counts hats"],
        "the values": ["Expected: 2", "Received: 0"],
        "the source": ["> 3 |   expect(count(['hat', 'hat'])).toBe(2);"],
        "the summary": ["Tests:       1 failed, 200 passed, 201 total"],
    }
    command = f"node {SCRIPTS}/jest/bin/jest.js --verbose --ci; {progress_lines(250, 'uploading artifact part')}"
    return run(files, command), facts


def mocha_one_failure():
    tests = "".join(f"  it('ships to zone {n}', () => assert.equal(ship({n}), {n} * 2));\n" for n in range(300))
    source = (
        "const assert = require('assert');\nconst ship = (zone) => (zone === 12 ? 25 : zone * 2);\n"
        f"describe('shipping', () => {{\n{tests}}});\n"
    )
    facts = {
        "the counts": ["299 passing", "1 failing"],
        "the test": ["1) shipping"],
        "the values": ["AssertionError [ERR_ASSERTION]: 25 == 24"],
    }
    command = f"node {SCRIPTS}/mocha/bin/mocha.js shop.js; {progress_lines(250, 'uploading artifact part')}"
    return run({"shop.js": source}, command), facts


def vitest_one_failure():
    tests = "".join(f"test('parses {n}', () => expect(parse('{n}')).toBe({n}));\n" for n in range(250))
    files = {
        "package.json": '{"name": "shop", "version": "1.0.0", "type": "module"}\n',
        "shop.test.js": "import { expect, test } from 'vitest';\nconst parse = (text) => (text === '1e3' ? 1 : Number(text));\n"
        f"{tests}test('parses powers', () => {{\n  expect(parse('1e3')).toBe(1000);\n}});\n",
    }
    facts = {
        "the test": ["FAIL  shop.test.js > parses powers"],
        "the values": ["AssertionError: expected 1 to be 1000 // Object.is equality"],
        "the location": ["❯ shop.test.js:254:24"],
        "the summary": ["Tests  1 failed | 250 passed (251)"],
    }
    command = f"ln -s {SCRIPTS} node_modules; node node_modules/vitest/vitest.mjs run --reporter=verbose; {progress_lines(250, 'uploading artifact part')}"
    return run(files, command), facts


def make_one_failing_step():
    steps = "".join(f"step{n}:\n\t@echo '== packing part {n}'\n\t@touch part{n}.tar && echo 'part {n}: 12 files, 0 errors'\n" for n in range(300))
    steps = steps.replace("@touch part170.tar", "cp catalogue-170.json part170.tar")
    files = {"Makefile": f"all: $(foreach n,$(shell seq 0 299),step$(n))\n{steps}"}
    facts = {
        "the reason": ["cp: cannot stat 'catalogue-170.json': No such file or directory"],
        "the step": ["make: *** [Makefile:"],
        "the summary": ["make: Target 'all' not remade because of errors."],
    }
    return run(files, f"make -k; {progress_lines(200, 'removing part')}"), facts


def ctest_one_failure():
    tests = "".join(f"add_test(NAME parses_{n} COMMAND ${{CMAKE_COMMAND}} -E echo parsed {n})\n" for n in range(150))
    files = {
        "CMakeLists.txt": f"cmake_minimum_required(VERSION 3.10)\nproject(shop NONE)\nenable_testing()\n{tests}"
        "add_test(NAME rounds_up COMMAND sh ${CMAKE_SOURCE_DIR}/rounds.sh)\n",
        "rounds.sh": "echo 'rounding 2.5'; echo 'rounds.c:12: expected 3 but got 2' >&2; exit 1\n",
    }
    facts = {
        "the test": ["151/151 Test #151: rounds_up ........................***Failed"],
        "the reason": ["rounds.c:12: expected 3 but got 2"],
        "the summary": ["99% tests passed, 1 tests failed out of 151"],
        "the list": ["151 - rounds_up (Failed)"],
    }
    command = f"cmake -S . -B out; cd out && ctest --output-on-failure; {progress_lines(200, 'uploading artifact part')}"
    return run(files, command), facts


def python_traceback_in_log():
    source = (
        "import logging, random\nrandom.seed(1)\nlogging.basicConfig(level=logging.INFO, format='%(asctime)s %(levelname)s %(name)s: %(message)s')\n"
        "log = logging.getLogger('shop')\n"
        "def price(item):\n    return {'hat': 3}[item]\n"
        "def serve(n):\n    if n == 300:\n        price('shoe')\n    log.info('request %d took %d ms', n, random.randrange(90))\n"
        "for n in range(700):\n    try:\n        serve(n)\n    except KeyError:\n        log.exception('request %d', n)\n"
    )
    facts = {
        "the exception": ["KeyError: 'shoe'"],
        "the location": ['File "/build/serve.py", line 6, in price'],
    }
    return run({"serve.py": source}, "python3 $PWD/serve.py"), facts


def asan_one_failing_run():
    source = (
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
        "static char *copy(const char *text) {\n    char *to = malloc(strlen(text));\n    strcpy(to, text);\n    return to;\n}\n"
        "int main(int count, char **words) {\n    if (atoi(words[1]) == 70) puts(copy(\"seventy\"));\n"
        "    printf(\"run %s: parsed 12 records, 0 errors\\n\", words[1]);\n    return count > 2;\n}\n"
    )
    facts = {
        "the error": ["ERROR: AddressSanitizer: heap-buffer-overflow on address"],
        "the location": ["in copy /build/parse.c:6"],
        "the summary": ["SUMMARY: AddressSanitizer: heap-buffer-overflow"],
    }
    command = "gcc -g -fsanitize=address -Wall parse.c -o parse && for n in $(seq 1 200); do ./parse $n 2>&1; done"
    return run({"parse.c": source}, command), facts


def npm_dependency_conflict():
    dependencies = {"react": "18.2.0", "react-dom": "17.0.2", "mocha": "10.2.0"}
    files = {"package.json": json.dumps({"name": "shop", "version": "1.0.0", "dependencies": dependencies})}
    facts = {
        "the code": ["npm error code ERESOLVE"],
        "what was found": ["npm error Found: react@18.2.0"],
        "what was wanted": ['npm error peer react@"17.0.2" from react-dom@17.0.2'],
    }
    command = "npm install --loglevel silly --cache $PWD/cache; " + progress_lines(300, "removing part")
    # The registry depends on the machine.
    return re.sub(r"https?://[^/\s]+/", "https://registry.example/", run(files, command)), facts


def rustc_errors_among_warnings():
    modules = "".join(
        f"pub mod m{n} {{\n    pub fn f(a: u32) -> u32 {{\n        let unused = a;\n        a + {n}\n    }}\n}}\n" for n in range(80)
    )
    wrong = "pub fn total(prices: &[u32]) -> u32 {\n    let sum: u32 = prices.iter().map(|price| price.to_string()).sum();\n    sum + discount\n}\n"
    files = {
        "Cargo.toml": "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        "src/lib.rs": f"{modules}{wrong}",
    }
    facts = {
        "the name": ["error[E0425]: cannot find value `discount` in this scope"],
        "the summary": ["error: could not compile `shop` (lib) due to"],
    }
    return run(files, f"{progress_lines(300, 'fetched crate')}; cargo build --offline; {progress_lines(300, 'removing layer')}"), facts


def checksum_one_mismatch():
    names = ["".join(letters) for letters in itertools.product("abcdefghij", "aeiou", "klmnopqrst")]
    files = {f"{name}.dat": f"{name}\n" for name in names}
    facts = {
        "the file": ["fur.dat: FAILED"],
        "the summary": ["sha256sum: WARNING: 1 computed checksum did NOT match"],
    }
    # No rule matches this tool: every line has another word, and only one has a vague error word.
    command = f"sha256sum *.dat > sums; echo changed > fur.dat; sha256sum -c sums; {progress_lines(200, 'removing part')}"
    return run(files, command), facts


def tar_one_missing_file():
    files = {f"data/d{n // 100:02}/f{n:04}.bin": "x" for n in range(1500)}
    files |= {f"more/e{n // 100:02}/g{n:04}.bin": "x" for n in range(1500)}
    facts = {"the file": ["tar: ledger/2024.csv: Cannot stat: No such file or directory"]}
    return run(files, "tar -cvf /dev/null --sort=name data ledger/2024.csv more"), facts


def training_loss_becomes_nan():
    script = """
import math, random
random.seed(1)
weight = 1.0
for epoch in range(60):
    for step in range(0, 32, 4):
        weight = weight * 1.01 if (epoch, step) != (36, 4) else float("nan")
        print(f"epoch {epoch:03} step {step:03} loss {0.2 * weight + random.random() / 50:.6f} rate 0.00100")
    print(f"epoch {epoch:03} VALID loss {weight / 3:.6f}")
    if epoch % 10 == 0:
        print(f"saved checkpoint model_{epoch:03}.npz")
print("training finished")
"""
    facts = {"the first bad value": ["epoch 036 step 004 loss nan"]}
    return run({"train.py": script}, "python3 train.py"), facts


def ruff_one_error_among_style():
    lines = "".join(f"def price_{n}(x):\n    return 'item %s costs %s' % (x, {n})\n\n\n" for n in range(300))
    wrong = "def total(items):\n    return sum(item.price for item in itms)\n\n\n"
    files = {"shop.py": lines[: len(lines) // 2].rsplit("def ", 1)[0] + wrong + lines}
    facts = {"the name": ["F821 Undefined name `itms`"], "the location": ["--> shop.py:606:39"]}
    return run(files, f"{TOOLS}/venv/bin/ruff check --no-cache --select F,UP031 ."), facts


def prove_one_failure():
    files = {f"t/{n:02}_ok.t": f"use Test::More tests => 60;\nok(1, \"case $_ of file {n}\") for 1 .. 60;\n" for n in range(40)}
    files["t/20_ok.t"] = (
        "use Test::More tests => 60;\nok(1, \"case $_\") for 1 .. 59;\n"
        "is_deeply([total(2)], [{ record => 3 }], 'the total of two');\nsub total { return { record => $_[0] } }\n"
    )
    facts = {
        "the test": ["#   Failed test 'the total of two'"],
        "the location": ["#   at t/20_ok.t line 3."],
        "the actual value": ["#          $got->[0]{record} = '2'"],
        "the expected value": ["#     $expected->[0]{record} = '3'"],
    }
    return run(files, "prove -v t"), facts


def rust_backtrace():
    files = {
        "Cargo.toml": "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        "src/lib.rs": "pub fn price(item: &str) -> u32 {\n    item.split('=').nth(1).unwrap().parse().unwrap()\n}\n"
        "#[cfg(test)]\nmod tests {\n"
        + "".join(f"    #[test]\n    fn case_{n}() {{ assert_eq!(super::price(\"a={n}\"), {n}); }}\n" for n in range(150))
        + "    #[test]\n    fn no_price() { super::price(\"a=b\"); }\n}\n",
    }
    facts = {
        "the panic": ["thread 'tests::no_price'"],
        "the reason": ["called `Result::unwrap()` on an `Err` value: ParseIntError { kind: InvalidDigit }"],
        "the frame outside the libraries": ["shop::price"],
    }
    return run(files, "RUST_BACKTRACE=1 cargo test --offline -- --test-threads=1"), facts


def python_error_raised_in_library():
    files = {
        "shop.py": "import json, sys\n\n\ndef load(text):\n    return json.loads(text)\n\n\n"
        "for n in range(2000):\n    print(f'item {n}', load(f'{{\"price\": {n}}}')['price'], flush=True)\n"
        "    if n == 900:\n        try:\n            load('{\"price\": }')\n        except ValueError:\n"
        "            import traceback\n\n            traceback.print_exc()\n            sys.stderr.flush()\n"
    }
    facts = {
        "the error": ["json.decoder.JSONDecodeError: Expecting value: line 1 column 11 (char 10)"],
        "the caller's line": ['File "/build/shop.py", line 5, in load'],
    }
    return run(files, "python3 $PWD/shop.py"), facts


GO = {
    "go.mod": "module shop\n\ngo 1.18\n",
    "shop_test.go": "package shop\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n)\n\nfunc total(n int) int {\n\tif n == 77 {\n\t\treturn 76\n"
    "\t}\n\treturn n\n}\n\nfunc TestTotal(t *testing.T) {\n\tfor n := 0; n < 150; n++ {\n\t\tt.Run(fmt.Sprint(n), func(t *testing.T) {\n"
    "\t\t\tt.Logf(\"asking for %d\", n)\n\t\t\tif total(n) != n {\n\t\t\t\tt.Errorf(\"total is %d, want %d\", total(n), n)\n\t\t\t}\n"
    "\t\t})\n\t}\n}\n\nfunc TestEmpty(t *testing.T) {\n\tfor n := 0; n < 100; n++ {\n\t\tt.Logf(\"nothing in basket %d\", n)\n\t}\n}\n",
}


def go_reason_before_verdict():
    facts = {"the test": ["--- FAIL: TestTotal/77"], "the reason": ["shop_test.go:20: total is 76, want 77"]}
    return run(GO, "GOFLAGS=-mod=mod GOCACHE=$PWD/.cache go test -v ./..."), facts


def go_test_json_events():
    facts = {"the test": ["--- FAIL: TestTotal/77"], "the reason": ["shop_test.go:20: total is 76, want 77"]}
    return run(GO, "GOFLAGS=-mod=mod GOCACHE=$PWD/.cache go test -json ./..."), facts


def minitest_several_failures():
    wrong = range(7, 150, 13)
    tests = "".join(f"  def test_price_{n} = assert_equal({n}, price({n}))\n" for n in range(150))
    files = {
        "shop_test.rb": "require 'minitest/autorun'\n\nclass ShopTest < Minitest::Test\n"
        f"  def price(n) = n % 13 == 7 ? n + 1 : n\n\n{tests}"
        "  def test_no_price = assert_equal(0, nil + 1)\nend\n"
    }
    facts = {f"test {n}": [f"ShopTest#test_price_{n} ["] for n in wrong}
    facts["an error"] = ["ShopTest#test_no_price:", "NoMethodError: undefined method `+' for nil"]
    return run(files, "ruby shop_test.rb -v --seed 1"), facts


def pylint_errors_among_style():
    files = {f"shop/part{n}.py": f"def price{n}(x, y):\n    A = x\n    return A * {n}\n" for n in range(150)}
    wrong = {f"shop/part{n}.py": f"def price{n}(x):\n    return x * rate{n}\n" for n in range(20, 140, 20)}
    facts = {name: [f"{name}:2:15: E0602: Undefined variable"] for name in wrong}
    return run({**files, **wrong}, f"{TOOLS}/venv/bin/pylint --disable=R0801 shop/*.py"), facts


def tape_failures_under_titles():
    wrong = [5, 18, 25, 41]
    test = "".join(
        f"test('prices of shelf {n}', t => {{ for (let i = 0; i < 6; i++) t.equal(price({n}, i), {n} + i); t.end() }})\n"
        for n in range(60)
    )
    files = {
        "test.js": "const test = require('tape')\n"
        f"const price = (shelf, i) => ({wrong}.includes(shelf) && i === 3 ? 0 : shelf + i)\n{test}"
    }
    facts = {f"shelf {n}": [f"# prices of shelf {n}", f"not ok {n * 6 + 4} should be strictly equal"] for n in wrong}
    return run(files, f"NODE_PATH={SCRIPTS} node test.js"), facts


def json_report_after_banner():
    wrong = [11, 33, 66, 99]
    tests = "".join(f"  it('refuses invalid basket {n}', () => assert.equal(total({n}), {n}))\n" for n in range(120))
    files = {
        "package.json": '{"name": "shop", "version": "1.0.0", "scripts": {"test": "mocha --reporter json test.js"}}\n',
        "test.js": f"const assert = require('assert')\nconst total = n => ({wrong}.includes(n) ? n - 1 : n)\n"
        f"describe('Basket', () => {{\n{tests}}})\n",
    }
    facts = {f"test {n}": [f'"fullTitle": "Basket refuses invalid basket {n}"'] for n in wrong}
    facts["the reason"] = ['"message": "10 == 11"']
    return run(files, f"PATH={SCRIPTS}/.bin:$PATH npm test"), facts


CASES = [
    gcc_one_error_among_warnings,
    gxx_template_error,
    linker_undefined_function,
    rustc_errors_among_warnings,
    javac_two_errors,
    tsc_two_errors,
    cargo_test_one_failure,
    python_unittest_two_failures,
    pytest_one_failure,
    node_test_one_failure,
    jest_one_failure,
    mocha_one_failure,
    vitest_one_failure,
    ctest_one_failure,
    make_one_failing_step,
    npm_dependency_conflict,
    node_exception_in_the_middle,
    python_traceback_in_log,
    asan_one_failing_run,
    checksum_one_mismatch,
    tar_one_missing_file,
    training_loss_becomes_nan,
    ruff_one_error_among_style,
    prove_one_failure,
    rust_backtrace,
    python_error_raised_in_library,
    go_reason_before_verdict,
    go_test_json_events,
    minitest_several_failures,
    pylint_errors_among_style,
    tape_failures_under_titles,
    json_report_after_banner,
]


def find(lines, part, name):
    """The number of the first line that starts with a text, or else of the first that contains it."""
    for test in (str.startswith, str.__contains__):
        for number, line in enumerate(lines, 1):
            if test(line.strip(), part.strip()):
                return number
    raise SystemExit(f"{name}: no line has {part!r}; the tool's wording has changed")


def label(case):
    """Writes the log of a case and returns its labels."""
    text, facts = case()
    name = case.__name__
    (HERE / f"{name}.log").write_text(text)
    lines = text.split("\n")
    labelled = []
    for fact, parts in facts.items():
        numbers = [find(lines, part, name) for part in parts]
        labelled.append({"name": fact, "alternatives": [{"lines": numbers}]})
    print(name, len(text), "bytes")
    return {"corpus": "cases", "file": f"{name}.log", "facts": labelled}


def main(names):
    """Generates the named cases, or all of them."""
    install()
    place = HERE / "labels.jsonl"
    known = [json.loads(line) for line in place.read_text().splitlines()] if place.exists() else []
    labels = {label["file"]: label for label in known}
    for case in CASES:
        if not names or case.__name__ in names:
            labels[f"{case.__name__}.log"] = label(case)
            ordered = [labels[f"{case.__name__}.log"] for case in CASES if f"{case.__name__}.log" in labels]
            place.write_text("".join(json.dumps(label) + "\n" for label in ordered))


main(sys.argv[1:])
