"""The result of a stability analysis: confidences that print and plot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.core.objectives import Side
from neocc.selection import _plots
from neocc.selection._data import check_choice

__all__ = ["Stability"]

_STABLE, _DISSOLVED = 0.75, 0.5
_PRINTED = 20


@dataclass(frozen=True, eq=False)
class Stability:
    """How stable the clusters of a reference solution are.

    Attributes
    ----------
    row_confidence, column_confidence : ndarray of shape (n_rows,) and (n_columns,)
        To what extent the runs put an item into the same clusters as the reference, from 0 to 1:
        the mean Jaccard index of its clusters there and here. Without overlap, this is the fraction
        of runs in which the item is in the same cluster.
    row_cluster_confidence, column_cluster_confidence : ndarray, one value per cluster
        How well the runs recover each cluster, from 0 to 1: the mean Jaccard index of its members
        and those of its match. Above 0.75, a cluster is stable; below 0.5, it dissolves (Hennig,
        "Cluster-wise assessment of cluster stability", 2007).
    co_association : ndarray of shape (n_rows, n_rows) or None
        Fraction of the runs in which two rows share a cluster.
    row_membership, column_membership : ndarray of bool
        The reference.
    method : {"restarts", "bootstrap"}
        What was varied.
    objectives : ndarray, one value per run
        Objective of each run on all of the data.
    reference_objective : float
        Objective of the reference.
    n_runs : int
        Number of runs requested; `objectives` is shorter if the analysis was interrupted.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.selection import stability
    >>> X = np.kron([[0, 5], [5, 0]], np.ones((20, 10)))
    >>> found = stability(X, 2, 2, n_runs=3, random_state=0)
    >>> found.row_confidence.min(), found.complete
    (np.float64(1.0), True)
    """

    row_confidence: FloatArray = field(repr=False)
    column_confidence: FloatArray = field(repr=False)
    row_cluster_confidence: FloatArray
    column_cluster_confidence: FloatArray
    co_association: FloatArray | None = field(repr=False)
    row_membership: BoolArray = field(repr=False)
    column_membership: BoolArray = field(repr=False)
    method: str
    objectives: FloatArray = field(repr=False)
    reference_objective: float
    n_runs: int

    @property
    def complete(self) -> bool:
        """False if the analysis was interrupted."""
        return len(self.objectives) == self.n_runs

    def __str__(self) -> str:
        done = f"{len(self.objectives)}" + ("" if self.complete else f" of {self.n_runs}")
        what = {"restarts": "restarts", "bootstrap": "bootstrap samples of the rows"}[self.method]
        low, high = self.objectives.min(), self.objectives.max()
        lines = [
            f"stability over {done} {what}",
            f"  objective: reference {self.reference_objective:.6g}, runs {low:.6g} to {high:.6g}",
        ]
        for side in ("row", "column"):
            lines += self._side(side)
        return "\n".join(lines)

    def _side(self, side: str) -> list[str]:
        items: FloatArray = getattr(self, f"{side}_confidence")
        clusters: FloatArray = getattr(self, f"{side}_cluster_confidence")
        sizes = getattr(self, f"{side}_membership").sum(axis=0)
        high, low = np.mean(items >= 0.9), np.mean(items < 0.5)
        lines = [
            f"  {side}s: mean confidence {items.mean():.2f}, {high:.0%} >= 0.9, {low:.0%} < 0.5"
        ]
        for i, value in enumerate(clusters[:_PRINTED]):
            word = "stable" if value >= _STABLE else "unclear"
            word = "dissolves" if value < _DISSOLVED else word
            lines.append(
                f"    cluster {i:>3} ({sizes[i]:>5} {side}s)  {value:.2f}  "
                f"{'█' * round(20 * value):<20}  {word}"
            )
        if len(clusters) > _PRINTED:
            lines.append(f"    ... and {len(clusters) - _PRINTED} more clusters")
        return lines

    def plot(self, ax: Any = None, side: Side = "rows") -> Any:
        """Draw the confidence of every item, sorted within its cluster of the reference.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        side : {"rows", "columns"}, default="rows"
            Which side to draw.

        Returns
        -------
        ax : matplotlib Axes
            The axes. An item in several clusters is drawn in each.
        """
        check_choice("side", side, ("rows", "columns"))
        return _plots.plot_stability(self, side, ax)
