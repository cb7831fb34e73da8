"""Clusters of a least size: those that an assignment left too small receive members of others.

A *move* takes one membership of an item from a cluster that can spare it to one that is too small,
and changes nothing else: all counts stay as they were. There is always one, for the larger cluster
has a member that the smaller one has not. Blocks of items offer their cheapest moves between each
two such clusters; the choice is made here, cheapest first (ties by item, then cluster), so that it
does not depend on how the items are cut into blocks. What moves cost is measured at the present
prototypes, as all costs of a half-step are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from neocc._counts import Counts
from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.kernels import Memberships

__all__ = ["Enlarged", "Moves", "Wanted", "enlarged", "fill_small", "finite", "offer_moves"]

# Moves that a block offers at a time, of all pairs of clusters together, and at least of each.
_OFFERS, _OFFERS_PER_PAIR = 1 << 13, 8
# Items whose costs are compared at a time: rows of all would be a second table of distances.
_CHUNK = 1 << 14

Cut: TypeAlias = Callable[[Memberships], Sequence[Memberships]]
"""Cut memberships into those of the blocks."""


class Wanted(NamedTuple):
    """What is asked of blocks: `n_moves` from each cluster that can spare members to each target.

    That many moves are made before blocks are asked again, each of another item. A move that is not
    among the `n_moves` cheapest between its clusters would only be made after all of them. Clusters
    to `begin` receive an all-zero item, at no distance from any cluster, only if there is
    no other: none would follow it.
    """

    targets: IntArray
    can_spare: BoolArray
    n_moves: int
    begin: frozenset[int] = frozenset()


class Moves(NamedTuple):
    """Moves of items from clusters to clusters, and what each adds to the costs.

    `before` and `now` are the costs of the memberships before the half-step, and of those that the
    moves are of, where they are known.
    """

    items: IntArray
    sources: IntArray
    targets: IntArray
    changes: FloatArray
    before: float = 0.0
    now: float = 0.0


class Enlarged(NamedTuple):
    """Memberships after all moves, and by how much they cost less than those before the step."""

    members: Memberships
    gain: float
    before: float


def enlarged(
    members: Memberships, counts: Counts, ask: Callable[..., list[Moves]], cut: Cut
) -> Enlarged | None:
    """Move memberships until no cluster is smaller than it may be; None if none is.

    `ask` calls a method of the choices of each block (`neocc.core.thresholds.Ask`).
    """
    sizes = members.sums_of(None).astype(np.intp)
    if sizes.min() >= counts.min_size:
        return None

    def changed(matrix: BoolArray) -> Memberships:
        return Memberships.from_dense(matrix).weighing(members.item_weights)

    matrix = members.dense.copy()
    before = gain = 0.0
    first = True
    while (sizes < counts.min_size).any():
        targets, can_spare = np.flatnonzero(sizes < counts.min_size), sizes > counts.min_size
        missing = int((counts.min_size - sizes[targets]).sum())
        n_pairs = len(targets) * max(1, int(np.count_nonzero(can_spare)))
        n_moves = min(missing, max(_OFFERS_PER_PAIR, _OFFERS // n_pairs))
        parts = cut(members if first else changed(matrix))
        begin = frozenset() if counts.reseeds else frozenset(np.flatnonzero(sizes == 0).tolist())
        offers = ask("moves", list(parts), Wanted(targets, can_spare, n_moves, begin))
        if first:
            before = sum(offer.before for offer in offers)
            gain, first = before - sum(offer.now for offer in offers), False
        every = _joined(offers, [part.n_items for part in parts])
        made, sizes = _chosen(every, sizes, counts.min_size, n_moves)
        matrix[every.items[made], every.sources[made]] = False
        matrix[every.items[made], every.targets[made]] = True
        gain -= float(every.changes[made].sum())
    return Enlarged(changed(matrix), gain, before)


def _joined(offers: Sequence[Moves], n_items: Sequence[int]) -> Moves:
    """Put the offers of all blocks together, with the numbers of items in all of them."""
    starts = np.cumsum([0, *n_items])
    return _stacked(
        [
            (offer.items + start, offer.sources, offer.targets, offer.changes)
            for offer, start in zip(offers, starts, strict=False)
        ]
    )


def _stacked(parts: Sequence[tuple[Any, ...]]) -> Moves:
    items, sources, targets, changes = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Moves(items, sources, targets, changes)


def _chosen(offers: Moves, sizes: IntArray, least: int, n_moves: int) -> tuple[list[int], IntArray]:
    """Choose the cheapest moves, of another item each; return their numbers and the new sizes."""
    sizes, made = sizes.copy(), []
    moved: set[int] = set()
    order = np.lexsort((offers.sources, offers.targets, offers.items, offers.changes))
    for i in order.tolist():
        item, source, target = (int(each[i]) for each in offers[:3])
        if item in moved or sizes[source] <= least or sizes[target] >= least:
            continue
        moved.add(item)
        made.append(i)
        sizes[source] -= 1
        sizes[target] += 1
        if len(made) == n_moves:
            break
    return made, sizes


def offer_moves(
    d: FloatArray,
    members: Memberships,
    wanted: Wanted,
    changes: Callable[[IntArray, int, int], FloatArray] | None = None,
) -> Moves:
    """Return the cheapest moves of a block of items with these distances.

    An item pays each of its distances, or `changes` of items, source and target tells what moves
    cost. A cluster without prototype costs its first members nothing: it will be made of them.
    """
    inside = members.dense

    def further(items: IntArray, source: int, target: int) -> FloatArray:
        return finite(d[items, target]) - finite(d[items, source])

    changes = changes or further
    is_all_zero = np.asarray(~d.any(axis=1)) if wanted.begin else None
    found: list[tuple[Any, ...]] = []
    for source in np.flatnonzero(wanted.can_spare).tolist():
        items = np.flatnonzero(inside[:, source])
        for target in wanted.targets.tolist():
            free = items[~inside[items, target]]
            parts = range(0, max(1, len(free)), _CHUNK)
            costly = np.concatenate([changes(free[i : i + _CHUNK], source, target) for i in parts])
            if members.item_weights is not None:
                costly = costly * members.item_weights[free]
            if is_all_zero is not None and target in wanted.begin:
                costly = np.where(is_all_zero[free], np.inf, costly)
            kept = _cheapest(costly, wanted.n_moves)
            alike = np.full(len(kept), source), np.full(len(kept), target)
            found.append((free[kept], *alike, costly[kept]))
    if not found:
        none = np.empty(0, dtype=np.intp)
        return Moves(none, none, none, np.empty(0))
    return _stacked(found)


def finite(distances: FloatArray) -> FloatArray:
    """Return distances, 0 for those to clusters without prototype."""
    return np.where(np.isfinite(distances), distances, 0.0)


def _cheapest(changes: FloatArray, n: int) -> IntArray:
    """Return the places of the `n` smallest numbers, the first of equal ones."""
    if len(changes) <= n:
        return np.arange(len(changes))
    limit = np.partition(changes, n - 1)[n - 1]
    below = np.flatnonzero(changes < limit)
    equal = np.flatnonzero(changes == limit)[: n - len(below)]
    return np.concatenate([below, equal])


def fill_small(members: Memberships, d: FloatArray, counts: Counts) -> Memberships:
    """Enlarge the clusters of items whose distances are given."""

    def ask(_: str, parts: list[Memberships], wanted: Wanted) -> list[Moves]:
        return [offer_moves(d, parts[0], wanted)]

    found = enlarged(members, counts, ask, lambda every: [every])
    return members if found is None else found.members
