"""The card about choices: what a record tells is on the page, as text, whatever it contains."""

from __future__ import annotations

import numpy as np
import pytest

from neocc import NEOCC
from neocc.io import make_record
from neocc.report import render_report

X = np.array([[5.0, 5, 0], [5, 5, 0], [0, 0, 5]])
STORY = {
    "data": "3 rows that look like <b>this</b>",
    "chosen": [{"what": "Take logarithms", "why": "values reach far"}],
    "held_out": {
        "rows": {"number": 2, "error": [3.0, 1.0, 0.9]},
        "columns": {"number": 1, "error": [3.0, None]},
    },
    "sure": ["Groups explain 90%."],
    "next": [{"command": "neocc fit x.csv --preprocess none", "what": "the same without"}],
    "block_means": [[1234.0, None], [0.5, 2.0]],
}


@pytest.fixture(scope="module")
def model():
    return NEOCC(2, 2, random_state=0).fit(X)


def page_of(model, settings):
    return render_report(model, matrix=X, record=make_record(settings))


def test_the_card_tells_what_the_record_does(model):
    page = page_of(model, {"story": STORY})
    for text in (
        "What was done, and why",
        "3 rows that look like &lt;b&gt;this&lt;/b&gt;",
        "<dt>Take logarithms</dt><dd>values reach far</dd>",
        "<li>Groups explain 90%.</li>",
        "<code>neocc fit x.csv --preprocess none</code>",
        '<a href="#story">Choices</a>',
        "<small>file: 1,234</small>",
        "as they stand in the file",
        "Held-out error with 1 to 3 groups of rows; the larger point is at 2.",
        ">3 groups</text>",
    ):
        assert text in page
    assert page.count("<small>file:") == 3
    assert page.count('r="7"') == 1
    assert "groups of columns; the larger" not in page  # errors that are no numbers


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"story": None},
        {"story": "once"},
        {"story": {"block_means": [[1.0]], "chosen": 3}},
        {"story": {"held_out": {"rows": 3, "columns": {"error": "x", "number": None}}}},
    ],
)
def test_other_records_are_no_trouble(model, settings):
    page = page_of(model, settings)
    assert "<small>file: " not in page
    assert ("What was done" in page) == isinstance(settings.get("story"), dict)
