"""The two objectives and the distances that minimise them, each formula written once.

For fixed V, the distance of row p to row cluster q is, in every case,

    d_pq = base_p + offset_q + H_pq + sum_j slope_qj S_pj - sum_j shrink_j S_pj^2

where S = X V, base_p = sum_t w_t x_pt^2 and H = X P come from the engine, and only the small tables
differ. With n_q, m_j the cluster sizes, M the block means, C the mean rows of the row clusters
and e_q = sum_t w_t C_qt^2:

* `"mean"` (NEO-CC-M, eq. dpq):     slope = -2 M,  offset_q = sum_j m_j M_qj^2;
* `"residue"` (NEO-CC-RCM, dpq2):   slope = +2 M,  offset_q = e_q - sum_j m_j M_qj^2,
  P = -2 D(w) C',  shrink_j = 1 / m_j;
* `"vectors"` (NEO-K-Means, V = I): offset_q = e_q,  P = -2 C'.

Columns follow the same formulas with the roles of U and V exchanged. In all cases the objective of
the current memberships is the sum of d over them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.problem import Objective
from neocc.kernels import Kernels, Memberships

# Items whose distances are put together at a time: what that takes should stay in the cache.
_CHUNK = 1024


@dataclass(frozen=True)
class Sums:
    """What the distances of some items need from the data; see the module's docstring.

    Attributes
    ----------
    by_cluster : array of shape (n_items, other clusters) or None
        S (rows) or R' (columns).
    squares : array of shape (n_items,)
        base.
    products : array of shape (n_items, own clusters) or None
        H.
    energy : array of shape (own clusters,) or None
        e, when the pass over the data yields it (columns); else it is computed from C (rows).
    """

    by_cluster: FloatArray | None
    squares: FloatArray
    products: FloatArray | None
    energy: FloatArray | None = None

    def tables(self) -> list[FloatArray]:
        """Return all tables that there are."""
        tables = (self.by_cluster, self.squares, self.products, self.energy)
        return [table for table in tables if table is not None]

    def plus(self, other: Sums) -> Sums:
        """Add the sums over further rows."""
        return self._with(np.add, other)

    def combined(self, operation: Any, other: Sums) -> Sums:
        """Add or subtract others in place: tables of k by m are felt beside the data."""
        return self._with(lambda mine, others: operation(mine, others, out=mine), other)

    def _with(self, operation: Callable[[FloatArray, FloatArray], Any], other: Sums) -> Sums:
        def one(mine: FloatArray | None, others: FloatArray | None) -> Any:
            return None if mine is None or others is None else operation(mine, others)

        return Sums(
            one(self.by_cluster, other.by_cluster),
            operation(self.squares, other.squares),
            one(self.products, other.products),
            one(self.energy, other.energy),
        )


@dataclass(frozen=True)
class Tables:
    """The small tables of one half-step: everything in the distance but the data.

    `magnitude` bounds, per cluster, the size of the terms that cancel in a distance. It is
    infinite for a cluster without members, which no item may join.
    """

    offset: FloatArray
    slope: FloatArray | None
    product: FloatArray | None
    shrink: FloatArray | None
    magnitude: FloatArray

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.offset)


def block_means(sums: FloatArray, own_sizes: FloatArray, other_sizes: FloatArray) -> FloatArray:
    """M: block sums over block sizes, 0 for a block without entries."""
    return sums * np.outer(inverse(own_sizes), inverse(other_sizes))


def mean_vectors(sums: FloatArray, sizes: FloatArray) -> FloatArray:
    """C: cluster sums over cluster sizes, 0 for an empty cluster."""
    return sums * inverse(sizes)[:, None]


def make_tables(
    objective: Objective,
    own_sizes: FloatArray,
    other_sizes: FloatArray | None,
    means: FloatArray | None,
    product: FloatArray | None,
    energy: FloatArray | None,
) -> Tables:
    """Assemble the tables of a half-step from block means M, product table P and energy e."""
    if objective == "vectors":
        assert energy is not None
        return Tables(energy, None, product, None, _bound(energy, own_sizes))
    assert means is not None and other_sizes is not None
    explained = (means * means) @ other_sizes
    if objective == "mean":
        return Tables(explained, -2.0 * means, None, None, _bound(explained, own_sizes))
    assert energy is not None
    shrink = inverse(other_sizes)
    return Tables(energy - explained, 2.0 * means, product, shrink, _bound(energy, own_sizes))


def cross_terms(sums: Sums, tables: Tables, out: FloatArray | None = None) -> FloatArray:
    """Return the part of d that couples items and clusters, in `out` (or the products) if given."""
    if sums.products is None:
        assert sums.by_cluster is not None and tables.slope is not None
        d: FloatArray = np.matmul(sums.by_cluster, tables.slope.T, out=out)
        return d
    if tables.slope is None or sums.by_cluster is None:
        return sums.products
    d = np.empty_like(sums.products) if out is None else out
    for start in range(0, len(d), _CHUNK):
        at = slice(start, start + _CHUNK)
        np.add(sums.products[at], sums.by_cluster[at] @ tables.slope.T, out=d[at])
    return d


def item_terms(sums: Sums, tables: Tables) -> FloatArray:
    """Return the part of d that depends on the item alone."""
    if tables.shrink is None:
        return sums.squares
    assert sums.by_cluster is not None
    terms = np.empty_like(sums.squares)
    for start in range(0, len(terms), _CHUNK):
        at = slice(start, start + _CHUNK)
        S = sums.by_cluster[at]
        np.subtract(sums.squares[at], (S * S) @ tables.shrink, out=terms[at])
    return terms


def distances(sums: Sums, tables: Tables, out: FloatArray | None = None) -> FloatArray:
    """Return d for every item of `sums` and every cluster."""
    d = np.add(cross_terms(sums, tables, out), tables.offset, out=out)
    d += item_terms(sums, tables)[:, None]
    return d


def find_nearest(
    kernels: Kernels, d: FloatArray, sums: Sums, tables: Tables, members: Memberships | None
) -> tuple[IntArray, FloatArray, float]:
    """Complete `d`, which holds the cross terms, for assignment.

    Returns the nearest cluster of each item, the distance to it, and the objective of `members`.
    """
    return kernels.nearest(
        d, item_terms(sums, tables), tables.offset, sums.squares, tables.magnitude, members
    )


def inverse(sizes: FloatArray) -> FloatArray:
    """1 / size, and 0 for an empty cluster: its sums are 0 and so shall be its means."""
    return np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def _bound(terms: FloatArray, own_sizes: FloatArray) -> FloatArray:
    return np.where(own_sizes > 0, terms, np.inf)
