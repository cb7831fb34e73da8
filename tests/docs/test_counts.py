"""docs/counts.md is true: its code runs, and it names what there is."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from neocc.core.objectives import COUNTS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "counts.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_the_code_of_the_page_runs():
    names = {"__name__": "counts"}
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"counts.md, block {number}", "exec"), names)
    assert len(BLOCKS) > 2
    assert names["model"].objective_ < 0


def test_all_objectives_of_counts_are_in_its_table():
    assert set(re.findall(r"^\| `\"(\w+)\"` \|", TEXT, re.MULTILINE)) == set(COUNTS)


def test_the_page_can_be_found():
    assert "docs/counts.md" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def example():
    """The names that examples/counts.py defines."""
    return runpy.run_path(str(ROOT / "examples" / "counts.py"), run_name="example")


def test_the_example_finds_the_modules_of_functions(example):
    matrix = example["functions"]()
    model = example["fit"](matrix, 5, n_init=1)
    found = model.row_membership_.argmax(axis=1)
    modules = [name.split(".")[0] for name in matrix.row_names]
    assert len(set(modules)) == 5
    agreed = 0
    for group in range(5):
        inside = [m for m, g in zip(modules, found, strict=True) if g == group]
        agreed += max(inside.count(module) for module in set(inside))
    assert agreed > 0.8 * len(modules)


def test_the_example_lists_what_is_most_beyond_expectation(example):
    matrix = example["women"]()
    model = example["fit"](matrix, 2)
    X = matrix.data
    for group, line in enumerate(example["describe"](model, matrix)):
        inside = model.row_membership_[:, group]
        expected = X.sum(axis=0) * X[inside].sum() / X.sum()
        most = int(np.argmax(X[inside].sum(axis=0) - expected))
        lift = X[inside, most].sum() / expected[most]
        assert f"  {matrix.column_names[most]} {lift:.1f}, " in line
    assert "python examples/counts.py" in TEXT
