"""A contest of starts: on sparse data one-way starts are made only while they may win."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from instances import make_engine, planted
from scipy import sparse
from sides import make_problem

from neocc.core.initialise import random_pair
from neocc.core.problem import Counts
from neocc.core.samples import SAMPLING, Sampling
from neocc.core.search import budgeted_search, contest, n_budgeted_steps, starts
from neocc.core.solve import solve

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
    """Let small data be contested."""
    monkeypatch.setattr(contest, "_LEAST_ENTRIES", 100)
    monkeypatch.setattr(contest, "_NEAR", 1.0)


def contested(X, init="neo-kmeans", problem=PROBLEM, sampling=SAMPLING):
    return contest.is_contested(make_engine(X), problem, init, sampling)


@pytest.mark.usefixtures("small")
def test_sparse_data_are_contested_in_any_container():
    X = few_entries()
    assert contested(X)
    assert contested(sparse.csr_array(X))
    assert not contested(X + 1.0)
    assert not contested(X, "random")
    assert not contested(X, sampling=Sampling(entries=(100, 100), items_per_cluster=2))
    assert not contested(X, problem=make_problem("poisson", ROWS, COLUMNS))


def test_small_data_are_not_contested():
    assert not contested(few_entries())


def at(value):
    """Return a solution of a given objective."""
    engine = make_engine(few_entries())
    found = solve(engine, PROBLEM, random_pair(PROBLEM, np.random.default_rng(0)))
    return replace(found, objective=value)


@pytest.mark.parametrize(
    ("best", "last", "n_starts", "decided"),
    [
        (100.0, 101.0, 1, True),  # well behind
        (100.0, 100.2, 1, False),  # a little behind
        (100.0, 100.2, 3, True),  # none of three has won
        (100.0, 100.0, 1, True),  # in the same place
        (99.0, 99.0, 1, False),  # ahead
        (99.0, 105.0, 4, False),  # another one was ahead
        (-101.0, -101.0, 1, False),
    ],
)
def test_who_wins(best, last, n_starts, decided):
    rival = at(100.0 if best > 0 else -100.0)
    assert contest.is_decided(rival, at(best), at(last), n_starts) == decided


def most(X, problem, n_init=8):
    """Return three times what plain starts ask for."""
    engine = make_engine(X)
    list(starts.run_starts(engine, problem, "neo-kmeans", np.random.default_rng(0).spawn(n_init)))
    return 3.0 * engine.reads.asked


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("case", ["mean", "residue"])
def test_a_contest_is_part_of_a_search(case, monkeypatch):
    """Rivals come first, dense and sparse data agree, and few one-way starts are made."""
    made = []
    make = starts.make_start

    def counted(*given, **options):
        made.append(given[3])
        return make(*given, **options)

    for module in ("budget", "contest"):
        monkeypatch.setattr(f"neocc.core.search.{module}.make_start", counted)
    problem, ends = make_problem(case, ROWS, COLUMNS), []
    for X in (few_entries(), sparse.csr_array(few_entries())):
        made.clear()
        engine = make_engine(X)
        found = list(budgeted_search(engine, problem, "neo-kmeans", 8, np.random.default_rng(0)))
        assert tuple(made[:4]) == contest.RIVALS
        assert engine.reads.asked <= most(X, problem)
        assert 1 <= made.count("neo-kmeans") < 8
        assert len(found) <= n_budgeted_steps("neo-kmeans", 8)
        falls = -np.diff([each.objective for each in found])
        assert (falls >= -1e-9 * found[0].objective).all()
        ends.append(found[-1])
    assert np.array_equal(ends[0].U.dense, ends[1].U.dense)
    assert np.array_equal(ends[0].V.dense, ends[1].V.dense)


@pytest.mark.usefixtures("small")
def test_where_one_way_starts_win_all_of_them_are_made(monkeypatch):
    """Rivals that are hopeless decide nothing: the search ends no higher than its plain starts."""
    monkeypatch.setattr("neocc.core.search.budget.is_decided", lambda *_: False)
    X = few_entries(1)
    found = list(
        budgeted_search(make_engine(X), PROBLEM, "neo-kmeans", 4, np.random.default_rng(1))
    )
    rngs = np.random.default_rng(1).spawn(4)
    plain = list(starts.run_starts(make_engine(X), PROBLEM, "neo-kmeans", rngs))
    assert found[-1].objective <= min(each.objective for each in plain) * (1 + 1e-9)


@pytest.mark.usefixtures("small")
def test_a_spectral_start_that_sees_no_blocks_decides_nothing(monkeypatch):
    monkeypatch.setattr(contest, "_NEAR", -1.0)
    X, engine = few_entries(), make_engine(few_entries())
    found = list(budgeted_search(engine, PROBLEM, "neo-kmeans", 4, np.random.default_rng(0)))
    others = np.random.default_rng(0).spawn(len(contest.RIVALS))
    assert len(contest.run_rivals(engine, PROBLEM, others)) == 1
    rngs = np.random.default_rng(0).spawn(4)
    plain = list(starts.run_starts(make_engine(X), PROBLEM, "neo-kmeans", rngs))
    values = [each.objective for each in found]
    assert values[4] <= min(each.objective for each in plain) * (1 + 1e-9)
    assert values[4] <= values[0]


def test_nonzeros_are_counted_in_any_container():
    X = few_entries()
    stored = sparse.csr_array(X)
    stored.data[:5] = 0.0
    assert make_engine(X).n_nonzero() == np.count_nonzero(X)
    assert make_engine(stored).n_nonzero() == np.count_nonzero(X) - 5
