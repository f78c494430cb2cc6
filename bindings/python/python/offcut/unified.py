"""The unified truncation of the tool response protocol, configured by its document's environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._truncator import Truncator


_NUMBERS = {
    "TOOL_OUTPUT_MAX_LINES": "max_lines",
    "TOOL_OUTPUT_MAX_BYTES": "max_bytes",
    "TOOL_OUTPUT_RETENTION_DAYS": "retention_days",
}


def from_env(
    variables: Mapping[str, str] | None = None,
    project_root: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Truncator:
    """Return a truncator with the limits, direction, directory and retention that `TOOL_OUTPUT_*` set.

    `TOOL_OUTPUT_DIR` is relative to `project_root`, which is the working directory unless it is given. An unset variable
    leaves the document's default. Other options are those of `Truncator`.
    """
    given = os.environ if variables is None else variables
    root = Path(project_root or ".").resolve()
    for name, option in _NUMBERS.items():
        if name in given:
            options[option] = _whole_number(name, given[name])
    if "TOOL_OUTPUT_TRUNCATE_DIRECTION" in given:
        options["strategy"] = given["TOOL_OUTPUT_TRUNCATE_DIRECTION"]
    directory = root / given.get("TOOL_OUTPUT_DIR", "tool-output")
    return Truncator("unified", store=str(directory), project_root=root, **options)


def _whole_number(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name}: expected a whole number, found {text!r}") from None
