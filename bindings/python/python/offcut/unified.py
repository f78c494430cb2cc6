"""The unified truncation of the tool response protocol, configured by its document's environment variables."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._native import unified_variables
from ._truncator import Truncator


def from_env(
    variables: Mapping[str, str] | None = None,
    project_root: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Truncator:
    """Return a truncator with the limits, direction, directory and retention that `TOOL_OUTPUT_*` set.

    `TOOL_OUTPUT_DIR` is relative to `project_root`, which is the working directory unless it is given. An unset variable
    leaves the document's default. Other options are those of `Truncator`; they take precedence.
    """
    given = os.environ if variables is None else variables
    settings = json.loads(unified_variables({name: given[name] for name in given if name.startswith("TOOL_OUTPUT_")}))
    root = Path(project_root or ".").resolve()
    directory = root / settings.pop("dir")
    return Truncator("unified", project_root=root, **{"store": str(directory), **settings, **options})
