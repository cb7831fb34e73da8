"""docs/counts.md is true: its code runs, and it names what there is."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from neocc.core.objectives import COUNTS
from neocc.datasets import load_southern_women
from neocc.io import Matrix

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


@pytest.fixture(scope="module")
def example():
    """The names that examples/plot_counts.py defines, once it has run."""
    return runpy.run_path(str(ROOT / "examples" / "plot_counts.py"))


def test_the_example_finds_the_modules_of_functions(example):
    matrix, model = example["matrix"], example["model"]
    found = model.row_membership_.argmax(axis=1)
    modules = [name.split(".")[0] for name in matrix.row_names]
    assert len(set(modules)) == 5
    agreed = 0
    for group in range(5):
        inside = [m for m, g in zip(modules, found, strict=True) if g == group]
        agreed += max(inside.count(module) for module in set(inside))
    assert agreed > 0.8 * len(modules)


def test_the_example_lists_what_is_most_beyond_expectation(example):
    women = load_southern_women()
    matrix = Matrix(women.data, row_names=women.row_names, column_names=women.column_names)
    model = example["fit"](matrix, 2)
    X = matrix.data
    for group, line in enumerate(example["describe"](model, matrix)):
        inside = model.row_membership_[:, group]
        expected = X.sum(axis=0) * X[inside].sum() / X.sum()
        most = int(np.argmax(X[inside].sum(axis=0) - expected))
        lift = X[inside, most].sum() / expected[most]
        assert f"  {matrix.column_names[most]} {lift:.1f}, " in line
