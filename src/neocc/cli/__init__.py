"""The ``neocc`` command.

Only typer is imported here; a command imports what it needs when it runs, so that ``neocc --help``
stays quick.
"""

from __future__ import annotations

from neocc.cli import fitting as _fitting  # noqa: F401 - its commands, in the order of the help
from neocc.cli import results as _results  # noqa: F401
from neocc.cli._command import app

__all__ = ["app"]
