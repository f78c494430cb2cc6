import asyncio
import json
import os
import subprocess
import sys
import threading

import offcut
import pytest


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: offcut.cut(5), TypeError, "must be str or bytes, not int"),
        (lambda: offcut.cut(None), TypeError, "NoneType"),
        (lambda: offcut.cut("x", tool=5), TypeError, "tool"),
        (lambda: offcut.cut("x", max_lines=-1), ValueError, "a positive whole number"),
        (lambda: offcut.cut("x", max_lines=0), ValueError, "at least 1"),
        (lambda: offcut.cut("x", max_bytes=10), ValueError, "too small"),
        (lambda: offcut.cut("x", max_bytes="lots"), ValueError, "expected a positive size"),
        (lambda: offcut.cut("x", max_line=1), ValueError, "unknown field `max_line`"),
        (lambda: offcut.cut("x", max_lines=object()), TypeError, "not JSON serializable"),
        (lambda: asyncio.run(offcut.Truncator().acut(5)), TypeError, "must be str or bytes, not int"),
        (lambda: offcut.cut("x", tool="\ud800"), UnicodeEncodeError, "surrogates"),
        (lambda: offcut.cut("x", max_lines=float("inf")), ValueError, "JSON compliant"),
        (lambda: offcut.Truncator().spool().finish(exit_code=10**20), OverflowError, "too large"),
        (lambda: offcut.cut("x", profile="nope"), ValueError, "available: native, opencode"),
        (lambda: offcut.cut("x", store=""), ValueError, "name of the store is empty"),
        (lambda: offcut.cut("x", store="s3://bucket"), ValueError, "expected a directory"),
        (lambda: offcut.cut("x", store=5), TypeError, "a store is"),
        (lambda: offcut.result(object()), TypeError, "a result is"),
        (lambda: offcut.result("{"), ValueError, "not JSON"),
        (lambda: offcut.result({"a": float("nan")}), ValueError, "JSON compliant"),
        (lambda: offcut.result({}, shape="nope"), ValueError, "no shape"),
        (lambda: offcut.Store("none"), ValueError, "no store to read from"),
        (lambda: offcut.Store().read("zzzz"), LookupError, "no stored output"),
        (lambda: offcut.Store().read("last"), LookupError, "no stored output"),
        (lambda: offcut.Store().clean(-1), ValueError, "number of days"),
        (lambda: offcut.Truncator().spool().write(5), TypeError, "must be str or bytes"),
    ],
)
def test_mistake_in_a_call_raises(call, error, words):
    with pytest.raises(error, match=words.replace("(", r"\(")):
        call()


def test_invalid_pattern_or_range_raises_value_error(log):
    offcut.cut(log)
    for call in [
        lambda: offcut.Store().grep("("),
        lambda: offcut.Store().read(lines="x"),
        lambda: offcut.Store().read(lines="99999999:"),
        lambda: offcut.Store().read(lines="1:2", bytes="1:2"),
    ]:
        with pytest.raises(ValueError, match="."):
            call()


def test_huge_integers_are_accepted_and_kept(log):
    assert not offcut.cut(log, store=None, max_lines=10**30, max_bytes=10**30).truncated
    value = {"content": [{"type": "text", "text": log}], "n": [10**400, -(2**64), 2**63]}
    assert offcut.result(value, store=None)["n"] == value["n"]


def test_lone_surrogates_in_results_and_file_names_round_trip(log):
    value = {"content": [{"type": "text", "text": "\udcff" + log}]}
    bounded = offcut.result(value)
    assert len(json.dumps(bounded)) < 15_000
    # Bytes that os.fsdecode turned into surrogates are stored as the original bytes.
    text = ("name \udcff.txt\n" * 2000)
    cut = offcut.cut(text, raw=True)
    assert offcut.Store().cat(cut.id) == text.encode("utf-8", "surrogateescape")
    assert "\udcff" in cut.content


@pytest.mark.parametrize("surrogates", ["\ud800", "\ud83d\ud83d", "\ud800\udcff", "\udfff"])
def test_lone_surrogates_that_are_not_escaped_bytes_round_trip(surrogates):
    assert offcut.cut(surrogates).content is surrogates
    for text in [surrogates * 20_000, f"{surrogates}\n" * 20_000, "x" * 20_000 + surrogates]:
        for raw in [True, False]:
            cut = offcut.cut(text, raw=raw)
            assert cut.truncated and cut.content
            assert offcut.Store().cat(cut.id).decode("utf-8", "surrogatepass") == text
    spool = offcut.Truncator().spool()
    assert spool.write(surrogates) == len(surrogates)
    assert spool.finish().content


def test_failing_store_is_reported_in_the_preview(log):
    class Broken:
        def save(self, content, context):
            raise PermissionError("no room")

    errors = []
    truncator = offcut.Truncator(store=Broken(), on_event=errors.append)
    cut = truncator.cut(log)
    assert cut.truncated and cut.saved is None and cut.error == "no room" and "no room" in cut.content
    assert errors[0]["event"] == "error"
    assert "no room" in json.dumps(truncator.result({"content": [{"type": "text", "text": log}]}))


def test_lone_surrogates_from_store_and_strategy_are_replaced(log):
    class Odd:
        def __init__(self, save):
            self.save = lambda content, context: save()

    def fail():
        raise OSError("no \udcff")

    assert offcut.Truncator(store=Odd(fail)).cut(log).error == "no ?"
    assert "not valid text" in offcut.Truncator(store=Odd(lambda: "/\udcff")).cut(log).error
    assert "mine ?" in offcut.Truncator(strategy=lambda text, limits: "mine \ud800").cut(log).content


def test_store_path_that_is_a_file_is_reported(log, tmp_path):
    (tmp_path / "file").write_text("")
    cut = offcut.cut(log, store=tmp_path / "file")
    assert cut.truncated and cut.saved is None and cut.error


def test_exception_in_a_callback_is_raised(log):
    def wrong(*_):
        raise RuntimeError("mine")

    for truncator in [offcut.Truncator(strategy=wrong), offcut.Truncator(decide=wrong), offcut.Truncator(on_event=wrong)]:
        with pytest.raises(RuntimeError, match="mine"):
            truncator.cut(log) if truncator._decide is None else truncator.result({"content": []}, "x")
    with pytest.raises(TypeError, match="must return str, not int"):
        offcut.Truncator(strategy=lambda text, limits: 5).cut(log)
    with pytest.raises(RuntimeError, match="mine"):
        asyncio.run(offcut.Truncator(strategy=wrong).acut(log))


def test_stream_is_stored_when_the_strategy_fails(log):
    def wrong(text, limits):
        raise RuntimeError("mine")

    spool = offcut.Truncator(strategy=wrong).spool()
    spool.write(log)
    with pytest.raises(RuntimeError, match="mine"):
        spool.finish()
    assert offcut.Store().cat() == log.encode()
    assert spool.finish().truncated


def test_binary_output_with_a_custom_strategy_is_described_and_stored():
    truncator = offcut.Truncator(strategy=lambda text, limits: "mine")
    output = bytes(range(256)) * 200
    cut = truncator.cut(output)
    assert cut.truncated and offcut.Store().cat(cut.id) == output
    spool = truncator.spool(binary=True)
    spool.write(output)
    assert offcut.Store().cat(spool.finish().id) == output


class Odd(Exception):
    def __init__(self, code, text):
        super().__init__(code, text)
        self.code, self.text = code, text

    def __str__(self):
        return f"{self.code}: {self.text}"


@pytest.mark.parametrize(
    "make", [ValueError, KeyError, lambda text: OSError(5, text), lambda text: Odd(7, text), lambda text: subprocess.CalledProcessError(1, text)]
)
def test_exception_of_a_tool_keeps_its_type_and_cause_and_has_a_message_that_fits(log, make):
    cause = RuntimeError("cause")

    @offcut.tool
    def plain():
        raise make(log) from cause

    @offcut.tool
    async def asynchronous():
        plain.__wrapped__()

    for call in [plain, lambda: asyncio.run(asynchronous())]:
        with pytest.raises(type(make(""))) as caught:
            call()
        error = caught.value
        assert len(str(error)) <= 9500 and "[offcut" in str(error)
        assert error.__cause__ is cause and type(error).__name__ == type(make("")).__name__
        assert "line 19999" in offcut.Store().cat().decode("unicode_escape")
    if make(log).__dict__:
        assert error.__dict__ == make(log).__dict__


def test_exception_of_a_class_without_subclasses_is_bounded(log):
    pydantic = pytest.importorskip("pydantic")

    @offcut.tool(store=None)
    def invalid():
        pydantic.TypeAdapter(list[int]).validate_python(log.splitlines())

    with pytest.raises(ValueError) as caught:
        invalid()
    assert len(str(caught.value)) <= 9500


def test_short_exception_is_the_same_object():
    error = ValueError("short")

    @offcut.tool
    def failing():
        raise error

    with pytest.raises(ValueError) as caught:
        failing()
    assert caught.value is error and error.args == ("short",)


def test_keyboard_interrupt_in_a_callback_is_raised(log):
    def stop(text, limits):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        offcut.Truncator(strategy=stop).cut(log)


def test_closed_spool_rejects_writes():
    spool = offcut.Truncator(store=None).spool()
    spool.write("a")
    spool.close()
    spool.close()
    for call in [lambda: spool.write("b"), spool.fileno]:
        with pytest.raises(ValueError, match="closed"):
            call()
    assert spool.finish().content == "a"
    with offcut.Truncator(store=None).spool() as left:
        pass
    with pytest.raises(ValueError, match="closed"):
        subprocess.run(["true"], stdout=left, check=True)


def test_many_threads_can_close_one_spool():
    """No thread waits for a lock while it holds the interpreter lock."""
    code = """
import offcut, subprocess, threading
spool = offcut.Truncator(store=None).spool()
command = subprocess.Popen(["sh", "-c", "echo begun; read line; echo ended"], stdin=subprocess.PIPE, stdout=spool)
def number():
    try:
        spool.fileno()
    except ValueError:
        pass
closing = [threading.Thread(target=spool.close) for _ in range(10)]
asking = [threading.Thread(target=number) for _ in range(10)]
for thread in closing + asking:
    thread.start()
for thread in asking:
    thread.join()
command.communicate(b"\\n")
for thread in closing:
    thread.join()
print(spool.finish().content, end="")
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True)
    assert done.stdout == "begun\nended\n"


def test_interrupt_while_a_process_still_writes_loses_nothing():
    code = """
import offcut, signal, subprocess, threading
# The test may have been started with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
spool = offcut.Truncator(store=None).spool()
command = subprocess.Popen(["sh", "-c", "echo begun; read line; echo ended"], stdin=subprocess.PIPE, stdout=spool)
try:
    # Usually arrives during the wait, but any moment must work.
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    spool.close()
except KeyboardInterrupt:
    command.communicate(b"\\n")
    print(spool.finish().content, end="")
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True)
    assert done.stdout == "begun\nended\n"


def test_finish_with_timeout_does_not_wait_for_orphans():
    spool = offcut.Truncator(store=None).spool()
    # The orphan reads the input of the test, and ends when that is closed.
    line = "read line <&3 & echo begun; exec sleep 600"
    with subprocess.Popen(
        ["sh", "-c", f"exec 3<&0; {line}"], stdin=subprocess.PIPE, stdout=spool, stderr=spool
    ) as command:
        command.kill()
        command.wait()
        assert spool.finish(exit_code=-9, timeout=0.1).content in {"", "begun\n"}
    for timeout in [-1, float("nan"), 1e300]:
        with pytest.raises(ValueError, match="not a number of seconds"):
            offcut.Truncator(store=None).spool().finish(timeout=timeout)


WRITER = """
import offcut, os, subprocess, sys
def begin():
    spool = offcut.Truncator(store=None).spool()
    # Writes until the input of this program is closed, which is after the program.
    subprocess.Popen(["cat"], stdin=0, stdout=spool, stderr=subprocess.DEVNULL)
    return spool
"""


@pytest.mark.parametrize(
    "code",
    [
        "import gc; spool = begin(); del spool; gc.collect()",
        "spool = begin()",
        "try:\n    with begin() as spool:\n        raise RuntimeError\nexcept RuntimeError:\n    assert spool.closed",
        "spool = begin()\nif os.fork() == 0:\n    spool.close(); del spool; os._exit(0)\nassert os.wait()[1] == 0",
        "spool = begin()\nif os.fork() == 0:\n    with spool:\n        pass\n    sys.exit(0)\nassert os.wait()[1] == 0",
    ],
    ids=["collected", "exit", "exception", "forked", "forked with"],
)
def test_spool_that_is_left_does_not_wait_for_its_writers(code):
    read, write = os.pipe()
    try:
        done = subprocess.run([sys.executable, "-c", WRITER + code], stdin=read, timeout=30, capture_output=True, text=True)
    finally:
        os.close(write)
        os.close(read)
    assert (done.returncode, done.stderr) == (0, "")


def test_output_after_an_exception_in_with_can_be_finished():
    spool = offcut.Truncator(store=None).spool()
    with pytest.raises(RuntimeError), spool:
        subprocess.run(["echo", "hello"], stdout=spool, check=True)
        raise RuntimeError
    assert spool.finish().content == "hello\n"


def test_forked_child_does_not_end_the_output_of_its_parent(log):
    code = """
import gc, offcut, os, sys
spool = offcut.Truncator().spool()
spool.write(sys.argv[1] * 20)
if os.fork() == 0:
    del spool
    gc.collect()
    sys.exit(0)
assert os.wait()[1] == 0
spool.write("end")
entry = offcut.Store().get(spool.finish().id)
assert entry.status == "complete" and offcut.Store().cat(entry.id).endswith(b"end"), entry
"""
    subprocess.run([sys.executable, "-c", code, log[:100_000]], check=True, timeout=60)


@pytest.mark.parametrize("call", ["write('child')", "finish()", "fileno()"])
def test_forked_child_cannot_use_the_spool_of_its_parent(call, log):
    code = f"""
import offcut, os, sys
spool = offcut.Truncator().spool()
spool.write(sys.argv[1])
if os.fork() == 0:
    try:
        spool.{call}
    except ValueError as error:
        assert "only the process that opened the spool" in str(error), error
        os._exit(0)
    os._exit(1)
assert os.wait()[1] == 0
spool.write("end")
entry = offcut.Store().get(spool.finish().id)
assert offcut.Store().cat(entry.id) == (sys.argv[1] + "end").encode(), entry
"""
    subprocess.run([sys.executable, "-c", code, log[:100_000]], check=True, timeout=60)


def test_forked_child_writes_into_the_pipe_of_its_parent():
    code = """
import offcut, os
spool = offcut.Truncator(store=None).spool()
spool.fileno()
if os.fork() == 0:
    os.write(spool.fileno(), b"hello")
    os._exit(0)
assert os.wait()[1] == 0
assert spool.finish().content == "hello"
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_unfinished_spool_does_not_hang_at_exit():
    code = "import offcut\nspool = offcut.Truncator(store=None).spool()\nspool.fileno()\n"
    assert subprocess.run([sys.executable, "-c", code], check=True, timeout=60).returncode == 0


def test_deep_json_without_an_end_is_cut_on_small_stacks():
    code = """
import offcut, threading
shown = []
def work():
    for depth in [20_000, 50_000]:
        for text in ["[" * depth, '{"a":' * depth, '[{"a":' * depth, "[" * depth + "]" * depth]:
            for options in [{}, {"strategy": "json"}, {"strategy": "smart"}]:
                shown.append(offcut.cut(text, store=None, **options).content)
            value = offcut.result({"content": [{"type": "text", "text": text}]}, store=None)
            shown.extend(part["text"] for part in value["content"])
            try:
                offcut.result(text, store=None)
            except ValueError:
                pass
threading.stack_size(256 << 10)
thread = threading.Thread(target=work)
thread.start()
thread.join()
assert len(shown) >= 32 and max(map(len, shown)) < 15_000, len(shown)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100)


def test_fifty_threads_store_fifty_outputs(log):
    truncator, cuts, start = offcut.Truncator(), [], threading.Barrier(50)

    def work(number):
        start.wait()
        text = f"{number}\n{log}"
        cut = truncator.cut(text, f"tool{number}")
        cuts.append(offcut.Store().cat(cut.id) == text.encode() and offcut.Store().get(cut.id).tool == f"tool{number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(50)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert cuts == [True] * 50 and len(offcut.Store().list()) == 50
