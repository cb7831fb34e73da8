"""From a relaxed point back to memberships with the exact counts.

* `round_counts`: first the number of clusters of each item from f, then its clusters, those of the
  largest entries in its row of Y (Hou et al., KDD 2015, as far as it can be reconstructed).
* `round_clusters`: first the clusters. Columns of Y that point the same way are one cluster, which
  the relaxed point holds as many times as its part of the trace says. That is made a whole number,
  for all clusters together k; the memberships then go to the largest entries.

Y may have more than k columns; `round_counts` then starts from whole numbers of clusters as well.

A cluster held once is a column y of norm 1 with entries 1 / sqrt(n_c); y (e'y) is then 0 or 1, and
a number between them, more or less, where y comes from a relaxed point.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.assign import assign, fill_empty
from neocc.core.overlap import REPEAT, Scores
from neocc.core.problem import Counts
from neocc.core.sizes import fill_small
from neocc.kernels import Memberships, numpy_
from neocc.rivals.lowrank.multipliers import Relaxed
from neocc.rivals.lowrank.relaxation import Relaxation, point_of

# Columns of Y whose cosine is above this are the same cluster.
_SAME = 0.99
# Assignments that the descent over numbers of copies may try.
_MOST_TRIALS = 200
_WHOLE = 1e-9


def round_counts(relaxed: Relaxed, counts: Counts) -> Memberships:
    """Round the number of clusters of each item, then choose the clusters."""
    Y, f = relaxed.point
    if Y.shape[1] > counts.n_clusters:
        columns, shares = distinct_clusters(Y)
        copies = apportion(shares, counts.n_clusters)
        Y = np.repeat(columns * np.sqrt(shares / np.maximum(copies, 1)), copies, axis=1)
    numbers = _whole_numbers(f, counts)
    order = np.argsort(-Y, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(counts.n_clusters)[None, :], axis=1)
    members = Memberships.from_dense(ranks < numbers[:, None])
    if counts.min_size > 1:
        return fill_small(members, -Y, counts)
    return fill_empty(members, -Y[members.dense])


def _whole_numbers(f: FloatArray, counts: Counts) -> IntArray:
    """Round f to whole numbers that sum to T, at least 1 for the N1 items of largest f."""
    covered = np.argsort(-np.minimum(f, 1.0), kind="stable")[: counts.n_covered]
    least = np.zeros(counts.n_items, dtype=np.intp)
    least[covered] = 1
    numbers = np.clip(np.floor(f + _WHOLE).astype(np.intp), least, counts.n_clusters)
    # A number raised to 1 is above f already: what counts is how much f still has beyond it.
    by_remainder = np.argsort(numbers - f, kind="stable")
    while (missing := counts.n_memberships - int(numbers.sum())) > 0:
        open_to_more = by_remainder[numbers[by_remainder] < counts.n_clusters]
        numbers[open_to_more[:missing]] += 1
    while (surplus := int(numbers.sum()) - counts.n_memberships) > 0:
        dispensable = by_remainder[numbers[by_remainder] > least[by_remainder]]
        numbers[dispensable[-surplus:]] -= 1
    return numbers


def round_clusters(relaxed: Relaxed, relaxation: Relaxation) -> Memberships:
    """Round the numbers of copies of distinct clusters, then choose the memberships.

    The numbers next to those of the relaxed point need not be the best ones: copies move from one
    cluster to another as long as that lowers the objective.
    """
    counts = relaxation.counts
    columns, shares = distinct_clusters(relaxed.point[0])
    entries = columns * columns.sum(axis=0)

    def trial(copies: IntArray) -> tuple[float, Memberships]:
        members = _take_largest(np.repeat(entries, copies, axis=1), counts)
        return relaxation.objective(point_of(members)), members

    copies = apportion(shares, counts.n_clusters)
    lowest, members = trial(copies)
    n_trials, moved = 0, True
    while moved:
        moved = False
        for source, target in np.ndindex(len(copies), len(copies)):
            if source == target or copies[source] == 0 or n_trials == _MOST_TRIALS:
                continue
            n_trials += 1
            copies[source] -= 1
            copies[target] += 1
            objective, found = trial(copies)
            if objective < lowest - _WHOLE * abs(lowest):
                lowest, members, moved = objective, found, True
            else:
                copies[source] += 1
                copies[target] -= 1
    return members


def distinct_clusters(Y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the distinct directions of the columns of Y, of norm 1, and the trace of Z on each."""
    norms = np.sqrt(np.einsum("ic,ic->c", Y, Y))
    groups: list[FloatArray] = []
    for column in np.argsort(-norms, kind="stable"):
        if norms[column] == 0.0:
            break
        y = Y[:, column] / norms[column]
        same = [i for i, group in enumerate(groups) if group @ y > _SAME * np.linalg.norm(group)]
        # Columns a_c y of one direction y make up sum a_c^2 of the trace: this becomes the norm.
        if same:
            groups[same[0]] += norms[column] ** 2 * y
        else:
            groups.append(norms[column] ** 2 * y)
    table = np.stack(groups, axis=1)
    shares = np.sqrt(np.einsum("ic,ic->c", table, table))
    return table / shares, shares


def apportion(shares: FloatArray, total: int) -> IntArray:
    """Round shares to whole numbers with a given total: those of the largest remainders go up."""
    exact = shares * (total / shares.sum())
    numbers: IntArray = np.floor(exact).astype(np.intp)
    missing = total - int(numbers.sum())
    numbers[np.argsort(numbers - exact, kind="stable")[:missing]] += 1
    return numbers


def _take_largest(entries: FloatArray, counts: Counts) -> Memberships:
    """Give the memberships to the largest entries: the two-stage assignment."""
    d = -entries
    labels = d.argmin(axis=1).astype(np.int32)
    scores = Scores(d, labels, d[np.arange(len(d)), labels], d.shape[1])
    return assign(REPEAT.choices(scores, numpy_), counts, REPEAT).members
