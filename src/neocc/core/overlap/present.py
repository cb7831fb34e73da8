"""What present memberships cost under a model in which sets of clusters have costs."""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.overlap.scores import Scores
from neocc.kernels import Memberships, SetCosts, numpy_

__all__ = ["beyond_distances", "present_costs"]


def beyond_distances(scores: Scores, costs: SetCosts) -> float:
    """Return what the objective has beside the distances of present memberships."""
    members = scores.members
    if members is None or not len(members.extra_items):
        return 0.0
    some, joint = _joint_part(members, costs)
    total = float(joint.sum())
    if scores.squares is not None:
        total += float(costs.fixed[members.numbers[some] - 1] @ scores.squares[some])
    return total


def present_costs(scores: Scores, costs: SetCosts, members: Memberships) -> FloatArray:
    """Return the cost of the present set of each item, 0 for an item in no cluster.

    It is rounded as the costs of best sets are: a set that is one of these costs the same.
    """
    d, sizes = scores.d, members.numbers
    assert d is not None
    at = np.maximum(sizes - 1, 0)
    alone, extra = np.flatnonzero(members.first >= 0), members.extra_items
    own = np.zeros(len(d))
    own[alone] = d[alone, members.first[alone]]
    own += np.bincount(extra, d[extra, members.extra_clusters], minlength=len(d))
    fixed, joint = np.zeros(len(own)), np.zeros(len(own))
    if scores.squares is not None:
        fixed = costs.fixed[at] * scores.squares
    some, of_pairs = _joint_part(members, costs)
    joint[some] = of_pairs
    return np.where(sizes > 0, numpy_.rounded(costs.own[at] * own, fixed, joint), 0.0)


def _joint_part(members: Memberships, costs: SetCosts) -> tuple[IntArray, FloatArray]:
    """Return the items of several clusters, and the part of their cost that is of pairs."""
    some: IntArray = np.flatnonzero(members.numbers > 1)
    if costs.pairs is None or not len(some):
        return some, np.zeros(len(some))
    A = members.take(some).dense.astype(np.float64)
    joint = np.einsum("pi,pi->p", A @ costs.pairs, A) / 2.0
    return some, costs.joint[members.numbers[some] - 1] * joint
