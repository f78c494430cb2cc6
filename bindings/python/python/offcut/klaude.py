"""Klaude's truncation, by the names it has there."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass

from ._truncator import OWN, Truncator

TOOL_OUTPUT_MAX_LENGTH = 40000
TOOL_OUTPUT_DISPLAY_HEAD = 10000
TOOL_OUTPUT_DISPLAY_TAIL = 10000
TOOL_OUTPUT_TRUNCATION_DIR = "/tmp/klaude"


@dataclass
class TruncationResult:
    """What became of an output."""

    output: str
    was_truncated: bool
    saved_file_path: str | None = None
    original_length: int = 0
    truncated_length: int = 0


class TruncationStrategy(ABC):
    """Bounds outputs."""

    @abstractmethod
    def truncate(self, output: str, tool_name: str | None = None, call_id: str | None = None) -> TruncationResult:
        """Bounds one."""


class SmartTruncationStrategy(TruncationStrategy):
    """Over `max_length` characters, the first `head_chars` and the last `tail_chars`; the whole of it saved.

    Without a directory of its own it saves where the command line does; a shared one must be private.
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
            store=OWN if truncation_dir is None else truncation_dir,
            max_chars=max_length,
            keep_chars=head_chars + tail_chars,
            split=[head_chars, tail_chars],
        )

    def truncate(self, output: str, tool_name: str | None = None, call_id: str | None = None) -> TruncationResult:
        """Bounds one output."""
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
    """The strategy in force."""
    global _strategy
    if _strategy is None:
        _strategy = SmartTruncationStrategy()
    return _strategy


def set_truncation_strategy(strategy: TruncationStrategy) -> None:
    """Puts another strategy in force."""
    global _strategy
    _strategy = strategy


def truncate_tool_output(output: str, tool_name: str | None = None, call_id: str | None = None) -> TruncationResult:
    """Bounds an output by the strategy in force."""
    return get_truncation_strategy().truncate(output, tool_name, call_id)
