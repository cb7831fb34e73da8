"""What an iteration on a cluster sends and holds, by the formulas of docs/cluster-study.md."""

from __future__ import annotations

from dataclasses import dataclass

N_BLOCKS, N_WORKERS = 16, 2
CLUSTERS = (20, 20)
OVERLAP, OUTLIERS = 0.1, 0.05
# Memberships are sent to the workers again every so many steps.
RESENT_AFTER = 8


@dataclass(frozen=True)
class Model:
    """Bytes of one iteration on a sparse matrix; sizes as in docs/cluster-study.md."""

    objective: str
    n: int
    m: int
    n_stored: int
    k: int
    l: int  # noqa: E741
    n_workers: int
    n_threads: int = 1
    n_blocks: int = N_BLOCKS
    entry_bytes: int = 8
    overlap: float = OVERLAP
    outliers: float = OUTLIERS

    def memberships(self, n_items: int) -> float:
        """Bytes of the memberships of a side: a label each, and 12 for each further one."""
        return 4 * n_items + 12 * (self.overlap + self.outliers) * n_items

    @property
    def row_tables(self) -> float:
        """What every worker must know for a row step."""
        product = self.m * self.k if self.objective == "residue" else 0
        return self.memberships(self.m) + 8 * (self.k * self.l + product)

    @property
    def column_sums(self) -> float:
        """The column sums that are added up and come back."""
        width = self.l if self.objective == "residue" else 0
        return 8 * self.m * (self.k + 1 + width)

    def sent(self) -> dict[str, float]:
        """Bytes that cross the network in one iteration, by what they are.

        What goes to the workers passes the scheduler, which sends it to each; what comes back
        passes the scheduler too.
        """
        column_tables = self.memberships(self.m) if self.objective == "residue" else 0
        return {
            "tables to the workers": (self.n_workers + 1) * (self.row_tables + column_tables),
            "new memberships back": 2 * self.memberships(self.n),
            "memberships sent again": 2 * self.memberships(self.n) / RESENT_AFTER,
            "column sums between workers": (self.n_workers - 1) * self.column_sums,
            "column sums back": 2 * self.column_sums,
        }

    def memory_per_worker(self) -> dict[str, float]:
        """Bytes that a worker holds: its share of the rows, their distances, sums on their way."""
        share = self.n / self.n_workers
        width = self.l + (self.k if self.objective == "residue" else 0)
        # Sums of all blocks of a unit before they are added, in every thread; those of the last
        # step are let go when the next one begins.
        waiting = 4 + max(1.0, self.n_blocks / self.n_workers / self.n_threads)
        return {
            "rows": self.entry_bytes * self.n_stored / self.n_workers + 8 * share,
            "distances": share * (8 * self.k + 24),
            "sums and products of rows": 8 * share * width,
            "tables and sums": self.row_tables + self.n_threads * waiting * self.column_sums,
        }
