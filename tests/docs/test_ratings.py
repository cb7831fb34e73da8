"""docs/ratings.md is true: its code runs, and the tables of its study are there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "ratings.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_the_code_of_the_page_runs(capsys):
    names = {"__name__": "ratings"}
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"{PAGE.name}, block {number}", "exec"), names)
    assert len(BLOCKS) > 3
    assert "by effects alone" in capsys.readouterr().out
    assert len(names["unseen"]) == 2


def test_the_tables_are_there():
    study = (PAGE.parent / "ratings-study.md").read_text(encoding="utf-8")
    for name in ("predictions", "fresh", "large", "genres"):
        table = study.split(f"<!-- {name}:start -->")[1].split(f"<!-- {name}:end -->")[0]
        assert table.count("\n|") > 3


def test_the_example_predicts_and_recommends():
    example = runpy.run_path(str(ROOT / "examples" / "plot_ratings.py"))
    train, test, model = (example[name] for name in ("train", "test", "model"))
    groups, effects, mean = example["errors"](model, test).values()
    assert groups < 0.85 * effects < effects < mean
    viewer = train.pairs[0][0]
    lines = example["recommend"](model, viewer, n=2)
    assert len(lines) == 2
    assert all("more than expected" in line for line in lines)
    X = example["as_matrix"](model, train)
    p, t = example["places"](model, train)
    assert np.array_equal(X.toarray()[p, t], train.stars)
    assert X.nnz == len(train.stars)
