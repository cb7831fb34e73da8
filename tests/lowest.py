"""Print the lowest versions that pyproject.toml allows, as constraints for pip (`make lowest`)."""

from __future__ import annotations

import re
import sys
import tomllib
from itertools import chain
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def lowest_versions() -> dict[str, str]:
    """Return the floor of every dependency, of the base and of all extras."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    floors: dict[str, str] = {}
    for line in chain.from_iterable(lists):
        if line.startswith("neocc["):  # extras made of other extras
            continue
        found = re.fullmatch(r"([\w.-]+)(?:\[\w+\])?>=([\d.]+)", line)
        if found is None:
            raise ValueError(f"{line!r} has no lowest version.")
        name, floor = found.groups()
        if floors.setdefault(name, floor) != floor:
            raise ValueError(f"{name} has two lowest versions: {floors[name]} and {floor}.")
    return floors


if __name__ == "__main__":
    sys.stdout.writelines(f"{name}=={floor}\n" for name, floor in lowest_versions().items())
