"""`"either"`: in each cluster of columns a row follows one of its clusters, the one that fits best.

    C(A) = |x|^2 + sum_j min_{i in A} q_ij,    q_ij = -2 M_ij S_j + m_j M_ij^2

with S_j the sum of the row over column cluster j of m_j columns, so that a single cluster costs its
distance; where only observed cells count, m_j is the weight of the row's cells there. Columns have
one cluster each. A row of one cluster i counts in virtual cluster i; a row of several counts for
each j in virtual cluster k + i l + j, where i is the cluster that it follows in j. Memberships of
which nothing is known yet follow the first of their clusters. Where columns have no clusters each
of them is one, S is the row itself, and a row of several clusters counts in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from neocc._typing import FloatArray, IntArray, LabelArray
from neocc.core.overlap.average import Average
from neocc.core.overlap.model import OverlapModel
from neocc.core.overlap.repeat import Repeat
from neocc.core.overlap.scores import Scores
from neocc.core.sizes import Cut, Moves, Wanted, offer_moves
from neocc.core.thresholds import Ask
from neocc.kernels import Kernels, Memberships, Parts
from neocc.kernels.inputs import NOISE_SCALE, TIE_SCALE
from neocc.kernels.pieces import table_of_pieces

__all__ = ["Either", "followed_clusters", "following", "in_pieces", "stands_for"]

# Items whose parts are compared at a time, and of whole items so many parts.
_CHUNK, _PARTS = 1 << 14, 1 << 20


@dataclass(frozen=True)
class Either(OverlapModel):
    """The distance to the clusters that an item follows, each in some column clusters."""

    name: ClassVar[str] = "either"
    needs_squares: ClassVar[bool] = True
    needs_sums: ClassVar[bool] = True

    @property
    def one_way(self) -> OverlapModel:
        """The model of starts without column clusters: a row lies between those it follows."""
        return Average(self.most)

    def known(self, scores: Scores) -> OverlapModel:
        """Return the model, or one of single clusters for columns, of which no parts are known."""
        return Repeat(1) if scores.d is not None and scores.parts is None else self

    def weighted(self, members: Memberships) -> Memberships:
        """Return memberships that follow what they did, or else their first cluster."""
        if members.virtual is not None:
            return members
        if not len(members.extra_items):
            return replace(members, scale=members.item_weights, mixed=False)
        virtual = Memberships.from_labels(_first_clusters(members), members.n_clusters)
        return _in_virtual(members, virtual)

    def counted(
        self, members: Memberships, ask: Ask, cut: Cut, fresh: Sequence[int] = ()
    ) -> Memberships:
        """Return memberships that follow what fits best, which blocks of items know."""
        if members.virtual is None:
            return members
        return Memberships.joined(ask("counted", list(cut(members)), fresh))

    def chosen(
        self, members: Memberships, scores: Scores, fresh: Sequence[int] = ()
    ) -> Memberships:
        """Return the memberships of a block with what each item follows."""
        assert scores.parts is not None
        some = np.flatnonzero(members.numbers > 1)
        if scores.parts.whole:
            shape = (members.n_items, scores.parts.sums.shape[1])
            pieces = table_of_pieces(*shape, members.n_clusters)
            for each in _followed(members, some, scores, fresh):
                pieces[some[each.at]] = each.clusters
            return in_pieces(members, pieces)
        followed = np.empty((len(some), scores.parts.sums.shape[1]), dtype=np.int32)
        for each in _followed(members, some, scores, fresh):
            followed[each.at] = each.clusters
        return following(members, some, followed)

    def moved(self, members: Memberships, before: Memberships, other: Memberships) -> Memberships:
        """Return rows that follow in a column cluster of one newcomer what they did where it was.

        What they followed there fitted other columns: a cluster that is re-seeded might cost more.
        """
        moved = (before.first >= 0) & (other.first >= 0) & (before.first != other.first)
        moved[moved] = other.sums_of(None)[other.first[moved]] == 1
        if not moved.any():
            return members
        followed, some = followed_clusters(members, other.n_clusters), members.numbers > 1
        followed[:, other.first[moved]] = followed[:, before.first[moved]]
        return following(members, np.flatnonzero(some), followed[some])

    def find_sets(
        self,
        scores: Scores,
        kernels: Kernels,
        at: slice,
        curves: FloatArray,
        sets: LabelArray,
    ) -> None:
        """Write the best sets of some items."""
        assert scores.parts is not None and scores.squares is not None
        start, stop, _ = at.indices(len(curves))
        for some in _chunks(scores.parts, stop - start):
            here = slice(start + some.start, min(start + some.stop, stop))
            given = (scores.parts.take(here), scores.squares[here], _anchors(scores, here))
            kernels.least_sets(*given, curves[here], sets[here])

    def present(self, scores: Scores, members: Memberships) -> FloatArray:
        """Return the least cost of the set of each item, 0 for an item in no cluster."""
        assert scores.squares is not None
        costs = np.zeros(members.n_items)
        items = np.flatnonzero(members.numbers)
        for each in _followed(members, items, scores):
            at = items[each.at]
            anchors = _anchors(scores, at)
            costs[at] = (scores.squares[at] + each.least.sum(axis=1) + anchors) - anchors
        return costs

    def standing(self, scores: Scores) -> tuple[float, FloatArray | None]:
        """Return what the objective has beside the distances, and what present sets cost."""
        members = scores.members
        if members is None:
            return 0.0, None
        return self._beyond(scores), None if scores.d is None else self.present(scores, members)

    def _beyond(self, scores: Scores) -> float:
        members, parts = scores.members, scores.parts
        if members is None or members.virtual is None or parts is None:
            return 0.0
        assert scores.squares is not None
        some, total = np.flatnonzero(members.numbers > 1), 0.0
        columns = np.arange(parts.sums.shape[1])
        for chunk in _chunks(parts, len(some)):
            at = some[chunk]
            every, here = parts.table(at), members.take(at)
            followed = followed_clusters(here, len(columns))
            now = every[np.arange(len(at))[:, None], followed, columns].sum(axis=1)
            inside = np.where(here.dense[:, :, None], every, 0.0).sum(axis=(1, 2))
            beyond = now - inside - (here.numbers - 1) * scores.squares[at]
            weights = here.item_weights
            total += float(beyond.sum() if weights is None else weights @ beyond)
        return total

    def offers(self, scores: Scores, members: Memberships, wanted: Wanted) -> Moves:
        """Offer the cheapest moves of memberships to clusters that are too small.

        A cluster without prototype costs its members nothing.
        """
        parts = scores.parts
        assert scores.d is not None and parts is not None and scores.squares is not None
        squares = scores.squares

        def changes(items: IntArray, source: int, target: int) -> FloatArray:
            found = np.empty(len(items))
            for chunk in _chunks(parts, len(items)):
                at = items[chunk]
                every = parts.table(at)
                inside = members.take(at).dense.copy()
                before = np.where(inside[:, :, None], every, np.inf).min(axis=1).sum(axis=1)
                inside[:, source], inside[:, target] = False, True
                after = np.where(inside[:, :, None], every, np.inf).min(axis=1).sum(axis=1)
                if np.isinf(parts.magnitude[target]):
                    after = -squares[at]
                found[chunk] = after - before
            return found

        return offer_moves(scores.d, members, wanted, changes=changes)


class _Followed(NamedTuple):
    """What some items follow in each column cluster: `clusters`, and the parts of their cost."""

    at: slice
    clusters: LabelArray
    least: FloatArray


def _followed(
    members: Memberships, items: IntArray, scores: Scores, fresh: Sequence[int] = ()
) -> Iterator[_Followed]:
    """Yield what items follow, some of them at a time.

    Parts are rounded before they are compared, for the reason that distances are. A cluster without
    prototype, or one that is `fresh`, will be made of its members: they follow it.
    """
    assert scores.parts is not None
    parts, first = scores.parts, np.isinf(scores.parts.magnitude)
    first[list(fresh)] = True
    slope, curve = (np.ascontiguousarray(table.T) for table in (parts.slope, parts.curve))
    for chunk in _chunks(parts, len(items)):
        at = items[chunk]
        here, anchors, sets = parts.take(at), _anchors(scores, at)[:, None], _sets(members.take(at))
        sums, counts = here.sums, np.broadcast_to(here.counts, here.sums.shape)
        least = np.empty(sums.shape)
        compared, clusters = np.full(sums.shape, np.inf), np.zeros(sums.shape, dtype=np.int32)
        for each in sets.T:
            # The clusters of an item in ascending order: of equal ones the first counts.
            some = np.flatnonzero(each >= 0)
            cluster = each[some]
            part = sums[some] * slope[cluster] + counts[some] * curve[cluster]
            rounded = (part + anchors[some]) - anchors[some]
            rounded[first[cluster]] = -np.inf
            line, j = np.nonzero(rounded < compared[some])
            compared[some[line], j], least[some[line], j] = rounded[line, j], part[line, j]
            clusters[some[line], j] = cluster[line]
        yield _Followed(chunk, clusters, least)


def _chunks(parts: Parts, n_items: int) -> Iterator[slice]:
    """Cut so many items into those whose parts are compared at a time."""
    step = max(1, min(_CHUNK, _PARTS // parts.slope.size)) if parts.whole else _CHUNK
    for start in range(0, n_items, step):
        yield slice(start, min(start + step, n_items))


def _sets(members: Memberships) -> LabelArray:
    """Return the clusters of each item in ascending order, -1 behind the last."""
    inside, numbers = members.dense, members.numbers
    sets = np.full((len(inside), int(numbers.max(initial=0))), -1, dtype=np.int32)
    lines, clusters = np.nonzero(inside)
    sets[lines, np.arange(len(lines)) - np.repeat(np.cumsum(numbers) - numbers, numbers)] = clusters
    return sets


def _anchors(scores: Scores, at: slice | IntArray) -> FloatArray:
    """Return the numbers by which costs are rounded: those of distances, one for each item."""
    assert scores.parts is not None and scores.squares is not None
    magnitude = scores.parts.magnitude
    largest = magnitude[np.isfinite(magnitude)].max(initial=0.0)
    noise = (scores.squares[at] + largest) * NOISE_SCALE
    return np.asarray(np.maximum(noise, np.abs(scores.minima[at]) * TIE_SCALE))


def following(members: Memberships, some: IntArray, followed: LabelArray) -> Memberships:
    """Return memberships in which the items of several clusters, `some`, follow given ones."""
    k, l = members.n_clusters, followed.shape[1]  # noqa: E741
    first = _first_clusters(members)
    clusters = (k + followed * l + np.arange(l)).astype(np.int32)
    first[some] = clusters[:, 0]
    items, further = np.repeat(some, l - 1), clusters[:, 1:].ravel()
    virtual = Memberships(first, items, further, k + k * l, stands_for=stands_for(k, l))
    return _in_virtual(members, virtual)


def in_pieces(members: Memberships, pieces: LabelArray) -> Memberships:
    """Return memberships in which items of several clusters follow some of them, cell by cell."""
    if not len(members.extra_items):
        return replace(members, scale=members.item_weights, mixed=False, virtual=None)
    first = np.where(members.numbers == 1, _first_clusters(members), np.int32(-1))
    virtual = Memberships.from_labels(first, members.n_clusters)
    return _in_virtual(members, replace(virtual, pieces=pieces))


def _in_virtual(members: Memberships, virtual: Memberships) -> Memberships:
    weights = members.item_weights
    return replace(members, scale=weights, mixed=True, virtual=virtual.weighing(weights))


def _first_clusters(members: Memberships) -> LabelArray:
    """Return the lowest cluster of each item, -1 for none."""
    first = np.where(members.first < 0, members.n_clusters, members.first)
    np.minimum.at(first, members.extra_items, members.extra_clusters)
    return np.where(first == members.n_clusters, -1, first).astype(np.int32)


@lru_cache(maxsize=64)
def stands_for(k: int, l: int) -> LabelArray:  # noqa: E741
    """Return which cluster each virtual one stands for in each column cluster."""
    everywhere = np.repeat(np.arange(k, dtype=np.int32)[:, None], l, axis=1)
    there = np.where(np.eye(l, dtype=bool), everywhere[:, :, None], np.int32(-1))
    return np.concatenate([everywhere, there.reshape(k * l, l)])


def followed_clusters(members: Memberships, n_other: int) -> LabelArray:
    """Return the cluster that each item follows in each cluster of the other side, -1 for none."""
    virtual = members.summed
    if virtual.pieces is not None:
        return np.maximum(virtual.first[:, None], virtual.pieces)
    table = virtual.stands_for
    if table is None:
        return np.repeat(virtual.first[:, None], n_other, axis=1)
    table = np.concatenate([table, np.full((1, n_other), -1, dtype=np.int32)])
    found = table[virtual.first]
    np.maximum.at(found, virtual.extra_items, table[virtual.extra_clusters])
    return found
