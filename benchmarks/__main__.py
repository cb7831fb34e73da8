"""`python -m benchmarks` prints the table of ratios; `--write README.md` also puts it there."""

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

from benchmarks import data, memory, speed
from benchmarks.measure import Row


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


def markdown(table: list[Row]) -> str:
    """Format the table for the README."""
    lines = [HEADER, ["---"] * len(HEADER), *map(cells, table)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Run, print and, if asked, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", type=Path, help="file whose bench section is replaced")
    options = parser.parse_args()
    console = Console()
    console.print(machine(), HOW)
    if data.movielens_1m() is None:
        console.print("MovieLens 1M is left out: set NEOCC_DATA to a folder that holds it.")
    found: list[Row] = []
    for row in rows(options.repeats):
        console.print(" | ".join(cells(row)), highlight=False, soft_wrap=True)
        found.append(row)
    table = Table(*HEADER)
    for row in found:
        table.add_row(*cells(row))
    console.print(table)
    if options.write:
        text = options.write.read_text()
        section = (
            f"<!-- bench:start -->\n{markdown(found)}\n\n{machine()} {HOW}\n<!-- bench:end -->"
        )
        pattern = r"<!-- bench:start -->.*<!-- bench:end -->"
        options.write.write_text(re.sub(pattern, lambda _: section, text, flags=re.DOTALL))


if __name__ == "__main__":
    main()
