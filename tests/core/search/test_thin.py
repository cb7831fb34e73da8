"""Starts from a thin view: what fits of data that are not small begin with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from instances import make_engine, planted
from scipy import sparse
from sides import make_problem

from neocc.core import projections
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.projections import thin_start, thin_view
from neocc.core.samples import SAMPLING, Sampling
from neocc.core.search import n_search_steps, run_starts, search, starts

ROWS, COLUMNS = Counts(60, 4, 60, 0), Counts(40, 3, 40, 0)
PROBLEM = make_problem("mean", ROWS, COLUMNS)


def few_entries(seed=0):
    """Blocks of different density, few of whose cells are filled."""
    rng = np.random.default_rng(seed)
    density = planted(rng, 60, 40, 4, 3, noise=0.0)
    density = 0.4 * (density - density.min()) / np.ptp(density)
    return (rng.random((60, 40)) < density).astype(float)


@pytest.fixture
def small(monkeypatch):
    """Let small data be seen through a view."""
    monkeypatch.setattr(starts, "_LEAST", 100)


def is_thin(X, init="neo-kmeans", problem=PROBLEM, sampling=SAMPLING, n_init=4):
    rngs = np.random.default_rng(0).spawn(n_init)
    return starts.Starts(make_engine(X), problem, init, rngs, sampling).are_seen


@pytest.mark.usefixtures("small")
def test_data_have_a_view_in_any_container():
    X = few_entries()
    assert is_thin(X)
    assert is_thin(sparse.csr_array(X))
    assert is_thin(X + 1.0)
    assert not is_thin(X, "random")
    assert not is_thin(X, n_init=1)
    sampled = Sampling(entries=(100, 100), items_per_cluster=2)
    assert is_thin(X, sampling=sampled)
    assert not is_thin(X, sampling=replace(sampled, largest_searched=0))
    assert is_thin(X, sampling=replace(SAMPLING, largest_searched=0))
    assert not is_thin(X, problem=make_problem("rows", ROWS, COLUMNS))
    assert not is_thin(X, problem=Problem(OBJECTIVES["poisson"], ROWS, COLUMNS))
    # Where iterations are costly, one-way starts are no worse.
    assert not is_thin(X, problem=make_problem("residue", ROWS, COLUMNS))
    assert not is_thin(X, problem=make_problem("mean", Counts(60, 4, 66, 3), COLUMNS))


def test_small_data_have_none():
    assert not is_thin(few_entries())


def test_a_view_keeps_the_distances_of_data_of_low_rank():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 40))
    view = thin_view(make_engine(X), PROBLEM, rng)
    for table, items in zip(view, (X, X.T), strict=True):
        assert table.shape == (len(items), 4 + projections._OVERSAMPLING)
        np.testing.assert_allclose(table @ table.T, items @ items.T, atol=1e-8)


@pytest.mark.parametrize("case", ["mean", "residue"])
def test_every_start_is_feasible(case):
    rows, columns = Counts(60, 4, 66, 3), Counts(40, 3, 44, 2)
    problem = make_problem(case, rows, columns)
    engine = make_engine(sparse.csr_array(few_entries()))
    view = thin_view(engine.centred(problem.centring), problem, np.random.default_rng(0))
    for turn in range(len(projections._WAYS)):
        pair = thin_start(engine, problem, view, turn, np.random.default_rng(turn))
        for members, counts in zip(pair, (rows, columns), strict=True):
            assert members.n_total == counts.n_memberships
            assert np.count_nonzero(members.outliers) <= counts.max_outliers
            assert (members.sizes > 0).all()


def test_turns_differ():
    engine = make_engine(few_entries())
    view = thin_view(engine, PROBLEM, np.random.default_rng(0))
    pairs = [thin_start(engine, PROBLEM, view, i, np.random.default_rng(0)) for i in range(4)]
    assert len({(*pair[0].first, *pair[1].first) for pair in pairs}) == 4


def plain_starts(engine, seed=0, **options):
    rngs = np.random.default_rng(seed).spawn(10)
    return list(run_starts(engine, PROBLEM, "neo-kmeans", rngs, from_view=True, **options))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(3))
def test_a_search_begins_with_the_plain_starts_and_ends_no_higher(seed, monkeypatch):
    """They are made from one view, and dense and sparse data agree."""
    turns, views, ends = [], [], []

    def counted(engine, problem, view, turn, rng):
        turns.append(turn)
        views.append(view)
        return thin_start(engine, problem, view, turn, rng)

    monkeypatch.setattr(starts, "thin_start", counted)
    for X in (few_entries(seed), sparse.csr_array(few_entries(seed))):
        plain = [each.objective for each in plain_starts(make_engine(X), seed)]
        assert turns == [*range(10)]
        assert all(view is views[0] for view in views)
        turns.clear()
        views.clear()
        rng = np.random.default_rng(seed)
        found = list(search(make_engine(X), PROBLEM, "neo-kmeans", 10, rng))
        assert turns in ([*range(10)], [*range(5)])
        assert len(found) <= n_search_steps("neo-kmeans", 10)
        reached = [each.objective for each in found]
        first = np.minimum.accumulate(plain)[: len(turns)]
        np.testing.assert_allclose(reached[: len(turns)], first, rtol=1e-9)
        assert (np.diff(reached) <= 1e-9 * reached[0]).all()
        turns.clear()
        views.clear()
        ends.append(found[-1])
    assert np.array_equal(ends[0].U.dense, ends[1].U.dense)
    assert np.array_equal(ends[0].V.dense, ends[1].V.dense)


@pytest.mark.usefixtures("small")
def test_short_runs_of_data_that_may_be_sampled_are_carried_on():
    sampled, X = Sampling(entries=(100, 100), items_per_cluster=2), few_entries()
    plain = [each.objective for each in plain_starts(make_engine(X), sampling=sampled)]
    rng = np.random.default_rng(0)
    given = (make_engine(X), PROBLEM, "neo-kmeans", 10, rng)
    found = list(search(*given, sampling=sampled))
    assert found[-1].objective <= min(plain) * (1 + 1e-9)
    assert found[-1].converged


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("stops", [(2, 6), (11, 13)])
def test_a_resumed_search_ends_where_it_would_have_ended(stops):
    """The work of the view is not counted again."""
    X, states = np.random.default_rng(0).normal(size=(60, 40)), []

    class Noting:
        def found(self, name):
            return states[-1] if name == "search" and states else None

        def note(self, **noted):
            states.append(noted["search"])

    def run(**options):
        engine, rng = make_engine(X), np.random.default_rng(0)
        return list(search(engine, PROBLEM, "neo-kmeans", 10, rng, **options))

    whole = run(journal=Noting())
    work = states[-1]["work"]
    for n_steps in stops:
        states.clear()
        assert len(run(journal=Noting(), stopped=lambda n=n_steps: len(states) == n)) == n_steps
        assert run(journal=Noting())[-1].objective == whole[-1].objective
        assert states[-1]["work"] == work


def test_nonzeros_are_counted_in_any_container():
    X = few_entries()
    stored = sparse.csr_array(X)
    stored.data[:5] = 0.0
    assert make_engine(X).n_nonzero() == np.count_nonzero(X)
    assert make_engine(stored).n_nonzero() == np.count_nonzero(X) - 5
