"""Local search lowers the objective or leaves the solution alone, and keeps every count."""

from __future__ import annotations

import itertools
from dataclasses import astuple

import numpy as np
import oracle
import pytest
from instances import Instance, make_instance, make_membership, planted
from sides import (
    CASES,
    CASES_AND_SIDES,
    ROUNDING,
    Setting,
    check_half_steps,
    check_history,
    watched,
)

from neocc.core.problem import Counts
from neocc.core.search.local import OneSide, least_gain, local_search, ping_pong, rounds


def chain(engine, problem, solution, side, *length):
    return OneSide(engine, problem, side).chain(solution, *length)


def reassign_singletons(engine, problem, solution, side):
    return OneSide(engine, problem, side).reassign_singletons(solution)


each_case = pytest.mark.parametrize("case", CASES)
CHAIN_LENGTH = 6


def settings(case, n, largest=8, kind=None, **options):
    for seed in range(n):
        rng = np.random.default_rng([11, seed])
        instance = make_instance(rng, kind, largest)
        yield Setting(case, instance, stored=bool(rng.random() < 0.3), **options)


def noisy_setting(case, seed=0, overlap=6, outliers=3):
    """Draw a setting of some size, in which runs from random starts end in different places."""
    rng = np.random.default_rng(seed)
    X = planted(rng, 40, 30, 4, 4, noise=3.0)
    rows, columns = Counts(40, 4, 40 + overlap, outliers), Counts(30, 4, 30 + overlap, outliers)
    U, V = make_membership(rng, rows), make_membership(rng, columns)
    return Setting(case, Instance("planted", X, rows, columns, U, V))


def assert_same_solution(first, second):
    assert first.objective == second.objective
    for side in ("U", "V"):
        pair = [getattr(solution, side) for solution in (first, second)]
        if None not in pair:
            np.testing.assert_array_equal(pair[0].dense, pair[1].dense)


def refined(setting, before, way, *args, literally=True):
    """Refine a solution in some way; return the better one, checked.

    No half-step on the way raises the literal objective, each tells what it computed, the history
    goes on from where it was by values that were computed, and the solution is what it says.
    """
    with watched() as steps:
        after = way(setting.engine, setting.problem, before, *args)
    if literally and steps:
        check_half_steps(setting.X, steps)
    n, tolerance = len(before.history), ROUNDING * setting.scale
    assert after.history[:n].tolist() == before.history.tolist()
    computed = {max(step.objective, 0.0) for step in steps}
    assert set(after.history[n:].tolist()) <= computed
    check_history(after.history, setting.scale)
    assert max(after.history[-1], 0.0) == after.objective
    assert (after is before) == (after.objective == before.objective)
    assert after.objective <= before.objective
    assert setting.of_solution(after) <= setting.of_solution(before) + tolerance
    assert after.objective == pytest.approx(setting.of_solution(after), abs=tolerance)
    setting.assert_feasible(after)
    assert after.n_iter >= before.n_iter
    return after


# -------------------------------------------------------------------------------------- rounds


def test_a_relocation_finds_the_cluster_that_is_missing():
    # Two clusters share the left group, the right two groups share one: no shake mends that.
    X = np.repeat([[0.0], [0.1], [5.0], [9.0]], [30, 30, 30, 30], axis=0) * np.ones((1, 6))
    rows, columns = Counts(120, 3, 120, 0), Counts(6, 1, 6, 0)
    U = np.eye(3, dtype=bool)[np.repeat([0, 1, 2, 2], 30)]
    setting = Setting("mean", Instance("planted", X, rows, columns, U, np.ones((6, 1), dtype=bool)))
    stuck = setting.solve()
    rng = np.random.default_rng(0)
    found = refined(setting, stuck, rounds, 20, rng, literally=False)
    assert found.objective < 0.1 * stuck.objective


@each_case
def test_rounds_never_raise_the_objective(case):
    for seed, setting in enumerate(settings(case, 8)):
        refined(setting, setting.solve(), rounds, 5, np.random.default_rng(seed))


@each_case
def test_rounds_lower_the_objective_of_a_poor_solution(case):
    n_lower = 0
    for seed in range(3):
        setting = noisy_setting(case, seed)
        before = setting.solve()
        rng = np.random.default_rng(0)
        after = refined(setting, before, rounds, 20, rng, literally=False)
        n_lower += after.objective < 0.999 * before.objective
    assert n_lower >= 1


@each_case
def test_more_rounds_never_end_higher_and_none_changes_nothing(case):
    setting = noisy_setting(case)
    before = setting.solve()
    found = [
        rounds(setting.engine, setting.problem, before, n, np.random.default_rng(0))
        for n in (0, 1, 3, 10, 20)
    ]
    assert found[0] is before
    assert (np.diff([each.objective for each in found]) <= 0).all()


def test_rounds_leave_a_perfect_fit_alone():
    X = np.kron([[1.0, 2.0], [3.0, 5.0]], np.ones((3, 3)))
    U = V = np.eye(2)[[0, 0, 0, 1, 1, 1]] > 0
    counts = Counts(6, 2, 6, 0)
    setting = Setting("mean", Instance("blocks", X, counts, counts, U, V))
    before = setting.solve()
    assert rounds(setting.engine, setting.problem, before, 10, np.random.default_rng(0)) is before


# -------------------------------------------------------------------------------- local search


@each_case
def test_a_local_search_never_raises_the_objective(case):
    n_lower = 0
    for at, setting in enumerate(settings(case, 20)):
        before = setting.solve()
        after = refined(setting, before, local_search, literally=at < 10)
        n_lower += after.objective < before.objective
    assert n_lower > 1


@each_case
def test_after_a_local_search_no_swap_is_left(case):
    for setting in settings(case, 12, largest=6, kind="gaussian", tol=0.0):
        found = local_search(setting.engine, setting.problem, setting.solve())
        sides = {"rows": found.U, "columns": found.V}
        setting.given |= {side: sides[side].dense for side in setting.sides}
        before = setting.of_solution(found)
        for side in setting.sides:
            given, counts = setting.given[side], setting.counts[side]
            for swap in oracle.swaps(given, counts.max_outliers):
                after = setting.of_side(side, oracle.swapped(given, *swap))
                assert after >= before * (1 - 1e-8) - 1e-9 * setting.scale


@each_case
def test_a_second_local_search_changes_nothing(case):
    for setting in settings(case, 10):
        found = local_search(setting.engine, setting.problem, setting.solve())
        assert local_search(setting.engine, setting.problem, found) is found


@pytest.mark.parametrize("case", ["mean", "residue"])
@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (Counts(5, 2, 5, 0), Counts(4, 2, 4, 0)),
        (Counts(4, 2, 5, 0), Counts(4, 2, 4, 1)),
        (Counts(4, 2, 4, 1), Counts(3, 2, 4, 0)),
    ],
)
def test_an_optimal_solution_is_returned_unchanged(case, rows, columns):
    X = np.random.default_rng(0).normal(size=(rows.n_items, columns.n_items))

    def feasible(counts):
        every = oracle.feasible_memberships(*astuple(counts)[:4])
        return [each for each in every if each.any(axis=0).all()]

    best = min(
        itertools.product(feasible(rows), feasible(columns)),
        key=lambda pair: oracle.objective(X, *pair, case),
    )
    setting = Setting(case, Instance("tiny", X, rows, columns, *best))
    optimum = setting.solve()
    assert setting.of_solution(optimum) == pytest.approx(oracle.objective(X, *best, case))
    assert local_search(setting.engine, setting.problem, optimum) is optimum
    rng = np.random.default_rng(0)
    assert rounds(setting.engine, setting.problem, optimum, 20, rng) is optimum


# --------------------------------------------------------------------------------------- chain


def literal_chain(setting, side):
    """Cumulated gains and memberships after each of the best swaps in a row; None for a tie."""
    current = setting.given[side]
    before = setting.of_side(side, current)
    gains, members, closed = [0.0], [current], set()
    for _ in range(CHAIN_LENGTH):
        found = [
            (setting.of_side(side, oracle.swapped(current, *swap)), swap)
            for swap in oracle.swaps(current, setting.counts[side].max_outliers)
            if not closed & {swap[0][0], swap[1][0]}
        ]
        if not found:
            break
        (lowest, swap), *others = sorted(found)
        if others and others[0][0] - lowest <= 1e-9 * setting.scale:
            return None
        closed |= {swap[0][0], swap[1][0]}
        current = oracle.swapped(current, *swap)
        gains.append(before - lowest)
        members.append(current)
    # With two clusters a chain may end at the same clusters under exchanged names.
    if len(gains) > 1 and np.diff(np.sort(gains))[-1] <= 1e-9 * setting.scale:
        return None
    return np.array(gains), members


def chain_settings(case, n):
    """Draw memberships to chain from: random ones, and solutions of the alternation."""
    for seed in range(n):
        rng = np.random.default_rng([13, seed])
        X = rng.normal(size=(8, 7))
        rows, columns = Counts(8, 2, 9, 1), Counts(7, 2, 8, 1)
        U, V = make_membership(rng, rows), make_membership(rng, columns)
        setting = Setting(case, Instance("small", X, rows, columns, U, V))
        if seed % 2:
            found = setting.solve()
            U = U if found.U is None else found.U.dense
            V = V if found.V is None else found.V.dense
        yield Setting(case, Instance("small", X, rows, columns, U, V), max_iter=0)


@pytest.mark.parametrize(("case", "side"), CASES_AND_SIDES)
def test_a_chain_keeps_its_best_prefix(case, side):
    lengths = []
    for setting in chain_settings(case, 20):
        literal = literal_chain(setting, side)
        if literal is None:
            continue
        gains, members = literal
        start = setting.solve()
        found = chain(setting.engine, setting.problem, start, side, CHAIN_LENGTH)
        best = int(gains.argmax())
        lengths.append(best)
        if best == 0:
            assert found is start
            continue
        kept = found.U if side == "rows" else found.V
        np.testing.assert_array_equal(kept.dense, members[best])
        assert found.objective == pytest.approx(
            start.objective - gains[best], abs=1e-9 * setting.scale
        )
    assert len(set(lengths)) > 2
    assert len(lengths) > 8


def test_a_chain_climbs_before_it_falls():
    # Two points in each of two clusters belong together crosswise. Exchanging them takes two swaps,
    # of which the first raises the objective.
    X = np.array([[0.0], [0.1], [0.2], [8.0], [8.1], [8.2], [4.0], [4.4]])
    n_climbs = 0
    for labels in itertools.product(range(2), repeat=8):
        U = np.eye(2)[list(labels)] > 0
        if not U.any(axis=0).all():
            continue
        setting = Setting(
            "rows",
            Instance("line", X, Counts(8, 2, 8, 0), Counts(1, 1, 1, 0), U, np.ones((1, 1), bool)),
            max_iter=0,
        )
        start = setting.solve()
        single = setting.exchange("rows").best()
        found = chain(setting.engine, setting.problem, start, "rows")
        assert found.objective <= start.objective
        n_climbs += single.gain < 0 and found.objective < start.objective
    assert n_climbs > 0


@pytest.mark.parametrize(("case", "side"), CASES_AND_SIDES)
@pytest.mark.parametrize("length", [0, 1, 4])
def test_a_chain_never_raises_the_objective(case, side, length):
    for setting in settings(case, 8):
        before = setting.solve()
        after = refined(setting, before, chain, side, length)
        if length == 0:
            assert after is before


@each_case
def test_chains_of_both_sides_in_turn_never_raise_the_objective(case):
    n_lower = 0
    for setting in settings(case, 20):
        before = setting.solve()
        found = [refined(setting, before, ping_pong, 4, n_rounds) for n_rounds in (0, 1, 5)]
        assert found[0] is before
        assert (np.diff([each.objective for each in found]) <= 0).all()
        n_lower += found[-1] is not before
    assert n_lower > 0


def test_a_gain_must_be_more_than_rounding():
    setting = noisy_setting("mean")
    found = setting.solve()
    assert found.noise > 0.0
    assert least_gain(found) == pytest.approx(1e-9 * found.objective + found.noise)


def test_the_item_that_is_alone_changes_where_that_pays():
    # Two rows fit nowhere. Alone is the one that costs less elsewhere, far from any small step.
    rng = np.random.default_rng(0)
    patterns = rng.normal(size=(2, 12))
    X = np.repeat(patterns, 40, axis=0) + 0.1 * rng.normal(size=(80, 12))
    X = np.vstack([X, 2.0 * rng.normal(size=12), 4.0 * rng.normal(size=12)])
    U = np.eye(3)[np.repeat([0, 1, 2, 0], [40, 40, 1, 1])] > 0
    V = np.eye(2)[np.repeat([0, 1], 6)] > 0
    rows, columns = Counts(82, 3, 82, 0), Counts(12, 2, 12, 0)
    setting = Setting("residue", Instance("two strangers", X, rows, columns, U, V))
    stuck = setting.solve()
    np.testing.assert_array_equal(np.flatnonzero(stuck.U.dense[:, 2]), [80])
    found = refined(setting, stuck, reassign_singletons, "rows", literally=False)
    np.testing.assert_array_equal(np.flatnonzero(found.U.dense[:, 2]), [81])
    assert found.objective < 0.5 * stuck.objective
