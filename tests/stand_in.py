"""A card that is not there: NumPy in CuPy's place, as strict as CuPy about where arrays are.

Arrays of the stand-in refuse to meet those of the process, as arrays of CuPy do. What crosses is
noted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from neocc.core.histograms import ordered_keys
from neocc.core.overlap import OverlapModel, Scores
from neocc.core.overlap.blend import Blend
from neocc.core.overlap.either import Either, followed_clusters
from neocc.engines.gpu.device import Device
from neocc.kernels import Features, Memberships, SparseBlock, numpy_


class CardArray(np.ndarray):
    """An array that only meets its like."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        targets = {} if out is None else {"out": tuple(plain(each) for each in out)}
        inputs = [plain(each) for each in inputs]
        return foreign(getattr(ufunc, method)(*inputs, **targets, **options))

    def __array_function__(self, func, types, args, kwargs):
        assert "device" not in kwargs  # which CuPy does not take
        if func is np.asarray:  # as CuPy does where it is asked for one of its own
            return np.array(args[0], **kwargs).view(CardArray)
        return foreign(func(*plain(args), **plain(kwargs)))

    def dot(self, other):
        return foreign(self.view(np.ndarray).dot(plain(other)))

    def get(self):
        return np.array(self.view(np.ndarray))

    def nonzero(self):
        return foreign(self.view(np.ndarray).nonzero())

    def take(self, at):
        return foreign(self.view(np.ndarray).take(plain(at)))

    def __getitem__(self, at):
        found = self.view(np.ndarray)[plain(at)]
        return found.view(type(self)) if isinstance(found, np.ndarray) else found

    def __setitem__(self, at, value):
        self.view(np.ndarray)[plain(at)] = plain(value)

    def searchsorted(self, *_, **__):
        raise TypeError("ask the module")


def plain(value):
    """Return arrays of the card as arrays; those of the process are refused."""
    if isinstance(value, CardArray):
        return value.view(np.ndarray)
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("an array of the process met the card")
    if isinstance(value, list | tuple):
        return type(value)(plain(each) for each in value)
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return value


def foreign(value):
    """Return arrays as arrays of the card."""
    if isinstance(value, tuple):
        return tuple(foreign(each) for each in value)
    return value.view(CardArray) if isinstance(value, np.ndarray) and value.ndim else value


@dataclass(frozen=True)
class OfCosts(OverlapModel):
    """A model whose sets have given costs."""

    given: object = None
    name = "given"

    def costs(self, sizes, gram):
        return self.given


class Module:
    """NumPy's functions over arrays of the card."""

    def __getattr__(self, name):
        found = getattr(np, name)
        if isinstance(found, type) or not callable(found):
            return found
        return lambda *args, **options: foreign(found(*plain(args), **plain(options)))


@dataclass
class StandInKernels:
    """The reference kernels over arrays of the card."""

    xp: Module = field(default_factory=Module)
    crossed: list[int] = field(default_factory=list)

    def put(self, array):
        if array is None:
            return None
        self.crossed.append(np.size(array))
        return np.array(array).view(CardArray)

    def fetch(self, array):
        self.crossed.append(array.size)
        return np.array(array.view(np.ndarray))

    def hold(self, block):
        # Wrapped, so that nobody takes it for what is here.
        if isinstance(block, SparseBlock):
            weights = None if block.weights is None else np.asarray(block.weights)
            arrays = map(np.asarray, block[:3])
            return SimpleNamespace(block=SparseBlock(*arrays, block.n_columns, weights))
        return SimpleNamespace(block=np.array(block).view(np.ndarray))

    def gather(self, block, columns, *tables):
        numpy_.gather(block.block, here(columns), *map(plain, tables))

    def scatter(self, block, rows, *tables):
        numpy_.scatter(block.block, here(rows), *map(plain, tables))

    def multiply(self, block, table, out):
        numpy_.multiply(block.block, plain(table), plain(out))

    def multiply_transposed(self, block, table, out):
        numpy_.multiply_transposed(block.block, plain(table), plain(out))

    def score(self, features, terms, members, d, labels, minima):
        tables = (features.sums, features.squares, features.products, features.counts)
        features = Features(*map(plain, tables))
        return numpy_.score(features, terms, here(members), *map(plain, (d, labels, minima)))

    def least(self, block):
        values = block.block.data if isinstance(block.block, SparseBlock) else block.block
        return values.min(initial=0.0)

    def set_curves(self, d, squares, members, costs, curves, sets, steps, present):
        d, squares, before = plain(d), plain(squares), here(members)
        model = Blend(curves.shape[1]) if costs is None else OfCosts(curves.shape[1], costs)
        k = len(costs.own) if costs is not None else int(np.sqrt(2 * d.shape[1]))
        scores = Scores(d, None, None, k, 0.0, before, squares, None)
        found = model.choices(scores, numpy_)
        given = (curves, sets, steps) if before is None else (curves, sets, steps, present)
        for there, table in zip(given, ("curves", "sets", "steps", "present"), strict=False):
            plain(there)[...] = getattr(found, table)
        return found.scores.objective

    def least_sets(self, parts, squares, minima, members, curves, sets, steps, present):
        parts, before = parts_here(parts), here(members)
        given = (parts.sums, None, plain(minima), len(parts.magnitude), 0.0, before)
        found = Either(curves.shape[1]).choices(Scores(*given, plain(squares), None, parts), numpy_)
        tables = (curves, sets, steps) if before is None else (curves, sets, steps, present)
        for there, table in zip(tables, ("curves", "sets", "steps", "present"), strict=False):
            plain(there)[...] = getattr(found, table)
        return found.scores.objective

    def follow(self, parts, squares, minima, members, items):
        parts = parts_here(parts)
        given = (None, None, plain(minima), len(parts.magnitude), 0.0, None)
        scores = Scores(*given, plain(squares), None, parts)
        chosen = Either().chosen(here(members), scores)
        found = followed_clusters(chosen, parts.sums.shape[1])[plain(items)]
        return foreign(found.astype(np.int32))

    def sizes(self, lists):
        return here(lists).sizes

    def numbers(self, lists):
        return here(lists).sums_of(None)

    def gram(self, lists):
        return here(lists).gram

    def blocks(self, table, lists):
        self.crossed.append(lists.n_clusters * table[0].size)
        return plain(table).T.dot(here(lists).indicator)

    def diagonal(self, table, lists):
        return np.einsum("tj,tj->j", plain(table), here(lists).indicator)

    def histogram(self, values, low, high, shift, most):
        keys = ordered_keys(plain(values))
        below = int(np.count_nonzero(keys < low))
        within = keys[(keys >= low) & (keys <= high)]
        if keys.size > most < within.size:
            return below
        return *np.unique(within >> shift, return_counts=True), below

    def select(self, values, rank, first):
        values = plain(values)
        if first is not None:
            values = values[plain(first)[:, None] != np.arange(values.shape[1])]
        value = float(np.sort(values)[rank - 1])
        return value, int(np.count_nonzero(values < value)), int(np.count_nonzero(values == value))

    def near(self, d, first, threshold):
        d, first = map(plain, (d, first))
        near = (d <= threshold) & (first[:, None] != np.arange(d.shape[1]))
        items, clusters = near.nonzero()
        ends = np.append(0, near.sum(axis=1).cumsum())
        return foreign((items, clusters.astype(np.int32), ends))


def here(lists):
    """Return lists of the card as memberships."""
    if lists is None:
        return None
    arrays = map(plain, (lists.first, lists.extra_items, lists.extra_clusters))
    virtual = (here(lists.virtual), lists.stands_for)
    rest = (plain(lists.scale), lists.mixed, *virtual, plain(lists.item_weights))
    return Memberships(*arrays, lists.n_clusters, *rest)


def parts_here(parts):
    """Return parts of the card as parts; counts of all items alike are in the process anyway."""
    counts = parts.counts if parts.counts.ndim == 1 else plain(parts.counts)
    return parts._replace(sums=plain(parts.sums), counts=counts)


def stand_in(free=None):
    """Return a device that is not there."""
    return Device(StandInKernels(), free)
