"""A thorough search: never above the default one, reproducible, and no longer than needed."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import numpy as np
import oracle
import pytest
from instances import OBJECTIVES as NAMES
from instances import (
    make_engine,
    make_instance,
    make_membership,
    members,
    planted,
)
from scipy import sparse
from sides import (
    CASES,
    Setting,
    case_of,
    check_history,
    check_refined_history,
    dense,
    energy,
    watched,
)
from sides import make_problem as problem_for

from neocc.core import samples
from neocc.core.initialise import random_pair
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.samples import Sampling
from neocc.core.search import budget, ends, n_search_steps, pool, run_starts, search, starts

INITS = ("neo-kmeans", "random")
CASES_AND_INITS = list(zip(CASES, cycle(INITS), strict=False))
ROWS, COLUMNS = Counts(40, 3, 44, 2), Counts(30, 3, 33, 1)


# Samples of 24 rows do for three clusters.
SMALL_SAMPLES = Sampling(entries=(100, 100), items_per_cluster=8, largest_searched=0)


def run(X, problem, init="neo-kmeans", n_init=3, seed=0, *, thorough=True, **options):
    """Return all that a search yields."""
    rng = np.random.default_rng(seed)
    return list(search(make_engine(X), problem, init, n_init, rng, thorough=thorough, **options))


def most_steps(init, n_init):
    return n_search_steps(init, n_init, thorough=True)


def run_on_sample(*args, **options):
    return run(*args, sampling=SMALL_SAMPLES, **options)


def lowest_of_starts(X, problem, init="neo-kmeans", n_init=3, seed=0, **options):
    rngs = np.random.default_rng(seed).spawn(n_init)
    found = run_starts(make_engine(X), problem, init, rngs, **options)
    return min(solution.objective for solution in found)


def problem_of(case):
    return problem_for(case, ROWS, COLUMNS)


def assert_feasible(solution, problem):
    for found, counts in ((solution.U, problem.rows), (solution.V, problem.columns)):
        assert (found is None) == (counts is None)
        if counts is not None:
            assert found.n_total == counts.n_memberships
            assert found.outliers.sum() <= counts.max_outliers


@pytest.fixture
def X():
    return planted(np.random.default_rng(0), 40, 30, 3, 3, noise=1.5)


@pytest.fixture
def calls(monkeypatch):
    """Note what each round asks of the data."""
    one_round, seen = pool.Pool._round, []

    def spy(self, where, rng):
        asked = where.data.reads.work
        one_round(self, where, rng)
        seen.append(where.data.reads.work - asked)

    monkeypatch.setattr(pool.Pool, "_round", spy)
    return seen


# -------------------------------------------------------------------------------- whole search


@pytest.mark.parametrize(("case", "init"), CASES_AND_INITS)
def test_a_search_is_reproducible(X, case, init):
    first, second = (run(X, problem_of(case), init) for _ in range(2))
    assert [each.objective for each in first] == [each.objective for each in second]
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a.history, b.history)
        for side in ("U", "V"):
            pair = [getattr(each, side) for each in (a, b)]
            if pair[0] is not None:
                np.testing.assert_array_equal(pair[0].dense, pair[1].dense)


def test_seeds_give_different_searches(X):
    assert len({run(X, problem_of("mean"), seed=seed)[0].objective for seed in range(2)}) > 1


@pytest.mark.parametrize(("case", "init"), CASES_AND_INITS)
def test_each_step_yields_a_solution_no_higher_than_the_last(X, case, init):
    problem = problem_of(case)
    with watched() as steps:
        found = run(X, problem, init)
    computed = {max(step.objective, 0.0) for step in steps}
    largest = max(energy(case, X, *dense(each.pair)) for each in found)
    for each in found:
        assert_feasible(each, problem)
        check_history(each.history, largest)
        assert each.objective in computed
        assert each.objective == max(each.history[-1], 0.0)
    assert (np.diff([each.objective for each in found]) <= 0).all()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("init", INITS)
def test_no_half_step_of_a_search_raises_the_literal_objective(case, init):
    for seed in range(3):
        instance = make_instance(np.random.default_rng([19, seed]), largest=6)
        problem = problem_for(case, instance.rows, instance.columns)
        with watched() as steps:
            found = run(instance.X, problem, init, 2, seed)
        check_refined_history(instance.X, found[-1].history, steps)
        assert {case} <= {case_of(step.problem) for step in steps}


@pytest.mark.parametrize("case", NAMES)
def test_the_last_solution_is_what_it_says(X, case):
    last = run(X, problem_of(case))[-1]
    literal = oracle.objective(X, last.U.dense, last.V.dense, case)
    assert last.objective == pytest.approx(literal, rel=1e-10)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("options", [{}, {"sampling": SMALL_SAMPLES}], ids=["whole", "sample"])
def test_it_begins_with_the_default_search_and_never_ends_above_it(case, options):
    problem = problem_for(case, Counts(60, 3, 66, 2), COLUMNS)
    lower = 0
    for seed in range(2):
        X = np.random.default_rng(seed).normal(size=(60, 30))
        default = run(X, problem, seed=seed, thorough=False, **options)
        found = run(X, problem, seed=seed, **options)
        for one, other in zip(default, found, strict=False):
            np.testing.assert_array_equal(one.history, other.history)
        lows = [min(each.objective for each in steps) for steps in (default, found)]
        assert lows[1] == found[-1].objective <= lows[0]
        lower += lows[1] < lows[0]
    assert lower


@pytest.mark.parametrize("objective", NAMES)
def test_a_search_finds_planted_blocks(objective):
    rng = np.random.default_rng(5)
    X = planted(rng, 60, 40, 4, 4, noise=0.1)
    X += rng.normal(size=60)[:, None] if objective == "residue" else 0.0
    problem = Problem(OBJECTIVES[objective], Counts(60, 4, 60, 0), Counts(40, 4, 40, 0))
    # Noise of variance 0.01, less the degrees of freedom that the clusters take up.
    assert run(X, problem, n_init=10)[-1].objective < 0.01 * X.size


# ------------------------------------------------------------------------------- number of steps


@pytest.mark.parametrize("n_init", [1, 2, 3, 11])
@pytest.mark.parametrize("init", INITS)
def test_a_search_takes_no_more_steps_than_announced(init, n_init):
    X = np.random.default_rng(0).normal(size=(15, 10))
    problem = Problem(OBJECTIVES["mean"], Counts(15, 4, 20, 1), Counts(10, 3, 12, 1))
    assert 1 < len(run(X, problem, init, n_init)) <= most_steps(init, n_init)


def test_rounds_take_no_longer_than_the_starts_allow(X, calls, monkeypatch):
    """1.3 times their work, then 1.75 times or 1,300 passes, but for the last round of each."""
    works, note = [], budget.Ends.add_start
    monkeypatch.setattr(
        budget.Ends, "add_start", lambda *given: works.append(given[-1]) or note(*given)
    )
    problem, noise = problem_of("mean"), np.random.default_rng(0).normal(size=(40, 30))
    for data in (X, noise):
        works.clear()
        calls.clear()
        run(data, problem, "random", n_init=10)
        assert len(works) == 10
        limit = 1.3 * sum(works) + max(1.75 * sum(works), 1300)
        assert sum(calls) <= limit + 2 * max(calls, default=0)
    assert sum(calls) >= 1.5 * sum(works)


# ------------------------------------------------------------------- starts that a caller brings


def a_start_that_counts():
    made = []

    def start(data, problem, rng):
        made.append(data)
        return random_pair(problem, rng)

    return start, made


def test_a_function_makes_every_plain_start(X):
    start, made = a_start_that_counts()
    rngs = np.random.default_rng(0).spawn(3)
    found = list(run_starts(make_engine(X), problem_of("mean"), start, rngs))
    assert len(made) == 3
    expected = lowest_of_starts(X, problem_of("mean"), "random")
    assert min(solution.objective for solution in found) == expected


@pytest.mark.parametrize(("n_init", "n_made"), [(2, 1), (51, 2)])
def test_a_search_calls_a_function_for_one_start_in_fifty(X, n_init, n_made):
    start, made = a_start_that_counts()
    assert most_steps(start, n_init) == most_steps("random", n_init)
    found = run(X, problem_of("mean"), start, n_init)
    assert len(made) == n_made
    assert found[-1].objective == run(X, problem_of("mean"), "random", n_init)[-1].objective


# --------------------------------------------------------------------------- given memberships


@pytest.mark.parametrize("case", CASES)
def test_a_search_from_given_memberships_never_ends_above_them(case):
    for seed in range(10):
        instance = make_instance(np.random.default_rng([17, seed]))
        setting = Setting(case, instance)
        engine, problem = make_engine(instance.X), setting.problem
        found = list(search(engine, problem, setting.pair, 10, np.random.default_rng(0)))
        start = setting.objective(instance.U, instance.V)
        assert found[0].history[0] == pytest.approx(start, rel=1e-9, abs=1e-12 * setting.scale)
        assert found[-1].history[0] == found[0].history[0]
        check_history(found[-1].history, setting.scale)
        assert setting.of_solution(found[-1]) <= start + 1e-9 * setting.scale
        setting.assert_feasible(found[-1])
        assert len(found) <= most_steps(setting.pair, 10)


def test_given_memberships_are_run_once(X, calls):
    pair = members(np.eye(3)[np.arange(40) % 3]), members(np.eye(3)[np.arange(30) % 3])
    problem = Problem(OBJECTIVES["mean"], Counts(40, 3, 40, 0), Counts(30, 3, 30, 0))
    assert most_steps(pair, 1) == most_steps(pair, 50)
    lows = [run(X, problem, pair, n_init=n_init)[-1].objective for n_init in (1, 50)]
    assert lows[0] == lows[1]
    assert len(calls) >= 2 * 40


# ------------------------------------------------------------------------------- early ends


def test_where_all_runs_agree_no_rounds_follow(calls):
    X = planted(np.random.default_rng(1), 40, 30, 2, 2, noise=0.1)
    problem = Problem(OBJECTIVES["mean"], Counts(40, 2, 40, 0), Counts(30, 2, 30, 0))
    found = run(X, problem, n_init=13)
    assert not calls
    assert len(found) < most_steps("neo-kmeans", 13) / 1.2
    assert found[-1].objective < 0.011 * X.size


@pytest.mark.parametrize("objective", NAMES)
@pytest.mark.parametrize("n_init", [1, 2, 5])
def test_a_perfect_fit_ends_the_search(objective, n_init, calls):
    # Fewer runs than must agree: only the objective of zero can end the search.
    X = np.kron([[1.0, 2.0], [3.0, 5.0]], np.ones((6, 5)))
    problem = Problem(OBJECTIVES[objective], Counts(12, 2, 12, 0), Counts(10, 2, 10, 0))
    found = run(X, problem, n_init=n_init)
    assert found[-1].objective <= 1e-12 * (X**2).sum()
    assert not calls


@pytest.mark.parametrize("objective", NAMES)
def test_constant_data_end_the_search(objective, calls):
    problem = Problem(OBJECTIVES[objective], Counts(12, 3, 14, 1), Counts(10, 2, 10, 0))
    for value in (0.0, 0.1, 1e6):
        found = run(np.full((12, 10), value), problem, n_init=2)
        assert found[-1].objective <= 1e-9 * max(value, 1.0)
    assert not calls


# -------------------------------------------------------------------------------------- samples


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("objective", NAMES)
@pytest.mark.parametrize("init", INITS)
def test_a_search_on_a_sample_ends_with_a_solution_of_the_whole(init, objective, make):
    X = planted(np.random.default_rng(0), 300, 12, 3, 3, noise=0.5)
    problem = Problem(OBJECTIVES[objective], Counts(300, 3, 315, 6), Counts(12, 3, 13, 0))
    *before, extended, last = run_on_sample(make(X), problem, init)
    assert len(before) > 1
    for each in (*before, extended, last):
        assert_feasible(each, problem)
    assert last.objective <= extended.objective
    assert last.objective == pytest.approx(
        oracle.objective(X, last.U.dense, last.V.dense, objective), rel=1e-9
    )


@pytest.mark.parametrize("objective", NAMES)
def test_a_wide_matrix_is_searched_on_some_of_its_columns(objective, monkeypatch):
    sides, draw = [], samples.Sample

    def spy(*args):
        found = draw(*args)
        sides.append(found.side)
        return found

    monkeypatch.setattr(samples, "Sample", spy)
    X = planted(np.random.default_rng(0), 12, 300, 3, 3, noise=0.5)
    problem = Problem(OBJECTIVES[objective], Counts(12, 3, 13, 0), Counts(300, 3, 315, 6))
    *before, extended, last = run_on_sample(X, problem)
    assert set(sides) == {"columns"}
    assert len(before) > 1
    assert_feasible(last, problem)
    assert last.objective <= extended.objective
    assert last.objective == pytest.approx(
        oracle.objective(X, last.U.dense, last.V.dense, objective), rel=1e-9
    )


@pytest.mark.parametrize("shape", [(300, 12), (12, 300)])
def test_a_search_runs_on_a_sample_only_where_there_is_much_to_read(shape, monkeypatch):
    made, one_round = [], pool.Pool._round

    def spy(self, where, rng):
        made.append(where.items is not None)
        one_round(self, where, rng)

    monkeypatch.setattr(pool.Pool, "_round", spy)
    X = np.random.default_rng(0).normal(size=shape)
    problem = Problem(OBJECTIVES["mean"], *(Counts(size, 3, size, 0) for size in shape))
    for largest, is_sampled in ((X.size - 1, True), (X.size, False)):
        made.clear()
        run(X, problem, sampling=replace(SMALL_SAMPLES, largest_searched=largest))
        assert set(made) == {is_sampled}


def test_a_search_on_a_sample_is_reproducible():
    X = planted(np.random.default_rng(0), 300, 12, 3, 3, noise=1.0)
    problem = Problem(OBJECTIVES["mean"], Counts(300, 3, 300, 0), Counts(12, 3, 12, 0))
    first, second = (run_on_sample(X, problem)[-1] for _ in range(2))
    np.testing.assert_array_equal(first.history, second.history)
    np.testing.assert_array_equal(first.U.dense, second.U.dense)


def test_exact_moves_on_a_sample_that_are_interrupted_leave_a_solution_of_the_whole(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ends, "local_search", interrupted)
    X, found = np.random.default_rng(0).normal(size=(300, 12)), []
    problem = Problem(OBJECTIVES["mean"], Counts(300, 3, 300, 0), Counts(12, 3, 12, 0))
    options = {"thorough": True, "sampling": SMALL_SAMPLES}
    steps = search(make_engine(X), problem, "random", 3, np.random.default_rng(0), **options)
    with pytest.raises(KeyboardInterrupt):
        found.extend(steps)
    assert (found[-1].n_iter, found[-2].n_iter > 0) == (0, True)
    assert_feasible(found[-1], problem)


def test_rounds_on_the_whole_follow_a_search_on_a_sample():
    lower = 0
    for seed in range(5):
        X = planted(np.random.default_rng(seed), 300, 12, 3, 3, noise=4.0)
        problem = Problem(OBJECTIVES["residue"], Counts(300, 3, 330, 0), Counts(12, 3, 12, 0))
        extended, last = run_on_sample(X, problem)[-2:]
        lower += last.objective < extended.objective
    assert lower >= 3


def test_given_memberships_are_not_sampled(monkeypatch):
    monkeypatch.setattr(budget, "draw_sample", None)
    rng = np.random.default_rng(0)
    rows, columns = Counts(300, 3, 300, 0), Counts(12, 3, 12, 0)
    pair = tuple(members(make_membership(rng, counts)) for counts in (rows, columns))
    problem = Problem(OBJECTIVES["mean"], rows, columns)
    assert run_on_sample(rng.normal(size=(300, 12)), problem, pair)


def test_plain_starts_use_samples_too(monkeypatch):
    n_samples, sampled = [], starts.sampled_start
    monkeypatch.setattr(
        starts, "sampled_start", lambda *args: n_samples.append(None) or sampled(*args)
    )
    X = planted(np.random.default_rng(0), 300, 12, 3, 3, noise=0.1)
    problem = Problem(OBJECTIVES["mean"], Counts(300, 3, 300, 0), Counts(12, 3, 12, 0))
    assert lowest_of_starts(X, problem, n_init=8, sampling=SMALL_SAMPLES) < 0.011 * X.size
    assert len(n_samples) == 8
    lowest_of_starts(X, problem, "random", sampling=SMALL_SAMPLES)
    assert len(n_samples) == 8
