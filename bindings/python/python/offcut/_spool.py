"""A file that bounds what is written into it."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any, BinaryIO

from ._cut import Cut
from ._steps import Flow, Work, run, run_async

if TYPE_CHECKING:
    from ._truncator import Context, Truncator

    # The type that `subprocess` accepts.
    class File(io.RawIOBase, BinaryIO):
        pass
else:
    File = io.RawIOBase


class Spool(File):
    """Bounds an output that arrives in chunks, also from a process. Memory stays within a few times the budget.

    >>> import offcut, subprocess
    >>> with offcut.Truncator(store=None).spool(tool="bash") as spool:
    ...     done = subprocess.run(["echo", "hello"], stdout=spool, stderr=spool)
    >>> spool.finish(exit_code=done.returncode).content
    'hello\\n'
    """

    def __init__(self, truncator: Truncator, context: Context, *, binary: bool, options: dict[str, Any]) -> None:
        super().__init__()
        self._truncator = truncator
        self._context = context
        self._binary = binary
        self._options = options
        self._native = truncator._engine.spool(*context, json.dumps(options) if options else None)
        self._cut: Cut[Any] | None = None

    def writable(self) -> bool:
        """Return True: it is writable until it is closed."""
        return True

    def write(self, chunk: Any) -> int:
        """Write a chunk: bytes or text."""
        self._checkClosed()
        return self._native.write(chunk)

    def fileno(self) -> int:
        """The descriptor of a pipe that processes can write into."""
        self._checkClosed()
        return self._native.fileno()

    def _checkClosed(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def close(self) -> None:
        """Wait for every process that still writes, then accept nothing more."""
        if not self.closed and hasattr(self, "_native"):
            self._drain(None)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Close it. After an exception it does not wait: a process that still writes may never end."""
        if kind is None:
            self.close()
        else:
            self.__del__()

    def __del__(self) -> None:
        """Close it without waiting."""
        if not self.closed and hasattr(self, "_native"):
            self._native.close()
            super().close()

    def finish(self, *, exit_code: int | None = None, remark: str = "", timeout: float | None = None) -> Cut[Any]:
        """Close it and bound the output.

        Wait for every process that still writes, such as one that a killed shell left running; with `timeout`, for at most
        that many seconds. What they write afterwards is read and discarded.
        """
        return run(self._finish_steps(exit_code, remark, timeout)) if self._cut is None else self._cut

    async def afinish(self, *, exit_code: int | None = None, remark: str = "", timeout: float | None = None) -> Cut[Any]:
        """The same without blocking the event loop."""
        return await run_async(self._finish_steps(exit_code, remark, timeout)) if self._cut is None else self._cut

    def _drain(self, timeout: float | None) -> None:
        try:
            self._native.drain(timeout)
        finally:
            super().close()

    def _finish_steps(self, exit_code: int | None, remark: str, timeout: float | None) -> Flow[Cut[Any]]:
        yield Work(lambda: self._drain(timeout))
        options = json.dumps(self._options) if self._options else None
        content, report, saves = yield Work(lambda: self._native.finish(exit_code, remark, options))
        failed: BaseException | None = None
        if saves is not None:
            texts = [save if self._binary else save.decode("utf-8", "replace") for save in saves]
            given = yield from self._truncator._save_outputs(texts, self._context)
            try:
                given.update((yield from self._truncator._run_strategy(report)))
            except BaseException as error:
                # The exception would lose the output, so it is stored first and cut without the strategy.
                failed = error
                given["made"] = ["" for _ in json.loads(report)["wanted"]]
            call = json.dumps({**self._options, **given})
            content, report, _ = yield Work(lambda: self._native.finish(exit_code, remark, call))
        cut = self._as_cut(content, report)
        self._cut = cut
        if report is not None:
            self._truncator._emit_events(json.loads(report))
        if failed is not None:
            raise failed
        return cut

    def _as_cut(self, content: bytes, report: str | None) -> Cut[Any]:
        shown = content if self._binary else content.decode("utf-8", "replace")
        is_cut = report is not None and json.loads(report)["truncated"]
        return Cut(shown, report if is_cut else None)
