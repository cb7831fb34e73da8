"""What the solver asks of an engine: the few operations that touch the data.

An engine knows where the rows live (memory, disk, a cluster) and nothing about objectives. It
belongs to `core` because the solver is its only customer; `neocc.engines` holds the
implementations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from neocc._typing import FloatArray, IntArray
from neocc.core.assign import Assignment
from neocc.core.effects import Effects
from neocc.core.objectives import Sums, Tables
from neocc.core.problem import Counts
from neocc.kernels import Memberships

Centring: TypeAlias = Literal["none", "global", "rows", "columns", "double"]
"""What is subtracted from X where that changes nothing but the accuracy of the sums."""


@dataclass(frozen=True)
class Hints:
    """What a run can tell before a row step, to spare the engine work.

    Attributes
    ----------
    limits : pair of float or None
        Largest distances that the two stages accepted last time, a guess at those of this time.
    wants_sums : bool
        Whether the column sums of the new memberships will be needed: the engine may make them
        while it reads the rows.
    products, squares : bool
        Whether these sums are to hold products with the column clusters, and squares.
    means : array of shape (n_row_clusters, n_columns) or None
        The mean rows of the clusters, where distances depend on them: while they move little, the
        engine may keep distances.
    """

    limits: tuple[float, float] | None = None
    wants_sums: bool = False
    products: bool = False
    squares: bool = False
    means: FloatArray | None = None


NO_HINTS = Hints()


@dataclass(frozen=True)
class RowStep:
    """The objective of the memberships before a row step, and the assignment after it.

    `sums` are the column sums of the new memberships, if the engine has made them on its way.
    """

    objective: float
    assignment: Assignment
    sums: Sums | None = None


class Engine(Protocol):
    """Access to a matrix through sums over clusters."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    def n_stored(self) -> int:
        """Number of stored entries."""

    @property
    def n_passes(self) -> float:
        """How often the data were read so far, parts of them counted as parts."""

    @property
    def effects(self) -> Effects:
        """What is subtracted from the rows and the columns."""

    @property
    def column_effects(self) -> FloatArray:
        """What is subtracted from the columns: a number each, zero for nothing."""

    def centred(self, centring: Centring, column_effects: FloatArray | None = None) -> Engine:
        """Return an engine over X with effects subtracted on the fly; sparse data stays as it is.

        `column_effects` replaces the engine's own: new rows are compared with clusters of old ones.
        """

    def sample_rows(self, rows: IntArray) -> Engine:
        """Return an engine over some of the rows."""

    def take_rows(self, rows: IntArray) -> FloatArray:
        """Return a few rows, centred, as a dense table."""

    def over_table(self, table: FloatArray) -> Engine:
        """Return an engine of the same kind over a dense table."""

    def row_squares(self) -> FloatArray:
        """Return the squared norm of every row."""

    def multiply(self, table: FloatArray) -> FloatArray:
        """Return X times a thin table."""

    def multiply_transposed(self, table: FloatArray) -> FloatArray:
        """Return X' times a thin table."""

    def column_sums(
        self, U: Memberships | None, V: Memberships | None, *, squares: bool = True
    ) -> Sums:
        """Return the sums for the distances of all columns, given row memberships U.

        With V also the products X' P, P = -2 D(f) A, and the energy sum_p f_p A_pj^2, where A
        holds the mean of each row over each column cluster.
        """

    def changed_sums(
        self,
        rows: IntArray,
        before: Memberships,
        after: Memberships,
        V: Memberships | None,
        *,
        squares: bool = True,
    ) -> Sums:
        """Return what `column_sums` gains when some rows, in ascending order, change clusters.

        `before` and `after` are the memberships of these rows alone.
        """

    def row_distances(self, tables: Tables, V: Memberships | None) -> FloatArray:
        """Return the distance of every row to every row cluster."""

    def nearest_rows(
        self, tables: Tables, V: Memberships | None
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """Return comparable distances of all rows, and their nearest clusters with distances."""

    def reassign_rows(
        self,
        tables: Tables,
        U: Memberships | None,
        V: Memberships | None,
        counts: Counts,
        hints: Hints = NO_HINTS,
    ) -> RowStep:
        """Return the objective of U and the two-stage assignment of all rows.

        Hints change no result but by rounding.
        """

    def residual_squares(self, means: FloatArray, U: Memberships, V: Memberships) -> float:
        """Return the sum of squared differences from block means, term by term: slow and exact."""


@runtime_checkable
class KeepingEngine(Protocol):
    """What an engine may offer besides: to keep sums and distances from one row step to the next.

    Results change by rounding at most.
    """

    def watch_columns(self, margins: FloatArray) -> None:
        """Learn how far each column is from changing clusters, before a pass of a row step.

        Entries of those that are near may be kept, and sums of the rows follow their changes.
        """

    def forget(self) -> None:
        """Let the next row step be as if this engine had made none before."""
