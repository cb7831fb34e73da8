"""`python -m benchmarks` prints the table of ratios; `--write docs/performance.md` puts it there.

`python -m benchmarks iterations` prints another: one iteration on one thread, for small and large
matrices, of "average" against "repeat", and of "poisson" and observed cells against "mean";
`--against REV` compares with an earlier commit.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import costs, data, iterations, memory, overlaps, speed
from benchmarks.measure import Row
from benchmarks.pages import Line, markdown, replace_section


def rows(repeats: int) -> Iterator[Row]:
    """Run every benchmark."""
    yield from speed.sparse_rows("10 million", data.planted(), 20, 0.35, repeats)
    movielens = data.movielens_1m()
    if movielens is not None:
        yield from speed.sparse_rows("MovieLens 1M", movielens, 10, 1.0, 2 * repeats)
    yield from speed.kmeans_rows(repeats)
    yield from memory.memory_rows()
    yield from speed.scaling_rows(max(2, repeats // 2))
    yield from speed.start_rows(repeats)
    yield from speed.bandwidth_rows(repeats)


def machine() -> str:
    """Describe where the numbers come from."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        found = re.search(r"model name\s*: (.*)", info.read_text())
        cpu = found.group(1) if found else cpu
    names = ("neocc", "numpy", "scipy", "scikit-learn", "numba")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    return f"{cpu}, {os.cpu_count()} cores; Python {platform.python_version()}, {versions}."


def cells(row: Row) -> list[str]:
    """Format one row."""
    goal = "" if row.goal is None else f"<= {row.goal:g}"
    if row.low is not None:
        goal = f"{row.low:g} to {row.goal:g}"
    met = {None: "", True: "yes", False: "no"}[row.met]
    unit = f" {row.unit}".rstrip()
    values = [f"{v:.3g}{unit}" if v < 1000 else f"{v:.0f}{unit}" for v in (row.ours, row.rival)]
    return [row.name, row.rival_name, *values, f"{row.ratio:.2f}", goal, met]


HOW = "Best of several interleaved runs."
HEADER = ["measured", "against", "ours", "theirs", "ratio", "goal", "met"]


def main() -> None:
    """Run, print and, if asked, write."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("part", nargs="?", choices=("ratios", "iterations"), default="ratios")
    parser.add_argument("--repeats", type=int, help="5 for ratios, 15 for iterations")
    parser.add_argument("--write", type=Path, help="file whose section is replaced")
    parser.add_argument("--against", metavar="REV", help="iterations: a commit to compare with")
    options = parser.parse_args()
    console = Console()
    if options.part == "iterations":
        show_iterations(console, options.repeats or 15, options.against, options.write)
    else:
        show_ratios(console, options.repeats or 5, options.write)


def show_ratios(console: Console, repeats: int, page: Path | None) -> None:
    """Measure all ratios; print them, and put them into the section `bench` of a page."""
    console.print(machine(), HOW)
    if data.movielens_1m() is None:
        console.print("MovieLens 1M is left out: set NEOCC_DATA to a folder that holds it.")
    found: list[Line] = []
    for row in rows(repeats):
        found.append(cells(row))
        console.print(" | ".join(found[-1]), highlight=False, soft_wrap=True)
    table = Table(*HEADER)
    for line in found:
        table.add_row(*line)
    console.print(table)
    if page is not None:
        replace_section(page, "bench", f"{markdown([HEADER, *found])}\n\n{machine()} {HOW}")


def show_iterations(console: Console, repeats: int, against: str | None, page: Path | None) -> None:
    """Measure iterations; print them, and put them into the section `iterations` of a page."""
    few = max(3, repeats // 3)
    tables = [iterations.lines(repeats), overlaps.lines(few), costs.lines(few)]
    if against is not None:
        tables.append(iterations.against_lines(against, repeats))
    texts = []
    for table in tables:
        texts.append(markdown(list(table)))
        console.print(texts[-1], "", sep="\n", highlight=False, soft_wrap=True)
    load = f"load average {os.getloadavg()[0]:.1f}."
    texts.append(f"{machine()} One thread, processor time; {HOW.lower()[:-1]}; {load}")
    console.print(texts[-1], highlight=False, soft_wrap=True)
    if page is not None:
        replace_section(page, "iterations", "\n\n".join(texts))


if __name__ == "__main__":
    main()
