"""Numbers of clusters that predict held-out cells best: a result that prints and plots itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from neocc._typing import AnyArray, FloatArray
from neocc.core.objectives import Side
from neocc.selection import _plots
from neocc.selection._data import finite_numbers

__all__ = ["SAME", "PredictedClusters", "SidePrediction"]

SAME = 0.9
"""Parts of the data that agree so well have found the same clusters."""
# Parts that agree less leave doubt: halves of the items, and those that share them and most cells.
_UNSURE, _UNSURE_OF_CELLS = 0.5, 0.75
_CLEARLY = 3.0


@dataclass(frozen=True, eq=False)
class SidePrediction:
    """The number of clusters of one side, and why.

    Attributes
    ----------
    number : int
        The choice; 1 if no clusters predict better than none.
    plausible : tuple of int
        It, and numbers that are nearly as good a knee of the error, or that single cuts say.
    side : {"rows", "columns"}
        What is clustered.
    n_items : int
        How many there are.
    errors, standard_errors : ndarray of shape (n_numbers,)
        Mean squared error of held-out cells (of counts: deviance per thing counted) with 1, 2, ...
        clusters, and the standard error of its difference from the lowest one.
    stability : ndarray of shape (n_numbers,)
        Mean adjusted Rand index of the clusters that two halves of the items, or four of five
        parts of the cells, give.
    within_error : int
        The smallest number within one standard error of the best.
    at_limit : bool
        Whether still more clusters than were tried may predict better.
    wanted : int or None
        How many tell the clusters of the other side apart, if these lead; at least `number`.
    overlapping : int or None
        How many explain as much if items may be in several: the others are means of these.
    paired : bool
        Whether these must be as many as the leading side has.
    other_model : bool
        Whether blocks of one value were asked for doubt, and they, or the other side, show some.
    of_cuts : tuple of int
        What each cut of the data says by itself.
    of_halves : bool
        Whether parts of the data that are compared have different items, not most cells in common.
    is_told : bool
        Whether cells can tell clearly: not those of two or three lines that add up to a constant.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.selection import suggest_n_clusters
    >>> X = np.kron([[0, 5], [5, 0]], np.ones((20, 10)))
    >>> X += np.random.default_rng(0).normal(size=X.shape)
    >>> rows = suggest_n_clusters(X, random_state=0).rows
    >>> rows.number, rows.is_clear
    (2, True)
    """

    number: int
    plausible: tuple[int, ...]
    side: Side
    n_items: int
    errors: FloatArray = field(repr=False)
    standard_errors: FloatArray = field(repr=False)
    stability: FloatArray = field(repr=False)
    within_error: int
    at_limit: bool
    wanted: int | None = None
    overlapping: int | None = None
    paired: bool = False
    other_model: bool = False
    of_cuts: tuple[int, ...] = ()
    of_halves: bool = True
    is_told: bool = True

    @property
    def is_agreed(self) -> bool:
        """Whether more clusters predict no better, and parts agree on these, or clearly worse."""
        if self.number != self.within_error:
            return False
        return self.number == 1 or self.agreement >= SAME or self.is_sharp

    @property
    def is_sharp(self) -> bool:
        """Whether all more clusters, up to twice as many, predict clearly worse."""
        more = slice(best := self.within_error, 2 * best)
        if int(self.errors.argmin()) != best - 1 or len(self.errors) == best:
            return False
        worse = self.errors[more] - self.errors[best - 1]
        return bool((worse > _CLEARLY * self.standard_errors[more]).all())

    @property
    def apart(self) -> int:
        """How many to fit without overlap: more than `number` if the other side needs them."""
        return self.number if self.wanted is None else self.wanted

    @property
    def taken(self) -> int:
        """The number to fit."""
        return self.apart if self.overlapping is None else self.overlapping

    @property
    def largest(self) -> int:
        """The largest number tried."""
        return len(self.errors)

    @property
    def shown(self) -> list[int]:
        """The numbers worth showing: the choice, its neighbours and rivals, the ends."""
        near = {self.number - 1, self.number, self.number + 1, *self.plausible, self.taken}
        near |= {1, self.within_error, self.largest}
        return sorted(number for number in near if 1 <= number <= self.largest)

    @property
    def agreement(self) -> float:
        """How well clusters of different parts of the data agree."""
        return float(self.stability[min(self.number, self.largest) - 1])

    @property
    def is_clear(self) -> bool:
        """Whether others were tried, none is plausible, and parts agree to some extent."""
        least = _UNSURE if self.of_halves else _UNSURE_OF_CELLS
        agreed = len(self.plausible) == 1 and self.agreement >= least
        agreed = self.errors.argmin() == 0 < self.largest - 1 if self.number == 1 else agreed
        return (agreed or self.overlapping is not None) and self.is_told and not self.other_model

    @property
    def summary(self) -> dict[str, Any]:
        """The choice and what it follows from, as JSON knows it; lists begin with one cluster."""
        return {
            "number": self.number,
            "taken": self.taken,
            "overlapping": self.overlapping is not None,
            "plausible": list(self.plausible),
            "clear": self.is_clear,
            "error": finite_numbers(self.errors),
            "standard_error": finite_numbers(self.standard_errors),
            "stability": finite_numbers(self.stability),
        }

    @property
    def explained(self) -> float:
        """Share of the error of a single cluster that is gone."""
        whole, at = float(self.errors[0]), min(self.number, self.largest) - 1
        return 1.0 - float(self.errors[at]) / whole if whole > 0 else 0.0

    @property
    def reason(self) -> str:
        """The choice in words: a clause without a full stop."""
        other = "columns" if self.side == "rows" else "rows"
        if self.overlapping is not None:
            said, n = "predict held-out cells best", self.apart - self.overlapping
            said = said if self.apart == self.number else f"tell clusters of {other} apart"
            means = "1 of these is a mean" if n == 1 else f"{n} of these are means"
            return f"{self.apart} {said}, but {means} of others: {self.overlapping} overlap"
        if self.taken == self.number:
            return self._reason
        if self.paired:
            return f"{self._reason}; {self.taken} are taken, as many as of {other}"
        return f"{self._reason}; {self.taken} are taken to tell clusters of {other} apart"

    @property
    def _reason(self) -> str:
        if self.largest == 1:
            return "there are too few rows or columns to hold out any"
        if not self.errors.any():
            same = f"all {self.side} are equal, or held-out cells follow from the others exactly"
            few = f"unclear: two lines that add up to a constant tell nothing of {self.side}"
            return same if self.is_told else few
        if self.number == 1:
            more = "" if self.is_clear else " than chance would"
            return f"no structure: no clusters of {self.side} predict held-out cells better{more}"
        said = [f"{self.explained:.0%} of the error of held-out cells is gone"]
        if self.within_error == self.number:
            said.append("more clusters predict no better")
        elif self.within_error > self.number:
            more = "and perhaps more" if self.at_limit else "clusters"
            said.append(f"the knee of the error, up to {self.within_error} {more} predict better")
        said.append(f"parts of the data agree on them to {self.agreement:.2f}")
        if not self.is_clear:
            others = f"{self.plausible[0]} to {self.plausible[-1]} are as plausible"
            why = "only blocks of one value show them" if self.other_model else "parts disagree"
            why = why if self.is_told else "three lines that add up to a constant tell little"
            said.append(f"unclear: {others if len(self.plausible) > 1 else why}")
        return "; ".join(said)


@dataclass(frozen=True, eq=False)
class PredictedClusters:
    """Numbers of row and column clusters by the prediction of held-out blocks.

    `print` it for the reasons, `plot` it for the held-out error.

    Attributes
    ----------
    rows, columns : SidePrediction
        The choice for each side, with errors and stability by number of clusters.
    objective : str
        What was minimised.
    complete : bool
        False if the search was interrupted.
    notes : tuple of str
        What else is worth knowing.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.selection import suggest_n_clusters
    >>> X = np.kron([[0, 5], [5, 0]], np.ones((20, 10)))
    >>> X += np.random.default_rng(0).normal(size=X.shape)
    >>> found = suggest_n_clusters(X, random_state=0)
    >>> found.best, found.is_clear
    ((2, 2), True)
    """

    criteria: ClassVar[tuple[str, ...]] = ("prediction",)

    rows: SidePrediction
    columns: SidePrediction
    objective: str
    complete: bool
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> tuple[int, int]:
        """The numbers of row and of column clusters chosen."""
        return self.rows.taken, self.columns.taken

    @property
    def sides(self) -> tuple[SidePrediction, SidePrediction]:
        """Both sides."""
        return self.rows, self.columns

    @property
    def is_clear(self) -> bool:
        """Whether both numbers are clear."""
        return all(each.is_clear for each in self.sides)

    @property
    def progress(self) -> str:
        """How much of an interrupted search was done."""
        return "from fewer cuts of the data"

    @property
    def table(self) -> AnyArray:
        """All numbers tried: a structured array with side, number, error and stability."""
        kinds = [("side", "U7"), ("number", np.int64), ("error", np.float64)]
        kinds += [("standard_error", np.float64), ("stability", np.float64)]
        lines = [
            (each.side, number + 1, *values)
            for each in self.sides
            for number, values in enumerate(
                zip(each.errors, each.standard_errors, each.stability, strict=True)
            )
        ]
        return np.array(lines, dtype=kinds)

    def __str__(self) -> str:
        k, l = self.best  # noqa: E741
        sure = "" if self.is_clear else " (unclear)"
        sure += " (interrupted)" * (not self.complete)
        lines = [f"row clusters: {k}, column clusters: {l}, by prediction{sure}"]
        lines += [f"  {each.side}: {each.reason}" for each in self.sides]
        for each in self.sides:
            lines.append(f"  {each.side:<10}  error  stability")
            lines += [
                f"    {number:>8}  {each.errors[number - 1]:.4g}  {each.stability[number - 1]:.2f}"
                for number in each.shown
            ]
        return "\n".join(lines + [f"  Note: {note}" for note in self.notes])

    def plot(self, ax: Any = None) -> Any:
        """Draw the held-out error over the number of clusters of both sides.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib Axes
            The axes.
        """
        return _plots.plot_predicted(self, ax)
