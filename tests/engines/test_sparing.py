"""Row steps that spare passes end as those that read every row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import make_counts, make_data, make_engine, make_membership, members
from scipy import sparse
from stores import CONTAINERS, planted

from neocc.core.engine import Hints
from neocc.core.objectives import mean_vectors
from neocc.core.problem import Counts, Problem
from neocc.core.tables import row_tables
from neocc.engines import Workers, ahead, row_bounds
from neocc.kernels import Memberships

OBJECTIVES = ("mean", "residue", "vectors")
TABLES = ("by_cluster", "squares", "products", "energy")


def sides(rng, X, objective):
    rows, columns = make_counts(rng, X.shape[0], 4), make_counts(rng, X.shape[1], 3)
    U, V = members(make_membership(rng, rows)), members(make_membership(rng, columns))
    if objective == "vectors":
        return Problem(objective, rows, None), U, None
    return Problem(objective, rows, columns), U, V


def tables_of(engine, problem, U, V):
    sums = engine.column_sums(U, None)
    return row_tables(problem, sums, U, V), mean_vectors(sums.by_cluster.T, U.sizes)


def assert_same_assignment(found, wanted):
    np.testing.assert_array_equal(found.members.first, wanted.members.first)
    np.testing.assert_array_equal(found.members.dense, wanted.members.dense)
    assert (found.nearest_limit, found.extra_limit) == (wanted.nearest_limit, wanted.extra_limit)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("guess", ["none", "right", "near", "far"])
def test_sums_made_ahead_are_those_of_the_new_memberships(container, objective, guess, monkeypatch):
    monkeypatch.setattr(ahead, "_MANY_ENTRIES", 0)
    X, rng = planted(container), np.random.default_rng(5)
    problem, U, V = sides(rng, X, objective)
    with Workers(2) as workers:
        engine = make_engine(X, workers=workers)
        tables, _ = tables_of(engine, problem, U, V)
        wanted = engine.reassign_rows(tables, U, V, problem.rows)
        true = wanted.assignment
        off = {"none": 0.0, "right": 0.0, "near": 0.01, "far": 5.0}[guess]
        limits = (true.nearest_limit * (1 + off), true.extra_limit * (1 + off))
        products = objective == "residue"
        hints = Hints(None if guess == "none" else limits, True, products, objective != "vectors")
        engine = make_engine(X, workers=workers)
        passes = engine.n_passes
        step = engine.reassign_rows(tables, U, V, problem.rows, hints)
        if guess != "far":
            norms = 1 if objective == "vectors" else 0
            assert engine.n_passes - passes < 2 + norms
        assert_same_assignment(step.assignment, true)
        assert step.objective == pytest.approx(wanted.objective, rel=1e-12)
        if guess in ("right", "near"):
            assert step.sums is not None
        if step.sums is None:
            return
        full = engine.column_sums(
            true.members, V if products else None, squares=objective != "vectors"
        )
        for name in TABLES:
            one, other = getattr(step.sums, name), getattr(full, name)
            assert (one is None) == (other is None)
            if one is not None:
                assert np.abs(one - other).max() <= 1e-12 * max(1.0, np.abs(other).max())


def test_sums_are_not_made_where_the_data_are_not_read(monkeypatch):
    monkeypatch.setattr("neocc.engines.row_sums._ENTRIES_PER_SUM", 1)
    monkeypatch.setattr(ahead, "_MANY_ENTRIES", 0)
    X, rng = planted("sparse"), np.random.default_rng(6)
    problem, U, V = sides(rng, X, "mean")
    with Workers(1) as workers:
        engine = make_engine(X, workers=workers)
        tables, _ = tables_of(engine, problem, U, V)
        engine.reassign_rows(tables, U, V, problem.rows)
        passes = engine.n_passes
        step = engine.reassign_rows(tables, U, V, problem.rows, Hints(None, True, False, True))
        assert step.sums is None
        assert engine.n_passes == passes


def few_changed(rng, U, n_rows):
    """Swap the memberships of a few pairs of rows: all counts stay."""
    dense = U.dense.copy()
    some = rng.choice(len(dense), size=2 * n_rows, replace=False)
    dense[some] = dense[some[::-1]]
    return Memberships.from_dense(dense)


@pytest.fixture
def kept(monkeypatch):
    """Keep distances however small the data are, and count the steps that they spare."""
    monkeypatch.setattr(row_bounds, "ENTRIES_PER_MEAN", 0)
    spared = []
    step = row_bounds.KeptDistances.step

    def counted(self, *arguments):
        found = step(self, *arguments)
        spared.append(found is not None)
        return found

    monkeypatch.setattr(row_bounds.KeptDistances, "step", counted)
    return spared


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("objective", ["residue", "vectors"])
@pytest.mark.parametrize("fractions", [(0.0, 0.0), (0.2, 0.0), (0.0, 0.1), (0.2, 0.1)])
def test_kept_distances_lead_to_the_assignment_of_all(container, objective, fractions, kept):
    X, rng = planted(container, n=400), np.random.default_rng(7)
    problem, _, V = sides(rng, X, objective)
    rows = Counts.from_fractions(X.shape[0], 4, *fractions)
    problem = Problem(objective, rows, problem.columns)
    U = members(make_membership(rng, rows))
    with Workers(1) as workers:
        engine, other = (make_engine(X, workers=workers) for _ in range(2))
        for _ in range(3):  # towards a solution, where clusters are apart
            U = other.reassign_rows(
                tables_of(other, problem, U, V)[0], U, V, rows
            ).assignment.members
        limits = None
        passes = engine.n_passes
        for _ in range(8):
            tables, means = tables_of(other, problem, U, V)
            wanted = other.reassign_rows(tables, U, V, rows)
            found = engine.reassign_rows(tables, U, V, rows, Hints(limits, means=means))
            assert_same_assignment(found.assignment, wanted.assignment)
            assert found.objective == pytest.approx(wanted.objective, rel=1e-10)
            limits = (wanted.assignment.nearest_limit, wanted.assignment.extra_limit)
            U = few_changed(rng, wanted.assignment.members, 1)
        assert any(kept)
        norms = 1 if objective == "vectors" else 0
        assert engine.n_passes - passes <= 8 + norms - 0.5 * sum(kept)


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["gaussian", "tied", "sparse", "duplicated", "zeros"]),
    objective=st.sampled_from(["residue", "vectors"]),
)
def test_kept_distances_on_degenerate_data(seed, kind, objective):
    rng = np.random.default_rng(seed)
    X = make_data(kind, rng, int(rng.integers(8, 40)), int(rng.integers(4, 12)))
    problem, U, V = sides(rng, X, objective)
    with pytest.MonkeyPatch.context() as patch, Workers(1) as workers:
        patch.setattr(row_bounds, "ENTRIES_PER_MEAN", 0)
        patch.setattr(row_bounds, "_MOST_DOUBTFUL", 1.0)
        patch.setattr(row_bounds, "ROWS_AT_A_TIME", 7)
        data = sparse.csr_array(X) if kind in ("sparse", "zeros") else X
        engine, other = (make_engine(data, "numpy", workers) for _ in range(2))
        limits = None
        for _ in range(4):
            tables, means = tables_of(other, problem, U, V)
            wanted = other.reassign_rows(tables, U, V, problem.rows)
            found = engine.reassign_rows(tables, U, V, problem.rows, Hints(limits, means=means))
            assert_same_assignment(found.assignment, wanted.assignment)
            scale = max(1.0, float(np.square(X).sum()))
            assert found.objective == pytest.approx(wanted.objective, abs=1e-11 * scale)
            limits = (wanted.assignment.nearest_limit, wanted.assignment.extra_limit)
            U = few_changed(rng, wanted.assignment.members, 1)


def test_kept_distances_are_dropped_when_columns_change_or_others_use_the_engine(kept):
    X, rng = planted("sparse"), np.random.default_rng(8)
    rows, columns = (
        Counts.from_fractions(n, k, 0.1, 0.05) for n, k in zip(X.shape, (4, 3), strict=True)
    )
    problem = Problem("residue", rows, columns)
    U, V = members(make_membership(rng, rows)), members(make_membership(rng, columns))
    W = members(make_membership(rng, problem.columns))
    with Workers(1) as workers:
        engine = make_engine(X, workers=workers)
        tables, means = tables_of(engine, problem, U, V)
        hints = Hints((1.0, 1.0), means=means)
        first = engine.reassign_rows(tables, U, V, problem.rows, hints)
        limits = (first.assignment.nearest_limit, first.assignment.extra_limit)
        hints = Hints(limits, means=means)
        engine.reassign_rows(tables, U, V, problem.rows, hints)
        assert kept[-1]
        engine.nearest_rows(tables, V)
        engine.reassign_rows(tables, U, V, problem.rows, hints)
        assert not kept[-1]
        engine.reassign_rows(
            row_tables(problem, engine.column_sums(U, None), U, W), U, W, problem.rows, hints
        )
        assert not kept[-1]
        engine.forget()
        engine.reassign_rows(tables, U, V, problem.rows, hints)
        assert not kept[-1]
