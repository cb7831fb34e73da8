"""The assignment by counting equals the one that sees all distances, bit for bit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import make_counts

from neocc.core import cuts as cuts_
from neocc.core.assign import assign, reseeded
from neocc.core.counting import Answer, Scores, ordered_keys, value_of
from neocc.core.cuts import Near, find_cuts
from neocc.core.problem import Counts
from neocc.kernels import Memberships

SPECIAL = np.array(
    [-np.inf, -1e300, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1e-310, 1.0, np.nextafter(1, 2), np.inf]
)
KINDS = {
    "distinct": lambda rng, shape: rng.random(shape),
    "tied": lambda rng, shape: rng.integers(0, 3, size=shape).astype(float),
    "equal": lambda rng, shape: np.full(shape, rng.choice([0.0, 2.5, -1.0])),
    "neighbours": lambda rng, shape: 1.0 + rng.integers(0, 4, size=shape) * 2.0**-52,
    "around zero": lambda rng, shape: rng.choice([-1e-9, -0.0, 0.0, 5e-324, 1e-9], size=shape),
    "wide": lambda rng, shape: 10.0 ** rng.integers(-200, 200, size=shape) * rng.random(shape),
    "empty cluster": lambda rng, shape: np.where(
        np.arange(shape[1]) == rng.integers(shape[1]), np.inf, rng.integers(0, 3, size=shape)
    ).astype(float),
}


def cut_up(d, edges):
    """Give every range of rows to a block of its own."""
    return [
        Scores(d[a:b], d[a:b].argmin(axis=1), d[a:b].min(axis=1, initial=np.inf), 0.0)
        for a, b in pairwise(edges)
    ]


def by_counting(d, edges, counts, near=None):
    """What the engines for clusters do, without a cluster."""
    blocks = cut_up(d, edges)
    questions = []

    def ask(question):
        questions.append(question)
        answers = [block.answer(question) for block in blocks]
        return [
            answer
            for at in range(0, len(answers), 2)
            for answer in Answer.together(answers[at : at + 2], question)
        ]

    cuts, *limits = find_cuts(ask, counts, len(blocks), near)
    parts = [block.settled(cut) for block, cut in zip(blocks, cuts, strict=True)]
    members = Memberships.joined(parts)

    def costs():
        return np.concatenate(
            [block.costs(part) for block, part in zip(blocks, parts, strict=True)]
        )

    return reseeded(members, costs), tuple(limits), questions


def assert_same(d, edges, counts, near=None):
    expected = assign(d.copy(), d.argmin(axis=1), d.min(axis=1), counts)
    found, limits, _ = by_counting(d, edges, counts, near)
    np.testing.assert_array_equal(found.first, expected.members.first)
    np.testing.assert_array_equal(found.extra_items, expected.members.extra_items)
    np.testing.assert_array_equal(found.extra_clusters, expected.members.extra_clusters)
    assert limits == (expected.nearest_limit, expected.extra_limit)


def draw(rng, kind, largest=40):
    n = int(rng.integers(1, largest + 1))
    k = int(rng.integers(1, min(n, 5) + 1))
    edges = np.concatenate([[0], np.sort(rng.integers(0, n + 1, size=rng.integers(0, 5))), [n]])
    return KINDS[kind](rng, (n, k)), edges, make_counts(rng, n, k)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32 - 1), few=st.sampled_from([0, 3, 1 << 15]))
def test_equals_the_assignment_that_sees_everything(kind, seed, few):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts_, "_FEW", few)
        assert_same(*draw(np.random.default_rng(seed), kind))


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=st.integers(0, 2**32 - 1),
    few=st.sampled_from([0, 3, 1 << 15]),
    share=st.sampled_from([0.0, 1e-3, 0.3, 5.0]),
    off=st.sampled_from([0.0, 0.2, -0.2, 3.0]),
)
def test_a_guess_changes_nothing(kind, seed, few, share, off):
    d, edges, counts = draw(np.random.default_rng(seed), kind)
    true = assign(d.copy(), d.argmin(axis=1), d.min(axis=1), counts)
    guess = Near(true.nearest_limit * (1 + off), true.extra_limit * (1 - off), share)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts_, "_FEW", few)
        assert_same(d, edges, counts, guess)


def test_a_good_guess_takes_one_question():
    rng = np.random.default_rng(0)
    d = rng.chisquare(5, size=(40_000, 8))
    counts = Counts.from_fractions(40_000, 8, 0.1, 0.05)
    edges = np.linspace(0, 40_000, 17).astype(int)
    true = assign(d.copy(), d.argmin(axis=1), d.min(axis=1), counts)
    near = Near(true.nearest_limit * 1.001, true.extra_limit * 0.999, 0.002)
    assert len(by_counting(d, edges, counts, near)[2]) == 1
    assert_same(d, edges, counts, near)


@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_papers_loop(kind):
    rng = np.random.default_rng(0)
    n_compared = 0
    for _ in range(60):
        d, edges, counts = draw(rng, kind, largest=8)
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
        assert assign(d, d.argmin(axis=1), d.min(axis=1), counts).members.dense.sum() == total
        assert_same(d, [0, 1, 4], counts)


def test_large_input_takes_few_questions():
    rng = np.random.default_rng(0)
    d = rng.chisquare(5, size=(40_000, 8))
    counts = Counts.from_fractions(40_000, 8, 0.1, 0.05)
    edges = np.linspace(0, 40_000, 17).astype(int)
    _, _, questions = by_counting(d, edges, counts)
    assert len(questions) == 2
    assert_same(d, edges, counts)


def test_nothing_is_asked_where_all_rows_join_one_cluster_each():
    d = np.random.default_rng(0).random((10, 3))
    _, _, questions = by_counting(d, [0, 4, 10], Counts(10, 3, 10, 0))
    assert questions == []


def test_keys_are_ordered_as_values_are():
    keys = ordered_keys(SPECIAL)
    np.testing.assert_array_equal(np.sign(np.diff(keys)), np.sign(np.diff(SPECIAL)) > 0)
    assert [value_of(int(key)) for key in keys] == SPECIAL.tolist()


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=30))
def test_keys_compare_as_values_do(values):
    values = np.array(values)
    keys = ordered_keys(values)
    np.testing.assert_array_equal(keys[:, None] < keys, values[:, None] < values)
