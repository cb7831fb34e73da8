"""`python -m benchmarks.quality [PART ...]` measures how good the defaults are.

Parts: `yeast` (both objectives on the setting whose printed values are known), `movielens` (against
plain restarts for as long), `planted` (known co-clusters, against scikit-learn's spectral methods),
`starts` (which start serves best), `rounds` (what refinement costs), `estimates` (overlap and
outliers), `numbers` (numbers of clusters). `--write docs/quality.md` keeps their tables.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console

from benchmarks.__main__ import machine
from benchmarks.pages import Line, markdown, replace_section
from benchmarks.quality import movielens, planted, rounds, selecting, starts, yeast

PARTS: dict[str, tuple[Callable[[int, Console], Iterator[Line]], int]] = {
    "yeast": (yeast.lines, 20),
    "movielens": (movielens.lines, 3),
    "planted": (planted.lines, 10),
    "starts": (starts.lines, 5),
    "rounds": (rounds.lines, 5),
    "estimates": (selecting.estimate_lines, 10),
    "numbers": (selecting.number_lines, 40),
}
"""What makes the lines of each part, and its number of seeds."""


def main() -> None:
    """Run the parts asked for, print their tables and, if asked, write them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART")
    parser.add_argument("--seeds", type=int, help="number of seeds, in place of each part's own")
    parser.add_argument("--write", type=Path, help="page whose sections are replaced")
    options = parser.parse_args()
    console = Console()
    for name in options.parts:
        make_lines, n_seeds = PARTS[name]
        start = time.perf_counter()
        table = markdown(make_lines(options.seeds or n_seeds, console))
        minutes = (time.perf_counter() - start) / 60
        text = (
            f"{table}\n\n`python -m benchmarks.quality {name}`, "
            f"{options.seeds or n_seeds} seeds, {minutes:.1f} minutes. {machine()}"
        )
        console.print(text, soft_wrap=True, highlight=False)
        if options.write:
            replace_section(options.write, name, text)


if __name__ == "__main__":
    main()
