"""Fractions of overlap and outliers as exact numbers of memberships: one rounding for everybody."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real


def round_half_away(value: float) -> int:
    """Round to the nearest integer, halves away from zero: the rule of the method's authors.

    Examples
    --------
    >>> [round_half_away(v) for v in (0.5, 1.5, 2.5, -0.5, 2.4)]
    [1, 2, 3, -1, 2]
    """
    whole = math.floor(abs(value))
    return int(math.copysign(whole + (abs(value) - whole >= 0.5), value))


@dataclass(frozen=True)
class Counts:
    """The exact numbers that one side's memberships must meet.

    Attributes
    ----------
    n_items, n_clusters : int
        Rows (or columns) and their clusters: n and k.
    n_memberships : int
        T = n + round(alpha n), the number of ones in the membership matrix.
    max_outliers : int
        b = round(beta n), the largest allowed number of items in no cluster.
    min_size : int
        Least number of members of a cluster. With 1, as in the paper, clusters may be empty where
        there are fewer memberships than clusters.
    reseeds : bool
        Whether an empty cluster can begin with any item, which then costs no more than before. If
        not, members move into it as into one that is too small.
    """

    n_items: int
    n_clusters: int
    n_memberships: int
    max_outliers: int
    min_size: int = 1
    reseeds: bool = True

    @classmethod
    def from_fractions(
        cls, n_items: int, n_clusters: int, overlap: float, outliers: float
    ) -> Counts:
        """Turn the fractions alpha (`overlap`) and beta (`outliers`) into counts."""
        given: dict[str, object] = {"overlap": overlap, "outliers": outliers}
        for name, value in given.items():
            if not isinstance(value, Real) or not math.isfinite(value):
                raise ValueError(f"The fraction of {name} must be a finite number; got {value!r}.")
        # Beyond all that is feasible; the product of larger ones would overflow.
        extra = round_half_away(min(max(overlap, -1e9), 1e9) * n_items)
        return cls(n_items, n_clusters, n_items + extra, round_half_away(outliers * n_items))

    @property
    def n_covered(self) -> int:
        """N1 = n - b, the number of items that must be in at least one cluster."""
        return self.n_items - self.max_outliers

    @property
    def n_extra(self) -> int:
        """a + b, the number of memberships handed out in the second stage."""
        return self.n_memberships - self.n_covered

    @cached_property
    def is_partition(self) -> bool:
        """Whether every item gets exactly one membership."""
        return self.max_outliers == 0 and self.n_extra == 0

    @cached_property
    def needs_distances(self) -> bool:
        """Whether it takes more than the nearest clusters to assign items."""
        return not self.is_partition or self.moves_in

    @cached_property
    def moves_in(self) -> bool:
        """Whether clusters that are too small receive the members whose move costs least."""
        possible = self.n_memberships >= self.n_clusters * self.min_size
        return self.min_size > 1 or (not self.reseeds and possible)

    def with_outliers(self, share: float) -> Counts:
        """Return counts with a share of the outliers, and the memberships that covers the rest."""
        max_outliers = round_half_away(share * self.max_outliers)
        n_memberships = max(self.n_memberships, self.n_items - max_outliers)
        return replace(self, n_memberships=n_memberships, max_outliers=max_outliers)

    def resized(self, n_items: int) -> Counts:
        """Return counts of the same proportions for a sample of `n_items` items."""
        overlap = (self.n_memberships - self.n_items) / self.n_items
        outliers = self.max_outliers / self.n_items
        counts = Counts.from_fractions(n_items, self.n_clusters, overlap, outliers)
        max_outliers = min(counts.max_outliers, n_items - 1)
        n_memberships = max(counts.n_memberships, n_items - max_outliers)
        in_proportion = round_half_away(self.min_size * n_items / self.n_items)
        min_size = max(1, min(in_proportion, n_memberships // self.n_clusters))
        return replace(
            counts,
            n_memberships=n_memberships,
            max_outliers=max_outliers,
            min_size=min_size,
            reseeds=self.reseeds,
        )
