"""The result of bounding an output."""

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
    """The budget; None where a unit is not bounded."""

    lines: int | None = None
    bytes: int | None = None
    chars: int | None = None
    tokens: int | None = None


class Gap(NamedTuple):
    """A range of bytes that is not shown. Lines are counted from 1."""

    start: int
    end: int
    first_line: int
    last_line: int
    why: str


class Cut(Generic[Text]):
    """What the model gets, and what is known about the rest.

    The content of an output that fits is the same object; everything else about it is None or empty.
    """

    __slots__ = ("_json", "_report", "content")

    content: Text

    def __init__(self, content: Text, report: str | None = None) -> None:
        self.content = content
        self._json = report
        self._report: dict[str, Any] | None = None

    @property
    def report(self) -> dict[str, Any]:
        """The complete report, as plain data."""
        if self._report is None:
            self._report = json.loads(self._json) if self._json else {"truncated": False, "gaps": []}
        return self._report

    @property
    def truncated(self) -> bool:
        """Whether something is not shown."""
        return self._json is not None

    @property
    def saved(self) -> str | None:
        """Where the complete output is, usually a file. None if it fits or could not be stored completely."""
        return self.report.get("saved")

    @property
    def id(self) -> str | None:
        """The id of the stored output."""
        return self.report.get("id")

    @property
    def error(self) -> str | None:
        """Why the output could not be stored completely."""
        return self.report.get("error")

    @property
    def gaps(self) -> list[Gap]:
        """The ranges that are not shown."""
        return [Gap(**gap) for gap in self.report["gaps"]]

    @property
    def original(self) -> Size | None:
        """The size of the output."""
        return self._size("original")

    @property
    def shown(self) -> Size | None:
        """The size of what is shown."""
        return self._size("shown")

    @property
    def removed(self) -> Size | None:
        """The size of what is not shown."""
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
        state = f"saved={self.saved!r}" if self.truncated else "whole"
        return f"<offcut.Cut {state}, {len(self.content)} shown>"
