"""Refinement lowers the objective or leaves the solution alone, and keeps every count."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import oracle
import pytest
from instances import Instance, make_counts, make_instance, make_membership, members, planted
from sides import CASES, CASES_AND_SIDES, Setting

from neocc.core import refine
from neocc.core.disturb import relocate, shake
from neocc.core.problem import Counts
from neocc.core.refine import rounds, settle

each_case = pytest.mark.parametrize("case", CASES)


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


def check_refined(setting, before, after):
    """Assert that refinement never raised the objective, and that the solution is what it says."""
    tolerance = 1e-9 * setting.scale
    assert after.objective <= before.objective
    assert setting.of_solution(after) <= setting.of_solution(before) + tolerance
    assert after.objective == pytest.approx(setting.of_solution(after), abs=tolerance)
    setting.assert_feasible(after)
    assert np.diff(after.history).max(initial=0.0) <= tolerance
    assert after.history[0] == before.history[0]
    assert after.history[-1] == after.objective
    assert after.n_iter >= before.n_iter


# --------------------------------------------------------------------------------------- shake


@pytest.mark.parametrize("fraction", [0.0, 0.03, 0.3, 1.0])
def test_a_shake_keeps_the_memberships_of_every_item(fraction):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 20))
        counts = make_counts(rng, n, int(rng.integers(1, 5)))
        before = make_membership(rng, counts)
        given = members(before)
        after = shake(given, fraction, rng)
        assert after.n_clusters == counts.n_clusters
        np.testing.assert_array_equal(after.dense.sum(axis=1), before.sum(axis=1))
        np.testing.assert_array_equal(given.dense, before)
        if fraction == 0.0:
            np.testing.assert_array_equal(after.dense, before)


def test_a_shake_moves_about_the_fraction_asked_for():
    given = members(np.eye(10)[np.arange(5000) % 10])
    for fraction in (0.03, 0.3, 1.0):
        moved = shake(given, fraction, np.random.default_rng(0)).first != given.first
        assert moved.mean() == pytest.approx(0.9 * fraction, abs=0.02)


# ------------------------------------------------------------------------------------ relocate


@each_case
def test_a_relocation_is_feasible_and_leaves_the_other_side_alone(case):
    for setting in settings(case, 30):
        before = setting.solve()
        for side in setting.sides:
            rng = np.random.default_rng(0)
            U, V = relocate(setting.engine, setting.problem, before, side, rng)
            setting.assert_feasible(replace(before, U=U, V=V))
            assert (V is before.V) if side == "rows" else (U is before.U)


def test_a_relocation_finds_the_cluster_that_is_missing():
    # Two clusters share the left group, the right two groups share one: no shake mends that.
    X = np.repeat([[0.0], [0.1], [5.0], [9.0]], [30, 30, 30, 30], axis=0) * np.ones((1, 6))
    rows, columns = Counts(120, 3, 120, 0), Counts(6, 1, 6, 0)
    U = np.eye(3, dtype=bool)[np.repeat([0, 1, 2, 2], 30)]
    setting = Setting("mean", Instance("planted", X, rows, columns, U, np.ones((6, 1), dtype=bool)))
    stuck = setting.solve()
    found = rounds(setting.engine, setting.problem, stuck, 20, np.random.default_rng(0))
    assert found.objective < 0.1 * stuck.objective
    check_refined(setting, stuck, found)


def test_a_shake_is_reproducible():
    given = members(np.eye(4)[np.arange(50) % 4])
    pair = [shake(given, 0.5, np.random.default_rng(3)).first for _ in range(2)]
    np.testing.assert_array_equal(*pair)


# -------------------------------------------------------------------------------------- rounds


@each_case
def test_rounds_never_raise_the_objective(case):
    for seed, setting in enumerate(settings(case, 40)):
        before = setting.solve()
        check_refined(
            setting,
            before,
            rounds(setting.engine, setting.problem, before, 5, np.random.default_rng(seed)),
        )


@each_case
def test_rounds_lower_the_objective_of_a_poor_solution(case):
    n_lower = 0
    for seed in range(5):
        setting = noisy_setting(case, seed)
        before = setting.solve()
        after = rounds(setting.engine, setting.problem, before, 20, np.random.default_rng(0))
        check_refined(setting, before, after)
        n_lower += after.objective < 0.999 * before.objective
    assert n_lower >= 2


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


# -------------------------------------------------------------------------------------- settle


@each_case
def test_settling_never_raises_the_objective(case):
    n_lower = 0
    for setting in settings(case, 200):
        before = setting.solve()
        after = settle(setting.engine, setting.problem, before)
        check_refined(setting, before, after)
        n_lower += after.objective < before.objective
    assert n_lower > 5


@each_case
def test_a_settled_solution_has_no_swap_left(case):
    for setting in settings(case, 40, largest=6, kind="gaussian", tol=0.0):
        found = settle(setting.engine, setting.problem, setting.solve())
        sides = {"rows": found.U, "columns": found.V}
        setting.given |= {side: sides[side].dense for side in setting.sides}
        before = setting.of_solution(found)
        for side in setting.sides:
            given, counts = setting.given[side], setting.counts[side]
            for swap in oracle.swaps(given, counts.max_outliers):
                after = setting.of_side(side, oracle.swapped(given, *swap))
                assert after >= before * (1 - 1e-8) - 1e-9 * setting.scale


@each_case
def test_settling_a_settled_solution_returns_it(case):
    for setting in settings(case, 30):
        found = settle(setting.engine, setting.problem, setting.solve())
        assert settle(setting.engine, setting.problem, found) is found


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
        every = oracle.feasible_memberships(*vars(counts).values())
        return [each for each in every if each.any(axis=0).all()]

    best = min(
        itertools.product(feasible(rows), feasible(columns)),
        key=lambda pair: oracle.objective(X, *pair, case),
    )
    setting = Setting(case, Instance("tiny", X, rows, columns, *best))
    optimum = setting.solve()
    assert setting.of_solution(optimum) == pytest.approx(oracle.objective(X, *best, case))
    assert settle(setting.engine, setting.problem, optimum) is optimum
    rng = np.random.default_rng(0)
    assert rounds(setting.engine, setting.problem, optimum, 20, rng) is optimum


# --------------------------------------------------------------------------------------- chain


def literal_chain(setting, side):
    """Cumulated gains and memberships after each of the best swaps in a row; None for a tie."""
    current = setting.given[side]
    before = setting.of_side(side, current)
    gains, chain, closed = [0.0], [current], set()
    for _ in range(refine._CHAIN_LENGTH):
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
        chain.append(current)
    # With two clusters a chain may end at the same clusters under exchanged names.
    if len(gains) > 1 and np.diff(np.sort(gains))[-1] <= 1e-9 * setting.scale:
        return None
    return np.array(gains), chain


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
        gains, chain = literal
        start = setting.solve()
        found = refine._chain(setting.engine, setting.problem, start, side)
        best = int(gains.argmax())
        lengths.append(best)
        if best == 0:
            assert found is start
            continue
        kept = found.U if side == "rows" else found.V
        np.testing.assert_array_equal(kept.dense, chain[best])
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
        exchange = setting.exchange("rows")
        single = exchange.best(np.ones(8, dtype=bool), np.ones(2, dtype=bool))
        found = refine._chain(setting.engine, setting.problem, start, "rows")
        assert found.objective <= start.objective
        n_climbs += single.gain < 0 and found.objective < start.objective
    assert n_climbs > 0


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
    found = refine._recast(setting.engine, setting.problem, stuck, "rows")
    np.testing.assert_array_equal(np.flatnonzero(found.U.dense[:, 2]), [81])
    assert found.objective < 0.5 * stuck.objective
    check_refined(setting, stuck, found)
