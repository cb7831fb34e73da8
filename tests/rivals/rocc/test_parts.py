"""The parts of ROCC against literal formulas: pressure, errors, merging, addition."""

from __future__ import annotations

import itertools

import numpy as np
import oracle
import pytest
from instances import make_data, make_engine, members
from scipy import sparse

from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.solve import continued, solve
from neocc.rivals.rocc.grid import Grid
from neocc.rivals.rocc.members import Cocluster, without_nested
from neocc.rivals.rocc.merging import (
    NoBlockError,
    Rectangles,
    find_coclusters,
    merge,
)
from neocc.rivals.rocc.pressure import exhaustive, pressurise

NAMES = ("mean", "residue")
KINDS = ("gaussian", "tied", "sparse", "duplicated", "zeros", "constant", "one_row", "one_column")

each_objective = pytest.mark.parametrize("objective", NAMES)


def random_grid(rng, kind, objective, largest=9, offset=0.0):
    """Draw data with disjoint clusters, some items in none, some clusters empty."""
    X = make_data(kind, rng, *rng.integers(2, largest + 1, size=2)) + offset
    sides = []
    for n_items in X.shape:
        k = int(rng.integers(1, 4))
        labels = rng.integers(-1, k, size=n_items)
        labels[rng.integers(n_items)] = 0
        sides.append(labels[:, None] == np.arange(k))
    return X, *sides


def solved(X, U, V, objective, stored=False):
    """Return the engine, the problem and the solution that the given memberships are."""
    counts = [Counts(len(m), m.shape[1], int(m.sum()), len(m) - int(m.sum())) for m in (U, V)]
    problem = Problem(OBJECTIVES[objective], *counts, max_iter=0)
    engine = make_engine(sparse.csr_array(X) if stored else X)
    data = engine.centred(problem.centring)
    return data, problem, solve(data, problem, (members(U), members(V)))


def make_grid(X, U, V, objective, stored=False):
    return Grid.of(*solved(X, U, V, objective, stored))


def literal_error(X, rows, columns, objective):
    """Squared error of a block per degree of freedom, entry by entry; None if it has none."""
    n, m = int(rows.sum()), int(columns.sum())
    freedom = n * m - 1 if objective == "mean" else (n - 1) * (m - 1)
    if n == 0 or m == 0 or freedom <= 0:
        return None
    return oracle.objective(X, rows[:, None], columns[:, None], objective) / freedom


# ------------------------------------------------------------------------------------ pressure


@each_objective
@pytest.mark.parametrize("outliers", [(13, 7), (0, 5), (40, 0), (0, 0), (1, 1)])
def test_items_are_let_go_by_the_schedule(objective, outliers, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 20))
    rows = Counts(50, 3, 50 - outliers[0], outliers[0])
    columns = Counts(20, 3, 20 - outliers[1], outliers[1])
    problem = Problem(OBJECTIVES[objective], rows, columns)
    data = make_engine(X).centred(problem.centring)
    seen = []

    def watched(engine, phase, solution):
        seen.append((phase.rows, phase.columns))
        return continued(engine, phase, solution)

    monkeypatch.setattr("neocc.rivals.rocc.pressure.continued", watched)
    first = exhaustive(problem)
    assert (first.rows.max_outliers, first.columns.max_outliers) == (0, 0)
    U = members(np.arange(50)[:, None] % 3 == np.arange(3))
    V = members(np.arange(20)[:, None] % 3 == np.arange(3))
    start = solve(data, first, (U, V))
    found = pressurise(data, problem, start, 0.75)

    for side, b in enumerate(outliers):
        kept_beyond = [b - phase[side].max_outliers for phase in seen]
        assert kept_beyond == [int(b * 0.75**t) for t in range(1, len(seen) + 1)]
        assert kept_beyond[-1] == 0
        assert all(phase[side].n_extra == 0 for phase in seen)
    assert found.U.outliers.sum() == outliers[0]
    assert found.V.outliers.sum() == outliers[1]
    literal = oracle.objective(X, found.U.dense, found.V.dense, objective)
    energy = oracle.energy(X, found.U.dense, found.V.dense)
    assert np.diff(found.history).max() <= 1e-9 * energy
    assert found.history[0] == start.history[0]
    assert found.history[-1] == pytest.approx(literal, abs=1e-12 * energy)
    assert found.objective == pytest.approx(literal, abs=1e-12 * energy)


def test_without_decay_all_are_let_go_at_once(monkeypatch):
    problem = Problem(OBJECTIVES["mean"], Counts(20, 2, 10, 10), Counts(8, 2, 8, 0))
    data = make_engine(np.random.default_rng(0).normal(size=(20, 8)))
    seen = []

    def watched(engine, phase, solution):
        seen.append(phase)
        return continued(engine, phase, solution)

    monkeypatch.setattr("neocc.rivals.rocc.pressure.continued", watched)
    U = members(np.arange(20)[:, None] % 2 == np.arange(2))
    V = members(np.arange(8)[:, None] % 2 == np.arange(2))
    pressurise(data, problem, solve(data, exhaustive(problem), (U, V)), 0.0)
    assert seen == [problem]


# -------------------------------------------------------------------------------------- errors


@each_objective
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stored", [False, True])
def test_errors_of_unions_are_those_of_the_blocks_of_data(objective, kind, stored):
    for seed in range(8):
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        X, U, V = random_grid(rng, kind, objective, offset=0.0 if stored else rng.choice([0, 1e4]))
        grid = make_grid(X, U, V, objective, stored)
        rows = np.array(list(itertools.product([False, True], repeat=U.shape[1])))
        columns = np.array(list(itertools.product([False, True], repeat=V.shape[1])))
        rows, columns = np.repeat(rows, len(columns), axis=0), np.tile(columns, (len(rows), 1))
        found = grid.errors(rows, columns)
        rounding = 1e-9 * np.square(X - np.median(X)).mean() + 1e-20 * np.square(X).max()
        for error, i, j in zip(found, rows, columns, strict=True):
            literal = literal_error(X, U[:, i].any(axis=1), V[:, j].any(axis=1), objective)
            if literal is None:
                assert np.isinf(error)
            else:
                assert error == pytest.approx(literal, rel=1e-8, abs=rounding)


@each_objective
def test_errors_do_not_depend_on_how_many_are_asked_for_at_once(objective):
    rng = np.random.default_rng(0)
    X, U, V = random_grid(rng, "gaussian", objective, largest=20)
    grid = make_grid(X, U, V, objective)
    rows = rng.random((50, U.shape[1])) < 0.5
    columns = rng.random((50, V.shape[1])) < 0.5
    at_once = grid.errors(rows, columns)
    one_by_one = grid.errors(rows, columns, table_cells=1)
    np.testing.assert_allclose(one_by_one, at_once, rtol=1e-12)


def test_a_perfect_block_has_no_error():
    X = np.full((6, 5), 0.1)
    X[:3] = 1e5
    grid = make_grid(X, np.arange(6)[:, None] // 3 == np.arange(2), np.ones((5, 1), bool), "mean")
    errors = grid.errors(np.eye(2, dtype=bool), np.ones((2, 1), dtype=bool))
    np.testing.assert_array_equal(errors, 0.0)


# ------------------------------------------------------------------------------------- merging


def literal_merge(X, U, V, objective, n_coclusters, threshold):
    """Merge blocks by slicing the data for each pair; None where two unions are equally good."""
    found = [(r, c) for r in U.T for c in V.T if literal_error(X, r, c, objective) is not None]
    distances = []
    while len(found) > n_coclusters:
        unions = []
        for a, b in itertools.combinations(range(len(found)), 2):
            rows, columns = found[a][0] | found[b][0], found[a][1] | found[b][1]
            inside = any(
                (rows == found[x][0]).all() and (columns == found[x][1]).all() for x in (a, b)
            )
            error = literal_error(X, rows, columns, objective)
            unions.append((-1.0 if inside else error, error, a, b, rows, columns))
        unions.sort(key=lambda union: union[0])
        best = unions[0]
        if best[0] > threshold:
            break
        if len(unions) > 1 and best[0] >= 0 and np.isclose(unions[1][0], best[0], rtol=1e-9):
            return None
        distances.append(best[1])
        found[best[2]] = best[4:]
        del found[best[3]]
    return found, distances


@each_objective
@pytest.mark.parametrize("stored", [False, True])
def test_merging_is_that_of_the_literal_algorithm(objective, stored):
    compared = 0
    for seed in range(40):
        rng = np.random.default_rng([7, seed])
        X = (
            rng.normal(size=(12, 11))
            + 2.0 * rng.normal(size=(3, 3))[np.arange(12) // 4][:, np.arange(11) // 4]
        )
        U = rng.integers(-1, 3, size=12)[:, None] == np.arange(3)
        V = rng.integers(-1, 3, size=11)[:, None] == np.arange(3)
        grid = make_grid(X, U, V, objective, stored)
        n_coclusters = int(rng.integers(1, 5))
        threshold = float(rng.choice([np.inf, 1.5]))
        literal = literal_merge(X, U, V, objective, n_coclusters, threshold)
        if literal is None or not literal[0]:
            continue
        blocks = [
            (i, j)
            for i in range(3)
            for j in range(3)
            if literal_error(X, U[:, i], V[:, j], objective) is not None
        ]
        start = Rectangles.of(
            grid,
            np.array([np.arange(3) == i for i, _ in blocks]),
            np.array([np.arange(3) == j for _, j in blocks]),
        )
        found = merge(grid, start, n_coclusters, threshold)
        pairs = {
            (tuple(U[:, i].any(axis=1)), tuple(V[:, j].any(axis=1)))
            for i, j in zip(found.rows, found.columns, strict=True)
        }
        assert pairs == {(tuple(rows), tuple(columns)) for rows, columns in literal[0]}
        np.testing.assert_allclose(found.distances, literal[1], rtol=1e-9, atol=1e-12)
        compared += 1
    assert compared > 20


def two_blocks(noise=0.1, seed=0):
    """Two co-clusters that share rows, in a larger noise; clusters of the grid as planted."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 30))
    X[:20, :10] = 3 + noise * rng.normal(size=(20, 10))
    X[10:30, 10:20] = -3 + noise * rng.normal(size=(20, 10))
    U = np.arange(40)[:, None] // 10 == np.arange(4)
    V = np.arange(30)[:, None] // 10 == np.arange(3)
    return X, U, V


@pytest.mark.parametrize("n_coclusters", [None, 2])
def test_the_gap_is_found_and_overlapping_coclusters_are_put_together(n_coclusters):
    X, U, V = two_blocks()
    merged = find_coclusters(make_grid(X, U, V, "mean"), None, n_coclusters, None)
    assert merged.n_kept == 4
    assert 0.02 < merged.cutoff < 1.0
    rows = merged.coclusters.rows.tolist()
    assert sorted(rows) == [[False, True, True, False], [True, True, False, False]]


def test_more_coclusters_than_the_gap_leaves_are_found_behind_it():
    X, U, V = two_blocks()
    merged = find_coclusters(make_grid(X, U, V, "mean"), None, 3, None)
    assert len(merged.coclusters) == 3


def test_without_a_gap_every_block_is_a_cocluster():
    rng = np.random.default_rng(0)
    levels = 4.0 * np.arange(6).reshape(3, 2)
    X = levels[np.arange(60) // 20][:, np.arange(40) // 20] + 0.3 * rng.normal(size=(60, 40))
    U = np.arange(60)[:, None] // 20 == np.arange(3)
    V = np.arange(40)[:, None] // 20 == np.arange(2)
    merged = find_coclusters(make_grid(X, U, V, "mean"), None, None, None)
    assert len(merged.coclusters) == merged.n_kept == 6


def test_a_given_cutoff_and_threshold_are_kept():
    X, U, V = two_blocks()
    grid = make_grid(X, U, V, "mean")
    merged = find_coclusters(grid, 0.5, None, 0.0)
    assert (merged.n_kept, merged.cutoff, len(merged.coclusters)) == (4, 0.5, 4)
    assert len(find_coclusters(grid, 0.5, None, None).coclusters) == 2
    assert len(find_coclusters(grid, 0.5, None, 1e9).coclusters) == 1
    assert len(find_coclusters(grid, 100.0, 1, 1e-3).coclusters) == 12
    with pytest.raises(NoBlockError, match=r"smallest error is 0\.00.*Raise error_cutoff"):
        find_coclusters(grid, 1e-9, None, None)


@each_objective
@pytest.mark.parametrize("n_coclusters", [None, 1, 2])
def test_data_that_tell_nothing_are_no_trouble(objective, n_coclusters):
    for X in (np.zeros((4, 4)), np.ones((1, 4)), np.ones((4, 1)), np.eye(2), np.arange(4.0)[None]):
        U = np.arange(len(X))[:, None] % 2 == np.arange(2)
        V = np.arange(X.shape[1])[:, None] % 2 == np.arange(2)
        merged = find_coclusters(make_grid(X, U, V, objective), None, n_coclusters, None)
        assert len(merged.coclusters) >= 1
        assert np.isfinite(merged.cutoff)


# ------------------------------------------------------------------------------------ addition


def literal_row_errors(X, rows, columns, objective):
    block, some = X[np.ix_(rows, columns)], X[:, columns]
    if objective == "mean":
        residue = some - block.mean()
    else:
        residue = some - block.mean(axis=0) - some.mean(axis=1, keepdims=True) + block.mean()
    return np.square(residue).mean(axis=1)


@each_objective
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("margin", [0.0, 2.0])
def test_rows_and_columns_join_by_the_literal_rule(objective, stored, margin):
    joined = 0
    for seed in range(15):
        rng = np.random.default_rng([3, seed])
        X = rng.normal(size=(14, 12)) + (0.0 if stored else 50.0)
        X[:8, :7] -= 2.0
        X *= rng.random(X.shape) < 0.7 if stored else 1.0
        rows, columns = rng.random(14) < 0.5, rng.random(12) < 0.5
        rows[:2] = columns[:2] = True
        data, problem, solution = solved(X, rows[:, None], columns[:, None], objective, stored)
        noise = solution.noise / X.size
        found = Cocluster(rows, columns).expanded(data, problem, margin, noise)

        errors = literal_row_errors(X, rows, columns, objective)
        limit = errors[rows].mean() * (1 + margin * np.sqrt(2 / columns.sum()))
        wider = rows | (errors <= limit)
        np.testing.assert_array_equal(found.rows, wider)
        errors = literal_row_errors(X.T, columns, wider, objective)
        limit = errors[columns].mean() * (1 + margin * np.sqrt(2 / wider.sum()))
        np.testing.assert_array_equal(found.columns, columns | (errors <= limit))
        joined += found.n_entries > Cocluster(rows, columns).n_entries

        fitted = found.fitted(data, problem, noise)
        errors = literal_row_errors(X, found.rows, found.columns, objective)
        np.testing.assert_allclose(fitted.row_errors(data), errors, rtol=1e-8)
        assert fitted.error == pytest.approx(errors[found.rows].mean())
        width = found.columns.sum()
        assert fitted.row_limit(margin) == pytest.approx(
            fitted.error * (1 + margin * np.sqrt(2 / width))
        )
        assert fitted.mean == pytest.approx(X[np.ix_(found.rows, found.columns)].mean())
    assert joined > 3


def test_rows_that_fit_exactly_join_in_spite_of_rounding():
    X = 0.1 * np.ones((9, 7)) + 1e3
    X[6:] = np.random.default_rng(0).normal(size=(3, 7))
    rows, columns = np.arange(9) < 2, np.arange(7) < 3
    data, problem, solution = solved(X, rows[:, None], columns[:, None], "mean")
    found = Cocluster(rows, columns).expanded(data, problem, 0.0, solution.noise / X.size)
    assert found.rows.sum() == 6
    assert found.columns.all()


def test_coclusters_inside_others_are_left_out():
    def cocluster(n_rows, n_columns, first=0):
        return Cocluster(
            (np.arange(6) >= first) & (np.arange(6) < first + n_rows), np.arange(5) < n_columns
        )

    large, inside, beside = cocluster(4, 4), cocluster(2, 3, first=1), cocluster(3, 2, first=3)
    assert without_nested([large, inside, beside, large]) == [large, beside]
