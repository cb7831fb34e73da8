"""``neocc bench``: default fits beside those of scikit-learn."""

from __future__ import annotations

import json

import numpy as np
import pytest

from neocc import NEOCC, _bench, objective_value
from neocc._bench import Case, compared, planted_case, sparse_blocks
from neocc.cli import _bench as command
from neocc.metrics import omega_index


def small_cases():
    X, truth = sparse_blocks(60, 40, 20, 3)
    sizes = {"n_row_clusters": 3, "n_column_clusters": 3}
    yield Case("sparse", X, sizes, "SpectralCoclustering", truth)
    yield planted_case("dense", "KMeans", (60, 20), 3, 2)
    yield planted_case("overlap", "SpectralBiclustering", (60, 20), 3, 2, row_overlap=0.2)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(command, "few_cases", small_cases)


def test_each_data_set_is_compared(run, small):
    page = run("bench", "--repeats", 1)
    assert page.code == 0
    for words in ("Beside SpectralCoclustering", "Beside KMeans", "dense", "60 x 20", "Omega"):
        assert words in page.out
    assert "\\n" not in page.out
    lines = json.loads(run("bench", "--repeats", 1, "--json").out)
    assert [line["data"] for line in lines] == ["sparse", "dense", "overlap"]
    assert all(line["seconds"] > 0.0 and line["seconds_other"] > 0.0 for line in lines)
    assert [line["objective_lower_by"] is None for line in lines] == [False, True, True]


def test_what_is_compared(small):
    case = next(small_cases())
    found = compared(case, 1)
    model = NEOCC(3, 3, random_state=0).fit(case.X)
    rival = _bench._rival(case).fit(case.X)
    U, V = (np.eye(3)[each] > 0 for each in (rival.row_labels_, rival.column_labels_))
    assert found.omegas == (
        omega_index(case.truth, model.row_membership_),
        omega_index(case.truth, U),
    )
    share = 1.0 - model.objective_ / objective_value(case.X, U, V)
    assert found.lower == pytest.approx(share, abs=1e-12)


def test_what_is_done_is_shown_after_an_interrupt(run, small, monkeypatch):
    def interrupted(case, repeats):
        if case.name == "dense":
            raise KeyboardInterrupt
        return compared(case, repeats)

    monkeypatch.setattr(command, "compared", interrupted)
    found = run("bench", "--repeats", 1)
    assert found.code == 130
    assert "Interrupted after 1 of 3 data sets." in found.err
    assert "Beside SpectralCoclustering" in found.out
    assert "KMeans" not in found.out


def test_data_of_the_command():
    cases = list(_bench.few_cases())
    assert len({case.name for case in cases}) == len(cases) == 6
    assert all(case.truth.shape[0] == case.X.shape[0] for case in cases)
