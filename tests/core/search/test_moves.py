"""Gains of single moves are literal changes of the objective, and the best swap is the best."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import oracle
import pytest
from instances import KINDS, make_instance, members
from sides import CASES_AND_SIDES, Setting

from neocc.core.overlap import REPEAT, Scores
from neocc.core.problem import Counts
from neocc.core.search import moves
from neocc.core.search.gains import single_gains
from neocc.core.search.moves import Exchange, Swap, independent_swaps


def exchange_of(table, d, constant, counts):
    """The gains of the paper's model for distances that come from no data."""
    U = members(table)
    scores = Scores(d, d.argmin(axis=1).astype(np.int32), d.min(axis=1), d.shape[1])
    return Exchange(
        U.dense, *single_gains(U, scores, constant, REPEAT), constant, counts.max_outliers
    )


each_case = pytest.mark.parametrize(("case", "side"), CASES_AND_SIDES)


def settings(case, n, largest=6, kinds=KINDS):
    """Draw small settings: overlap, outliers, empty clusters and clusters of one, stored or not."""
    for seed in range(n):
        rng = np.random.default_rng([7, seed])
        instance = make_instance(rng, str(rng.choice(kinds)), largest)
        yield Setting(case, instance, stored=bool(rng.random() < 0.3))


# ------------------------------------------------------------------------------ single changes


@each_case
def test_savings_are_what_a_removal_saves(case, side):
    n_checked = 0
    for setting in settings(case, 40):
        given = setting.given[side]
        before, savings = setting.of_side(side, given), setting.exchange(side).savings
        for p, q in np.ndindex(given.shape):
            if not given[p, q] or given[:, q].sum() == 1:
                assert savings[p, q] == -np.inf
                continue
            without = given.copy()
            without[p, q] = False
            after = setting.of_side(side, without)
            assert savings[p, q] == pytest.approx(before - after, abs=1e-9 * setting.scale)
            n_checked += 1
    assert n_checked > 100


@each_case
def test_costs_are_what_an_addition_costs(case, side):
    n_checked = n_empty = 0
    for setting in settings(case, 40):
        given = setting.given[side]
        before, costs = setting.of_side(side, given), setting.exchange(side).costs
        for p, q in np.ndindex(given.shape):
            if given[p, q]:
                assert costs[p, q] == np.inf
                continue
            added = given.copy()
            added[p, q] = True
            after = setting.of_side(side, added)
            assert costs[p, q] == pytest.approx(after - before, abs=1e-9 * setting.scale)
            n_checked += 1
            n_empty += not given[:, q].any()
    assert n_checked > 100
    assert n_empty > 10


@each_case
def test_gains_are_exact_relative_to_the_objective_far_from_the_origin(case, side):
    for seed in range(10):
        instance = make_instance(np.random.default_rng(seed), "gaussian", 6)
        near = Setting(case, instance).exchange(side)
        moved = type(instance)(**{**vars(instance), "X": instance.X + 1e6})
        far = Setting(case, moved).exchange(side)
        scale = 1e-9 * max((instance.X**2).sum(), 1e-6)
        np.testing.assert_allclose(far.savings, near.savings, rtol=1e-6, atol=scale)
        np.testing.assert_allclose(far.costs, near.costs, rtol=1e-6, atol=scale)


# --------------------------------------------------------------------------------------- swaps


@each_case
def test_the_best_swap_is_the_best_of_all(case, side):
    n_within = n_between = n_none = 0
    for setting in settings(case, 50, largest=6):
        given, counts = setting.given[side], setting.counts[side]
        before = setting.of_side(side, given)
        gains = [
            before - setting.of_side(side, oracle.swapped(given, *swap))
            for swap in oracle.swaps(given, counts.max_outliers)
        ]
        exchange = setting.exchange(side)
        found = exchange.best()
        if found is None:
            assert not gains
            n_none += 1
            continue
        assert found.gain == pytest.approx(max(gains), abs=1e-9 * setting.scale)
        assert (found.source, found.target) in set(oracle.swaps(given, counts.max_outliers))
        after = setting.of_side(side, oracle.swapped(given, found.source, found.target))
        assert found.gain == pytest.approx(before - after, abs=1e-9 * setting.scale)
        n_within += found.source[0] == found.target[0]
        n_between += found.source[0] != found.target[0]
    assert min(n_within, n_between, n_none) > 1


@each_case
def test_closed_items_and_clusters_take_no_part_in_the_best_swap(case, side):
    n_found = 0
    for seed, setting in enumerate(settings(case, 30, largest=5)):
        rng = np.random.default_rng(seed)
        given, counts = setting.given[side], setting.counts[side]
        items, clusters = (rng.random(size) < 0.7 for size in given.shape)
        before = setting.of_side(side, given)
        gains = [
            before - setting.of_side(side, oracle.swapped(given, *swap))
            for swap in oracle.swaps(given, counts.max_outliers)
            if all(items[item] and clusters[cluster] for item, cluster in swap)
        ]
        closed = (np.flatnonzero(~some) for some in (items, clusters))
        found = setting.exchange(side).without(*closed).best()
        if found is None:
            assert not gains
            continue
        assert found.gain == pytest.approx(max(gains), abs=1e-9 * setting.scale)
        n_found += 1
    assert n_found > 5


def test_a_swap_may_raise_the_objective_and_is_still_the_best():
    members = np.eye(2, dtype=bool)[[0, 0, 1, 1]]
    d = np.where(members, 0.0, 9.0)
    exchange = exchange_of(members, d, np.zeros(4), Counts(4, 2, 4, 0))
    swap = exchange.best()
    assert swap.gain == pytest.approx(-6.0)
    assert swap.source == (0, 0)
    assert swap.target == (0, 1)


@pytest.mark.parametrize("shape", [(1, 1), (4, 1), (1, 3)])
def test_there_may_be_no_swap_at_all(shape):
    members = np.zeros(shape, dtype=bool)
    members[:, 0] = True
    counts = Counts(*shape, shape[0], 0)
    exchange = exchange_of(members, np.zeros(shape), np.zeros(shape[0]), counts)
    assert exchange.best() is None
    found, gain = independent_swaps(exchange, 0.0)
    assert gain == 0.0
    np.testing.assert_array_equal(found, members)


def test_an_outlier_may_come_in_where_another_may_go_out():
    # Item 3 fits cluster 1 perfectly and has no cluster; item 0 is far from its only one.
    members = np.array([[1, 0], [1, 0], [0, 1], [0, 0], [0, 1]], dtype=bool)
    d = np.array([[9.0, 9.0], [0.0, 9.0], [9.0, 0.0], [9.0, 0.0], [9.0, 0.0]])
    spare, none_spare = (
        exchange_of(members, d, np.zeros(5), Counts(5, 2, 4, max_outliers))
        for max_outliers in (2, 1)
    )
    # Without a spare outlier too: one comes in as the other goes out.
    for exchange in (spare, none_spare):
        swap = exchange.best()
        assert (swap.source, swap.target) == ((0, 0), (3, 1))
        after = exchange.after([swap])
        assert np.flatnonzero(~after.any(axis=1)).tolist() == [0]
        assert members[0].any()


# ------------------------------------------------------------------------- independent swaps


@each_case
def test_independent_swaps_gain_what_they_say(case, side):
    n_swaps = []
    for setting in settings(case, 60, largest=9):
        given, counts = setting.given[side], setting.counts[side]
        exchange = setting.exchange(side)
        found, gain = independent_swaps(exchange, 1e-9 * setting.scale)
        np.testing.assert_array_equal(exchange.members, given)
        after = setting.of_side(side, found)
        assert gain == pytest.approx(setting.of_side(side, given) - after, abs=1e-9 * setting.scale)
        assert found.sum() == counts.n_memberships
        assert np.count_nonzero(~found.any(axis=1)) <= counts.max_outliers
        assert (found.any(axis=0) >= given.any(axis=0)).all()
        n_swaps.append(np.count_nonzero(found != given) // 2)
        assert (gain > 0) == (n_swaps[-1] > 0)
    assert np.mean(n_swaps) > 0.3  # the instances are no formality
    assert max(n_swaps) > 1


@each_case
def test_independent_swaps_leave_out_small_gains(case, side):
    for setting in settings(case, 30, kinds=["gaussian"]):
        exchange = setting.exchange(side)
        swap = exchange.best()
        if swap is None or swap.gain <= 0:
            continue
        found, gain = independent_swaps(exchange, swap.gain * (1 + 1e-12))
        assert gain == 0.0
        np.testing.assert_array_equal(found, exchange.members)
        found, gain = independent_swaps(exchange, swap.gain * (1 - 1e-12))
        assert gain == swap.gain
        np.testing.assert_array_equal(found, exchange.after([swap]))


# --------------------------------------------------------------------------- promising swaps


def test_promising_swaps_are_feasible_and_ranked():
    rng = np.random.default_rng(0)
    members = rng.random((12, 3)) < 0.6
    counts = Counts(12, 3, int(members.sum()), int(np.count_nonzero(~members.any(axis=1))))
    exchange = exchange_of(members, rng.random((12, 3)) + 1.0, np.zeros(12), counts)
    within, between = exchange.moves_within(10), exchange.swaps_between(10)
    assert len(between) == 10
    assert len(within) == min(10, int((members.any(axis=1) & ~members.all(axis=1)).sum()))
    for some in (within, between):
        assert [swap.gain for swap in some] == sorted((swap.gain for swap in some), reverse=True)
    assert all(swap.source[0] == swap.target[0] for swap in within)
    assert all(swap.source[0] != swap.target[0] for swap in between)
    for swap in [*within, *between]:
        assert swap.source[1] != swap.target[1]
        assert members[swap.source]
        assert not members[swap.target]
        assert swap.source[0] == swap.target[0] or members[swap.source[0]].sum() > 1
        assert swap.gain == exchange.savings[swap.source] - exchange.costs[swap.target]
        changed = exchange.after([swap])
        assert (changed != members).sum() == 2
        assert changed[swap.target]
        assert not changed[swap.source]
    together = exchange.after(within[:3])
    assert (together != members).sum() == 6
    np.testing.assert_array_equal(together.sum(axis=1), members.sum(axis=1))


def literal_swaps_between(exchange, n_swaps, per_cluster=3):
    """Look at every pair of clusters, and at the best few items of each."""
    n_memberships = exchange.members.sum(axis=1)
    k = exchange.members.shape[1]
    leaving, joining = [], []
    for q in range(k):
        savings = [
            (-exchange.savings[p, q], p)
            for p in range(len(n_memberships))
            if (n_memberships == 0).sum() < exchange.max_outliers or n_memberships[p] > 1
        ]
        leaving.append([p for _, p in sorted(savings)[:per_cluster]])
        costs = sorted((exchange.costs[p, q], p) for p in range(len(n_memberships)))
        joining.append([p for _, p in costs[:per_cluster]])
    found = []
    for q in range(k):
        for r in range(k):
            for i, p in enumerate(leaving[q]):
                for j, s in enumerate(joining[r]):
                    gain = exchange.savings[p, q] - exchange.costs[s, r]
                    if q != r and p != s and np.isfinite(gain):
                        found.append((-gain, (q, r, i, j), Swap((p, q), (s, r), gain)))
    return [swap for *_, swap in sorted(found, key=lambda each: each[:2])[:n_swaps]]


@pytest.mark.parametrize("tied", [False, True], ids=["distinct", "tied"])
@pytest.mark.parametrize("spare", [0, 2])
def test_swaps_between_items_are_those_of_a_loop_over_all_pairs_of_clusters(tied, spare):
    n_found = []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(1, 14)), int(rng.integers(1, 6))
        members = rng.random((n, k)) < rng.choice([0.2, 0.5, 0.8])
        d = rng.integers(1, 4, size=(n, k)).astype(float) if tied else rng.random((n, k))
        n_outliers = int(np.count_nonzero(~members.any(axis=1)))
        counts = Counts(n, k, int(members.sum()), n_outliers + spare)
        exchange = exchange_of(members, d, np.zeros(n), counts)
        for n_swaps, per_cluster in ((1, 3), (4, 3), (10, 1), (1000, 3)):
            found = exchange.swaps_between(n_swaps, per_cluster)
            expected = literal_swaps_between(exchange, n_swaps, per_cluster)
            assert found == expected
            n_found.append(len(found))
    assert max(n_found) > 50
    assert min(n_found) == 0


@each_case
def test_swaps_between_items_gain_what_they_say(case, side):
    n_checked = 0
    for setting in settings(case, 40):
        given, counts = setting.given[side], setting.counts[side]
        before, feasible = (
            setting.of_side(side, given),
            set(oracle.swaps(given, counts.max_outliers)),
        )
        for swap in setting.exchange(side).swaps_between(5):
            assert (swap.source, swap.target) in feasible
            after = setting.of_side(side, oracle.swapped(given, swap.source, swap.target))
            assert swap.gain == pytest.approx(before - after, abs=1e-9 * setting.scale)
            n_checked += 1
    assert n_checked > 30


def n_lines_run(k, n=400):
    """Look for four swaps among k clusters; return how many lines of Python that takes."""
    rng = np.random.default_rng(0)
    members = rng.random((n, k)) < 3.0 / k
    members[np.arange(k), np.arange(k)] = True
    counts = Counts(n, k, int(members.sum()), n)
    exchange = exchange_of(members, rng.random((n, k)), np.zeros(n), counts)
    n_lines = 0

    def trace(frame, event, _):
        nonlocal n_lines
        n_lines += event == "line" and frame.f_code.co_filename == moves.__file__
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        found = exchange.swaps_between(4)
    finally:
        sys.settrace(before)
    assert len(found) == 4
    return n_lines


def test_swaps_between_many_clusters_are_found_without_a_loop_over_their_pairs():
    # Counted rather than timed. A loop over pairs of 200 clusters would run 40,000 lines.
    assert 10 < n_lines_run(200) == n_lines_run(20) < 200


# ------------------------------------------------------------------- clusters of a single item


def test_other_singletons_keep_all_counts_and_change_who_is_alone():
    n_seen = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        members = rng.random((14, 4)) < 0.4
        members[:, 1] = False
        members[rng.integers(14), 1] = True
        counts = Counts(14, 4, int(members.sum()), int(np.count_nonzero(~members.any(axis=1))))
        exchange = exchange_of(members, rng.random((14, 4)) + 1.0, rng.random(14), counts)
        for trial in exchange.other_singletons(5):
            n_seen += 1
            assert trial.sum() == members.sum()
            assert (trial.sum(axis=1) == members.sum(axis=1)).all()
            alone = np.flatnonzero(trial[:, 1])
            assert len(alone) == 1
            assert not members[alone[0], 1]
    assert n_seen > 20


def test_those_who_save_most_beyond_what_no_cluster_explains_are_alone_first():
    """Alone an item still costs its constant: what it saves of that is no gain."""
    inside = np.eye(2)[[0, 0, 0, 1]] > 0
    savings = np.where(inside, np.array([[1.0], [9.0], [3.0], [0.0]]), -np.inf)
    exchange = Exchange(inside, savings, np.where(inside, np.inf, 1.0), np.zeros(4), 0)
    for constant, alone in (([0.0] * 4, 1), ([0.0, 8.5, 0.0, 0.0], 2)):
        (trial,) = replace(exchange, constant=np.array(constant)).other_singletons(1)
        np.testing.assert_array_equal(np.flatnonzero(trial[:, 1]), [alone])


def test_nobody_else_can_be_alone_without_a_cluster_of_one_or_a_place_to_go():
    d, constant = np.ones((4, 2)), np.zeros(4)
    even = np.eye(2)[[0, 0, 1, 1]] > 0
    assert exchange_of(even, d, constant, Counts(4, 2, 4, 0)).other_singletons(3) == []
    everywhere = np.array([[1, 1], [1, 0], [1, 0], [1, 0]]) > 0
    assert exchange_of(everywhere, d, constant, Counts(4, 2, 5, 0)).other_singletons(3) == []
