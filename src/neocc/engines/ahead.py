"""One pass for both half-steps: column sums made while the row step reads the rows.

The column sums belong to memberships that are known only when all rows have been measured, for the
limits of the assignment are global. The limits of the last step are a good guess, though, and where
much has changed since, those of a few rows are. Each block is summed at once, by the memberships
that such limits would give it; the few rows that turn out otherwise are read again by themselves,
for all sums are linear in the memberships.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from neocc.core.assign import chosen
from neocc.core.counting import Cut, Scores
from neocc.core.engine import Hints
from neocc.core.objectives import Sums, Tables
from neocc.core.problem import Counts
from neocc.engines.passes import Passes, Rows
from neocc.engines.totals import ColumnTotals
from neocc.kernels import Block, Memberships

if TYPE_CHECKING:
    from neocc.engines.memory import MemoryEngine

__all__ = ["SumsAhead"]

# Of the rows, the share that may be read again; a pass over all of them is better beyond.
_MOST_WRONG = 0.25
# Rows whose limits are a guess at those of all.
_SAMPLED_ROWS, _SAMPLED_SHARE = 1024, 1 / 16

# Sums without products are cheap. Of less data a second pass for them costs less than guessing.
_MANY_ENTRIES = 1 << 26

_EVERY = int(np.iinfo(np.int64).max)
_NOTHING = Cut(-np.inf, 0, -np.inf, 0)


class SumsAhead:
    """Column sums that belong to guessed memberships, until these are corrected."""

    def __init__(
        self,
        engine: MemoryEngine,
        tables: Tables,
        V: Memberships | None,
        counts: Counts,
        hints: Hints,
    ) -> None:
        self._engine, self._tables, self._counts, self._hints = engine, tables, counts, hints
        self._V, self._V_of_products = V, V if hints.products else None
        self._cut = _NOTHING
        self._guessed: dict[int, Memberships] = {}
        self._totals: ColumnTotals | None = None

    @classmethod
    def if_worth_it(
        cls,
        engine: MemoryEngine,
        tables: Tables,
        V: Memberships | None,
        counts: Counts,
        hints: Hints,
    ) -> SumsAhead | None:
        """Return what collects sums ahead; None if they are not wanted, or better made later."""
        worth_it = hints.products or engine.n_stored >= _MANY_ENTRIES
        return cls(engine, tables, V, counts, hints) if hints.wants_sums and worth_it else None

    def over_rows(self, passes: Passes, visit: Callable[[Rows, ColumnTotals], float]) -> float:
        """Visit all blocks of rows with the totals to add them to; return the sum of results."""
        found: dict[int, float] = {}

        def add(rows: Rows, totals: ColumnTotals) -> None:
            found[rows[0]] = visit(rows, totals)

        nearest_limit, extra_limit = self._hints.limits or self._sampled_limits()
        self._cut = Cut(nearest_limit, _EVERY, extra_limit, _EVERY)
        width = 0 if self._V_of_products is None else self._V_of_products.n_clusters
        self._totals = passes.down_columns(self._tables.n_clusters, width, add)
        return sum(found[start] for start in sorted(found))

    def _sampled_limits(self) -> tuple[float, float]:
        """Return the limits that an assignment of evenly spaced rows alone would have."""
        n = self._counts.n_items
        n_sampled = max(1, min(_SAMPLED_ROWS, int(_SAMPLED_SHARE * n)))
        rows = np.linspace(0, n - 1, n_sampled).astype(np.intp)
        sampled = self._engine.sample_rows(rows).scored_rows(self._tables, None, self._V)
        some = self._counts.resized(n_sampled)
        found = chosen(sampled.d, sampled.labels, sampled.minima, some)
        return found.nearest_limit, found.extra_limit

    def add(
        self, rows: Rows, block: Block, scores: Scores, sums: Sums, totals: ColumnTotals
    ) -> None:
        """Add a block of rows by the memberships that its distances suggest."""
        guess = scores.settled(self._cut)
        # Without the tables that kernels make of it.
        self._guessed[rows[0]] = replace(guess)
        self._engine.add_block(
            block,
            guess,
            self._V_of_products,
            None if self._V_of_products is None else sums.by_cluster,
            totals,
            squares=self._hints.squares,
        )

    def corrected(self, U: Memberships) -> Sums | None:
        """Return the column sums of U; None if there was no pass, or the guess was not close."""
        if self._totals is None:
            return None
        guess = Memberships.joined([self._guessed[start] for start in sorted(self._guessed)])
        wrong = guess.changed_items(U)
        if len(wrong) > _MOST_WRONG * U.n_items:
            return None
        sums = self._totals.as_sums(
            with_clusters=True, with_products=self._V_of_products is not None
        )
        if not len(wrong):
            return sums
        gains = self._engine.changed_sums(
            wrong,
            guess.take(wrong),
            U.take(wrong),
            self._V_of_products,
            squares=self._hints.squares,
        )
        return sums.combined(np.add, gains)
