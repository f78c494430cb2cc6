"""offcut: previews of tool output that fit a budget; every byte is stored, and any part can be read back.

>>> import offcut
>>> offcut.cut("fits", tool="bash").content
'fits'
"""

from . import unified
from ._cut import Cut, Gap, Limits, Size
from ._native import NotFound, StoreError, __version__
from ._spool import Spool
from ._store import Entry, Found, Hit, Page, Store
from ._truncator import Context, Judged, Truncator, cut, result, tool
from .klaude import (
    SmartTruncationStrategy,
    ToolResultUIExtra,
    ToolResultUIExtraType,
    TruncationResult,
    TruncationStrategy,
    TruncationUIExtra,
    get_truncation_strategy,
    render_truncation_info,
    set_truncation_strategy,
    truncate_tool_output,
)

__all__ = [
    "Context",
    "Cut",
    "Entry",
    "Found",
    "Gap",
    "Hit",
    "Judged",
    "Limits",
    "NotFound",
    "Page",
    "Size",
    "SmartTruncationStrategy",
    "Spool",
    "Store",
    "StoreError",
    "ToolResultUIExtra",
    "ToolResultUIExtraType",
    "TruncationResult",
    "TruncationStrategy",
    "TruncationUIExtra",
    "Truncator",
    "__version__",
    "cut",
    "get_truncation_strategy",
    "render_truncation_info",
    "result",
    "set_truncation_strategy",
    "tool",
    "truncate_tool_output",
    "unified",
]
