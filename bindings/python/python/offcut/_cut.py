"""What becomes of an output."""

from __future__ import annotations

import json
from typing import Any, Generic, NamedTuple, TypeVar

#: `str` in, `str` out; `bytes` in, `bytes` out.
Text = TypeVar("Text", str, bytes)


class Size(NamedTuple):
    """A size in the units that were counted."""

    bytes: int
    lines: int
    chars: int | None = None
    tokens: int | None = None


class Limits(NamedTuple):
    """The room there is; None where a unit is not bounded."""

    lines: int | None = None
    bytes: int | None = None
    chars: int | None = None
    tokens: int | None = None


class Gap(NamedTuple):
    """A run of bytes that is not shown. Lines are counted from 1."""

    start: int
    end: int
    first_line: int
    last_line: int
    why: str


class Cut(Generic[Text]):
    """What the model gets, and what is known about the rest.

    An output that fits is its own content, the same object; everything else about it is None or empty.
    """

    __slots__ = ("_json", "_report", "content")

    content: Text

    def __init__(self, content: Text, report: str | None = None) -> None:
        self.content = content
        self._json = report
        self._report: dict[str, Any] | None = None

    @property
    def report(self) -> dict[str, Any]:
        """Everything that is known, as plain data."""
        if self._report is None:
            self._report = json.loads(self._json) if self._json else {"truncated": False, "gaps": []}
        return self._report

    @property
    def truncated(self) -> bool:
        """Whether something is missing from the content."""
        return self._json is not None

    @property
    def saved(self) -> str | None:
        """Where the whole output is: its file, usually. None if it fits or could not be kept whole."""
        return self.report.get("saved")

    @property
    def id(self) -> str | None:
        """The id of the stored output."""
        return self.report.get("id")

    @property
    def error(self) -> str | None:
        """Why the output could not be kept whole."""
        return self.report.get("error")

    @property
    def gaps(self) -> list[Gap]:
        """What is not shown."""
        return [Gap(**gap) for gap in self.report["gaps"]]

    @property
    def original(self) -> Size | None:
        """How large the output was."""
        return self._size("original")

    @property
    def shown(self) -> Size | None:
        """How much of it is shown."""
        return self._size("shown")

    @property
    def removed(self) -> Size | None:
        """How much is missing."""
        return self._size("removed")

    @property
    def limited_by(self) -> str | None:
        """The limit that was exceeded first: lines, bytes, chars or tokens."""
        return self.report.get("limited_by")

    def _size(self, name: str) -> Size | None:
        size = self.report.get(name)
        return Size(**size) if size else None

    def __str__(self) -> str:
        content = self.content
        return content if isinstance(content, str) else bytes(content).decode("utf-8", "replace")

    def __repr__(self) -> str:
        told = f"saved={self.saved!r}" if self.truncated else "whole"
        return f"<offcut.Cut {told}, {len(self.content)} shown>"
