"""What the report says of a result, against the definitions written out."""

from __future__ import annotations

import numpy as np
import pytest
from instances import any_membership, planted
from models import NAMES, column_members, make_model, row_members

from neocc.plot.arrange import arrange
from neocc.report._facts import (
    combinations,
    gather,
    group_facts,
    lookalikes,
    outlier_facts,
)
from neocc.report._result import read_result
from neocc.report._side import Side
from neocc.report._words import count_of, figure, headline, in_words


def make_side(members, noun="rows", **options) -> Side:
    members = np.asarray(members, dtype=bool)
    return Side(noun, members, arrange(members), lambda item: f"item {item}", **options)


def random_side(seed: int) -> Side:
    """Draw a side with ties among its distances and, at times, empty clusters."""
    rng = np.random.default_rng(seed)
    n, k, n_others = rng.integers(1, 14), rng.integers(1, 6), rng.integers(1, 5)
    return make_side(
        any_membership(rng, n, k),
        distances=rng.integers(0, 5, size=(n, k)).astype(float),
        means=rng.normal(size=(k, n_others)),
    )


# ---------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("rows", "columns", "wanted"),
    [
        ([[1, 0], [0, 1]], None, "2 groups of women"),
        ([[1], [1]], [[1]], "1 group of women, 1 of events"),
        (
            [[1, 0], [1, 1], [0, 0]],
            None,
            "2 groups of women, 1 of the women in more than one group, 1 outlier",
        ),
        (
            [[1, 1], [1, 1], [0, 0], [0, 0]],
            [[1, 0], [0, 1]],
            (
                "2 groups of women, 2 of events, 2 women in more than one group, 2 outliers among "
                "the women"
            ),
        ),
        (
            [[1, 1], [1, 1], [0, 0]],
            [[1, 1], [1, 0], [0, 0], [0, 0]],
            (
                "2 groups of women, 2 of events, 2 women and 1 of the events in more than one "
                "group, 1 outlier among the women and 2 among the events"
            ),
        ),
        (np.zeros((3, 0)), None, "No groups of women, 3 outliers"),
        (np.eye(1001), None, "1,001 groups of women"),
    ],
)
def test_the_answer_in_words(rows, columns, wanted):
    sides = [make_side(rows, "women")]
    if columns is not None:
        sides.append(make_side(columns, "events"))
    assert headline(sides) == wanted


def test_counts_groups_and_figures_in_words():
    assert [count_of(n, "mice") for n in (0, 1, 2)] == [
        "none of the mice",
        "1 of the mice",
        "2 mice",
    ]
    assert in_words([2, 0]) == "groups 3 and 1"
    assert [figure(v) for v in (999.4, 1000.0, -1234.5, 1e-7, 5e12)] == [
        "999",
        "1,000",
        "−1,234",
        "1.00e-07",
        "5.00e+12",
    ]


# --------------------------------------------------------------------------------------- groups


@pytest.mark.parametrize("seed", range(40))
def test_groups_by_definition(seed):
    side = random_side(seed)
    n, k = side.members.shape
    groups_of = [set(np.flatnonzero(side.members[item])) for item in range(n)]
    members_of = [set(np.flatnonzero(side.members[:, c])) for c in range(k)]
    others = np.arange(side.means.shape[1])
    counted = [item for item in others if item != 0]  # the first group of the other side is empty
    sizes = np.array([0, *np.ones(len(others) - 1)])
    total = sum(map(len, members_of))
    for cluster in range(k):
        group = group_facts(side, cluster, 3, sizes)
        own = members_of[cluster]
        assert (group.cluster, group.size) == (cluster, len(own))
        assert group.n_shared == sum(len(groups_of[item]) > 1 for item in own)
        nearest = sorted((side.distances[item, cluster], item) for item in own)[:3]
        assert group.typical == tuple((item, distance) for distance, item in nearest)
        partners = [(len(own & members_of[c]), c) for c in range(k) if c != cluster]
        wanted = sorted(((-n_shared, c) for n_shared, c in partners if n_shared))
        assert group.partners == tuple((c, -negative) for negative, c in wanted)
        if not own:
            assert group.differences == ()
            continue
        overall = [
            sum(len(members_of[c]) * side.means[c, j] for c in range(k)) / total for j in others
        ]
        wanted = sorted(counted, key=lambda j: (-abs(side.means[cluster, j] - overall[j]), j))
        assert [one.other for one in group.differences] == wanted
        for one in group.differences:
            assert one.mean == side.means[cluster, one.other]
            assert one.overall == pytest.approx(overall[one.other])


def test_without_distances_members_come_in_the_order_of_the_data():
    side = make_side([[1], [0], [1], [1]])
    assert group_facts(side, 0, 2, np.ones(1)).typical == ((0, None), (2, None))


@pytest.mark.parametrize("seed", range(40))
def test_lookalikes_by_definition(seed):
    rng = np.random.default_rng(seed)
    side = make_side(any_membership(rng, int(rng.integers(1, 7)), int(rng.integers(1, 7))))
    members_of = [set(np.flatnonzero(column)) for column in side.members.T]
    linked = [{c} for c in range(side.n_clusters)]
    for one in range(side.n_clusters):
        for other in range(one):
            both, either = members_of[one] & members_of[other], members_of[one] | members_of[other]
            if either and len(both) / len(either) > 0.6:
                merged = linked[one] | linked[other]
                for cluster in merged:
                    linked[cluster] = merged
    wanted = sorted({tuple(sorted(kind)) for kind in linked if len(kind) > 1})
    assert lookalikes(side, 0.6) == wanted


# ------------------------------------------------------------------------- overlaps and outliers


@pytest.mark.parametrize("seed", range(40))
def test_combinations_by_definition(seed):
    side = random_side(seed)
    wanted: dict[tuple[int, ...], list[int]] = {}
    for item, line in enumerate(side.members):
        if line.sum() > 1:
            wanted.setdefault(tuple(np.flatnonzero(line).tolist()), []).append(item)
    found = combinations(side)
    assert {one.clusters: one.items.tolist() for one in found} == wanted
    keys = [(-len(one.items), one.clusters) for one in found]
    assert keys == sorted(keys)


@pytest.mark.parametrize("seed", range(40))
def test_outliers_by_definition(seed):
    side = random_side(seed)
    weights = side.members.sum(axis=1)
    assert side.n_in == ((weights == 1).sum(), (weights > 1).sum(), (weights == 0).sum())
    left = [
        (-min(side.distances[item]), item, int(np.argmin(side.distances[item])))
        for item in np.flatnonzero(weights == 0)
    ]
    found = outlier_facts(side, 3)
    assert [(-one.distance, one.item, one.nearest) for one in found] == sorted(left)[:3]
    inside = [min(side.distances[item]) for item in np.flatnonzero(weights > 0)]
    assert side.limit == max(inside, default=0.0)


def test_outliers_without_distances_or_groups():
    side = make_side([[0], [1], [0], [0]])
    assert [(one.item, one.nearest) for one in outlier_facts(side, 2)] == [(0, None), (2, None)]
    empty = make_side(np.zeros((2, 0)), distances=np.zeros((2, 0)))
    assert [one.item for one in outlier_facts(empty, 5)] == [0, 1]


# ----------------------------------------------------------------------------------------- fits


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_facts_of_a_fit(name, seed):
    X = planted(np.random.default_rng(seed))
    model = make_model(name, tol=0.0).fit(X)
    result = read_result(model, X, None, None, ("rows", "columns"))
    for side, members in zip(
        result.sides, (row_members(model), column_members(model)), strict=False
    ):
        assert (side.members == members).all()
        # All memberships together are the objective.
        assert side.distances[side.members].sum() == pytest.approx(model.objective_)
        # The reason given for an outlier holds: whoever is in a group is at least as near to one.
        if not np.isfinite(side.limit):
            continue
        for one in outlier_facts(side, 100):
            assert one.distance >= side.limit * (1 - 1e-9)
            assert side.n_in[2] <= side.max_outliers


def test_the_largest_groups_are_kept_where_there_are_too_many():
    side = make_side([[1, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 0]])
    facts = gather(
        side, np.ones(1), most_groups=2, n_typical=1, most_combinations=1, most_outliers=1
    )
    assert [group.cluster for group in facts.groups] == [1, 2]
    assert [one.clusters for one in facts.combinations] == [(0, 2)]
