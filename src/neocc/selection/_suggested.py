"""The result of a search for the numbers of clusters: a ranked table that prints and plots."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neocc._typing import AnyArray
from neocc.selection import _plots

__all__ = ["SuggestedClusters"]

_PRINTED = 10


@dataclass(frozen=True, eq=False)
class SuggestedClusters:
    """Numbers of row and column clusters, ranked.

    `print` it for the first ranks, `plot` it for the whole grid.

    Attributes
    ----------
    best : tuple of int
        The numbers of row and of column clusters ranked first.
    table : structured ndarray, one entry per pair, by rank
        Fields `n_row_clusters`, `n_column_clusters`, `objective`, `explained` (the fraction of the
        objective of a single block that is gone), one field per criterion (larger is better; NaN
        where undefined), and `rank`, from 1.
    criteria : tuple of str
        Names of the criteria. The first one ranks.
    objective : {"mean", "residue"}
        What was minimised.
    n_pairs : int
        Number of pairs in the grid; `table` has fewer rows if the search was interrupted.
    complete : bool
        False if the search was interrupted.
    notes : tuple of str
        What else is worth knowing: degenerate data, no structure found, rows sampled.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.selection import suggest_n_clusters
    >>> X = np.kron([[0, 5], [5, 0]], np.ones((20, 10)))
    >>> X += np.random.default_rng(0).normal(size=X.shape)
    >>> found = suggest_n_clusters(X, [2, 3], [2, 3], criteria="icl", random_state=0)
    >>> found.table["rank"]
    array([1, 2, 3, 4])
    >>> found.table["n_row_clusters"][0]
    np.int64(2)
    """

    best: tuple[int, int]
    table: AnyArray = field(repr=False)
    criteria: tuple[str, ...]
    objective: str
    n_pairs: int
    complete: bool
    notes: tuple[str, ...] = ()

    @property
    def progress(self) -> str:
        """How much of an interrupted search was done."""
        return f"best of {len(self.table)} of {self.n_pairs} pairs"

    def __str__(self) -> str:
        rows, columns = self.best
        done = "" if self.complete else f" ({len(self.table)} of {self.n_pairs} pairs: interrupted)"
        lines = [
            f"row clusters: {rows}, column clusters: {columns}, by {self.criteria[0]}{done}",
            "  rank  rows  columns     objective  explained"
            + "".join(f"{name:>14}" for name in self.criteria),
        ]
        lines += [
            f"  {row['rank']:>4}  {row['n_row_clusters']:>4}  {row['n_column_clusters']:>7}"
            f"  {row['objective']:>12.6g}  {row['explained']:>8.1%} "
            + "".join(f"{row[name]:>14.6g}" for name in self.criteria)
            for row in self.table[:_PRINTED]
        ]
        if len(self.table) > _PRINTED:
            lines.append(f"  ... and {len(self.table) - _PRINTED} more in .table")
        return "\n".join(lines + [f"  Note: {note}" for note in self.notes])

    def plot(self, ax: Any = None, criterion: str | None = None) -> Any:
        """Draw a criterion over the grid, with the first three ranks numbered.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        criterion : str, optional
            A field of `table`; by default the criterion that ranks.

        Returns
        -------
        ax : matplotlib Axes
            The axes.
        """
        name = self.criteria[0] if criterion is None else criterion
        if name not in (self.table.dtype.names or ()):
            raise ValueError(f"criterion must be one of {self.table.dtype.names}; got {name!r}.")
        return _plots.plot_suggested(self, name, ax)


def make_table(cells: list[dict[str, float]], criteria: tuple[str, ...]) -> tuple[AnyArray, str]:
    """Rank cells by the first criterion that is defined anywhere; return the table and its name.

    Equal values rank by the number of clusters, cells without a value last.
    """
    names = ["n_row_clusters", "n_column_clusters", "objective", "explained", *criteria]
    kinds = [(name, np.int64 if name.startswith("n_") else np.float64) for name in names]
    table = np.zeros(len(cells), dtype=[*kinds, ("rank", np.int64)])
    for row, cell in zip(table, cells, strict=True):
        for name in names:
            row[name] = cell[name]
    by = next((name for name in criteria if np.isfinite(table[name]).any()), criteria[0])
    values = np.where(np.isfinite(table[by]), -table[by], np.inf)
    n_blocks = table["n_row_clusters"] * table["n_column_clusters"]
    table = table[np.lexsort((table["n_row_clusters"], n_blocks, values))]
    table["rank"] = np.arange(1, len(table) + 1)
    return table, by
