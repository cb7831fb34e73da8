"""Starts of counts: soft steps lead lower than the alternation alone, to feasible memberships."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from neocc.core import projections
from neocc.core.objectives import OBJECTIVES, make_objective
from neocc.core.overlap import make_overlap_model
from neocc.core.problem import Counts, Problem
from neocc.core.projections import spectral_start
from neocc.core.soft import _likely, softened
from neocc.core.solve import solve
from neocc.datasets import make_count_coclusters
from neocc.engines import Workers, open_engine
from neocc.engines.reading import as_matrix
from neocc.kernels import Memberships, get_kernels

NAMES = ("poisson", "diagonal", "modularity")


@pytest.fixture(scope="module")
def data():
    X, *_ = make_count_coclusters((300, 150), 4, 4, fill=0.02, structure="diagonal", random_state=0)
    with Workers(n_jobs=1) as workers:
        yield open_engine(as_matrix(X), get_kernels("numpy", 0), workers)


def problem_of(name, model="share", overlap=0.0, outliers=0.0):
    rows = Counts.from_fractions(300, 4, overlap=overlap, outliers=outliers)
    columns = Counts.from_fractions(150, 4, overlap=0.0, outliers=0.0)
    found = make_overlap_model(model, None, name)
    return Problem(OBJECTIVES[name], rows, columns, overlap_model=found)


def rough_pair(data, problem, seed):
    """Return clusters of plain margins, without soft steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projections, "softened", lambda data, problem, pair: pair)
        return spectral_start(data, problem, np.random.default_rng(seed), raised=(0.0,))


def ends(data, problem, start):
    return np.array([solve(data, problem, start(seed)).objective for seed in range(4)])


@pytest.mark.parametrize("name", NAMES)
def test_starts_take_soft_steps_that_lead_lower(data, name):
    problem = problem_of(name)
    plain = ends(data, problem, lambda seed: rough_pair(data, problem, seed))

    def start(seed):
        return spectral_start(data, problem, np.random.default_rng(seed), raised=(0.0,))

    soft = ends(data, problem, start)
    assert soft.mean() < 1.03 * plain.mean() < 0


@pytest.mark.parametrize("name", NAMES)
def test_raised_margins_lead_lower(data, name, monkeypatch):
    problem = problem_of(name)
    monkeypatch.setattr(projections, "softened", lambda data, problem, pair: pair)
    plain = ends(data, problem, lambda seed: rough_pair(data, problem, seed))
    both = ends(
        data, problem, lambda seed: spectral_start(data, problem, np.random.default_rng(seed))
    )
    assert both.mean() < 1.03 * plain.mean() < 0


@pytest.mark.parametrize("model", ["repeat", "average"])
def test_counts_are_exact(data, model):
    problem = problem_of("poisson", model, overlap=0.1, outliers=0.05)
    U, V = spectral_start(data, problem, np.random.default_rng(0))
    assert U.n_total == problem.rows.n_memberships
    assert U.outliers.sum() == problem.rows.max_outliers
    assert V.n_total == 150
    assert not V.outliers.any()


def test_data_without_counts_have_a_start():
    with Workers(n_jobs=1) as workers:
        empty = open_engine(as_matrix(np.zeros((6, 5))), get_kernels("numpy", 0), workers)
        rows, columns = (Counts.from_fractions(n, 2, overlap=0.0, outliers=0.0) for n in (6, 5))
        problem = Problem(OBJECTIVES["poisson"], rows, columns)
        pair = tuple(Memberships.from_labels(np.arange(n) % 2, 2) for n in (6, 5))
        U, V = softened(empty, problem, pair)
    assert (U.sizes > 0).all()
    assert (V.sizes > 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_shares_have_the_start_of_counts(name):
    X, *_ = make_count_coclusters((60, 40), 3, 3, fill=0.2, structure="diagonal", random_state=0)
    X = (np.asarray(sparse.csr_array(X).todense()) > 0).astype(float)
    rows, columns = (Counts.from_fractions(n, 3, overlap=0.0, outliers=0.0) for n in X.shape)
    found = []
    with Workers(n_jobs=1) as workers:
        for unit in (1.0, 2.0**-20):
            objective = make_objective(name, prior=unit)
            data = open_engine(as_matrix(unit * X), get_kernels("numpy", 0), workers)
            rng = np.random.default_rng(0)
            found.append(spectral_start(data, Problem(objective, rows, columns), rng))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.first, other.first)


@pytest.mark.parametrize("seed", range(4))
def test_sparse_data_have_the_start_of_dense_data(seed):
    # Rows without counts, whose directions were those of rounding errors, and rows that are equal.
    X = np.random.default_rng(seed).poisson(0.3, size=(60, 6)).astype(float)
    assert not X.any(axis=1).all()
    counts = (Counts.from_fractions(n, 3, overlap=0.0, outliers=0.1) for n in X.shape)
    problem = Problem(OBJECTIVES["poisson"], *counts)
    with Workers(n_jobs=1) as workers:
        found = [
            spectral_start(
                open_engine(as_matrix(data), get_kernels("numpy", 0), workers),
                problem,
                np.random.default_rng(0),
            )
            for data in (X, sparse.csr_array(X))
        ]
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.dense, other.dense)


def test_soft_steps_that_lose_clusters_are_not_taken(data, monkeypatch):
    problem = problem_of("poisson")
    rough = rough_pair(data, problem, 0)
    one = tuple(Memberships.from_labels(np.zeros(n, int), 4) for n in (300, 150))
    monkeypatch.setattr(projections, "softened", lambda *_: one)
    U, V = spectral_start(data, problem, np.random.default_rng(0), raised=(0.0,))
    np.testing.assert_array_equal(U.first, rough[0].first)
    np.testing.assert_array_equal(V.first, rough[1].first)


def test_likelihoods_far_apart_do_not_overflow():
    found = _likely(np.array([[1e4, 0.0], [-1e4, -1e4]]))
    np.testing.assert_array_equal(found, [[1.0, 0.0], [0.5, 0.5]])
