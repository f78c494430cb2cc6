"""Reading stored outputs."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from ._native import Archive


class Page(NamedTuple):
    """A part of a stored output."""

    content: str
    id: str
    start: int
    end: int
    first_line: int | None
    last_line: int | None
    #: Whether the page contains everything requested.
    complete: bool
    #: The option for `offcut read` that prints the next page.
    next: str | None


class Hit(NamedTuple):
    """One line that matches, or a line of its context."""

    id: str
    line: int
    offset: int
    text: str
    is_match: bool


class Found(NamedTuple):
    """The result of a search: every match is counted, and those that fit a page are shown."""

    matches: int
    shown: int
    hits: list[Hit]


class Entry(NamedTuple):
    """One stored output."""

    id: str
    uri: str
    path: str | None
    created: float
    tool: str | None
    call_id: str | None
    session: str | None
    profile: str
    bytes: int
    lines: int | None
    exit_code: int | None
    status: str
    pinned: bool
    #: The id of the message that contains the call.
    message_id: str | None


class Store:
    """The outputs in a directory; without a directory, those in the command line's store.

    A reference to an output is its id, the beginning of its id, its path, `last` or `last-2`.
    """

    def __init__(self, directory: str | os.PathLike[str] | None = None) -> None:
        self._archive = Archive(None if directory is None else os.fsdecode(directory))

    @property
    def directory(self) -> str:
        """The directory of the store."""
        return self._archive.directory

    def read(
        self,
        reference: str = "last",
        *,
        lines: str | None = None,
        bytes: str | None = None,
        around: int | None = None,
        context: int | None = None,
        max_lines: int | None = None,
        max_bytes: int | None = None,
    ) -> Page:
        """Return one bounded page: `lines="100:200"`, `lines="-50:"`, `bytes="0:4096"` or `around=1234`."""
        options = {
            "lines": lines,
            "bytes": bytes,
            "around": around,
            "context": context,
            "max_lines": max_lines,
            "max_bytes": max_bytes,
        }
        content, text = self._archive.read(reference, json.dumps(options))
        report = json.loads(text)
        report["content"] = content.decode("utf-8", "replace")
        return Page._make(report.get(name) for name in Page._fields)

    def cat(self, reference: str = "last") -> bytes:
        """Return all of an output, byte for byte."""
        return self._archive.cat(reference)

    def grep(
        self,
        pattern: str,
        reference: str = "last",
        *,
        ignore_case: bool = False,
        context: int = 0,
        max_count: int | None = None,
    ) -> Found:
        """Search one output, or every output with `all`, for a regular expression."""
        query = {"pattern": pattern, "ignore_case": ignore_case, "context": context, "max_count": max_count}
        report = json.loads(self._archive.grep(reference, json.dumps(query)))
        return Found(report["matches"], report["shown"], [Hit(**hit) for hit in report["hits"]])

    def list(self) -> list[Entry]:
        """Return every output, the newest first."""
        return [_entry(report) for report in json.loads(self._archive.list())]

    def get(self, reference: str = "last") -> Entry:
        """Return the metadata of one output."""
        return _entry(json.loads(self._archive.get(reference)))

    def pin(self, reference: str) -> None:
        """Pin an output, so that cleaning does not remove it."""
        self._archive.pin(reference)

    def unpin(self, reference: str) -> None:
        """Unpin an output."""
        self._archive.unpin(reference)

    def remove(self, reference: str) -> None:
        """Remove an output."""
        self._archive.remove(reference)

    def clean(self, days: float, profile: str | None = None) -> int:
        """Remove outputs older than this many days, of one profile or of all; return how many were removed."""
        return self._archive.clean(days, profile)

    def __repr__(self) -> str:
        return f"offcut.Store({self.directory!r})"


def _entry(report: dict[str, Any]) -> Entry:
    return Entry._make(report.get(name) for name in Entry._fields)
