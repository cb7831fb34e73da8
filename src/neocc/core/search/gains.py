"""What adding or removing single memberships gains, exactly, while the other side stays.

The alternation compares items with prototypes that the items themselves have pulled; here these are
fitted again after the change. Let c_p be the part of the cost of item p that no cluster explains.

Where each cluster has a mean of its own, weights of members may change from w to w + e: the cost
of cluster q, of total weight W, then rises by e c_p + W e / (W + e) (d_pq - c_p). With "repeat" one
weight changes by one; with "share" those of all clusters of the item. Models of counts have rates
in the place of means, and say themselves what a change costs (`Objective.rise`).

An item of weight a counts as a items: changes of its weights, its leverage and what its residuals
cost are those of one item, times a.

Where items are combinations u of prototypes, let h = u'(U'U)^-1 u be the leverage of the item.
Without it the fit costs less by c_p + |e|^2 / (1 - h), with a combination u' in its place more by
c_p + |e'|^2 / (1 + h'), for residuals e of the fit and e', h' of the one without the item: the
formulas of deletion and insertion in least squares.

Where an item follows one of its clusters in each cluster j of the other side, where its cells weigh
N_j, blocks are means of the cells of those that follow i there, of total weight W_ij, a ridge
included. With e_ij = N_j (S_j / N_j - M_ij)^2, following i costs an item that was taken out
e_ij W_ij / (W_ij - N_j) where it did so before, and e_ij W_ij / (W_ij + N_j) elsewhere: nothing
where it is alone. The cost of a set is c_p and the least of these for each j,
exactly, while others follow what they do. Gains of the columns are approximate then: what no
cluster explains of a column differs from cluster to cluster, and counts as nothing.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.objectives import Rise
from neocc.core.objectives.virtual import added_up
from neocc.core.overlap import OverlapModel, Scores, followed_clusters
from neocc.kernels import Memberships, Parts, inverse

__all__ = ["single_gains"]

# Items that determine a prototype alone have leverage 1.
_LEAST_FREEDOM = 1e-9
# Items whose parts are compared at a time.
_CHUNK = 1 << 13


def single_gains(
    members: Memberships,
    scores: Scores,
    constant: FloatArray,
    model: OverlapModel,
    min_size: int = 1,
    rise: Rise | None = None,
    ridge: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Return what removing each membership saves, and what adding each further one costs.

    Savings are -inf where there is none, or where the cluster would have fewer than `min_size`;
    costs inf where there is one already, or where the item has as many as the model allows. `rise`
    replaces the formula of squared differences; blocks have a `ridge`.
    """
    d, table = scores.d, members.dense
    assert d is not None
    numbers = members.sums_of(None)
    alone = d[:, : scores.n_clusters]
    # An item that begins an empty cluster is explained as far as it can be.
    excess = np.where(numbers > 0, np.maximum(alone - constant[:, None], 0.0), 0.0)
    if model.blends:
        savings, costs = _blended_gains(members, scores, model)
    elif scores.parts is not None:
        savings, costs = _followed_gains(members, constant, scores.parts, ridge)
    elif model.mixed:
        savings, costs = _mixed_gains(members, excess, constant, model, scores)
    else:
        rise = rise or _squared_rise(model.weighted(members), excess, constant)
        savings, costs = _separate_gains(members, model, rise)
    savings[~table | (numbers <= min_size)] = -np.inf
    costs[table] = np.inf
    if scores.all_zero is not None:
        savings[scores.all_zero], costs[scores.all_zero] = -np.inf, np.inf
    if model.most is not None:
        costs[members.numbers >= model.most] = np.inf
    return savings, costs


def _squared_rise(weighted: Memberships, excess: FloatArray, constant: FloatArray) -> Rise:
    """Return the rise of squared differences from (weighted) means."""
    sizes, weights = weighted.sizes, weighted.item_weights

    def rise(change: FloatArray) -> FloatArray:
        if weights is not None:
            change = change * weights[:, None]
        left = sizes + change
        some = left > _LEAST_FREEDOM * sizes
        pulled = np.divide(sizes * change, left, out=np.zeros_like(excess), where=some)
        return np.asarray(change * constant[:, None] + pulled * excess)

    return rise


def _separate_gains(
    members: Memberships, model: OverlapModel, rise: Rise
) -> tuple[FloatArray, FloatArray]:
    """Gains where each cluster has parameters of its own."""
    table, n = members.dense, members.numbers[:, None].astype(np.float64)
    weight, more, fewer = np.ones_like(n), np.zeros_like(n), np.zeros_like(n)
    if model.divides:
        weight = 1.0 / np.maximum(n, 1.0)
        more = np.where(n > 0, 1.0 / (n + 1.0) - weight, 0.0)
        fewer = np.where(n > 1, 1.0 / np.maximum(n - 1.0, 1.0) - weight, 0.0)
    added = np.where(n > 0, weight + more, 1.0)
    others = [np.where(table, rise(change), 0.0) for change in (more, fewer)]
    costs = rise(np.broadcast_to(added, table.shape)) + others[0].sum(axis=1, keepdims=True)
    removed = rise(np.broadcast_to(-weight, table.shape)) - others[1]
    return -(removed + others[1].sum(axis=1, keepdims=True)), costs


def _mixed_gains(
    members: Memberships,
    excess: FloatArray,
    constant: FloatArray,
    model: OverlapModel,
    scores: Scores,
) -> tuple[FloatArray, FloatArray]:
    """Gains where items are combinations of prototypes that are fitted together."""
    table, squares, gram = members.dense, scores.squares, scores.gram
    assert gram is not None
    n, k = table.shape
    weighted, c = model.weighted(members), constant[:, None]
    weights = _weights_of(members)
    inverse = np.linalg.pinv(weighted.gram, hermitian=True)
    u, sizes, A = weighted.shares, members.numbers[:, None], table.astype(np.float64)
    parts = model.costs(np.arange(1.0, k + 2), gram)
    assert parts.pairs is not None
    d, base = excess + c, 0.0 if squares is None else squares[:, None]
    linear, paired = np.where(table, d, 0.0).sum(axis=1, keepdims=True), A @ parts.pairs
    joint = (paired * A).sum(axis=1, keepdims=True) / 2.0

    def beyond(size: IntArray, linear: FloatArray, joint: FloatArray) -> FloatArray:
        """Return what sets cost beyond what no cluster explains."""
        at = np.maximum(size - 1, 0)
        found = parts.own[at] * linear + parts.fixed[at] * base + parts.joint[at] * joint
        return np.asarray(np.maximum(found - c, 0.0))

    pulled, moved = weights * (u @ inverse), u @ gram
    leverage = np.minimum((pulled * u).sum(axis=1, keepdims=True), 1.0 - _LEAST_FREEDOM)
    length = (moved * u).sum(axis=1, keepdims=True)
    present, free = beyond(sizes, linear, joint), 1.0 - leverage

    def after(sign: int) -> FloatArray:
        """Return |e'|^2 / (1 + h') for sets with one cluster more (1) or less (-1)."""
        size = sizes + sign
        scale, step = np.ones((n, 1)), np.full((n, 1), float(sign))
        if model.divides:
            scale, step = sizes / np.maximum(size, 1), sign / np.maximum(size, 1)
        new = beyond(size, linear + sign * d, joint + sign * paired)
        # u' - u, and the residuals before and after it, in the space of the prototypes.
        apart = (scale - 1.0) ** 2 * length + 2.0 * (scale - 1.0) * step * moved
        apart += step**2 * np.diag(gram)
        dot = 0.5 * (new + present - apart)
        cross = scale * leverage + step * pulled
        own = scale**2 * leverage + 2.0 * scale * step * pulled
        own += step**2 * weights * np.diag(inverse)
        pull = cross / free
        residual = new + 2.0 * pull * dot + pull**2 * present
        return np.asarray(np.maximum(residual, 0.0) / (1.0 + own + cross * pull))

    now = np.where(sizes > 0, present / free, -c)
    savings, costs = now - np.where(sizes == 1, -c, after(-1)), after(1) - now
    return weights * savings, weights * costs


def _weights_of(members: Memberships) -> FloatArray:
    """Return how many items each counts as, a row each."""
    weights = members.item_weights
    return np.ones((members.n_items, 1)) if weights is None else weights[:, None]


def _followed_gains(
    members: Memberships, constant: FloatArray, parts: Parts, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """Gains where an item follows one of its clusters in each cluster of the other side."""
    table, followed = members.dense, followed_clusters(members, parts.sums.shape[1])
    savings, costs = np.zeros(table.shape), np.zeros(table.shape)
    weights = _weights_of(members)
    total = added_up(weights * parts.counts, followed, table.shape[1]) + ridge
    for start in range(0, len(table), _CHUNK):
        at = slice(start, start + _CHUNK)
        inside, here = table[at], parts.take(at)
        n = np.where(followed[at, None] == np.arange(table.shape[1])[:, None], -1.0, 1.0)
        left = total + n * (weights[at] * here.counts)[:, None]
        some_left = left > _LEAST_FREEDOM * total
        factor = np.divide(total, left, out=np.zeros_like(n), where=some_left)
        means = here.sums * inverse(here.counts)
        apart = np.square(means[:, None] + parts.slope.T / 2.0) * here.counts[..., None, :]
        pulled = apart * factor
        without = np.where(inside[:, :, None], pulled, np.inf)
        order = np.sort(without, axis=1)
        least = order[:, :1]
        second = order[:, 1:2] if table.shape[1] > 1 else np.full_like(least, np.inf)
        c, some = constant[at, None], inside.any(axis=1, keepdims=True)
        now = np.where(some, c + least.sum(axis=2), 0.0)
        # The least but for one cluster is the second where that cluster is the least.
        left = np.where(without == least, second, least).sum(axis=2)
        alone = inside.sum(axis=1, keepdims=True) == 1
        savings[at] = now - np.where(alone, 0.0, c + left)
        costs[at] = c + np.minimum(pulled, least).sum(axis=2) - now
    return weights * savings, weights * costs


def _blended_gains(
    members: Memberships, scores: Scores, model: OverlapModel
) -> tuple[FloatArray, FloatArray]:
    """Gains at the values that clusters have: the alternation decides what they are worth."""
    d, k = scores.d, scores.n_clusters
    assert d is not None
    table, numbers = members.dense, members.numbers
    now = model.present(scores, members)
    savings, costs = np.full(table.shape, -np.inf), np.full(table.shape, np.inf)
    for q in range(k):
        fewer, more = table.copy(), table.copy()
        fewer[:, q], more[:, q] = False, True
        room = np.flatnonzero(~table[:, q] & (numbers < (2 if d.shape[1] > k else 1)))
        inside = np.flatnonzero(table[:, q])
        for items, changed, out in ((inside, fewer, savings), (room, more, costs)):
            some = scores._replace(d=d[items])
            after = model.present(some, Memberships.from_dense(changed[items]))
            out[items, q] = (now[items] - after) if out is savings else (after - now[items])
    return savings, costs
