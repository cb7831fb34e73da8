"""Counts from fractions: MATLAB's rounding, feasibility, samples."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import make_counts

from neocc.core.objectives import KMEANS, OBJECTIVES, make_objective
from neocc.core.overlap import bounded_model
from neocc.core.problem import Counts, Problem, round_half_away


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5, 1), (1.5, 2), (2.5, 3), (-0.5, -1), (-1.5, -2), (2.4, 2), (2.6, 3), (-2.4, -2), (0, 0)],
)
def test_halves_round_away_from_zero(value, expected):
    assert round_half_away(value) == oracle.matlab_round(value) == expected


@given(st.integers(-(10**6), 10**6), st.integers(1, 8))
def test_rounding_is_exact_for_binary_fractions(numerator, power):
    value = numerator / 2**power
    assert round_half_away(value) == oracle.matlab_round(value)


@pytest.mark.parametrize("n", [1, 2, 7, 10, 103, 2417])
@pytest.mark.parametrize("alpha", [-0.25, -0.1, 0.0, 0.2, 0.5, 3.237])
@pytest.mark.parametrize("beta", [0.0, 0.1, 0.25])
def test_counts_from_fractions(n, alpha, beta):
    T, b = oracle.counts(n, alpha, beta)
    counts = Counts.from_fractions(n, 5, alpha, beta)
    assert (counts.n_memberships, counts.max_outliers) == (T, b)
    assert counts.n_covered == n - b
    assert counts.n_extra == T - (n - b)


def test_yeast_counts():
    counts = Counts.from_fractions(2417, 14, 3.237, 0.0)
    assert counts.n_memberships == 2417 + 7824


@pytest.mark.parametrize("seed", range(50))
def test_counts_of_a_sample_are_feasible_and_in_proportion(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(20, 200)), int(rng.integers(1, 6))
    counts = make_counts(rng, n, k)
    size = int(rng.integers(k, n + 1))
    sample = counts.resized(size)
    assert sample.n_items == size
    assert 0 <= sample.max_outliers < size
    assert sample.n_covered <= sample.n_memberships <= size * k
    assert sample.max_outliers == pytest.approx(counts.max_outliers * size / n, abs=1)
    assert sample.n_memberships == pytest.approx(counts.n_memberships * size / n, abs=1)


def test_one_way_problem_keeps_one_side():
    rows, columns = Counts(5, 2, 6, 1), Counts(4, 2, 4, 0)
    problem = Problem(OBJECTIVES["residue"], rows, columns, max_iter=50, tol=1e-3)
    assert problem.one_way("rows", 7) == Problem(KMEANS, rows, None, 7, 1e-3)
    assert problem.one_way("columns", 7) == Problem(KMEANS, None, columns, 7, 1e-3)
    assert problem.sides == ["rows", "columns"]
    assert problem.one_way("rows", 7).sides == ["rows"]
    assert problem.one_way("columns", 7).sides == ["columns"]


def test_counts_can_be_changed_on_one_side():
    rows, columns, other = Counts(5, 2, 6, 1), Counts(4, 2, 4, 0), Counts(3, 2, 3, 0)
    problem = Problem(OBJECTIVES["mean"], rows, columns, max_iter=50, tol=1e-3)
    for side, expected in (("rows", (other, columns)), ("columns", (rows, other))):
        changed = problem.with_counts(side, other)
        assert (changed.rows, changed.columns) == expected
        assert changed.counts(side) == other
        assert (changed.max_iter, changed.tol) == (50, 1e-3)


@pytest.mark.parametrize(
    ("name", "rows", "columns", "centring", "needs_products"),
    [
        ("mean", True, True, "global", False),
        ("residue", True, True, "double", True),
        # Columns of one-way rows are not scored, so that they need no products.
        ("kmeans", True, False, "columns", False),
        ("kmeans", False, True, "rows", True),
    ],
)
def test_what_a_problem_needs_follows_from_its_objective_and_sides(
    name, rows, columns, centring, needs_products
):
    counts = Counts(5, 2, 6, 1)
    problem = Problem(OBJECTIVES[name], counts if rows else None, counts if columns else None)
    assert problem.centring == centring
    assert problem.needs_products == needs_products
    assert problem.allows_outliers


@pytest.mark.parametrize("share", [0.0, 0.5, 0.75, 1.0])
def test_counts_with_a_share_of_the_outliers_stay_feasible(share):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        counts = make_counts(rng, 20, 3)
        found = counts.with_outliers(share)
        assert found.max_outliers == oracle.matlab_round(share * counts.max_outliers)
        assert found.n_memberships >= max(counts.n_memberships, found.n_covered)
        assert (found == counts) if share == 1.0 else True


@pytest.mark.parametrize(
    ("missing", "model", "expected"),
    [("zero", "average", 1), ("ignore", "share", 2), ("ignore", "average", 10)],
)
def test_sums_of_an_entry_are_counted(missing, model, expected):
    objective = make_objective("mean", missing=missing)
    rule = bounded_model(model, None, objective.kind)
    sides = Counts(30, 9, 40, 0), Counts(20, 4, 20, 0)  # 9 clusters and 36 pairs of them
    assert Problem(objective, *sides, overlap_model=rule).n_sums == expected
