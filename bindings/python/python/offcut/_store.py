"""Reading what was kept."""

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
    #: All that was asked for is here.
    complete: bool
    #: What to ask the command line for next.
    next: str | None


class Hit(NamedTuple):
    """One line that was found, or stands near one."""

    id: str
    line: int
    offset: int
    text: str
    is_match: bool


class Found(NamedTuple):
    """What a search found; every match is counted, as many as fit a page are shown."""

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


class Store:
    """The outputs in a directory; without one, those of the command line's own store.

    An output is named by its id, the beginning of one, its path, `last` or `last-2`.
    """

    def __init__(self, directory: str | os.PathLike[str] | None = None) -> None:
        self._archive = Archive(None if directory is None else os.fsdecode(directory))

    @property
    def directory(self) -> str:
        """Where it is."""
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
        """One bounded page: `lines="100:200"`, `lines="-50:"`, `bytes="0:4096"` or `around=1234`."""
        options = {
            "lines": lines,
            "bytes": bytes,
            "around": around,
            "context": context,
            "max_lines": max_lines,
            "max_bytes": max_bytes,
        }
        content, report = self._archive.read(reference, json.dumps(options))
        told = json.loads(report)
        told["content"] = content.decode("utf-8", "replace")
        return Page._make(told.get(name) for name in Page._fields)

    def cat(self, reference: str = "last") -> bytes:
        """All of an output, byte for byte."""
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
        """Searches one output, or with `all` every one, for a regular expression."""
        query = {"pattern": pattern, "ignore_case": ignore_case, "context": context, "max_count": max_count}
        told = json.loads(self._archive.grep(reference, json.dumps(query)))
        return Found(told["matches"], told["shown"], [Hit(**hit) for hit in told["hits"]])

    def list(self) -> list[Entry]:
        """Every output, the newest first."""
        return [_entry(told) for told in json.loads(self._archive.list())]

    def get(self, reference: str = "last") -> Entry:
        """What is known of one output."""
        return _entry(json.loads(self._archive.get(reference)))

    def pin(self, reference: str) -> None:
        """Keeps an output from being cleaned."""
        self._archive.pin(reference)

    def unpin(self, reference: str) -> None:
        """Lets go of it."""
        self._archive.unpin(reference)

    def remove(self, reference: str) -> None:
        """Removes an output."""
        self._archive.remove(reference)

    def clean(self, days: float, profile: str | None = None) -> int:
        """Removes what is older than so many days, of one profile or of all; says how many outputs went."""
        return self._archive.clean(days, profile)

    def __repr__(self) -> str:
        return f"offcut.Store({self.directory!r})"


def _entry(told: dict[str, Any]) -> Entry:
    return Entry._make(told.get(name) for name in Entry._fields)
