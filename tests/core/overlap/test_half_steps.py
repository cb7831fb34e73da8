"""Half-steps of both sides against all feasible memberships, at prices word for word."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from instances import make_counts, make_engine, make_membership, members

from neocc.core.objectives import OBJECTIVES
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Problem
from neocc.core.steps import half_step, make_features

CASES = [
    (objective, model)
    for objective in ("mean", "residue")
    for model in oracle.OVERLAP_MODELS
    if (objective, model) != ("residue", "sum")
]


def total(costs, table):
    chosen = [tuple(np.flatnonzero(each).tolist()) for each in table]
    return sum(of_item[each] for of_item, each in zip(costs, chosen, strict=True) if each)


@pytest.mark.parametrize("side", ["rows", "columns"])
@pytest.mark.parametrize(("objective", "model"), CASES)
def test_no_feasible_memberships_of_a_side_cost_less(objective, model, side):
    n_overlaps = n_outliers = n_compared = 0
    for seed in range(600):
        rng = np.random.default_rng(seed)
        most = (None, 2, 3)[seed % 3]
        sizes, clusters = rng.integers(3, 6, size=2), rng.integers(2, 4, size=2)
        counts = [
            make_counts(rng, int(n), int(k), most) for n, k in zip(sizes, clusters, strict=True)
        ]
        X, pair = rng.normal(size=sizes), [make_membership(rng, each, most) for each in counts]
        if not all(each.any(axis=0).all() for each in pair):
            continue  # an empty cluster has no prototype
        problem = Problem(OBJECTIVES[objective], *counts, overlap_model=OVERLAP_MODELS[model](most))
        weighted = tuple(problem.overlap_model.weighted(members(each)) for each in pair)
        engine = make_engine(X)
        features = make_features(engine, problem, weighted)
        found = half_step(engine, problem, side, features, weighted).members.dense
        at = int(side == "columns")
        own, other, wanted = pair[at], pair[1 - at], counts[at]
        k = own.shape[1]
        given = (X.T if at else X, own, other, objective, model, min(k, most or k))
        costs = oracle.set_costs(*given)
        least = oracle.lowest_total(costs, wanted.n_memberships, wanted.max_outliers)
        assert found.sum() == wanted.n_memberships
        assert (~found.any(axis=1)).sum() <= wanted.max_outliers
        # Clusters that end up empty begin again elsewhere, at prices that are not those here.
        is_dearer = total(costs, found) > least + 1e-9
        if is_dearer and not is_reached_without_empty(costs, wanted, least, k):
            continue
        assert total(costs, found) <= least + 1e-9, f"seed {seed}"
        n_compared += 1
        n_overlaps += (found.sum(axis=1) > 1).any()
        n_outliers += (~found.any(axis=1)).any()
    assert n_compared > 100
    assert min(n_overlaps, n_outliers) > 20


def is_reached_without_empty(costs, counts, least, k):
    """Whether memberships of the least cost have members in all clusters."""
    for cluster in range(k):
        without = [
            {chosen: cost for chosen, cost in of_item.items() if cluster not in chosen}
            for of_item in costs
        ]
        if (
            any(without)
            and oracle.lowest_total(without, counts.n_memberships, counts.max_outliers)
            <= least + 1e-9
        ):
            return False
    return True
