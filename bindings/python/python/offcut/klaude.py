"""Klaude's truncation, with Klaude's names."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum

from ._native import truncation_panel
from ._truncator import DEFAULT_STORE, Truncator

TOOL_OUTPUT_MAX_LENGTH = 40000
TOOL_OUTPUT_DISPLAY_HEAD = 10000
TOOL_OUTPUT_DISPLAY_TAIL = 10000
TOOL_OUTPUT_TRUNCATION_DIR = "/tmp/klaude"


@dataclass
class TruncationResult:
    """The result of bounding an output."""

    output: str
    was_truncated: bool
    saved_file_path: str | None = None
    original_length: int = 0
    truncated_length: int = 0

    @property
    def ui_extra(self) -> ToolResultUIExtra | None:
        """What a user interface shows about it; nothing if the output was not saved."""
        if self.saved_file_path is None:
            return None
        truncation = TruncationUIExtra(self.saved_file_path, self.original_length, self.truncated_length)
        return ToolResultUIExtra(ToolResultUIExtraType.TRUNCATION, truncation)


@dataclass
class TruncationUIExtra:
    """What a user interface shows about a truncated output. The lengths are in characters."""

    saved_file_path: str
    original_length: int
    truncated_length: int


class ToolResultUIExtraType(str, Enum):
    """What an extra is about."""

    TRUNCATION = "truncation"


@dataclass
class ToolResultUIExtra:
    """What a tool result contains for user interfaces."""

    type: ToolResultUIExtraType
    truncation: TruncationUIExtra | None = None


def render_truncation_info(ui_extra: TruncationUIExtra) -> str:
    """Return a few lines for a terminal: the original size, how much is not shown, and the file."""
    return truncation_panel(ui_extra.saved_file_path, ui_extra.original_length, ui_extra.truncated_length)


class TruncationStrategy(ABC):
    """Bounds outputs."""

    @abstractmethod
    def truncate(self, output: str, tool_name: str | None = None, call_id: str | None = None) -> TruncationResult:
        """Bound one output."""


class SmartTruncationStrategy(TruncationStrategy):
    """Shows the first `head_chars` and the last `tail_chars` of an output over `max_length` characters, and saves all of it.

    Without a directory it saves to the command line's store. A directory to which other users can write is refused.
    """

    def __init__(
        self,
        max_length: int = TOOL_OUTPUT_MAX_LENGTH,
        head_chars: int = TOOL_OUTPUT_DISPLAY_HEAD,
        tail_chars: int = TOOL_OUTPUT_DISPLAY_TAIL,
        truncation_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        self._truncator = Truncator(
            "klaude",
            store=DEFAULT_STORE if truncation_dir is None else truncation_dir,
            max_chars=max_length,
            keep_chars=head_chars + tail_chars,
            split=[head_chars, tail_chars],
        )

    def truncate(self, output: str, tool_name: str | None = None, call_id: str | None = None) -> TruncationResult:
        """Bound one output."""
        cut = self._truncator.cut(output, tool_name, call_id=call_id)
        if cut.original is None or cut.removed is None:
            return TruncationResult(output, was_truncated=False, original_length=len(output))
        return TruncationResult(
            output=cut.content,
            was_truncated=True,
            saved_file_path=cut.saved,
            original_length=cut.original.chars or 0,
            truncated_length=cut.removed.chars or 0,
        )


_strategy: TruncationStrategy | None = None


def get_truncation_strategy() -> TruncationStrategy:
    """Return the current strategy."""
    global _strategy
    if _strategy is None:
        _strategy = SmartTruncationStrategy()
    return _strategy


def set_truncation_strategy(strategy: TruncationStrategy) -> None:
    """Replace the current strategy."""
    global _strategy
    _strategy = strategy


def truncate_tool_output(output: str, tool_name: str | None = None, call_id: str | None = None) -> TruncationResult:
    """Bound an output with the current strategy."""
    return get_truncation_strategy().truncate(output, tool_name, call_id)
