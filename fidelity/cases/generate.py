"""Makes the labelled cases of this folder: real tools on small real programs, each with one thing wrong.

Run `python3 generate.py` here; it needs gcc, make, javac, node, cargo and python3, and writes `*.log` and `labels.jsonl`.
What a reader must see is given as text; the line numbers are looked up in what the tool printed.
"""

import json
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent


def run(files, command):
    """Runs a command on files in a folder of its own and returns everything it printed."""
    with tempfile.TemporaryDirectory(prefix="case-") as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        ran = subprocess.run(command, shell=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return ran.stdout.decode().replace(folder, "/project")


def gcc_one_error_among_warnings():
    files = {f"m{n}.c": f"int f{n}(int a) {{ int unused{n}; int other{n} = a; return a + {n}; }}\n" for n in range(120)}
    files["m60.c"] = "struct point { int x; };\nint f60(struct point *p) { return p->z; }\n"
    files["Makefile"] = "CFLAGS = -Wall -Wextra\nall: $(patsubst %.c,%.o,$(wildcard *.c))\n"
    facts = {
        "the error": ["m60.c:2:36: error: ‘struct point’ has no member named ‘z’"],
        "make gave up": ["make: *** [<builtin>: m60.o] Error 1"],
    }
    return run(files, "LC_ALL=C.UTF-8 make -k"), facts


def python_unittest_two_of_many():
    tests = "".join(f"    def test_case_{n}(self):\n        self.assertEqual({n}, {n})\n" for n in range(400))
    tests += "    def test_total(self):\n        self.assertEqual(add(1, 2), 4)\n"
    tests += "    def test_lookup(self):\n        self.assertEqual(find({}, 'key'), 1)\n"
    source = "import unittest\ndef add(a, b):\n    return a + b\ndef find(table, key):\n    return table[key]\n"
    files = {"test_shop.py": f"{source}class ShopTest(unittest.TestCase):\n{tests}"}
    facts = {
        "test_total": ["FAIL: test_total (test_shop.ShopTest", "AssertionError: 3 != 4"],
        "test_lookup": ["ERROR: test_lookup (test_shop.ShopTest", "KeyError: 'key'"],
        "the end": ["FAILED (failures=1, errors=1)"],
    }
    return run(files, "python3 -m unittest -v; for n in $(seq 1 300); do echo uploading part $n; done"), facts


def cargo_test_one_of_many():
    tests = "".join(f"    #[test]\n    fn case_{n}() {{ assert_eq!(super::add({n}, 1), {n + 1}); }}\n" for n in range(300))
    tests += "    #[test]\n    fn adds_the_largest() { assert_eq!(super::add(2, 2), 5, \"two and two\"); }\n"
    files = {
        "Cargo.toml": "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        "src/lib.rs": f"pub fn add(a: u32, b: u32) -> u32 {{ a + b }}\n#[cfg(test)]\nmod tests {{\n{tests}}}\n",
    }
    facts = {
        "the test": ["---- tests::adds_the_largest stdout ----"],
        "the values": ["assertion `left == right` failed: two and two", "  left: 4", " right: 5"],
        "the end": ["test result: FAILED. 300 passed; 1 failed"],
    }
    return run(files, "cargo test --offline -- --test-threads=1; for n in $(seq 1 300); do echo removing layer $n; done"), facts


def node_throws_in_the_middle():
    source = "for (let n = 0; n < 4000; n++) { console.log(`served request ${n}`);\n"
    source += "  if (n === 2000) Promise.resolve().then(() => { const user = undefined; console.log(user.name); }).catch((e) => console.error(e)); }\n"
    loop = "for (let n = 4000; n < 8000; n++) setTimeout(() => console.log(`served request ${n}`), 1);\n"
    facts = {"the exception": ["TypeError: Cannot read properties of undefined (reading 'name')"]}
    return run({"serve.js": source + loop}, "node serve.js"), facts


def javac_two_errors():
    files = {f"A{n}.java": f"class A{n} {{ int f() {{ return new java.util.Date().getYear() + {n}; }} }}\n" for n in range(150)}
    files["Shop.java"] = "class Shop {\n    int total() {\n        return count + \"1\";\n    }\n}\n"
    facts = {
        "the symbol": ["Shop.java:3: error: cannot find symbol", "        return count + \"1\";", "  symbol:   variable count"],
        "the end": ["1 error"],
    }
    return run(files, "javac -Xlint:all -Xmaxwarns 1000 *.java"), facts


CASES = [gcc_one_error_among_warnings, python_unittest_two_of_many, cargo_test_one_of_many, node_throws_in_the_middle, javac_two_errors]


def find(lines, part, name):
    """The number of the first line that starts with a text."""
    for number, line in enumerate(lines, 1):
        if line.startswith(part):
            return number
    raise SystemExit(f"{name}: no line starts with {part!r}; the tool's wording has changed")


def main():
    labels = []
    for case in CASES:
        text, facts = case()
        name = case.__name__
        (HERE / f"{name}.log").write_text(text)
        lines = text.split("\n")
        marked = []
        for fact, parts in facts.items():
            numbers = [find(lines, part, name) for part in parts]
            marked.append({"name": fact, "alternatives": [{"lines": numbers}]})
        labels.append({"corpus": "cases", "file": f"{name}.log", "facts": marked})
        print(name, len(text), "bytes")
    (HERE / "labels.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels))


main()
