import asyncio
import functools
import inspect
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import offcut
import pytest


def test_output_that_fits_is_the_same_object():
    for text in ["", "hello", b"hello", "ä\n", "\ud800"[:0]]:
        cut = offcut.cut(text, tool="bash")
        assert cut.content is text
        assert (cut.truncated, cut.saved, cut.gaps, cut.original) == (False, None, [], None)


@pytest.mark.parametrize("language", [str, bytes, bytearray, memoryview])
def test_output_that_does_not_fit_is_cut_and_stored(log, language):
    text = log if language is str else language(log.encode())
    cut = offcut.cut(text, tool="bash")
    assert cut.truncated and len(cut.content) <= 9500
    assert isinstance(cut.content, str if language is str else bytes)
    with open(cut.saved, "rb") as file:
        assert file.read() == log.encode()
    assert (os.stat(cut.saved).st_mode & 0o777) == 0o600
    assert cut.original == offcut.Size(len(log), 20_000)
    assert cut.original.bytes == cut.shown.bytes + cut.removed.bytes
    assert sum(gap.end - gap.start for gap in cut.gaps) == cut.removed.bytes
    assert cut.limited_by == "bytes" and cut.id in str(cut)


def test_call_options_override_tool_options_override_defaults():
    truncator = offcut.Truncator("opencode", store=None, max_lines=100, tools={"grep": {"max_lines": 20}})
    text = "x\n" * 50
    assert not truncator.cut(text).truncated
    assert truncator.cut(text, "grep").truncated
    assert not truncator.cut(text, "grep", max_lines=60).truncated
    assert not truncator.cut(text, "grep", enabled=False).truncated
    assert not offcut.Truncator("opencode", store=None, max_lines=5, skip_tools=["web"]).cut(text, "web").truncated


def test_profiles_and_presets_set_limits_and_wording(log):
    assert "lines truncated..." in offcut.cut("x\n" * 3000, profile="opencode").content
    assert offcut.cut(log, store=None, preset="error").shown.lines <= 100
    assert offcut.Truncator("klaude").profile == "klaude"


SHAPES = {
    "mcp": lambda text: {"content": [{"type": "text", "text": text}]},
    "anthropic": lambda text: {"type": "tool_result", "tool_use_id": "x", "content": text},
    "openai-chat": lambda text: {"role": "tool", "tool_call_id": "x", "content": text},
    "openai-responses": lambda text: {"type": "function_call_output", "call_id": "x", "output": text},
    "gemini": lambda text: {"functionResponse": {"name": "x", "response": {"output": text}}},
    "bedrock": lambda text: {"toolResult": {"toolUseId": "x", "status": "success", "content": [{"text": text}]}},
    "takumi": lambda text: {"llmContent": text},
    "unified": lambda text: {"status": "success", "data": {"rows": text}, "text": "ok", "stats": {}},
    "klaude": lambda text: {"output": text, "call_id": "x", "status": "success"},
    "coding-agent": lambda text: {"success": True, "output": text},
    "opencode": lambda text: {"title": "x", "output": text},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_result_of_every_shape_is_bounded_and_keeps_other_values(log, shape):
    value = {**SHAPES[shape](log), "big": 10**40, "float": 1e-7, "ünïcode": "é", "last": None}
    truncator = offcut.Truncator()
    judged = truncator.judge(value)
    assert [(one["shape"], one["verdict"]) for one in judged.results] == [(shape, "cut")]
    truncator.judge(value, "search", call_id="c", session="s")
    entry = offcut.Store().get()
    assert (entry.tool, entry.session) == ("search", "s") and entry.call_id in {"c", "x"}
    assert len(json.dumps(judged.value)) < 15_000
    if shape != "unified":
        assert judged.value["big"] == 10**40 and judged.value["ünïcode"] == "é"
        assert list(judged.value)[: len(value)] == list(value)
    text = json.dumps(value)
    assert json.loads(truncator.result(text)).keys() == json.loads(truncator.result(text.encode())).keys()
    small = SHAPES[shape]("small")
    assert truncator.result(small) is small
    assert asyncio.run(truncator.aresult(small)) is small


def test_value_that_is_not_a_result_passes():
    for value in [{}, [], {"a": 1}, [1, 2]]:
        assert offcut.result(value) is value


def test_decide_passes_bounds_or_sets_options():
    asked = []

    def decide(tool, value):
        asked.append(tool)
        return {"a": False, "b": True, "c": {"max_lines": 5}}[tool]

    truncator = offcut.Truncator("coding-agent", store=None, decide=decide)
    value = {"success": True, "output": "x\n" * 50}
    assert truncator.result({"success": True, "output": "x\n" * 5000}, "a")["output"] == "x\n" * 5000
    assert truncator.result(value, "b")["metadata"] == {"truncated": False}
    assert truncator.result(value, "c")["metadata"]["truncated"] is True
    assert asked == ["a", "b", "c"]
    text = "x\n" * 50
    assert [truncator.cut(text, tool).truncated for tool in "abc"] == [False, False, True]
    assert [asyncio.run(truncator.acut(text, tool)).truncated for tool in "abc"] == [False, False, True]
    # Called once for each value, whatever its type.
    asked.clear()
    truncator.bound({"rows": [text]}, "c")
    assert asked == ["c"]


def test_decorator_bounds_functions_and_coroutines(log):
    @offcut.tool
    def plain():
        """About."""
        return log

    @offcut.tool(name="other", store=None)
    async def asynchronous():
        return {"content": [{"type": "text", "text": log}]}

    class Callable:
        async def __call__(self):
            return log

    assert len(plain()) <= 9500 and plain.__doc__ == "About."
    assert offcut.Store().get().tool == "plain"
    assert inspect.iscoroutinefunction(asynchronous)
    assert len(json.dumps(asyncio.run(asynchronous()))) < 15_000
    assert len(asyncio.run(offcut.tool(Callable(), store=None)())) <= 9500


class Model:
    """The parts of a pydantic model that are needed."""

    def __init__(self, rows):
        self.rows = rows

    def model_dump(self, **_):
        return {"rows": self.rows}

    @classmethod
    def model_validate(cls, value):
        return cls(**value)


def test_any_return_value_of_a_tool_is_bounded(log):
    truncator, lines = offcut.Truncator(), log.splitlines()
    circle = [log]
    circle.append(circle)
    for value in [
        {"rows": lines},
        lines,
        tuple(lines),
        Model(lines),
        # Values that JSON cannot represent do not lose the result.
        {"rows": lines, "path": Path("/"), "set": {1}},
        {"rows": lines, "number": float("nan")},
        {(1, 2): log},
        circle,
    ]:
        for shown in [truncator.bound(value), asyncio.run(truncator.abound(value))]:
            assert isinstance(shown, str) and len(shown) <= 9500
        assert "line 19999" in offcut.Store().cat().decode()
    for value in [5, None, object(), {"rows": 1}, [1], (1,), Model([1]), {"path": Path("/")}, {1: 2}]:
        assert truncator.bound(value) is value


def test_declared_return_type_is_kept(log):
    lines = log.splitlines()

    @offcut.tool
    def strings() -> list[str]:
        return lines

    @offcut.tool
    async def either() -> str | list[str]:
        return lines

    @offcut.tool
    def other() -> list[str]:
        return [Path("/")] * 20_000

    shown = strings()
    assert shown[:2] == lines[:2] and shown[-1].startswith("[offcut ") and len(json.dumps(shown)) <= 9500
    assert json.loads(offcut.Store().cat()) == lines
    # Text is allowed, or the value has another type.
    assert isinstance(asyncio.run(either()), str) and len(asyncio.run(either())) <= 9500
    assert len(str(other())) <= 9500
    memory = Memory()
    kept = offcut.Truncator(store=memory).tool(strings.__wrapped__)()
    assert json.loads(memory.kept["memory://0"][0]) == lines and "memory://0" in kept[-1]


def test_relative_store_path_is_resolved_at_every_call(log, tmp_path, monkeypatch):
    for name in ["a", "b"]:
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        assert offcut.cut(log, store="kept").saved.startswith(f"{tmp_path}/{name}/kept/")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_large_outputs_are_cut_under_anyio_and_trio(log, backend):
    anyio, trio = pytest.importorskip("anyio"), pytest.importorskip("trio")

    class Slow(Memory):
        async def save(self, content, context):
            await anyio.sleep(0)
            return super().save(content, context)

    async def use():
        truncator, store = offcut.Truncator(), Slow()
        assert (await truncator.acut(log)).truncated
        assert len(json.dumps(await truncator.aresult({"content": [{"type": "text", "text": log}]}))) < 15_000
        spool = offcut.Truncator(store=store).spool()
        spool.write(log)
        cut = await spool.afinish()
        assert store.kept[cut.saved][0] == log

    anyio.run(use, backend=backend)
    if backend == "trio":
        trio.run(use)


def test_many_asynchronous_cuts_get_their_own_entries(log):
    async def many():
        truncator = offcut.Truncator()
        return await asyncio.gather(*(truncator.acut(log, f"tool{number}") for number in range(20)))

    cuts = asyncio.run(many())
    assert len({cut.id for cut in cuts}) == 20
    assert all(open(cut.saved).read() == log for cut in cuts)


def test_spool_takes_output_of_a_process():
    truncator = offcut.Truncator()
    with truncator.spool("bash", call_id="c1") as spool:
        done = subprocess.run(["seq", "1", "100000"], stdout=spool, stderr=spool, check=True)
    cut = spool.finish(exit_code=done.returncode, remark="exit code 0")
    assert cut.original == offcut.Size(588_895, 100_000)
    entry = offcut.Store().get(cut.id)
    assert (entry.exit_code, entry.tool, entry.call_id, entry.lines) == (0, "bash", "c1", 100_000)
    assert spool.finish() is cut
    assert "exit code 0" in cut.content


def test_spool_takes_chunks_and_cuts_like_a_whole_text(log):
    spool = offcut.Truncator().spool(binary=True)
    assert spool.write(b"ab") == 2 and spool.write("cd") == 2 and spool.writable()
    assert spool.finish().content == b"abcd"
    spool = offcut.Truncator().spool()
    for start in range(0, len(log), 1000):
        spool.write(log[start : start + 1000])
    whole = offcut.Truncator().cut(log)
    # A notice names the entry by the first ten characters of its id.
    spooled, whole = (
        cut.content.replace(cut.id, "ID").replace(cut.id[:10], "ID") for cut in (spool.finish(), whole)
    )
    assert spooled == whole


def test_message_id_is_stored_with_the_output(log):
    truncator = offcut.Truncator()

    def stream():
        with truncator.spool("bash", message_id="m3") as spool:
            spool.write(log)
        spool.finish()

    value = {"content": [{"type": "text", "text": log}]}
    for message, bound in [
        ("m1", lambda: truncator.cut(log, "bash", call_id="c", message_id="m1")),
        ("m2", lambda: asyncio.run(truncator.acut(log, message_id="m2"))),
        ("m3", stream),
        ("m4", lambda: truncator.result(value, message_id="m4")),
        ("m5", lambda: truncator.bound(log, message_id="m5")),
        ("m6", lambda: offcut.cut(log, message_id="m6")),
    ]:
        bound()
        assert offcut.Store().get().message_id == message
    memory = Memory()
    offcut.Truncator(store=memory).cut(log, "bash", message_id="m7")
    assert memory.kept["memory://0"][1] == offcut.Context("bash", None, None, "m7")


def test_store_reads_searches_lists_pins_and_cleans(log):
    cut = offcut.cut(log, tool="bash")
    store = offcut.Store()
    page = store.read(cut.id, lines="10:12")
    assert page.content == "line 9\nline 10\nline 11\n" and page.complete and page.first_line == 10
    assert store.read(cut.saved, bytes="0:4").content == "line"
    assert store.read(around=100, context=1).content == "line 98\nline 99\nline 100\n"
    assert not store.read().complete and store.read().next.startswith("--lines")
    found = store.grep("LINE 1999.$", ignore_case=True)
    assert found.matches == 10 and found.hits[0].text == "line 19990" and found.hits[0].line == 19991
    assert store.grep("line", "all", max_count=3).shown == 3
    assert store.cat() == log.encode()
    assert [entry.id for entry in store.list()] == [cut.id]
    store.pin(cut.id)
    assert store.get(cut.id).pinned and store.clean(0) == 0
    store.unpin(cut.id)
    assert store.clean(0) == 1 and store.list() == []


class Memory:
    """A store written in Python."""

    def __init__(self):
        self.kept = {}

    def save(self, content, context):
        name = f"memory://{len(self.kept)}"
        self.kept[name] = (content, context)
        return name


def test_custom_store_gets_outputs_results_and_streams(log):
    memory = Memory()
    truncator = offcut.Truncator(store=memory)
    cut = truncator.cut(log, "bash", call_id="c")
    assert memory.kept[cut.saved] == (log, offcut.Context("bash", "c", None)) and cut.saved in cut.content
    value = truncator.result({"content": [{"type": "text", "text": log}]}, "search")
    assert memory.kept["memory://1"][0] == log and "memory://1" in json.dumps(value)
    spool = truncator.spool("run")
    spool.write(log)
    assert memory.kept[spool.finish().saved][0] == log
    assert truncator.cut("fits").saved is None and len(memory.kept) == 3


def test_asynchronous_store_needs_asynchronous_call(log):
    class Slow(Memory):
        async def save(self, content, context):
            await asyncio.sleep(0)
            return super().save(content, context)

    slow = Slow()
    truncator = offcut.Truncator(store=slow)
    cut = asyncio.run(truncator.acut(log))
    assert slow.kept[cut.saved][0] == log
    with pytest.raises(TypeError, match="asynchronous"):
        truncator.cut(log)
    # The output of a stream is not lost: the asynchronous method stores it.
    spool = truncator.spool(max_lines=7)
    spool.write(log)
    with pytest.raises(TypeError, match="asynchronous"):
        spool.finish()
    cut = asyncio.run(spool.afinish())
    assert slow.kept[cut.saved][0] == log and cut.content.count("\n") <= 7


def test_custom_strategy_is_bounded_and_marked_opaque(log):
    truncator = offcut.Truncator(strategy=lambda text, limits: f"{len(text)} within {limits.bytes}")
    cut = truncator.cut(log)
    assert f"{len(log)} within " in cut.content
    assert [gap.why for gap in cut.gaps] == ["opaque"]
    assert open(cut.saved).read() == log
    greedy = offcut.Truncator(store=None, strategy=lambda text, limits: text)
    assert len(greedy.cut(log).content) <= 9500
    both = offcut.Truncator(store=Memory(), strategy=lambda text, limits: "mine")
    assert "mine" in both.cut(log).content and both.cut(log).saved.startswith("memory://")


def test_events_report_every_output(log):
    events = []
    truncator = offcut.Truncator(on_event=events.append)
    truncator.cut("fits", "a")
    cut = truncator.cut(log, "b")
    truncator.result({"content": [{"type": "text", "text": log}]}, "c")
    reported = [(event["event"], event["tool"]) for event in events]
    assert reported == [("passed", "a"), ("truncated", "b"), ("truncated", "c")]
    # One event for each output and result that is skipped.
    skipped = []
    truncator = offcut.Truncator(skip_tools=["web"], decide=lambda tool, value: tool != "no", on_event=skipped.append)
    for tool in ["web", "no"]:
        truncator.cut(log, tool)
        truncator.result({"content": [{"type": "text", "text": log}]}, tool)
    truncator = offcut.Truncator("coding-agent", on_event=skipped.append)
    truncator.result({"success": True, "output": log, "metadata": {"truncated": True}}, "marked")
    sizes = [(event["event"], event["tool"], event["original_bytes"]) for event in skipped]
    assert sizes == [("skipped", tool, len(log)) for tool in ["web", "web", "no", "no", "marked"]]
    assert events[1]["path"] == cut.saved and events[1]["content_bytes"] == len(cut.content.encode())


def test_readme_example_runs():
    readme = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
    code = readme.split("```python\n")[1].split("```")[0]
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.splitlines()
    truncated, length = printed[0].split()
    assert truncated == "True" and int(length) <= 9500 and os.path.exists(printed[1])
    assert printed[2].startswith("Gap(") and printed[3:6] == ["a line of output"] * 3


@pytest.mark.parametrize("module", [offcut, offcut._spool])
def test_docstring_examples_run(module):
    import doctest

    results = doctest.testmod(module)
    assert results.failed == 0 and results.attempted > 0


def make_older(directory, days):
    """Make every output in a store older: its id contains the time."""
    digits = "0123456789abcdefghjkmnpqrstvwxyz"
    for metadata in (directory / ".offcut").glob("*.json"):
        time = functools.reduce(lambda value, digit: value << 5 | digits.index(digit), metadata.stem[:8], 0)
        time -= days * 24 * 60 * 60 * 1000
        older = "".join(digits[time >> 5 * place & 31] for place in reversed(range(8))) + metadata.stem[8:]
        text = metadata.read_text().replace(metadata.stem, older)
        (directory / f"{metadata.stem}.txt").rename(directory / f"{older}.txt")
        metadata.unlink()
        metadata.with_stem(older).write_text(text)


def test_cleanup_removes_outputs_after_their_own_retention(log, tmp_path):
    tmp_path = tmp_path / "outputs"
    week = offcut.Truncator(store=tmp_path, automatic_cleaning=False)
    month = offcut.Truncator(store=tmp_path, retention_days=30, automatic_cleaning=False)
    week.cut(log)
    kept = month.cut(log)
    assert week.cleanup() == 0
    make_older(tmp_path, 8)
    # Turned off, so the next output removes nothing.
    week.cut(log)
    time.sleep(0.1)
    assert len(offcut.Store(tmp_path).list()) == 3
    assert month.cleanup() == 1
    assert Path(kept.saved).name[8:] in [path.name[8:] for path in tmp_path.glob("*.txt")]
    assert offcut.Truncator(store=None).cleanup() == 0


def test_first_stored_output_cleans_the_directory(log, tmp_path):
    tmp_path = tmp_path / "outputs"
    offcut.Truncator(store=tmp_path, automatic_cleaning=False).cut(log)
    make_older(tmp_path, 8)
    offcut.cut("fits", store=tmp_path)
    offcut.cut(log, store=tmp_path)
    deadline = time.monotonic() + 10
    while len(offcut.Store(tmp_path).list()) > 1:
        assert time.monotonic() < deadline
        time.sleep(0.01)
