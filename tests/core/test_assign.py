"""The two-stage assignment: exact counts, least total distance, documented tie order.

It counts distances in blocks that no machine sees together. However the items are cut into blocks,
and whatever is guessed about the thresholds, the answer has the same bits.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import make_counts, make_membership, members

from neocc.core.assign import assign, fill_empty
from neocc.core.overlap import OVERLAP_MODELS, REPEAT, Scores
from neocc.core.prices import find_thresholds
from neocc.core.problem import Counts
from neocc.core.thresholds import FEW, Guess, Thresholds, first_query
from neocc.kernels import Memberships, numpy_

KINDS = {
    "distinct": lambda rng, shape: rng.random(shape),
    "tied": lambda rng, shape: rng.integers(0, 3, size=shape).astype(float),
    "equal": lambda rng, shape: np.full(shape, rng.choice([0.0, 2.5, -1.0])),
    "neighbours": lambda rng, shape: 1.0 + rng.integers(0, 4, size=shape) * 2.0**-52,
    "around zero": lambda rng, shape: rng.choice([-1e-9, -0.0, 0.0, 5e-324, 1e-9], size=shape),
    "wide": lambda rng, shape: 10.0 ** rng.integers(-200, 200, size=shape) * rng.random(shape),
    # One of several: feasible memberships leave a cluster that is not empty.
    "empty cluster": lambda rng, shape: np.where(
        (shape[1] > 1) & (np.arange(shape[1]) == rng.integers(shape[1])),
        np.inf,
        rng.integers(0, 3, size=shape),
    ).astype(float),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def choices_of(d):
    """What items with these distances can choose from."""
    d = np.ascontiguousarray(d, dtype=float)
    nearest = d.argmin(axis=1).astype(np.int32)
    return REPEAT.choices(Scores(d, nearest, d.min(axis=1, initial=np.inf), d.shape[1]), numpy_)


def run(d, counts):
    return assign(choices_of(d), counts, REPEAT)


def draw(seed, tied, largest=7):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, largest + 1))
    k = int(rng.integers(1, min(n, 4) + 1))
    d = rng.integers(0, 4, size=(n, k)) if tied else rng.random((n, k))
    return d.astype(float), make_counts(rng, n, k)


def filled(U, d):
    """Fill the empty clusters of memberships with these distances."""
    U = np.asarray(U, dtype=bool)
    return fill_empty(members(U), d[U])


# --------------------------------------------------------------------------------- two stages


@pytest.mark.parametrize("tied", [False, True], ids=["distinct", "tied"])
def test_equals_the_papers_loop(tied):
    n_without_empty = 0
    for seed in range(300):
        d, counts = draw(seed, tied)
        literal = oracle.two_stage(d, counts.n_memberships, counts.n_covered)
        found = run(d, counts).members.dense
        if literal.any(axis=0).all():
            n_without_empty += 1
            np.testing.assert_array_equal(found, literal)
        else:
            np.testing.assert_array_equal(found, filled(literal, d).dense)
    assert n_without_empty > 100


@pytest.mark.parametrize("tied", [False, True], ids=["distinct", "tied"])
def test_reaches_the_lowest_cost_over_all_feasible_memberships(tied):
    n_compared = 0
    for seed in range(150):
        d, counts = draw(seed, tied, largest=4)
        if d.size > 12:
            continue
        literal = oracle.two_stage(d, counts.n_memberships, counts.n_covered)
        lowest = oracle.lowest_cost(d, counts.n_memberships, counts.max_outliers)
        assert d[literal].sum() == pytest.approx(lowest, rel=1e-12)
        if literal.any(axis=0).all():
            n_compared += 1
            assert d[run(d, counts).members.dense].sum() == pytest.approx(lowest, rel=1e-12)
    assert n_compared > 50


def test_counts_are_exact():
    for seed in range(300):
        d, counts = draw(seed, tied=seed % 2 == 0, largest=20)
        U = run(d, counts).members
        assert U.dense.sum() == U.n_total == counts.n_memberships
        assert (~U.dense.any(axis=1)).sum() <= counts.max_outliers


def test_ties_go_to_the_lowest_item_then_the_lowest_cluster():
    d = np.ones((3, 3))
    found = run(d, Counts(3, 3, 5, 1)).members.dense
    # Stage 1 takes items 0 and 1 in cluster 0, stage 2 the first free pairs; cluster 2 is full by
    # then.
    np.testing.assert_array_equal(found, [[1, 1, 1], [1, 1, 0], [0, 0, 0]])


def test_an_item_left_out_first_may_come_in_second():
    d = np.array([[0.0, 9.0], [9.0, 0.0], [1.0, 9.0]])
    found = run(d, Counts(3, 2, 3, 1))
    np.testing.assert_array_equal(found.members.dense, [[1, 0], [0, 1], [1, 0]])


def test_thresholds_are_the_largest_accepted_distances():
    d = np.array([[0.0, 2.0], [3.0, 1.0], [7.0, 8.0]])
    assert run(d, Counts(3, 2, 3, 1)).thresholds == (1.0, 2.0)


def test_thresholds_without_outliers_and_extra_memberships_are_infinite():
    found = run(np.array([[0.0, 2.0], [3.0, 1.0]]), Counts(2, 2, 2, 0))
    assert found.thresholds == (np.inf, -np.inf)


def test_distances_are_left_as_they_were():
    d, counts = draw(11, tied=False)
    before = d.copy()
    run(d, counts)
    np.testing.assert_array_equal(d, before)


def test_a_cluster_at_infinite_distance_is_not_joined():
    d = np.array([[1.0, np.inf, 2.0]] * 4)
    found = run(d, Counts(4, 3, 8, 0)).members.dense
    # Eight memberships fill clusters 0 and 2; one of them then re-seeds the empty cluster.
    assert found.sum(axis=0).tolist() == [4, 1, 3]


def test_nearest_clusters_alone_do_where_every_item_gets_one():
    labels, minima = np.array([1, 0, 1], dtype=np.int32), np.array([3.0, 1.0, 2.0])
    choices = REPEAT.choices(Scores(None, labels, minima, 3), numpy_)
    found = assign(choices, Counts(3, 3, 3, 0), REPEAT).members
    # Cluster 2 is empty: the dearest item goes there.
    np.testing.assert_array_equal(found.dense, [[0, 0, 1], [1, 0, 0], [0, 1, 0]])


def test_new_items_take_what_thresholds_allow():
    d = np.array([[0.0, 2.0], [3.0, 1.0], [7.0, 8.0], [1.0, 2.5]])
    applied = choices_of(d).apply(Thresholds(1.0, 2.0))
    np.testing.assert_array_equal(applied.members.dense, [[1, 1], [0, 1], [0, 0], [1, 0]])


def test_the_papers_overlap_model_is_known_by_name_and_weighs_nothing():
    assert OVERLAP_MODELS["repeat"]() == REPEAT
    U = members([[1, 1], [0, 1]])
    assert REPEAT.weighted(U) is U


# -------------------------------------------------------------------------------------- blocks


def by_counting(d, edges, counts, guess=None, few=FEW):
    """What the engine for a cluster does, without a cluster."""
    blocks = [choices_of(d[a:b]) for a, b in pairwise(edges)]
    queries = []

    def ask(method, given):
        queries.extend(given[:1] if method == "count" else [])
        return [getattr(block, method)(each) for block, each in zip(blocks, given, strict=True)]

    thresholds = find_thresholds(ask, counts, len(blocks), guess, few=few)
    parts = [block.apply(each) for block, each in zip(blocks, thresholds, strict=True)]
    assert len({each.pair for each in thresholds}) == 1

    costs = [block.costs(part) for block, part in zip(blocks, parts, strict=True)]
    joined = Memberships.joined([part.members for part in parts])
    if joined.has_empty:
        joined = fill_empty(joined, np.concatenate(costs))
    return joined, thresholds[0].pair, queries


def by_sorting(d, counts):
    """Both stages by stable sorts of everything: the answer before clusters are filled."""
    n, k = d.shape
    order = np.argsort(d.min(axis=1), kind="stable")[: counts.n_covered]
    U = np.zeros((n, k), dtype=bool)
    U[order, d[order].argmin(axis=1)] = True
    limits = [np.inf, -np.inf]
    if counts.n_covered < n:
        limits[0] = d.min(axis=1)[order].max()
    if counts.n_extra:
        left = np.where(U, np.inf, d).reshape(-1)
        # Those already taken come after others that are infinitely far.
        extra = np.lexsort((np.arange(n * k), U.reshape(-1), left))[: counts.n_extra]
        limits[1] = left[extra].max()
        U.reshape(-1)[extra] = True
    return U, tuple(limits)


def assert_same(d, edges, counts, guess=None, few=FEW):
    """Blocks give the bits of one block, which are those of a stable sort."""
    whole = run(d, counts)
    found, thresholds, _ = by_counting(d, edges, counts, guess, few)
    np.testing.assert_array_equal(found.first, whole.members.first)
    np.testing.assert_array_equal(found.extra_items, whole.members.extra_items)
    np.testing.assert_array_equal(found.extra_clusters, whole.members.extra_clusters)
    assert thresholds == whole.thresholds
    literal, limits = by_sorting(d, counts)
    np.testing.assert_array_equal(found.dense, filled(literal, d).dense)
    if not counts.is_partition:
        assert thresholds == limits


def draw_blocks(rng, kind, largest=40):
    n = int(rng.integers(1, largest + 1))
    k = int(rng.integers(1, min(n, 5) + 1))
    edges = np.concatenate([[0], np.sort(rng.integers(0, n + 1, size=rng.integers(0, 5))), [n]])
    return KINDS[kind](rng, (n, k)), edges, make_counts(rng, n, k)


@each_kind
@given(seed=st.integers(0, 2**32 - 1), few=st.sampled_from([0, 3, 1 << 15]))
def test_blocks_give_the_answer_of_one_block(kind, seed, few):
    assert_same(*draw_blocks(np.random.default_rng(seed), kind), few=few)


@each_kind
def test_one_block_selects_the_thresholds_that_it_would_count(kind):
    rng = np.random.default_rng(0)
    for _ in range(20):
        d, _, counts = draw_blocks(rng, kind)
        found = run(d, counts)
        choices = replace(choices_of(d), most_selected=0)
        assert choices.selected(counts) is None
        counted = assign(choices, counts, REPEAT)
        assert counted.thresholds == found.thresholds
        np.testing.assert_array_equal(counted.members.dense, found.members.dense)


@each_kind
@given(
    seed=st.integers(0, 2**32 - 1),
    few=st.sampled_from([0, 3, 1 << 15]),
    share=st.sampled_from([0.0, 1e-3, 0.3, 5.0]),
    off=st.sampled_from([0.0, 0.2, -0.2, 3.0]),
)
def test_a_guess_changes_nothing(kind, seed, few, share, off):
    d, edges, counts = draw_blocks(np.random.default_rng(seed), kind)
    nearest, extra = run(d, counts).thresholds
    guess = Guess((nearest * (1 + off), extra * (1 - off)), share)
    assert_same(d, edges, counts, guess, few)


@pytest.fixture(scope="module")
def many():
    """So many distances that it matters how often they are counted."""
    d = np.random.default_rng(0).chisquare(5, size=(40_000, 8))
    return (
        d,
        np.linspace(0, 40_000, 17).astype(int),
        Counts.from_fractions(40_000, 8, 0.1, 0.05),
    )


def test_many_distances_take_two_queries(many):
    assert len(by_counting(*many)[2]) == 2
    assert_same(*many)


def test_a_good_guess_takes_one_query(many):
    d, edges, counts = many
    nearest, extra = run(d, counts).thresholds
    guess = Guess((nearest * 1.001, extra * 0.999), 0.002)
    assert len(by_counting(d, edges, counts, guess)[2]) == 1
    assert_same(d, edges, counts, guess)


def test_a_bad_guess_costs_one_query_more(many):
    d, edges, counts = many
    nearest, extra = run(d, counts).thresholds
    guess = Guess((nearest * 1.1, extra * 0.9), 0.002)
    assert len(by_counting(d, edges, counts, guess)[2]) == 3
    assert_same(d, edges, counts, guess)


def test_guesses_learn_how_far_thresholds_move():
    guess = Guess()
    first = guess.share
    guess.learn((2.0, 4.0))
    assert guess.thresholds == (2.0, 4.0)
    assert guess.share == first
    guess.learn((2.002, 4.0))
    assert guess.share == pytest.approx(2 * 0.001)
    guess.learn((2.002, 4.0))  # nothing moved: but the next may
    assert 0.0 < guess.share < 0.002
    guess.learn((1.0, 4.0))
    assert guess.share == first
    guess.learn((np.inf, -np.inf))
    assert guess.thresholds == (np.inf, -np.inf)


def test_a_guess_without_a_number_is_not_asked_about():
    counts = Counts(10, 3, 12, 2)
    assert first_query(counts, Guess((np.inf, 1.0))) == first_query(counts)
    assert first_query(counts, Guess()) == first_query(counts)
    # Where no item may be left out, nobody asks for that threshold.
    assert first_query(Counts(10, 3, 12, 0), Guess((np.inf, 1.0))).nearest is None


@each_kind
def test_blocks_equal_the_papers_loop(kind):
    rng = np.random.default_rng(0)
    n_compared = 0
    for _ in range(60):
        d, edges, counts = draw_blocks(rng, kind, largest=8)
        literal = oracle.two_stage(d, counts.n_memberships, counts.n_covered)
        if literal.any(axis=0).all():
            n_compared += 1
            found, _, _ = by_counting(d, edges, counts)
            np.testing.assert_array_equal(found.dense, literal)
    assert n_compared > 5


def test_memberships_beyond_those_at_finite_distance_are_still_counted_right():
    d = np.array([[1.0, np.inf, 2.0]] * 4)
    for total in range(4, 13):
        counts = Counts(4, 3, total, 0)
        assert run(d, counts).members.dense.sum() == total
        assert_same(d, [0, 1, 4], counts)


def test_counts_are_exact_where_all_clusters_are_infinitely_far():
    d = np.full((4, 2), np.inf)
    found = choices_of(d).apply(Thresholds(np.inf, -np.inf, n_nearest_ties=3))
    assert found.members.n_total == 3


def test_nothing_is_asked_where_all_rows_join_one_cluster_each():
    d = np.random.default_rng(0).random((10, 3))
    assert by_counting(d, [0, 4, 10], Counts(10, 3, 10, 0))[2] == []


# ------------------------------------------------------------------------------- fill_empty


def test_fill_empty_keeps_counts_and_leaves_no_cluster_empty():
    n_filled = 0
    for seed in range(300):
        d, counts = draw(seed, tied=False, largest=9)
        U = make_membership(np.random.default_rng(seed), counts)
        found = filled(U, d).dense
        n_filled += not np.array_equal(U, found)
        np.testing.assert_array_equal(found.sum(axis=1), U.sum(axis=1))
        assert found.any(axis=0).sum() == min(counts.n_clusters, counts.n_memberships)
    assert n_filled > 30


def test_fill_empty_never_raises_the_cost():
    for seed in range(300):
        d, counts = draw(seed, tied=True, largest=9)
        U = make_membership(np.random.default_rng(seed), counts)
        found = filled(U, d).dense
        d[:, ~U.any(axis=0)] = 0.0  # a single member sits on its own mean
        assert d[found].sum() <= d[U].sum()


def test_fill_empty_moves_the_worst_membership_that_can_be_spared():
    U = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]])
    d = np.array([[1.0, 0.0, np.inf], [2.0, 0.0, np.inf], [0.0, 9.0, np.inf]])
    # Row 2 is the farthest, but the only member of its cluster.
    expected = [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    np.testing.assert_array_equal(filled(U, d).dense, expected)


def test_fill_empty_leaves_memberships_without_empty_clusters_as_they_are():
    U = members([[1, 0], [0, 1]])
    np.testing.assert_array_equal(fill_empty(U, np.ones(2)).dense, U.dense)


def test_fill_empty_writes_memberships_in_one_way():
    """Which cluster of an item comes first would change the order in which sums are added."""
    drawn = Memberships(np.array([1, 0], np.int32), np.array([0]), np.array([0], np.int32), 2)
    found = fill_empty(drawn, np.ones(3))
    np.testing.assert_array_equal(found.dense, drawn.dense)
    np.testing.assert_array_equal(found.first, [0, 0])


def test_costs_are_asked_for_only_where_a_cluster_is_empty():
    class Priceless:
        def __init__(self, d):
            self.choices = choices_of(d)
            self.selected, self.apply = self.choices.selected, self.choices.apply
            self.n_asked = 0

        def costs(self, applied):
            self.n_asked += 1
            return self.choices.costs(applied)

    d = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    for table, n_asked in ((d, 0), (np.array([[0.0, 1.0]] * 3), 1)):
        for counts in (Counts(3, 2, 3, 0), Counts(3, 2, 3, 1)):
            choices = Priceless(table)
            assert assign(choices, counts, REPEAT).members.dense.any(axis=0).all()
            assert choices.n_asked == n_asked
