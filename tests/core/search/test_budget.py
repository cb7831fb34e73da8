"""The default search: never above its plain starts, and no longer than it pays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from instances import make_engine, make_instance, planted
from scipy import sparse
from sides import CASES, check_refined_history, make_problem, watched

from neocc.core.initialise import random_pair
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.samples import SAMPLING, Sampling
from neocc.core.search import budget, ends, n_search_steps, pool, search
from neocc.core.solve import continued, solve

ROWS, COLUMNS = Counts(60, 4, 66, 3), Counts(40, 3, 44, 2)
# Samples of 32 rows do for four clusters.
SMALL_SAMPLES = Sampling(entries=(100, 100), items_per_cluster=2, largest_searched=0)
# Starts of small data are short runs at first.
RACED = replace(SMALL_SAMPLES, embedded=(0, 0))


def run(X, problem, init="neo-kmeans", n_init=4, seed=0, **options):
    """Return all that a search yields, and what it asked the engine for."""
    engine = make_engine(X)
    rng = np.random.default_rng(seed)
    found = list(search(engine, problem, init, n_init, rng, **options))
    return found, engine.reads


def plain(X, problem, init="neo-kmeans", n_init=4, seed=0, **options):
    """Return where plain starts end, and what they asked for."""
    return run(X, problem, init, n_init, seed, plain=True, **options)


def noise(seed=0, shape=(60, 40)):
    return np.random.default_rng(seed).normal(size=shape)


def kinds_of_data():
    rng = np.random.default_rng(1)
    yield noise()
    yield planted(rng, 60, 40, 4, 3, noise=1.5)
    yield rng.poisson(0.3, size=(60, 40)).astype(float)
    yield sparse.random_array((60, 40), density=0.1, random_state=rng, format="csr")
    yield np.repeat(noise(2, (6, 40)), 10, axis=0)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "sampling", [SAMPLING, SMALL_SAMPLES, RACED], ids=["whole", "sample", "race"]
)
def test_a_search_begins_with_the_plain_starts_and_never_ends_above_them(case, sampling):
    """Of those that rounding alone tells apart, the first; so also on a sample and after a race."""
    problem = make_problem(case, ROWS, COLUMNS)
    for seed, X in enumerate(kinds_of_data()):
        starts, _ = plain(X, problem, seed=seed, sampling=sampling)
        found, _ = run(X, problem, seed=seed, sampling=sampling)
        values = [each.objective for each in starts]
        first = [each.objective for each in found[: len(starts)]]
        assert set(first) <= set(values)
        np.testing.assert_allclose(first, np.minimum.accumulate(values), rtol=1e-12)
        assert found[len(starts) - 1].converged
        assert min(each.objective for each in found) <= min(first)
        assert len(found) <= n_search_steps("neo-kmeans", 4)
        assert len(starts) <= n_search_steps("neo-kmeans", 4, plain=True)
        if sampling is SAMPLING:
            falls = -np.diff([each.objective for each in found])
            assert (falls >= -1e-9 * abs(min(values)) - starts[0].noise).all()


def test_the_best_of_short_runs_converge():
    """They end where an iteration gains little, which is far from the end without structure."""
    problem = make_problem("residue", Counts(400, 6, 400, 0), Counts(40, 5, 40, 0))
    for seed in range(3):
        X = noise(seed, (400, 40))
        best = min(plain(X, problem, seed=seed, sampling=RACED)[0], key=lambda each: each.objective)
        again = solve(make_engine(X).centred(problem.centring), problem, best.pair)
        assert again.objective >= best.objective * (1 - 1e-5)


@pytest.mark.parametrize("name", ["poisson", "modularity"])
def test_it_gains_where_objectives_are_negative(name):
    """An objective below zero is no perfect fit: rounds go on."""
    sides = Counts(60, 3, 60, 0), Counts(40, 3, 40, 0)
    problem = Problem(OBJECTIVES[name], *sides)
    X = np.random.default_rng(4).poisson(2.0, size=(60, 40)).astype(float)
    starts, before = plain(X, problem)
    found, reads = run(X, problem)
    assert found[-1].objective < min(each.objective for each in starts) < 0.0
    assert reads.work > 1.3 * before.work


@pytest.mark.parametrize("case", ["mean", "residue"])
def test_it_gains_on_data_without_structure(case):
    problem = make_problem(case, ROWS, COLUMNS)
    pairs = [
        (plain(noise(s), problem, seed=s)[0], run(noise(s), problem, seed=s)[0]) for s in range(4)
    ]
    gains = [min(x.objective for x in starts) - found[-1].objective for starts, found in pairs]
    assert sum(gain > 0 for gain in gains) >= 2


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("shape", [(60, 40), (40, 300), (300, 40)])
def test_no_search_costs_more_than_three_times_its_plain_starts(case, shape):
    X = noise(3, shape)
    sides = (Counts(n, 4, n + n // 10, n // 20) for n in shape)
    problem = make_problem(case, *sides)
    _, before = plain(X, problem)
    _, after = run(X, problem)
    # The last round, and the last swaps, may end a little later.
    longest = 2 * (2 * problem.max_iter + 10) * 0.2
    assert after.work <= 3.0 * before.work + longest
    assert after.passes <= 3.0 * before.passes + longest


@pytest.mark.parametrize("options", [{}, {"sampling": SMALL_SAMPLES}], ids=["whole", "sample"])
def test_clear_blocks_are_found_in_wide_data_as_in_tall_data(options):
    """The same clusters, for about as many passes: columns are sampled as rows are.

    Without a clear answer the transpose may end elsewhere, as another seed may: rows move first.
    """
    X = planted(np.random.default_rng(5), 300, 40, 4, 3, noise=0.1)
    rows, columns = Counts(300, 4, 300, 0), Counts(40, 3, 40, 0)
    (tall, tall_reads), (wide, wide_reads) = (
        run(X, make_problem("mean", rows, columns), n_init=6, **options),
        run(X.T.copy(), make_problem("mean", columns, rows), n_init=6, **options),
    )
    np.testing.assert_allclose(tall[-1].objective, wide[-1].objective, rtol=1e-9)
    for one, other in zip(tall[-1].pair, wide[-1].pair[::-1], strict=True):
        together = [each.dense.astype(int) @ each.dense.T for each in (one, other)]
        np.testing.assert_array_equal(*together)
    assert 0.4 < tall_reads.passes / wide_reads.passes < 2.5


def rounds_after(X, problem, starts, longest=0):
    """Return the state of a search after rounds that nothing limits."""
    engine, rng = make_engine(X), np.random.default_rng(0)
    where = budget.Sample(engine, engine.centred(problem.centring), problem)
    state = budget.Ends(longest=longest)
    for found in starts:
        state.add_start(found, 100.0)
    while not state.is_over:
        state.make_rounds(where, 1e9, rng)
    return state


def test_where_all_starts_agree_few_rounds_follow():
    X = planted(np.random.default_rng(0), 60, 40, 4, 3, noise=0.1)
    problem = make_problem("mean", Counts(60, 4, 60, 0), Counts(40, 3, 40, 0))
    best = min(plain(X, problem, n_init=10)[0], key=lambda each: each.objective)
    numbers = [rounds_after(X, problem, [best] * n).n_rounds for n in (1, 4, 5)]
    assert numbers == [40, 25, 0]


def test_longer_waits_for_a_gain_make_it_more_patient():
    problem = make_problem("mean", ROWS, COLUMNS)
    state = rounds_after(noise(), problem, plain(noise(), problem)[0], longest=3)
    assert state.longest >= 3
    assert state.waited == 40 + 2 * state.longest


def test_the_wait_for_a_gain_begins_anew_after_each():
    best = plain(noise(), make_problem("mean", ROWS, COLUMNS))[0][0]
    state = budget.Ends(pool=[best], waited=7)
    state._count(best)
    assert (state.waited, state.longest) == (8, 0)
    state._count(replace(best, objective=0.9 * best.objective))
    assert (state.waited, state.longest) == (0, 9)


def test_rounds_keep_no_solution_twice(monkeypatch):
    """Two rounds that lead to the same solution leave room for others in the pool."""
    X, problem = noise(), make_problem("mean", ROWS, COLUMNS)
    best, engine = plain(X, problem)[0][0], make_engine(X)
    where = budget.Sample(engine, engine.centred(problem.centring), problem)
    levels = best.objective * (1.0 + 0.01 * np.arange(20))
    for level, is_kept in ((1.0 + 1e-9, False), (1.005, True)):
        found = replace(best, objective=best.objective * level)
        monkeypatch.setattr(pool, "attempt", lambda *_, found=found: found)
        state = budget.Ends(pool=[replace(best, objective=x) for x in levels], spent=99.0)
        for seed in range(3):
            state._round(where, np.random.default_rng(seed))
        kept = [each.objective for each in state.pool]
        assert kept.count(found.objective) == is_kept
        assert (min(np.diff(kept)) > 1e-3 * best.objective).all()


@pytest.mark.parametrize("seed", [3, 10])
def test_further_starts_of_a_race_are_carried_on(seed):
    """The one that is ahead after short runs need not end lowest, and does not here."""
    problem = make_problem("residue", Counts(200, 6, 200, 0), Counts(60, 5, 60, 0))
    short, rng = replace(problem, tol=ends.RACE.tol), np.random.default_rng(seed)
    data, state = make_engine(noise(seed, (200, 60))), budget.Ends()
    for _ in range(10):
        state.add_start(solve(data, short, random_pair(problem, rng)), 1.0)
    alone = continued(data, problem, state.best).objective
    state.carry_on(data, problem)
    assert state.best.objective < alone * (1 - 1e-6)


def test_a_perfect_fit_is_not_searched_on():
    X = np.kron(np.arange(12.0).reshape(4, 3), np.ones((15, 10)))
    problem = make_problem("mean", Counts(60, 4, 60, 0), Counts(30, 3, 30, 0))
    best = min(plain(X, problem, n_init=10)[0], key=lambda each: each.objective)
    assert rounds_after(X, problem, [best]).n_rounds == 0


@pytest.mark.parametrize("case", CASES)
def test_no_half_step_raises_the_literal_objective(case):
    for seed in range(4):
        instance = make_instance(np.random.default_rng([23, seed]), largest=6)
        problem = make_problem(case, instance.rows, instance.columns)
        with watched() as steps:
            found, _ = run(instance.X, problem, n_init=2, seed=seed)
        check_refined_history(instance.X, found[-1].history, steps)


@pytest.mark.parametrize("n_steps", [1, 4, 6])
def test_a_search_that_is_stopped_makes_no_further_step(n_steps):
    begun = []
    found, _ = run(
        noise(),
        make_problem("mean", ROWS, COLUMNS),
        begin=lambda: begun.append(None),
        stopped=lambda: len(begun) == n_steps,
    )
    assert len(found) == len(begun) == n_steps


def test_costly_starts_are_few():
    calls = []

    def costly(data, problem, rng):
        calls.append(None)
        return plain(noise(), problem, "random", 1)[0][0].pair

    run(noise(), make_problem("mean", ROWS, COLUMNS), costly)
    assert len(calls) == 1


def test_given_memberships_are_run_once_and_improved():
    problem = make_problem("mean", ROWS, COLUMNS)
    start = plain(noise(), problem, "random", 1)[0][0]
    found, _ = run(noise(), problem, start.pair)
    assert found[0].n_iter <= 1
    assert found[-1].objective <= start.objective * (1 + 1e-12)
