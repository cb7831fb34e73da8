"""Few lines that add up to a constant: what follows from that is not taken for groups."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from neocc import NEOCC
from neocc.preprocessing import make_preprocessor
from neocc.selection import advise, suggest_n_clusters
from neocc.selection._data import opened, read
from neocc.selection._tied import Ties


def ties_of(X):
    with opened(read(X), 1) as engine:
        return Ties.of(engine)


def centred(X):
    X = X - X.mean(axis=1, keepdims=True)
    return X - X.mean(axis=0)


def grouped(n, m, seed=0):
    """Three groups of n rows, far apart in m columns."""
    rng = np.random.default_rng(seed)
    means = 4.0 * rng.permuted(np.tile(np.arange(m) % 3 - 1.0, (3, 1)), axis=1)
    means[:, :3] += 4.0 * np.eye(3)
    return means[np.arange(n) % 3] + rng.normal(size=(n, m))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_lines_that_add_up_to_a_constant_are_found(container):
    X = centred(np.random.default_rng(0).normal(size=(60, 5)))
    found = ties_of(container(X))
    assert not found.rows.any()  # there are many
    assert np.ptp(found.columns) == 0 < found.columns[0]
    found = ties_of(container(X.T + 3.0))
    assert not found.columns.any()
    assert np.ptp(found.rows) == 0 < found.rows[0]


def test_shares_still_do_when_they_are_rounded_and_standardised():
    shares = np.random.default_rng(0).dirichlet([1.0, 2.0, 4.0, 4.0], size=200).round(2)
    X = (shares - shares.mean(axis=0)) / shares.std(axis=0)
    w = ties_of(X).columns
    np.testing.assert_allclose(w / w.max(), shares.std(axis=0) / shares.std(axis=0).max(), 0.05)


def test_lines_that_tell_the_same_and_independent_ones_do_not():
    rng = np.random.default_rng(0)
    size = rng.normal(size=(200, 1))
    for X in (size + 1e-3 * rng.normal(size=(200, 5)), rng.normal(size=(200, 5)), np.ones((50, 4))):
        assert not any(line.any() for line in ties_of(X))
    # Nor do those that are fewer than what they are told by.
    assert not any(line.any() for line in ties_of(centred(rng.normal(size=(6, 5)))))


def test_constant_lines_are_left_out():
    X = np.insert(centred(np.random.default_rng(0).normal(size=(60, 5))), 2, 7.0, axis=1)
    assert (ties_of(X).columns > 0).tolist() == [True, True, False, True, True, True]


NOISE = {
    "log-normal": lambda rng: 2.0 ** rng.normal(8.0, 2.5, size=(300, 6)),
    "log-normal, 3 columns": lambda rng: 2.0 ** rng.normal(8.0, 2.5, size=(300, 3)),
    "log-normal, long": lambda rng: 2.0 ** rng.normal(8.0, 2.5, size=(2000, 4)),
    "normal": lambda rng: rng.normal(5.0, 1.0, size=(5, 200)),
    "normal, 3 rows": lambda rng: rng.normal(5.0, 1.0, size=(3, 60)),
    "shares": lambda rng: rng.dirichlet(np.ones(4), size=200),
    "units, 2 rows": lambda rng: rng.normal(size=(2, 60)),
}


@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("seed", range(3))
def test_steps_that_are_advised_make_no_groups_of_noise(kind, seed):
    X = NOISE[kind](np.random.default_rng(seed))
    pipeline, _ = advise(X, random_state=seed)
    assert len(pipeline.steps) > 1 or kind == "normal"  # levels may be too close to be centred
    model = pipeline.fit(X)["neocc"]
    assert model.row_membership_.shape[1] == model.column_membership_.shape[1] == 1


@pytest.mark.parametrize("shape", [(300, 4), (300, 6), (6, 300)])
@pytest.mark.parametrize("seed", range(2))
def test_groups_of_many_rows_with_few_columns_are_found(shape, seed):
    rows = grouped(300, min(shape), seed)
    X = centred(rows if shape[0] == 300 else rows.T)
    found = suggest_n_clusters(X, random_state=0)
    assert found.best[0 if shape[0] == 300 else 1] == 3


def test_of_two_lines_nothing_is_said_to_be_clear():
    X = np.repeat([[0.0, 5.0], [5.0, 0.0]], 40, axis=0)
    X += np.random.default_rng(0).normal(size=X.shape)
    assert suggest_n_clusters(X, random_state=0).rows.number == 2
    X = make_preprocessor(["double-center"]).fit_transform(X)
    found = suggest_n_clusters(X, random_state=0)
    assert found.rows.number == 1
    assert not found.rows.is_clear
    assert "add up to a constant tell nothing of rows" in str(found)
    assert NEOCC(random_state=0).fit(X).row_membership_.shape[1] == 1
