"""Numbers of clusters of counts and of observed cells: cells are held out all over the data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

from neocc import NEOCC
from neocc.core.objectives import POISSON, Observed
from neocc.core.problem import Problem
from neocc.core.search import run_starts
from neocc.core.steps import make_features
from neocc.datasets import make_coclusters, make_count_coclusters
from neocc.selection import suggest_n_clusters
from neocc.selection._cells import Cells, _costs, _cut, _in_memory, _saturated, _thinned
from neocc.selection._curves import turned
from neocc.selection._data import counts_of, opened, opener, read

QUICK = {"n_init": 1, "refine": False, "random_state": 0}


def observed(X, share, seed=0):
    """Leave out a share of the cells."""
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def problem_of(objective, shape):
    sides = zip(("rows", "columns"), shape, (3, 2), strict=True)
    return Problem(objective, *(counts_of(side, n, k, 0, 0) for side, n, k in sides))


def learnt(known, held, problem, side):
    """Return the clusters of known cells, and what items of a side cost in them when held out."""
    with opened(known, 1) as data:
        (found,) = run_starts(data, problem, "neo-kmeans", np.random.default_rng(0).spawn(1))
    pair, own = found.pair, found.pair[side == "columns"].first
    if side == "rows":
        known, held = known.transposed(), held.transposed()
        problem, pair = turned(problem), pair[::-1]
    with opened(known, 1) as data, opened(held, 1) as unseen:
        features, new = (make_features(each, problem, pair) for each in (data, unseen))
    d = _costs(problem, features, new, pair)
    return found, _saturated(held, problem.objective) + d[np.arange(len(own)), own]


def curves_of(matrix, problem):
    with opener(matrix, 1) as open_:
        return Cells(matrix, open_).curves(problem, np.random.default_rng(0), 1)


def parts_of(matrix, size=None, seed=0):
    return list(_cut(_in_memory(matrix), size, np.random.default_rng(seed)))


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_errors_of_counts_are_deviances(side):
    X = np.random.default_rng(0).poisson(3.0, size=(14, 9)).astype(float)
    problem = problem_of(POISSON, X.shape)
    known, held = parts_of(read(X), np.inf)[0]
    found, errors = learnt(known, held, problem, side)
    A, B = known.values.toarray(), held.values.toarray()
    U, V = (members.dense.astype(float) for members in found.pair)
    outer = np.outer(A.sum(axis=1), A.sum(axis=0)) / A.sum()
    lifts = (U.T @ A @ V + 1.0) / (U.T @ outer @ V + 1.0)
    # Margins of the side itself are those held out, shares of the other one are known.
    if side == "rows":
        expected = np.outer(B.sum(axis=1), A.sum(axis=0) / A.sum())
    else:
        expected = np.outer(A.sum(axis=1) / A.sum(), B.sum(axis=0))
    means = U @ lifts @ V.T
    independent = np.outer(B.sum(axis=1), B.sum(axis=0)) / B.sum()
    deviance = expected * (means - 1.0) - B * np.log(means)
    deviance += np.where(B > 0, B * np.log(np.where(B > 0, B, 1.0) / independent), 0.0)
    literal = deviance.sum(axis=1 if side == "rows" else 0)
    np.testing.assert_allclose(errors, literal, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("weighs", [False, True])
def test_errors_of_observed_cells_are_their_squares(weighs):
    X = observed(make_coclusters((14, 9), 3, 2, random_state=0)[0], 0.4)
    W = np.random.default_rng(1).uniform(0.5, 2.0, size=X.shape) if weighs else np.ones(X.shape)
    model = NEOCC(missing="ignore")
    matrix = model._read_data(X, W if weighs else None, None, None)[0]
    Y = np.where(np.isnan(X), 0.0, X - model.overall_mean_)
    problem = problem_of(Observed(shrinkage=2.0), X.shape)
    known, held = parts_of(matrix)[1]
    found, errors = learnt(known, held, problem, "rows")
    U, V = (members.dense.astype(float) for members in found.pair)
    seen, new = (each.values.toarray() != 0 for each in (known, held))
    M = (U.T @ (seen * W * Y) @ V) / (U.T @ (seen * W) @ V + 2.0)
    literal = (new * W * np.square(Y - U @ M @ V.T)).sum(axis=1)
    np.testing.assert_allclose(errors, literal, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [1e-9, 0.5, np.inf])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_parts_of_counts_add_up(container, size):
    X = np.random.default_rng(0).poisson(2.0, size=(12, 8)) + np.eye(12, 8) * 0.25
    parts = parts_of(read(container(X)), size)
    for known, held in parts:
        np.testing.assert_allclose(known.values.toarray() + held.values.toarray(), X)
    np.testing.assert_allclose(sum(held.values.toarray() for _, held in parts), X)


def test_parts_of_negative_binomial_counts_are_independent():
    """Each is negative binomial with a fifth of the size, and known parts tell nothing of it."""
    rng, size, mean = np.random.default_rng(0), 1.5, 6.0
    counts = rng.negative_binomial(size, size / (size + mean), 200_000).astype(float)
    parts = _thinned(counts, size, rng)
    one, others = parts[:, 0], counts - parts[:, 0]
    shares = np.bincount(one.astype(int), minlength=8)[:8] / len(one)
    np.testing.assert_allclose(
        shares, stats.nbinom.pmf(np.arange(8), size / 5, size / (size + mean)), atol=0.005
    )
    assert abs(np.corrcoef(one, others)[0, 1]) < 0.01
    none = (one == 0).mean() * (others == 0).mean()
    assert ((one == 0) & (others == 0)).mean() == pytest.approx(none, abs=0.003)
    together = np.corrcoef(*_thinned(counts, np.inf, rng).T[:2])[0, 1]
    assert together > 0.3


@pytest.mark.parametrize("size", [0.3, 4.0, 1e9, np.inf])
def test_things_in_a_cell_keep_together_the_more_the_smaller_the_size(size):
    """Literal covariance of two parts: of 10 things, and of half a one that falls as they do."""
    parts = _thinned(np.full(200_000, 10.5), size, np.random.default_rng(0))
    apart = 1.0 if size == np.inf else size / (1 + size)
    np.testing.assert_allclose(parts.mean(axis=0), 2.1, rtol=0.03)
    literal = (10 * 9 + 2 * 10 * 0.5) * apart / 25 - 2.1**2
    assert np.cov(parts.T)[0, 1] == pytest.approx(literal, rel=0.03)


def test_every_observed_cell_is_held_out_once():
    X = observed(np.arange(1.0, 81.0).reshape(10, 8), 0.3)
    parts = parts_of(read(X, observed=True))
    np.testing.assert_array_equal(sum(held.values.toarray() for _, held in parts), np.nan_to_num(X))


def test_planted_numbers_of_counts_are_found():
    X, _, _ = make_count_coclusters((100, 60), 3, 3, fill=0.7, random_state=1)
    found = suggest_n_clusters(X, objective="poisson", n_init=1, n_jobs=1, random_state=0)
    assert found.best == (3, 3)
    assert found.rows.explained > 0


def test_numbers_of_counts_too_few_to_tell_clusters_are_unclear():
    """Five clusters of which parts that share most counts find three, each other ones."""
    X, _, _ = make_count_coclusters((600, 300), 5, 5, fill=0.05, random_state=0)
    found = suggest_n_clusters(X, objective="poisson", n_init=2, random_state=0)
    assert found.rows.number != 5
    assert not found.rows.is_clear
    assert "unclear: parts disagree" in found.rows.reason


@pytest.mark.parametrize("objective", ["diagonal", "modularity"])
def test_paired_clusters_have_one_number(objective):
    X, _, _ = make_count_coclusters((60, 24), 3, 3, fill=0.9, random_state=1)
    model = NEOCC(objective=objective, n_jobs=1, **QUICK).fit(X)
    k, l = model.block_means_.shape  # noqa: E741
    assert k == l == model.numbers_choice_.best[0] == model.numbers_choice_.best[1]
    assert NEOCC("auto", 5, objective=objective, n_jobs=1, **QUICK).fit(X).block_means_.size == 25


def test_planted_numbers_of_observed_cells_are_found():
    X = observed(make_coclusters((60, 40), 3, 3, noise=0.5, random_state=0)[0], 0.5)
    model = NEOCC(missing="ignore", n_jobs=1, **QUICK).fit(X)
    assert model.numbers_choice_.best == model.block_means_.shape == (3, 3)


def test_independent_counts_have_no_structure():
    rng = np.random.default_rng(0)
    rates = np.outer(np.exp(rng.normal(size=50)), np.exp(rng.normal(size=40)))
    X = rng.poisson(rates).astype(float)
    given = {"n_init": 1, "n_jobs": 1, "random_state": 0}
    assert suggest_n_clusters(X, objective="poisson", **given).best == (1, 1)
    levels = rng.normal(size=(50, 1)) + rng.normal(size=40) + rng.normal(size=X.shape)
    X = observed(levels, 0.5)
    assert suggest_n_clusters(X, missing="ignore", remove_effects=True, **given).best == (1, 1)


def test_a_side_without_structure_of_its_own_helps_the_other():
    """Rows cannot be told apart in one cluster of columns."""
    rng = np.random.default_rng(3)
    X = rng.poisson(3 * np.exp(rng.normal(size=(2, 24)))[np.arange(60) % 2]).astype(float)
    found = suggest_n_clusters(X, objective="poisson", n_jobs=1, n_init=1, random_state=0)
    assert found.rows.number == 2
    assert found.best[1] >= 2


def test_overlap_of_counts_is_not_estimated_and_that_is_said():
    X, _, _ = make_count_coclusters((40, 30), 2, 2, fill=0.8, random_state=0)
    for given in ({"objective": "poisson"}, {"missing": "ignore"}):
        with pytest.warns(UserWarning, match="row_overlap, row_outliers"):
            model = NEOCC(2, 2, row_overlap="auto", row_outliers="auto", **given, **QUICK).fit(X)
        assert model.row_estimate_ is None
        assert (model.row_membership_.sum(axis=1) == 1).all()


def test_what_ranks_squared_differences_ranks_no_counts():
    for given in ({"objective": "poisson"}, {"missing": "ignore"}):
        with pytest.raises(ValueError, match="criteria='prediction'"):
            suggest_n_clusters(np.ones((6, 5)), criteria="icl", **given)


def test_counts_are_not_negative():
    with pytest.raises(ValueError, match="found -1 at row 1, column 0"):
        suggest_n_clusters([[1.0, 2.0], [-1.0, 3.0]], objective="poisson")


def test_outliers_are_estimated_first_where_they_are_not_given():
    X, _, _ = make_coclusters(
        (60, 40), 3, 2, noise=0.4, row_outliers=0.05, row_overlap=-0.05, random_state=1
    )
    given = {"row_outliers": "auto", "n_init": 1, "n_jobs": 1, "random_state": 0}
    assert suggest_n_clusters(X, **given).best == (3, 2)
    assert suggest_n_clusters(X, [2, 3], [2, 3], criteria="icl", **given).best == (3, 2)


@pytest.mark.parametrize("objective", [POISSON, Observed()])
def test_cells_of_a_store_are_held_out_too(tmp_path, objective):
    from neocc.io import open_store, write_store

    X, _, _ = make_count_coclusters((40, 30), 3, 2, fill=0.8, random_state=0)
    write_store(tmp_path / "store", X)
    one, other = (
        curves_of(read(Y, observed=objective.needs_counts), problem_of(objective, X.shape))
        for Y in (X, open_store(tmp_path / "store"))
    )
    for mine, stored in zip(one, other, strict=True):
        assert np.array_equal(mine.errors, stored.errors)


def test_one_cut_holds_out_all_cells():
    X, _, _ = make_count_coclusters((30, 20), 2, 2, fill=0.8, random_state=0)
    rows, columns = curves_of(read(X), problem_of(POISSON, X.shape))
    assert rows.errors.shape == (3, 30)
    assert columns.errors.shape == (2, 20)
    assert rows.errors[0].mean() == pytest.approx(columns.errors[0].mean(), rel=0.2)
