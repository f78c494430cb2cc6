"""A file that bounds what is written into it."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any, BinaryIO

from ._cut import Cut
from ._steps import Flow, Work, run, run_async

if TYPE_CHECKING:
    from ._truncator import Context, Truncator

    # What `subprocess` says it takes.
    class File(io.RawIOBase, BinaryIO):
        pass
else:
    File = io.RawIOBase


class Spool(File):
    """Takes an output in pieces, also from a process, and bounds it. Memory stays within a few times the budget.

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
        call = json.dumps(options) if options else None
        self._native = truncator._engine.spool(*context, call)
        self._cut: Cut[Any] | None = None

    def writable(self) -> bool:
        """Always, until it is closed."""
        return True

    def write(self, chunk: Any) -> int:
        """Takes in a chunk: bytes, or text."""
        self._checkClosed()
        return self._native.write(chunk)

    def fileno(self) -> int:
        """A pipe for processes to write into."""
        self._checkClosed()
        return self._native.fileno()

    def _checkClosed(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def close(self) -> None:
        """Waits for every process that still writes, and takes in nothing more."""
        if not self.closed and hasattr(self, "_native"):
            self._end(None)

    def finish(self, *, exit_code: int | None = None, remark: str = "", timeout: float | None = None) -> Cut[Any]:
        """Closes it and bounds what came.

        It waits for every process that still writes, such as one that a killed shell has left behind; with `timeout` for so
        many seconds at the most. What they write afterwards is read and forgotten.
        """
        return run(self._finishing(exit_code, remark, timeout)) if self._cut is None else self._cut

    async def afinish(self, *, exit_code: int | None = None, remark: str = "", timeout: float | None = None) -> Cut[Any]:
        """The same without holding up the event loop."""
        return await run_async(self._finishing(exit_code, remark, timeout)) if self._cut is None else self._cut

    def _end(self, timeout: float | None) -> None:
        try:
            self._native.drain(timeout)
        finally:
            super().close()

    def _finishing(self, exit_code: int | None, remark: str, timeout: float | None) -> Flow[Cut[Any]]:
        yield Work(lambda: self._end(timeout))
        content, report, saves = yield Work(lambda: self._native.finish(exit_code, remark))
        failed: BaseException | None = None
        if saves is not None:
            texts = [save if self._binary else save.decode("utf-8", "replace") for save in saves]
            given = yield from self._truncator._keeping(texts, self._context)
            try:
                given.update((yield from self._truncator._making(report)))
            except BaseException as error:
                # With the exception the output would be lost, so it is kept first, and cut without the strategy.
                failed = error
                given["made"] = ["" for _ in json.loads(report)["wanted"]]
            call = json.dumps({**self._options, **given})
            content, report, _ = yield Work(lambda: self._native.finish(exit_code, remark, call))
        cut = self._as_cut(content, report)
        self._cut = cut
        if report is not None:
            self._truncator._tell(json.loads(report))
        if failed is not None:
            raise failed
        return cut

    def _as_cut(self, content: bytes, report: str | None) -> Cut[Any]:
        told = content if self._binary else content.decode("utf-8", "replace")
        is_cut = report is not None and json.loads(report)["truncated"]
        return Cut(told, report if is_cut else None)
