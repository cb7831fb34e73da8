"""``python -m neocc`` is the ``neocc`` command."""

from __future__ import annotations

import sys

from neocc._extras import need

__all__ = ["main"]


def main() -> None:
    """Run the ``neocc`` command, or say what to install for it."""
    try:
        for package in ("typer", "rich"):
            need(package)
    except ImportError as error:
        sys.exit(f"neocc: {error}")
    try:
        from neocc.cli import app
    except KeyboardInterrupt:  # nothing has begun that could tell
        sys.exit(130)

    app()


if __name__ == "__main__":
    main()
