"""Python, Node and the command line share one store."""

import base64
import json
import os
import subprocess
import threading
from pathlib import Path

import offcut
import pytest

BINARY = os.environ["OFFCUT_TEST_BINARY"]
TEXTS = {
    "log": "".join(f"line {number}\n" for number in range(20_000)),
    "unicode": "漢字 😀 é\n" * 9_000,
    "one line": "x" * 60_000,
    "errors": "ok\n" * 9_000 + "error[E0308]: mismatched types\n" + "ok\n" * 9_000,
    "colour": "\x1b[31mred\x1b[0m\n" * 9_000,
}


def node(*arguments, text=""):
    speak = Path(__file__).with_name("speak.mjs")
    done = subprocess.run(
        ["node", speak, *arguments], input=text.encode(), capture_output=True, check=True, timeout=300
    )
    return json.loads(done.stdout)


def command(directory, *arguments, text=""):
    done = subprocess.run(
        [BINARY, "--store", directory, *arguments], input=text.encode(), capture_output=True, check=True, timeout=300
    )
    return done.stdout


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return str(tmp_path / "store")


def by_python(store, text, profile, tool):
    cut = offcut.Truncator(profile, store=store, reach="shell").cut(text, tool)
    return {"content": cut.content, "id": cut.id, "saved": cut.saved}


def by_node(store, text, profile, tool):
    return node("cut", store, text=json.dumps({"text": text, "profile": profile, "tool": tool}))


def by_command(store, text, profile, tool):
    shown = command(store, "cut", "--profile", profile, "--tool", tool, text=text).decode()
    entry = offcut.Store(store).get()
    return {"content": shown, "id": entry.id, "saved": entry.path}


WRITERS = {"python": by_python, "node": by_node, "command": by_command}


@pytest.mark.parametrize("writer", WRITERS)
def test_output_stored_by_one_is_read_by_the_others(store, writer):
    text = TEXTS["log"]
    kept = WRITERS[writer](store, text, "native", "bash")["id"]
    assert offcut.Store(store).cat(kept) == text.encode()
    assert base64.b64decode(node("cat", store, kept)) == text.encode()
    assert command(store, "cat", kept) == text.encode()
    assert [entry.id for entry in offcut.Store(store).list()] == [kept]
    assert [(entry["id"], entry["tool"]) for entry in node("list", store)] == [(kept, "bash")]
    assert kept in command(store, "ls").decode()
    found = offcut.Store(store).grep("line 1999.", "all")
    assert found.matches == node("grep", store, "line 1999.")["matches"] == 10
    assert command(store, "grep", "--count", "line 1999.", kept).strip() == b"10"


@pytest.mark.parametrize("profile", ["native", "opencode", "coding-agent", "takumi", "klaude"])
@pytest.mark.parametrize("name", TEXTS)
def test_all_of_them_show_the_same_preview(store, profile, name):
    text = TEXTS[name]
    if profile != "native":
        text *= 3

    def shown(writer):
        cut = WRITERS[writer](store, text, profile, "search")
        # A notice names the entry by the first ten characters of its id.
        content = cut["content"].replace(cut["saved"], "PATH").replace(cut["id"], "ID").replace(cut["id"][:10], "ID")
        return content.rstrip("\n")

    expected = shown("command")
    assert shown("python") == expected
    # A process per text would take long; the texts that JavaScript encodes differently are enough.
    if name in {"log", "unicode"}:
        assert shown("node") == expected


def test_fifty_threads_and_fifty_workers_store_at_once(store):
    truncator = offcut.Truncator(store=store)
    kept = {}

    def work(number):
        text = f"python {number}\n" * 5000
        kept[truncator.cut(text, "python").id] = text

    def commands(number):
        text = f"command {number}\n" * 5000
        command(store, "cut", text=text)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(50)]
    threads += [threading.Thread(target=commands, args=(number,)) for number in range(5)]
    workers = []
    threads.append(threading.Thread(target=lambda: workers.extend(node("workers", store, "50"))))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept) == len(workers) == 50
    entries = offcut.Store(store).list()
    assert len(entries) == 105 and {entry.status for entry in entries} == {"complete"}
    assert all(offcut.Store(store).cat(key) == text.encode() for key, text in kept.items())
    first = {offcut.Store(store).cat(key).decode().split("\n")[0] for key in workers}
    assert first == {f"node {number}" for number in range(50)}
