"""What present memberships cost under a model in which sets of clusters have costs."""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray
from neocc.core.overlap.scores import Scores
from neocc.kernels import Memberships, SetCosts, numpy_sets

__all__ = ["beyond_distances", "joint_part", "present_costs"]


def joint_part(members: Memberships, costs: SetCosts) -> FloatArray:
    """Return the part of the cost of each item's clusters that is of pairs."""
    joint = np.zeros(members.n_items)
    if costs.pairs is not None and len(members.extra_items):
        some, of_these = members.overlapping
        A = (of_these.indicator > 0.0).astype(np.float64)
        of_pairs = np.einsum("pi,pi->p", A @ costs.pairs, A) / 2.0
        joint[some] = costs.joint[members.numbers[some] - 1] * of_pairs
    return joint


def beyond_distances(scores: Scores, costs: SetCosts, joint: FloatArray) -> float:
    """Return what the objective has beside the distances of present memberships."""
    members = scores.members
    if members is None or not len(members.extra_items):
        return 0.0
    some, of_these = members.overlapping
    weights = of_these.item_weights
    total = float(joint[some].sum() if weights is None else weights @ joint[some])
    if scores.squares is not None:
        squares = scores.squares[some] if weights is None else weights * scores.squares[some]
        total += float(costs.fixed[members.numbers[some] - 1] @ squares)
    return total


def present_costs(
    scores: Scores, costs: SetCosts, members: Memberships, joint: FloatArray | None = None
) -> FloatArray:
    """Return the cost of the present set of each item, 0 for an item in no cluster.

    It is rounded as the costs of best sets are: a set that is one of these costs the same. `joint`
    is its joint part, if known.
    """
    joint = joint_part(members, costs) if joint is None else joint
    d, sizes, extra = scores.d, members.numbers, members.extra_items
    assert d is not None
    at = np.maximum(sizes - 1, 0)
    # A line of `d` begins every so often; -1 is no cluster.
    flat, begin = d.reshape(-1), np.arange(0, d.size, d.shape[1])
    own = flat.take(begin + members.first, mode="clip")
    own[members.first < 0] = 0.0
    own += np.bincount(extra, flat.take(begin[extra] + members.extra_clusters), minlength=len(d))
    fixed = np.zeros(len(own)) if scores.squares is None else costs.fixed[at] * scores.squares
    found = numpy_sets.rounded(costs.own[at] * own, fixed, joint)
    found[sizes == 0] = 0.0
    return found
