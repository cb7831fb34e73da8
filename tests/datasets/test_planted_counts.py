"""Planted counts: exact memberships, the asked fill, and lifts that are there."""

from __future__ import annotations

import numpy as np
import pytest

from neocc import objective_value
from neocc.datasets import make_count_coclusters


def test_memberships_are_exact_and_the_fill_is_met():
    options = {"row_overlap": 0.1, "row_outliers": 0.05, "column_outliers": 0.02}
    for fill in (0.01, 0.1):
        X, U, V = make_count_coclusters((800, 400), 5, 4, fill=fill, random_state=0, **options)
        assert X.shape == (800, 400)
        assert (U.shape, V.shape) == ((800, 5), (400, 4))
        assert (U.sum(), (~U.any(axis=1)).sum()) == (880, 40)
        assert (~V.any(axis=1)).sum() == 8
        assert X.nnz / (800 * 400) == pytest.approx(fill, rel=0.1)
        assert (X.data == np.rint(X.data)).all()
        assert X.data.min() > 0


@pytest.mark.parametrize("structure", ["blocks", "diagonal"])
def test_blocks_have_the_planted_lifts(structure):
    found = make_count_coclusters(
        (2000, 1000), 3, 3, fill=0.3, structure=structure, random_state=0, return_bunch=True
    )
    X, U, V = found.data.toarray(), found.row_membership, found.column_membership
    expected = np.outer(U.T @ X.sum(axis=1), X.sum(axis=0) @ V) / X.sum()
    np.testing.assert_allclose((U.T @ X @ V) / expected, found.block_lifts, rtol=0.05)
    if structure == "diagonal":
        assert found.block_lifts.argmax(axis=1).tolist() == [0, 1, 2]
    assert not found.row_outliers.any()


def test_margins_are_as_uneven_as_asked():
    even, uneven = (
        make_count_coclusters((2000, 500), fill=0.3, margins=margins, random_state=0)[0]
        for margins in (0.0, 1.0)
    )
    spread = [np.log(each.sum(axis=1) + 1.0).std() for each in (even, uneven)]
    assert spread[0] < 0.3
    assert spread[1] > 0.7


def test_the_same_seed_gives_the_same_counts():
    one, other = (make_count_coclusters((50, 30), 2, 2, random_state=3)[0] for _ in range(2))
    assert (one != other).nnz == 0


def test_the_planted_clusters_beat_independence():
    X, U, V = make_count_coclusters((300, 200), 3, 3, fill=0.2, random_state=0)
    assert objective_value(X, U, V, "poisson") < -100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fill": 0.0}, "fill"),
        ({"fill": 1.0}, "fill"),
        ({"structure": "rings"}, "structure"),
        ({"structure": "diagonal", "n_column_clusters": 4}, "equal"),
        ({"contrast": -1.0}, "contrast"),
        ({"margins": np.inf}, "margins"),
        ({"shape": (0, 5)}, "shape"),
    ],
)
def test_what_cannot_be_planted_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        make_count_coclusters(**options)
