"""One command line for pages of several tables: run parts, print them, keep them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from rich.console import Console

from benchmarks.__main__ import machine
from benchmarks.pages import Line, markdown, replace_section

Part: TypeAlias = tuple[Callable[[int, Console], Iterator[Line]], int]
"""What makes the lines of a table, given a number of seeds, and the usual number."""


def run_parts(module: str, description: str | None, parts: Mapping[str, Part]) -> None:
    """Run the parts asked for, print their tables and, if asked, write them."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"all if none is named: {', '.join(parts)}"
    )
    parser.add_argument("--seeds", type=int, help="number of seeds, in place of each part's own")
    parser.add_argument("--write", type=Path, help="page whose sections are replaced")
    options = parser.parse_args()
    unknown = [name for name in options.parts if name not in parts]
    if unknown:
        parser.error(f"no part is called {unknown[0]}; there are {', '.join(parts)}")
    console = Console()
    for name in options.parts or parts:
        make_lines, usual = parts[name]
        n_seeds = options.seeds or usual
        start = time.perf_counter()
        table = markdown(make_lines(n_seeds, console))
        minutes = (time.perf_counter() - start) / 60
        seeds = "1 seed" if n_seeds == 1 else f"{n_seeds} seeds"
        made = f"`python -m {module} {name}`, {seeds}, {minutes:.1f} minutes."
        text = f"{table}\n\n{made} {machine()}"
        console.print(text, soft_wrap=True, highlight=False)
        if options.write:
            replace_section(options.write, name, text)
