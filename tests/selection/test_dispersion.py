"""Counts that vary more than Poisson ones: how much, and that noise is not taken for structure."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from neocc.core.objectives import POISSON
from neocc.core.problem import Problem
from neocc.selection import suggest_n_clusters
from neocc.selection._data import counts_of, opener, read
from neocc.selection._dispersion import _pairs, negative_binomial_size

QUICK = {"objective": "poisson", "n_init": 1, "n_jobs": 1, "random_state": 0}


def negative_binomial(rng, means, size):
    return rng.poisson(means * rng.gamma(size, 1 / size, means.shape)).astype(float)


def uneven(rng, shape):
    """Return means of independent rows and columns."""
    return 2.0 * np.outer(*(np.exp(0.5 * rng.normal(size=n)) for n in shape))


def blocks(rng, shape, lifts):
    k, l = lifts.shape  # noqa: E741
    return lifts[np.arange(shape[0]) % k][:, np.arange(shape[1]) % l] * uneven(rng, shape)


LIFTS = np.array([[1.0, 4.0, 0.3], [3.0, 0.5, 1.0], [0.2, 1.0, 3.0]])


def size_of(X, n_clusters=6):
    matrix = read(X)
    sides = zip(("rows", "columns"), X.shape, strict=True)
    problem = Problem(POISSON, *(counts_of(side, n, n_clusters, 0, 0) for side, n in sides))
    with opener(matrix, 1) as open_:
        return negative_binomial_size(sparse.csr_array(X), open_, problem, np.random.default_rng(0))


def test_pairs_are_those_of_things_counted():
    """Literal: a cell is a list of things, each of weight 1 but for what is left of a whole."""
    X = np.random.default_rng(0).poisson(1.5, size=(5, 6)) + np.eye(5, 6) * 0.25
    clusters = np.array([0, 1, 0, 1, 1, 2])
    inside = expected = 0.0
    for j in (0, 1):  # a column by itself tells nothing
        things = [
            (p, t, weight)
            for p, t in product(range(5), np.flatnonzero(clusters == j))
            for weight in [1.0] * int(X[p, t]) + [X[p, t] % 1]
        ]
        pairs = np.zeros((2, 2))
        for a, one in enumerate(things):
            for b, other in enumerate(things):
                if a != b:
                    at = int(one[0] == other[0]), int(one[1] == other[1])
                    pairs[at] += one[2] * other[2]
        inside += pairs[1, 1]
        expected += pairs[1, 0] * pairs[0, 1] / pairs[0, 0]
    found = _pairs(sparse.csr_array(X), np.eye(3)[clusters])
    np.testing.assert_allclose(found, [inside, expected])


def test_columns_by_themselves_make_no_pairs():
    X = 1e6 * np.random.default_rng(0).random((50, 30))
    assert not _pairs(sparse.csr_array(X), np.eye(30)).any()


@pytest.mark.parametrize("size", [0.5, 1.0, 5.0])
def test_the_size_of_noise_is_found(size):
    rng = np.random.default_rng(1)
    X = negative_binomial(rng, uneven(rng, (200, 100)), size)
    assert size_of(X) == pytest.approx(size, rel=0.15)


def test_structure_is_not_taken_for_dispersion():
    rng = np.random.default_rng(0)
    means = blocks(rng, (150, 90), LIFTS)
    assert size_of(rng.poisson(means).astype(float)) > 50
    assert size_of(negative_binomial(rng, means, 2.0)) == pytest.approx(2.0, rel=0.15)
    # Columns that all differ cannot be told by three clusters of them; rows can, and vice versa.
    rng = np.random.default_rng(1)
    X = rng.poisson(np.exp(1.5 * rng.normal(size=(2, 24)))[np.arange(80) % 2]).astype(float)
    assert min(size_of(X, 3), size_of(X.T, 3)) > 50


def test_poisson_counts_and_few_of_them_have_no_size():
    rngs = [np.random.default_rng(seed) for seed in range(12)]
    sizes = [size_of(rng.poisson(uneven(rng, (60, 40))).astype(float)) for rng in rngs]
    # Two standard errors are exceeded now and then, by a little.
    assert np.isinf(sizes).sum() >= 10
    assert min(sizes) > 30
    rng = rngs[0]
    assert size_of((rng.random((60, 40)) < 0.2).astype(float)) == np.inf
    for X in (np.zeros((12, 12)), np.eye(12) * 0.5, np.eye(12) * 1e9):
        assert size_of(X, 2) == np.inf


def spread(rng):
    X = sparse.random(200, 60, 0.05, random_state=0, format="csr")
    X.data = np.ceil(5 * X.data)
    return X


NOISE = {
    "negative binomial": lambda rng: rng.negative_binomial(1, 0.2, (150, 40)),
    "uneven": lambda rng: negative_binomial(rng, uneven(rng, (120, 50)), 0.5),
    "sparse": spread,
    "zero-inflated": lambda rng: rng.poisson(4.0, (120, 50)) * (rng.random((120, 50)) < 0.3),
    "multiples": lambda rng: 2.5 * rng.poisson(uneven(rng, (120, 50))),
}


@pytest.mark.parametrize("kind", NOISE)
def test_noise_of_any_dispersion_has_no_structure(kind):
    X = NOISE[kind](np.random.default_rng(0))
    assert suggest_n_clusters(X, **QUICK).best == (1, 1)


def test_clusters_of_overdispersed_counts_are_found():
    rng = np.random.default_rng(0)
    X = negative_binomial(rng, blocks(rng, (150, 90), LIFTS), 1.0)
    assert suggest_n_clusters(X, **QUICK).best == (3, 3)
