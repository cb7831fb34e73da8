"""The interface of objectives, and the parts that all of them share.

For fixed memberships of the other side, the distance of item p to cluster q (what the membership
adds to the objective) is linear in a few features of the item,

    d_pq = rate_q base_p + offset_q + sum_j slope_jq S_pj + scale_q H_pq - sum_j shrink_j S_pj^2
           + sum_j curve_jq N_pj

For rows: S = X V are sums over the column clusters, base_p = sum_t w_t x_pt^2, and the products
H = X D(w) X' U compare a row with the sum of each row cluster; w = V 1. Columns follow with the
roles of U and V exchanged; N are weights of observed cells, where only these count. Features come
from the data; an objective turns the sums over all of them into the small tables offset, slope,
scale, shrink and curve. Models of counts have margins in the place of squares: base_p = sum_t x_pt.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.core.objectives.block_costs import BlockSums, shared_costs, squared_sums
from neocc.core.objectives.virtual import by_sums, followed_lines, followed_means, gathered
from neocc.kernels import Base, Features, Memberships, Terms

__all__ = ["BlockSums", "Centring", "Features", "Objective", "Pair", "Rise", "Side", "Terms"]
__all__ += ["block_means", "both", "bound"]

Side: TypeAlias = Literal["rows", "columns"]

Pair: TypeAlias = tuple[Memberships | None, Memberships | None]
"""Memberships of rows and of columns, None for a side that is not clustered."""

Centring: TypeAlias = Literal["none", "global", "rows", "columns", "double"]
"""What is subtracted from X where that changes nothing but the accuracy of the sums."""


Rise: TypeAlias = Callable[[FloatArray], FloatArray]
"""What the cost of each cluster rises by when the weight of an item in it changes.

Changes and rises have a row per item and a column per cluster.
"""


@dataclass(frozen=True)
class Objective(ABC):
    """What a block costs.

    `features` are those of the columns, given U and, where the objective `needs_products`, V. They
    serve both half-steps: sums over row clusters also hold all that a row step needs.

    Attributes
    ----------
    background : bool
        Whether an item in no cluster costs what it does where there is no structure, instead of
        nothing: costs are relative to that.
    base : str
        What the base of items is.
    name : str
        How users call it.
    needs_products : bool
        Whether distances depend on products.
    blended_by : tuple of str
        Overlap models in which every pair of clusters has a cost of its own.
    freed_by : tuple of str
        Overlap models whose costs would be the lowest in any case, so that comparing them with
        those of others says nothing.
    needs_counts : bool
        Whether only observed cells count, so that distances depend on their weights.
    likelihood_ratio : bool
        Whether it is minus the logarithm of a likelihood over that of independence.
    paired : bool
        Whether row cluster i belongs to column cluster i, so that there are as many of both.
    reseeds : bool
        Whether an item that begins an empty cluster costs no more than it did before.
    usual_start : str
        What the start "neo-kmeans" stands for.
    weighs_data : bool
        Whether an item of weight 2 is one whose data, or weights of cells, are doubled; else its
        memberships count twice.
    shrinkage : float
        Weight of a further cell of each block, whose value is zero.
    """

    background: bool = False
    base: Base = field(init=False, default="weighted")

    name: ClassVar[str]
    needs_products: ClassVar[bool]
    blended_by: ClassVar[tuple[str, ...]] = ()
    freed_by: ClassVar[tuple[str, ...]] = ()
    needs_counts: ClassVar[bool] = False
    likelihood_ratio: ClassVar[bool] = False
    paired: ClassVar[bool] = False
    reseeds: ClassVar[bool] = True
    usual_start: ClassVar[str] = "neo-kmeans"
    weighs_data: ClassVar[bool] = False
    shrinkage: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if self.background:
            object.__setattr__(self, "base", "plain")

    @property
    def of_counts(self) -> bool:
        """Whether it compares counts with independence; else it is a sum of squared differences."""
        return self.base == "margins"

    @property
    def per_item(self) -> bool:
        """Whether the number of parameters grows with the rows and columns.

        It does where each cluster has a prototype with a value for each of them.
        """
        return self.needs_products

    def check(
        self,
        engine: Any,
        weights: tuple[FloatArray | None, FloatArray | None] = (None, None),
        column_names: Any = None,
    ) -> None:
        """Refuse data for which the objective makes no sense.

        The data are already multiplied by `weights` of rows and columns; names are for the error.
        """

    def all_zero(self, engine: Any, side: Side) -> BoolArray | None:
        """Tell which items are all zero, so that no cluster fits them better than another.

        None where such items have distances of their own.
        """
        return None

    def against_background(self) -> Self:
        """Return the same with costs relative to a background, or refuse that."""
        return replace(self, background=True)

    def constant(
        self, engine: Any, rows: FloatArray | None = None, columns: FloatArray | None = None
    ) -> float:
        """Return what J has beside the distances of all memberships, given weights of items."""
        if not self.background:
            return 0.0
        squares = engine.column_squares(rows)
        return float(squares.sum() if columns is None else squares @ columns)

    def relative(self, terms: Terms) -> Terms:
        """Return terms of distances relative to the background."""
        return replace(terms, rate=np.zeros(terms.n_clusters), base=self.base)

    def total_squares(self, features: Features, V: Memberships | None) -> float:
        """Return the squares that J begins with, of which blocks explain some."""
        if V is None or self.background:
            weights = None if V is None else V.item_weights
            squares = features.squares if weights is None else features.squares * weights
            return float(squares.sum())
        return features.weighed(V)

    @property
    def kind(self) -> str:
        """What overlap models know it by: its name, unless others share that."""
        return self.name

    def refusal(self, overlap_model: Any) -> str | None:
        """Return why an overlap model makes no sense; None if it does."""
        return None

    @abstractmethod
    def centring(self, side: Side | None) -> Centring:
        """Return what may be subtracted from X; `side` is the only one clustered, if any."""

    @abstractmethod
    def terms(self, side: Side, features: Features, pair: Pair, *, pairs: float = 0.0) -> Terms:
        """Return the terms of the half-step of a side; with `pairs` also of pairs of clusters.

        These are inner products of prototypes; where pairs of clusters have distances of their own,
        `pairs` is the share of each in them.
        """

    @abstractmethod
    def value(self, features: Features, U: Memberships | None, V: Memberships | None) -> float:
        """Return the objective J of (U, V)."""

    def block_means(self, features: Features, U: Memberships, V: Memberships) -> FloatArray:
        """Return the mean of each block, of shape (row clusters, column clusters)."""
        return block_means(features, U, V)

    def profiles(self, features: Features, U: Memberships, V: Memberships) -> FloatArray:
        """Return what row clusters have of each column: means, or for counts sums."""
        assert features.sums is not None
        if U.virtual is not None:
            return followed_lines(features.sums.T, U, V)
        return U.fitted(features.sums.T)

    def exact_value(
        self, engine: Any, features: Features, U: Memberships, V: Memberships
    ) -> float | None:
        """Return J computed term by term, where the expansion may cancel; None if it does not."""
        return None

    def residuals(
        self, X: FloatArray, U: Memberships, V: Memberships, M: FloatArray, lines: FloatArray
    ) -> FloatArray:
        """Return what is left of some rows whose items are combinations of clusters.

        `M` is the table of blocks, and `lines` those of row clusters.
        """
        return np.asarray(X - U.summed.shares @ by_sums(M, U) @ V.shares.T)

    def lifts(self, features: Features, U: Memberships, V: Memberships) -> FloatArray | None:
        """Return the rate of each block over that of independence; None if it has no rates."""
        return None

    def unexplained(self, other: Memberships) -> Terms | None:
        """Return terms whose one distance is what no cluster can explain of an item; None if 0."""
        return None

    def rise(self, engine: Any, side: Side, features: Features, pair: Any) -> Rise | None:
        """Return how costs of clusters of a side rise with weights, with prototypes fitted again.

        None stands for squared differences over all cells, whose rises follow from distances
        (`neocc.core.search.gains`).
        """
        return None

    def n_parameters(self, shape: tuple[int, int], n_clusters: tuple[int, int]) -> int:
        """Return the number of free parameters, given the size of X: those of blocks."""
        return n_clusters[0] * n_clusters[1]

    def block_costs(self, engine: Any, features: Features, U: Any, V: Any) -> FloatArray:
        """Return the part of each block in J, of shape (row clusters, column clusters).

        What a cell of several blocks costs is divided among them where the overlap model explains
        it by all of them together.
        """
        if U.mixed or V.mixed:
            M, lines = self.block_means(features, U, V), self.profiles(features, U, V)
            return gathered(engine.sum_blocks(shared_costs, U, self, V, M, lines), U)
        assert features.sums is not None
        by_columns = np.square(features.sums).T @ V.indicator
        squares, of_rows = engine.sum_blocks(squared_sums, U, V)
        sums, sizes = features.blocks(V), np.outer(U.sizes, V.sizes)
        columns = by_columns * U.inverse_sizes[:, None]
        over = BlockSums(squares, sums, of_rows * V.inverse_sizes, columns, sizes)
        return np.maximum(self.block_values(over), 0.0)

    def block_values(self, over: BlockSums) -> FloatArray:
        """Return the part in J of blocks that are each explained alone, from sums over them."""
        raise NotImplementedError


def both(pair: Pair) -> tuple[Memberships, Memberships]:
    """Return the memberships of two sides that are clustered."""
    U, V = pair
    assert U is not None and V is not None
    return U, V


def block_means(features: Features, U: Memberships, V: Memberships) -> FloatArray:
    """Return M, of shape (row clusters, column clusters); 0 for a block without entries.

    Where items are combinations of clusters, it is the table of least squares; where rows count in
    virtual clusters, the means of what these stand for.
    """
    blocks = features.blocks(V)
    if U.virtual is not None:
        return followed_means(blocks, U, V)
    if U.mixed or V.mixed:
        return V.fitted(U.fitted(blocks).T).T
    blocks *= U.inverse_sizes[:, None]
    blocks *= V.inverse_sizes
    return blocks


def bound(terms: FloatArray, own: Memberships) -> FloatArray:
    """Return the magnitude of clusters: infinite for an empty one."""
    return np.where(own.sizes > 0, terms, np.inf) if own.has_empty else terms
