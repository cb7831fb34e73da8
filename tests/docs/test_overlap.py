"""docs/overlap.md is true: its code runs, its table is what its command prints."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import matplotlib as mpl
import numpy as np
import oracle
import pytest
import typer
from PIL import Image

from neocc.cli import app
from neocc.core.overlap import OVERLAP_MODELS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "overlap.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
TABLE = TEXT.split("<!-- overlap:start -->\n")[1].split("<!-- overlap:end -->")[0].splitlines()


@pytest.fixture(scope="module")
def example():
    """The names that docs/pictures/overlap.py defines."""
    path = ROOT / "docs" / "pictures" / "overlap.py"
    return runpy.run_path(str(path), run_name="example")


def test_the_code_of_the_page_runs():
    names = {"__name__": "overlap"}
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"{PAGE.name}, block {number}", "exec"), names)
    assert len(BLOCKS) > 5
    assert names["several"].any()
    assert names["average"].overlap_model == "average"


@pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")
def test_the_table_is_what_the_example_prints(example):
    found = example["measure"](("mean",), ("repeat", "average"))
    assert len(TABLE) == 2 + 3 * len(OVERLAP_MODELS)
    assert found == [
        *TABLE[:2],
        *(line for line in TABLE if re.match(r"\| their mean \| [ra]", line)),
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")
def test_the_whole_table_is_what_the_example_prints(example):
    assert example["measure"]() == TABLE


def test_rows_in_the_pictures_pay_what_the_models_charge(example):
    M = np.stack([example["A"], example["B"]])
    U, V = np.ones((1, 2), dtype=bool), np.eye(12, dtype=bool)
    for row in example["ROWS"].values():
        for model in oracle.OVERLAP_MODELS:
            expected = oracle.table_cost(row[None], U, V, M, model)
            assert example["cost"](model, row) == pytest.approx(expected)
        thirds = np.repeat(np.eye(4, dtype=bool), 3, axis=0)
        expected = oracle.followed_cost(row, [0, 1], thirds, M[:, ::3])
        assert example["cost"]("either", row) == pytest.approx(expected)


def test_there_is_a_picture_of_every_model_and_it_is_what_the_example_draws(example, tmp_path):
    shown = re.findall(r"!\[[^\]]+\]\(pictures/(\w+\.png)\)", TEXT)
    assert shown == [*(f"overlap_{model}.png" for model in OVERLAP_MODELS), "overlap.png"]
    drawn = [example["draw_model"](model) for model in OVERLAP_MODELS] + [example["compare"]()]
    for name, figure in zip(shown, drawn, strict=True):
        example["save"](figure, tmp_path / name)
        with (
            Image.open(tmp_path / name) as new,
            Image.open(PAGE.parent / "pictures" / name) as kept,
        ):
            assert new.size == kept.size
            # Fonts may move a line by a pixel; another picture differs all over, and so does one
            # that an older matplotlib lays out.
            pixels = [np.asarray(each, dtype=float) for each in (new, kept)]
            version = tuple(map(int, mpl.__version__.split(".")[:2]))
            assert version < (3, 11) or np.abs(pixels[0] - pixels[1]).mean() < 3


def test_links_and_options_lead_somewhere():
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", TEXT):
        assert (PAGE.parent / link).exists(), link
    (fit,) = (c for n, c in typer.main.get_command(app).commands.items() if n == "fit")
    known = {name for one in fit.params for name in one.opts}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", TEXT)) <= known
