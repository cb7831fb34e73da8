"""The order in which clusters are shown."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from neocc.plot import _seriate
from neocc.plot._pqtree import contiguous_order
from neocc.plot.arrange import arrange, arrange_both

SEEDS = range(20)


def random_membership(seed, n_items=40, n_clusters=4, share=0.35):
    return np.random.default_rng(seed).random((n_items, n_clusters)) < share


def n_runs(order, wanted):
    """Count the pieces into which an order cuts a set."""
    inside = [False, *(item in wanted for item in order)]
    return sum(now and not before for before, now in pairwise(inside))


def members(arrangement):
    """Read the memberships back: item -> clusters."""
    return {
        int(item): part.clusters for part in arrangement.segments for item in part.items.tolist()
    }


def n_pieces(arrangement):
    return sum(len(arrangement.pieces(cluster)) for cluster in arrangement.clusters)


def fewest_pieces(membership):
    """Try every order of the patterns."""
    patterns = [tuple(row) for row in np.unique(membership, axis=0) if row.any()]
    clusters = range(membership.shape[1])
    return min(
        sum(n_runs(order, {p for p in patterns if p[cluster]}) for cluster in clusters)
        for order in permutations(patterns)
    )


# ------------------------------------------------------------------------------ contiguous sets


@pytest.mark.parametrize("seed", range(60))
def test_sets_are_kept_contiguous_exactly_as_long_as_an_order_allows(seed):
    rng = np.random.default_rng(seed)
    n_items = int(rng.integers(2, 7))
    share = rng.choice([0.3, 0.5, 0.7])
    sets = [
        frozenset(np.flatnonzero(rng.random(n_items) < share).tolist())
        for _ in range(rng.integers(1, 6))
    ]
    order, kept = contiguous_order(n_items, sets)
    assert sorted(order) == list(range(n_items))
    possible = list(permutations(range(n_items)))
    for wanted, was_kept in zip(sets, kept, strict=True):
        narrowed = [o for o in possible if n_runs(o, wanted) <= 1]
        assert was_kept == bool(narrowed)
        if was_kept:
            assert n_runs(order, wanted) <= 1
            possible = narrowed
    assert tuple(order) in possible


def test_a_long_chain_of_overlapping_sets_is_found():
    rng = np.random.default_rng(0)
    n_items = 80
    numbers = rng.permutation(n_items)
    starts = rng.permutation(n_items - 7)
    sets = [frozenset(numbers[start : start + 7].tolist()) for start in starts]
    order, kept = contiguous_order(n_items, sets)
    assert all(kept)
    assert all(n_runs(order, wanted) == 1 for wanted in sets)


# ---------------------------------------------------------------------------------- arrangement


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_clusters", [1, 4, 70])
def test_segments_hold_every_item_once_with_its_own_clusters(seed, n_clusters):
    membership = random_membership(seed, n_clusters=n_clusters, share=3 / (n_clusters + 4))
    arrangement = arrange(membership)
    assert sorted(arrangement.order.tolist()) == list(range(len(membership)))
    assert members(arrangement) == {
        item: tuple(np.flatnonzero(row)) for item, row in enumerate(membership)
    }
    clusters = [part.clusters for part in arrangement.segments]
    assert len(set(clusters)) == len(clusters)
    for part in arrangement.segments:
        assert (np.diff(part.items) > 0).all()
    assert sorted(arrangement.clusters) == list(range(n_clusters))


@pytest.mark.parametrize("seed", SEEDS)
def test_outliers_stand_last(seed):
    membership = random_membership(seed)
    membership[3] = False
    parts = arrange(membership).segments
    assert not any(part.is_outlier for part in parts[:-1])
    assert parts[-1].is_outlier
    assert arrange(membership).n_outliers == (~membership.any(axis=1)).sum()


@pytest.mark.parametrize("seed", SEEDS)
def test_pieces_are_where_the_members_are(seed):
    membership = random_membership(seed)
    arrangement = arrange(membership)
    for cluster in range(membership.shape[1]):
        inside = np.zeros(len(membership), dtype=bool)
        pieces = arrangement.pieces(cluster)
        for start, stop in pieces:
            inside[start:stop] = True
        assert (inside == membership[arrangement.order, cluster]).all()
        assert all(one[1] < two[0] for one, two in pairwise(pieces))


@pytest.mark.parametrize("seed", SEEDS)
def test_overlaps_stand_between_neighbours_where_one_order_allows(seed):
    """Clusters that are intervals of a line, shuffled, are intervals again."""
    rng = np.random.default_rng(seed)
    n_items, n_clusters = 60, 9
    starts = rng.integers(0, n_items, size=n_clusters)
    stops = np.minimum(starts + rng.integers(1, 25, size=n_clusters), n_items)
    line = np.arange(n_items)[:, None]
    membership = (starts <= line) & (line < stops)
    shuffled = membership[rng.permutation(n_items)][:, rng.permutation(n_clusters)]
    arrangement = arrange(shuffled, rng.random((n_clusters, 3)))
    assert all(len(arrangement.pieces(cluster)) == 1 for cluster in range(n_clusters))


def test_items_of_two_clusters_stand_between_them():
    membership = np.array([[1, 0, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [0, 1, 0]], dtype=bool)
    parts = [part.clusters for part in arrange(membership).segments]
    assert parts in ([(0,), (0, 1), (1,), (1, 2), (2,)], [(2,), (1, 2), (1,), (0, 1), (0,)])


@pytest.mark.parametrize("seed", range(40))
def test_there_are_as_few_pieces_as_any_order_gives(seed):
    membership = random_membership(seed, n_items=7, n_clusters=4, share=0.45)
    assert n_pieces(arrange(membership)) == fewest_pieces(membership)


def test_similar_clusters_stand_side_by_side():
    rng = np.random.default_rng(0)
    angles = np.linspace(0, np.pi / 2, 8)
    shuffled = rng.permutation(8)
    profiles = np.column_stack([np.cos(angles), np.sin(angles)])[shuffled]
    membership = np.eye(8, dtype=bool)[rng.permutation(np.arange(40) % 8)]
    places = shuffled[list(arrange(membership, profiles).clusters)]
    assert np.abs(np.diff(places)).tolist() == [1] * 7


def test_pieces_come_before_similarity():
    membership = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)
    profiles = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    arrangement = arrange(membership, profiles)
    assert n_pieces(arrangement) == 3
    assert 0 in (arrangement.clusters.index(2) - 1, arrangement.clusters.index(0) - 1)


@pytest.mark.parametrize("seed", range(60))
def test_numbers_of_clusters_play_no_part(seed):
    rng = np.random.default_rng(seed)
    U, V = random_membership(seed), random_membership(seed + 100, n_items=30, n_clusters=5)
    means = rng.random((4, 5))
    rows, columns = arrange_both(U, V, means)
    p, q = rng.permutation(4), rng.permutation(5)
    again = arrange_both(U[:, p], V[:, q], means[np.ix_(p, q)])
    assert again[0].order.tolist() == rows.order.tolist()
    assert again[1].order.tolist() == columns.order.tolist()
    assert p[list(again[0].clusters)].tolist() == list(rows.clusters)
    assert q[list(again[1].clusters)].tolist() == list(columns.clusters)


@pytest.mark.parametrize("seed", SEEDS)
def test_high_blocks_run_down_the_diagonal(seed):
    rng = np.random.default_rng(seed)
    n_clusters = int(rng.integers(2, 8))
    partner = rng.permutation(n_clusters)
    means = np.zeros((n_clusters, n_clusters))
    means[np.arange(n_clusters), partner] = rng.uniform(1, 2, size=n_clusters)
    U, V = (np.eye(n_clusters, dtype=bool)[rng.permutation(20) % n_clusters] for _ in range(2))
    rows, columns = arrange_both(U, V, means)
    assert partner[list(rows.clusters)].tolist() == list(columns.clusters)


def test_the_order_of_the_data_decides_what_is_left_open():
    membership = np.repeat(np.eye(2, dtype=bool), 5, axis=0)
    assert arrange(membership).order.tolist() == list(range(10))
    assert arrange(membership[:, ::-1]).order.tolist() == list(range(10))


def test_clusters_without_members_stand_last():
    membership = np.array([[0, 1, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)
    assert arrange(membership).clusters == (1, 2, 0)


def test_renumbered_clusters_count_up():
    membership = random_membership(0)
    arrangement = arrange(membership)
    again = arrangement.renumbered()
    assert again.clusters == tuple(range(4))
    assert members(again) == {
        item: tuple(np.flatnonzero(row)) for item, row in
        enumerate(membership[:, list(arrangement.clusters)])
    }  # fmt: skip


@pytest.mark.parametrize(("n_items", "n_clusters"), [(1, 1), (1, 3), (5, 0), (2, 2), (3, 1)])
@pytest.mark.parametrize("value", [False, True])
def test_degenerate_memberships(n_items, n_clusters, value):
    membership = np.full((n_items, n_clusters), value)
    arrangement = arrange(membership, np.zeros((n_clusters, 2)))
    assert sorted(arrangement.order.tolist()) == list(range(n_items))
    assert arrangement.n_outliers == (0 if value and n_clusters else n_items)
    both = arrange_both(membership, membership, np.zeros((n_clusters, n_clusters)))
    assert [side.n_items for side in both] == [n_items, n_items]


def test_rare_patterns_follow_the_common_one_that_differs_least():
    common = np.eye(4, 6, dtype=bool)
    rare = np.array(list(product([False, True], repeat=6)))
    rare = rare[rare.sum(axis=1) == 2]
    patterns, counts = np.vstack([rare, common]), np.repeat([1, 3], [len(rare), 4])
    order = _seriate.seriate(patterns, counts, most_compared=4)
    assert sorted(order) == list(range(len(patterns)))
    sets = [set(np.flatnonzero(pattern).tolist()) for pattern in patterns[order]]
    is_common = [len(clusters) == 1 for clusters in sets]
    assert sum(is_common) == 4
    for clusters, single in zip(sets, is_common, strict=True):
        if single:
            leader = clusters
        else:
            nearest = min(len(clusters ^ {c}) for c in range(4))
            assert len(clusters ^ leader) == nearest


@pytest.mark.parametrize("seed", range(5))
def test_many_patterns_are_ordered_with_fewer_pieces_than_sorting_gives(seed):
    membership = random_membership(seed, n_items=3000, n_clusters=12, share=0.25)
    arrangement = arrange(membership)
    assert len(arrangement.segments) > _seriate._MOST_COMPARED
    patterns = np.unique(membership, axis=0)
    by_number = np.diff(patterns.astype(int), axis=0, prepend=0).clip(0).sum()
    assert n_pieces(arrangement) < by_number
    counts = Counter(tuple(np.flatnonzero(row).tolist()) for row in membership)
    assert counts == {part.clusters: len(part.items) for part in arrangement.segments}


def test_orders_need_no_matplotlib():
    code = (
        "import sys; from neocc.plot.arrange import arrange; import numpy as np\n"
        "arrange(np.eye(5, dtype=bool), np.eye(5))\n"
        "assert not {'matplotlib', 'sklearn', 'neocc.estimators'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
