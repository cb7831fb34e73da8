"""One page of HTML about a fit: the answer in words, the matrix to explore, groups, outliers.

`write_report` writes it to a file, `render_report` returns it. The page needs neither network nor
other files.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neocc.report._page import render_report, write_report

__all__ = ["render_report", "write_report"]


def __getattr__(name: str) -> Any:
    """Import on first use: the estimators come along."""
    if name in __all__:
        return getattr(import_module("neocc.report._page"), name)
    raise AttributeError(f"module 'neocc.report' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
