"""Assignment of sets of clusters: exact counts at the least cost, over all that is feasible.

Items and prototypes are given, so that the cost of every set is known literally. Clusters are not
filled here: what is compared is what prices, and single changes after them, have found.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import make_counts, make_membership, members

from neocc.core.assign import Applied, assign, is_feasible
from neocc.core.overlap import OVERLAP_MODELS, Scores
from neocc.core.prices import find_thresholds
from neocc.core.problem import Counts
from neocc.core.thresholds import FEW
from neocc.kernels import Memberships, numba_, numpy_

each_model = pytest.mark.parametrize("name", oracle.OVERLAP_MODELS)
KINDS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "tied": lambda rng, shape: rng.integers(-1, 2, size=shape).astype(float),
    "equal": lambda rng, shape: np.full(shape, rng.choice([0.0, 1.0, -2.5])),
    "wide": lambda rng, shape: 10.0 ** rng.integers(-4, 5, size=shape) * rng.normal(size=shape),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


class Items:
    """Points that choose among prototypes, under an overlap model."""

    def __init__(self, name, most, points, prototypes, n_empty=0, present=None):
        self.name, self.most = name, most
        self.points, self.prototypes = points, prototypes
        self.model = OVERLAP_MODELS[name](most)
        self.d = np.square(points[:, None] - prototypes).sum(axis=2)
        self.d[:, :n_empty] = np.inf
        self.present = present

    @property
    def largest(self):
        k = len(self.prototypes)
        return min(k, self.most or k)

    def cost(self, item, chosen):
        """The cost of a set, word for word."""
        d, x, z = self.d[item, list(chosen)], self.points[item], self.prototypes[list(chosen)]
        if np.isinf(d).any():
            return np.inf
        return float(
            {
                "repeat": d.sum(),
                "share": d.mean(),
                "average": np.square(x - z.mean(axis=0)).sum(),
                "sum": np.square(x - z.sum(axis=0)).sum(),
            }[self.name]
        )

    def total(self, U):
        return sum(self.cost(item, np.flatnonzero(u)) for item, u in enumerate(U) if u.any())

    def lowest(self, counts, lowest_total=oracle.lowest_total):
        """The least cost of all feasible memberships."""
        k = len(self.prototypes)
        costs = [
            {
                chosen: self.cost(item, chosen)
                for size in range(1, self.largest + 1)
                for chosen in combinations(range(k), size)
            }
            for item in range(len(self.points))
        ]
        return lowest_total(costs, counts.n_memberships, counts.max_outliers)

    def choices(self, rows=slice(None), kernels=numpy_):
        d = np.ascontiguousarray(self.d[rows])
        squares = np.square(self.points[rows]).sum(axis=1)
        gram = self.prototypes @ self.prototypes.T
        present = None
        if self.present is not None:
            present = self.model.weighted(members(self.present[rows]))
        nearest = d.argmin(axis=1).astype(np.int32)
        minima = d.min(axis=1, initial=np.inf)
        scores = Scores(d, nearest, minima, d.shape[1], 0.0, present, squares, gram)
        return self.model.choices(scores, kernels)

    def assigned(self, counts, edges=None, few=FEW, kernels=numpy_):
        """What blocks of items take, put together; and their thresholds."""
        edges = [0, len(self.points)] if edges is None else edges
        blocks = [self.choices(slice(a, b), kernels) for a, b in pairwise(edges)]

        def ask(method, given, *common):
            return [
                getattr(block, method)(each, *common)
                for block, each in zip(blocks, given, strict=True)
            ]

        first = self.model.prices_first
        found = find_thresholds(ask, counts, len(blocks), prices_first=first, few=few)
        parts = [block.apply(each).members for block, each in zip(blocks, found, strict=True)]
        return Memberships.joined(parts), {each.pair for each in found}

    @property
    def scale(self):
        """What rounding is judged by: the squares that costs are differences of."""
        size = np.square(self.prototypes).sum() * len(self.prototypes)
        return np.square(self.points).sum() + size * len(self.points)


def draw(name, kind, seed, largest=5, k_largest=3, n_empty=0):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, largest + 1)), int(rng.integers(1 + n_empty, k_largest + 1))
    most = [None, 1, 2, 3][seed % 4]
    width = int(rng.integers(1, 4))
    points, prototypes = KINDS[kind](rng, (n, width)), KINDS[kind](rng, (k, width))
    # Of clusters that are not empty, or nothing could meet the counts at a finite cost.
    counts = make_counts(rng, n, k - n_empty, most)
    counts = Counts(n, k, counts.n_memberships, counts.max_outliers)
    return Items(name, most, points, prototypes, n_empty), counts


def assert_meets(U, counts, most):
    assert U.sum() == counts.n_memberships
    assert (~U.any(axis=1)).sum() <= counts.max_outliers
    assert most is None or U.sum(axis=1).max(initial=0) <= most


@each_model
@each_kind
def test_no_feasible_memberships_cost_less(name, kind):
    n_outliers = n_overlaps = 0
    for seed in range(60):
        items, counts = draw(name, kind, seed)
        U = items.assigned(counts)[0].dense
        assert_meets(U, counts, items.most)
        assert items.total(U) <= items.lowest(counts) + 1e-11 * items.scale, f"seed {seed}"
        n_outliers += (~U.any(axis=1)).any()
        n_overlaps += (U.sum(axis=1) > 1).any()
    assert min(n_outliers, n_overlaps) > 10


@each_model
@pytest.mark.parametrize("kind", ["normal", "tied"])
def test_empty_clusters_are_not_joined_and_the_best_of_the_others_are(name, kind):
    for seed in range(40):
        items, counts = draw(name, kind, seed, k_largest=4, n_empty=1)
        U = items.assigned(counts)[0].dense
        assert_meets(U, counts, items.most)
        assert not U[:, 0].any()
        assert items.total(U) <= items.lowest(counts) + 1e-11 * items.scale, f"seed {seed}"


@each_model
@pytest.mark.parametrize("kind", ["normal", "tied"])
def test_of_many_items_no_feasible_memberships_cost_less(name, kind):
    """Of more than 24 items only the cheapest few changes after a price are looked at."""
    n_compared = 0
    for seed in range(16):
        items, counts = draw(name, kind, seed, largest=50)
        if counts.n_items <= 24:
            continue
        n_compared += 1
        U = items.assigned(counts)[0].dense
        assert_meets(U, counts, items.most)
        lowest = items.lowest(counts, oracle.lowest_total_of_many)
        assert items.total(U) <= lowest + 1e-11 * items.scale, f"seed {seed}"
    assert n_compared > 5


def test_both_ways_to_find_the_least_total_agree():
    for seed in range(30):
        items, counts = draw("average", "normal", seed)
        many = items.lowest(counts, oracle.lowest_total_of_many)
        assert many == pytest.approx(items.lowest(counts), rel=1e-12)


@each_model
@each_kind
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), few=st.sampled_from([0, 3, FEW]))
def test_blocks_give_the_answer_of_one_block(name, kind, seed, few):
    items, counts = draw(name, kind, seed, largest=40, k_largest=5)
    rng = np.random.default_rng(seed)
    n = counts.n_items
    edges = np.concatenate([[0], np.sort(rng.integers(0, n + 1, size=rng.integers(1, 5))), [n]])
    whole, thresholds = items.assigned(counts)
    found, of_blocks = items.assigned(counts, edges, few, numba_ if seed % 2 else numpy_)
    assert_meets(whole.dense, counts, items.most)
    np.testing.assert_array_equal(found.dense, whole.dense)
    np.testing.assert_array_equal(found.indicator, whole.indicator)
    assert found.mixed == whole.mixed
    assert of_blocks == thresholds


@each_model
def test_bounded_to_one_every_model_is_the_papers_without_overlap(name):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        points, prototypes = rng.normal(size=(8, 2)), rng.normal(size=(3, 2))
        n_out = int(rng.integers(0, 7))
        counts = Counts(8, 3, int(rng.integers(8 - n_out, 9)), n_out)
        found = Items(name, 1, points, prototypes).assigned(counts)[0].dense
        nearest = Items("repeat", 1, points, prototypes).d.min(axis=1)
        covered = np.argsort(nearest, kind="stable")[: counts.n_memberships]
        assert set(np.flatnonzero(found.any(axis=1))) == set(covered.tolist())


def test_bounded_repeat_without_need_of_the_bound_is_the_papers_loop():
    for seed in range(60):
        items, counts = draw("repeat", "normal", 4 * seed, largest=8)
        literal = oracle.two_stage(items.d, counts.n_memberships, counts.n_covered)
        bounded = Items("repeat", len(items.prototypes), items.points, items.prototypes)
        np.testing.assert_array_equal(bounded.assigned(counts)[0].dense, literal)


# ---------------------------------------------------------------------------- memberships before


@each_model
@each_kind
def test_no_assignment_is_dearer_than_the_memberships_before(name, kind):
    for seed in range(30):
        items, counts = draw(name, kind, seed, largest=12, k_largest=6)
        rng = np.random.default_rng(seed)
        items.present = make_membership(rng, counts, items.most)
        if not items.present.any(axis=0).all():
            continue
        before = items.model.weighted(members(items.present))
        choices = items.choices()
        found = assign(choices, counts, items.model, before).members
        assert_meets(found.dense, counts, items.most)
        raw = items.assigned(counts)[0]
        if not raw.has_empty:
            assert items.total(found.dense) <= items.total(items.present) + 1e-11 * items.scale


class AtRandom:
    """Choices that end with memberships at random, and say truly what these gain."""

    def __init__(self, items, counts, rng):
        self.items, self.counts, self.rng, self.choices = items, counts, rng, items.choices()
        self.count, self.costs = self.choices.count, self.choices.costs
        self.possible_gain, self.changes = self.choices.possible_gain, self.choices.changes

    def apply(self, _):
        U = make_membership(self.rng, self.counts, self.items.most)
        gain = self.items.total(self.items.present) - self.items.total(U)
        return Applied(self.items.model.weighted(members(U)), 0.0, gain)


@each_model
def test_memberships_before_are_kept_if_the_new_ones_are_dearer(name):
    n_kept = n_taken = 0
    for seed in range(80):
        items, counts = draw(name, "normal", seed, largest=6)
        rng = np.random.default_rng(seed)
        items.present = make_membership(rng, counts, items.most)
        if counts.is_partition or not items.present.any(axis=0).all():
            continue
        before = items.model.weighted(members(items.present))
        if name == "repeat" and items.most is None:
            continue
        found = assign(AtRandom(items, counts, rng), counts, items.model, before).members
        if not found.has_empty:
            n_kept += found is before
            n_taken += found is not before
    assert min(n_kept, n_taken) > 5


def test_memberships_before_are_feasible_or_not():
    U = members([[1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0]])
    assert is_feasible(U, Counts(4, 3, 4, 1), None)
    assert is_feasible(U, Counts(4, 3, 4, 1), 2)
    assert not is_feasible(U, Counts(4, 3, 4, 1), 1)
    assert not is_feasible(U, Counts(4, 3, 4, 0), None)
    assert not is_feasible(U, Counts(4, 3, 5, 1), None)
    assert not is_feasible(members([[1, 1, 0], [0, 1, 0]]), Counts(2, 3, 3, 0), None)
