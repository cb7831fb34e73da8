"""One page of HTML about a fit: the answer in words, the matrix to explore, groups, outliers.

`write_report` writes it to a file, `render_report` returns it. The page needs neither network nor
other files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neocc._later import importing_later

if TYPE_CHECKING:
    from neocc.report._page import render_report, write_report

__all__ = ["render_report", "write_report"]


# On first use: the estimators come along.
__getattr__, __dir__ = importing_later("neocc.report", dict.fromkeys(__all__, "_page"), __all__)
