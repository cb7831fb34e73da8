"""Sums that follow the memberships are the sums of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import make_counts, make_engine, make_membership, members
from stores import CONTAINERS, planted

from neocc import NEOCC
from neocc.core import incremental
from neocc.core.assign import Assignment
from neocc.core.incremental import RunningSums, sums_of
from neocc.core.problem import Problem
from neocc.core.tables import row_tables
from neocc.engines import Workers, ahead, row_bounds, row_sums
from neocc.kernels import Memberships


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4))
def test_changed_items_are_those_whose_rows_differ(seed, n, k):
    rng = np.random.default_rng(seed)
    one = rng.random((n, k)) < 0.5
    other = np.where(rng.random((n, 1)) < 0.5, one, rng.random((n, k)) < 0.5)
    found = Memberships.from_dense(one).changed_items(Memberships.from_dense(other))
    assert found.tolist() == np.flatnonzero((one != other).any(axis=1)).tolist()
    some = np.flatnonzero(rng.random(n) < 0.5)
    assert (Memberships.from_dense(one).take(some).dense == one[some]).all()


def test_memberships_count_whatever_list_they_are_in():
    nothing = np.empty(0, dtype=np.intp)
    first = Memberships(np.array([1], np.int32), nothing, nothing.astype(np.int32), 2)
    extra = Memberships(np.array([-1], np.int32), np.array([0]), np.array([1], np.int32), 2)
    assert not len(first.changed_items(extra))


@pytest.fixture
def always(monkeypatch):
    """Follow changes however little data there is, and however many there are."""
    monkeypatch.setattr(incremental, "LEAST_ENTRIES", 0)
    monkeypatch.setattr(incremental, "_MOST_CHANGED", 1.0)


def changed(rng, U, n_rows):
    """Draw other memberships for a few rows."""
    dense = U.dense.copy()
    some = rng.choice(len(dense), size=n_rows, replace=False)
    dense[some] = rng.random((n_rows, dense.shape[1])) < 0.4
    return Memberships.from_dense(dense)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("objective", ["mean", "residue", "vectors"])
def test_followed_sums_are_the_sums_of_all_rows(container, objective):
    X, rng = planted(container), np.random.default_rng(1)
    rows, columns = make_counts(rng, X.shape[0], 4), make_counts(rng, X.shape[1], 3)
    U, V = members(make_membership(rng, rows)), members(make_membership(rng, columns))
    problem = Problem(objective, rows, None if objective == "vectors" else columns)
    V = None if objective == "vectors" else V
    with Workers(1) as workers:
        engine = make_engine(X, workers=workers)
        running, n_updates = RunningSums.of(engine, problem, U, V), 0
        for n_changed in (0, 1, 20, 160):
            before, U = U, changed(rng, U, n_changed)
            n_updates += len(before.changed_items(U)) > 0
            passes = engine.n_passes
            running = running.following(engine, problem, U, V)
            assert engine.n_passes - passes < max(0.2, 1.5 * n_changed / 160)
            wanted = sums_of(engine, problem, U, V)
            for name in ("by_cluster", "squares", "products", "energy"):
                one, other = getattr(running.sums, name), getattr(wanted, name)
                assert (one is None) == (other is None)
                if one is not None:
                    scale = max(1.0, np.abs(other).max())
                    assert np.abs(one - other).max() <= 1e-12 * scale
    assert running.n_updates == n_updates > 1


@pytest.mark.usefixtures("always")
def test_sums_are_made_anew_in_time_or_if_products_depend_on_other_columns(monkeypatch):
    X, rng = planted("sparse"), np.random.default_rng(2)
    rows, columns = make_counts(rng, X.shape[0], 4), make_counts(rng, X.shape[1], 3)
    U, V = members(make_membership(rng, rows)), members(make_membership(rng, columns))
    with Workers(1) as workers:
        engine = make_engine(X, workers=workers)
        monkeypatch.setattr(incremental, "_MOST_UPDATES", 2)
        running = RunningSums.of(engine, Problem("mean", rows, columns), U, V)
        counts = []
        for _ in range(5):
            U = changed(rng, U, 3)
            running = running.following(engine, Problem("mean", rows, columns), U, V)
            counts.append(running.n_updates)
        assert counts == [1, 2, 0, 1, 2]
        other = changed(rng, V, 3)
        for objective, n_updates in (("mean", 1), ("residue", 0)):
            problem = Problem(objective, rows, columns)
            running = RunningSums.of(engine, problem, U, V)
            running = running.following(engine, problem, changed(rng, U, 2), other)
            assert running.n_updates == n_updates


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_fits_end_with_the_same_memberships_and_fewer_passes(container, objective, monkeypatch):
    X = planted(container, n=300)
    options = {"objective": objective, "row_overlap": 0.1, "row_outliers": 0.05}
    options |= {"init": "random", "refine": False, "n_init": 2, "random_state": 0}
    monkeypatch.setattr(incremental, "LEAST_ENTRIES", 2**62)
    full = NEOCC(4, 3, **options).fit(X)
    monkeypatch.setattr(incremental, "LEAST_ENTRIES", 0)
    monkeypatch.setattr(row_sums, "_ENTRIES_PER_SUM", 1)
    monkeypatch.setattr(row_bounds, "ENTRIES_PER_MEAN", 0)
    monkeypatch.setattr(ahead, "_MANY_ENTRIES", 0)
    followed = NEOCC(4, 3, **options).fit(X)
    assert (full.row_membership_ == followed.row_membership_).all()
    assert (full.column_membership_ == followed.column_membership_).all()
    assert followed.objective_ == pytest.approx(full.objective_, rel=1e-12)
    assert followed.n_iter_ == full.n_iter_
    assert followed.n_passes_ < full.n_passes_


def test_sums_over_the_same_column_clusters_are_not_made_again(monkeypatch):
    monkeypatch.setattr(row_sums, "_ENTRIES_PER_SUM", 1)
    X, rng = planted("sparse"), np.random.default_rng(3)
    rows, columns = make_counts(rng, X.shape[0], 4), make_counts(rng, X.shape[1], 3)
    U, V = members(make_membership(rng, rows)), members(make_membership(rng, columns))
    problem = Problem("mean", rows, columns)
    with Workers(1) as workers:
        engine = make_engine(X, workers=workers)
        tables = row_tables(problem, sums_of(engine, problem, U, V), U, V)
        one = engine.row_distances(tables, V)
        before = engine.n_passes
        again = Memberships.from_dense(V.dense)
        assert (engine.row_distances(tables, again) == one).all()
        assert engine.n_passes == before
        other = changed(rng, V, 5)
        fresh = make_engine(X, workers=workers).row_distances(tables, other)
        assert (engine.row_distances(tables, other) == fresh).all()
        assert engine.n_passes == before + 1


@pytest.mark.parametrize("container", CONTAINERS)
def test_sums_of_rows_follow_watched_columns(container, monkeypatch):
    monkeypatch.setattr(row_sums, "_ENTRIES_PER_SUM", 1)
    X, rng = planted(container), np.random.default_rng(4)
    rows, columns = make_counts(rng, X.shape[0], 4), make_counts(rng, X.shape[1], 3)
    U, V = members(make_membership(rng, rows)), members(make_membership(rng, columns))
    problem = Problem("mean", rows, columns)
    margins = rng.random(X.shape[1])
    with Workers(2) as workers:
        engine = make_engine(X, workers=workers)
        tables = row_tables(problem, sums_of(engine, problem, U, V), U, V)
        engine.watch_columns(margins)
        engine.row_distances(tables, V)
        watched = np.flatnonzero(margins <= np.sort(margins)[X.shape[1] // 16 - 1])
        before = engine.n_passes
        for _ in range(3):
            dense = V.dense.copy()
            dense[watched] = rng.random((len(watched), dense.shape[1])) < 0.5
            V = Memberships.from_dense(dense)
            found = engine.row_distances(tables, V)
            wanted = make_engine(X, workers=workers).row_distances(tables, V)
            assert np.abs(found - wanted).max() <= 1e-10 * np.abs(wanted).max()
        assert engine.n_passes == before
        engine.forget()
        assert (engine.row_distances(tables, V) == wanted).all()
        assert engine.n_passes == before + 1
        dense[next(t for t in range(X.shape[1]) if t not in watched)] ^= True
        engine.row_distances(tables, Memberships.from_dense(dense))
        assert engine.n_passes == before + 2


def test_margins_are_the_way_to_the_next_change():
    d = np.array([[1.0, 4.0, 9.0], [2.0, 2.5, 7.0], [8.0, 9.0, 3.0]])
    labels, minima = d.argmin(axis=1), d.min(axis=1)
    nothing = Memberships.from_labels(labels.astype(np.int32), 3)
    squares = np.array([1.0, 1.0, 4.0])
    plain = incremental.column_margins(
        d, labels, minima, Assignment(nothing, np.inf, -np.inf), squares
    )
    assert plain.tolist() == [3.0, 0.5, 2.5]
    limited = incremental.column_margins(d, labels, minima, Assignment(nothing, 2.9, 4.1), squares)
    assert limited == pytest.approx([0.1, 0.5, 0.05])
