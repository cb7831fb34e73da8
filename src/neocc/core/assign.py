"""The two-stage assignment: exact counts, at the smallest total distance.

Stage 1 gives the N1 = n - b items with the smallest row minima to their nearest cluster. Stage 2
hands out the a + b memberships still missing to the smallest distances not used yet, whoever they
belong to. Together they minimise the sum of the chosen distances over all feasible memberships.

Ties go to the smallest distance, then the lowest item, then the lowest cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.problem import Counts
from neocc.kernels import Memberships

_PILOT = 4096


@dataclass(frozen=True)
class Assignment:
    """New memberships, and the largest distance that each stage accepted.

    `nearest_limit` is infinite where no item may be left out, `extra_limit` is -inf where stage 2
    had nothing to hand out; predicting new items reuses both.
    """

    members: Memberships
    nearest_limit: float
    extra_limit: float


def assign(d: FloatArray, labels: IntArray, minima: FloatArray, counts: Counts) -> Assignment:
    """Assign items to clusters from comparable distances `d` and the nearest cluster of each item.

    `d`, of shape (n_items, n_clusters), with `labels` and `minima` is what a kernel's `nearest`
    returns.
    """
    found = chosen(d, labels, minima, counts)
    return replace(found, members=fill_empty(found.members, d))


def chosen(d: FloatArray, labels: IntArray, minima: FloatArray, counts: Counts) -> Assignment:
    """Do what `assign` does, but leave empty clusters empty."""
    n, k = d.shape
    first = labels.astype(np.int32)
    nearest_limit = np.inf
    if counts.n_covered < n:
        kept, nearest_limit = smallest(minima, counts.n_covered)
        left_out = np.ones(n, dtype=bool)
        left_out[kept] = False
        first[left_out] = -1

    extra, extra_limit = np.empty(0, dtype=np.intp), -np.inf
    if counts.n_extra > 0:
        flat = d.reshape(-1)
        used = np.arange(0, n * k, k) + labels
        if counts.n_covered < n:
            used = used[first >= 0]
        saved = flat[used]
        # Farther than any distance: a cluster without members is at infinity.
        flat[used] = np.nan
        extra, extra_limit = smallest(flat, counts.n_extra)
        flat[used] = saved
    members = Memberships(first, extra // k, (extra % k).astype(np.int32), k)
    return Assignment(members, nearest_limit, extra_limit)


def smallest(values: FloatArray, count: int) -> tuple[IntArray, float]:
    """Return the ordered indices of the `count` smallest values, and the largest of these values.

    Among equal values the lowest indices are taken, and NaN never. A pilot sample guesses a
    threshold that keeps little more than `count` values; only those are partitioned.
    """
    if count <= 0:
        return np.empty(0, dtype=np.intp), 0.0
    candidates = _candidates(values, count)
    kept = values if candidates is None else values[candidates]
    limit = np.partition(kept, count - 1)[count - 1]
    chosen = kept <= limit
    surplus = np.count_nonzero(chosen) - count
    if surplus > 0:
        chosen[np.flatnonzero(kept == limit)[-surplus:]] = False
    indices = np.flatnonzero(chosen) if candidates is None else candidates[chosen]
    return indices, float(limit)


def _candidates(values: FloatArray, count: int) -> IntArray | None:
    """Return ordered indices of all values up to some limit, at least `count`; None for all."""
    n = len(values)
    if n <= 4 * _PILOT:
        return None
    pilot = np.sort(values[:: n // _PILOT])
    share = count / n
    rank = int(len(pilot) * (share + 4.0 * np.sqrt(share / len(pilot)))) + 8
    if rank >= len(pilot) // 2:
        return None
    found = np.flatnonzero(values <= pilot[rank])
    return found if len(found) >= count else None


def fill_empty(members: Memberships, d: FloatArray) -> Memberships:
    """Re-seed each empty cluster with the membership of largest distance that can be spared.

    The moved item becomes the only member of the empty cluster, which costs it at most its old
    distance: the objective does not rise, and all counts stay as they were. With fewer memberships
    than clusters some stay empty.
    """
    return reseeded(members, lambda: d[members.dense])


def reseeded(members: Memberships, costs_of: Callable[[], FloatArray]) -> Memberships:
    """Do what `fill_empty` does, with the distances of all memberships, row by row.

    They are asked for only if a cluster is empty.
    """
    sizes = members.sizes.copy()
    empty = np.flatnonzero(sizes == 0)
    if len(empty) == 0:
        return members
    matrix = members.dense.copy()
    items, clusters = np.nonzero(matrix)
    order = np.lexsort((clusters, items, -costs_of()))
    spare = iter(order)
    for target in empty:
        source = next((i for i in spare if sizes[clusters[i]] > 1), None)
        if source is None:
            break
        matrix[items[source], clusters[source]] = False
        matrix[items[source], target] = True
        sizes[clusters[source]] -= 1
        sizes[target] += 1
    return Memberships.from_dense(matrix)
