"""What data look like: their kind with the evidence, and lines that need attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from neocc.engines.reading import LARGEST
from neocc.selection._data import check_choice, check_positive, make_rng
from neocc.selection._facts import Facts, look_at
from neocc.selection._kinds import KINDS, implied, kind_of

__all__ = ["DataDescription", "describe_data"]

_MOST_NAMED = 5


@dataclass(frozen=True)
class DataDescription:
    """What the data look like; prints as a short paragraph.

    Attributes
    ----------
    kind : str
        "binary", "ratings", "proportions", "counts", "ratios", "intensities", "units" (columns of
        different units) or "plain".
    evidence : str
        What the kind was recognised by.
    implies : str
        What a fit must take into account.
    remarks : tuple of str
        What else stands out, one sentence each.
    facts : Facts
        The numbers behind all this.

    Examples
    --------
    >>> from neocc.selection import describe_data
    >>> found = describe_data([[0, 1, 0], [1, 0, 0], [0, 1, 1]])
    >>> found.kind
    'binary'
    """

    kind: str
    evidence: str
    implies: str
    remarks: tuple[str, ...]
    facts: Facts

    def __str__(self) -> str:
        """Write a short paragraph."""
        n, m = self.facts.shape
        noun = KINDS[self.kind].noun
        shape = f"{_number_of(n, 'row')} and {_number_of(m, 'column')}"
        first = f"{shape} that look like {noun}: {self.evidence}; "
        return " ".join([f"{first}{self.implies}.", *self.remarks])

    def to_dict(self) -> dict[str, Any]:
        """Return everything in a form that JSON can hold."""
        facts = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self.facts).items()}
        told = {"kind": self.kind, "evidence": self.evidence, "implies": self.implies}
        return {**told, "remarks": list(self.remarks), **facts}


def describe_data(
    X: Any,
    *,
    column_names: Sequence[Any] | None = None,
    missing: str = "zero",
    max_cells: int = 1 << 20,
    random_state: Any = 0,
) -> DataDescription:
    """Describe data before a fit: their kind, and what stands out.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or store
        The data, of shape (n_rows, n_columns). NaN cells are missing.
    column_names : sequence, default=None
        Names of the columns; by default those of a data frame or a store.
    missing : {"zero", "ignore"}, default="zero"
        As in `NEOCC`: whether entries not stored in a sparse matrix are zeros or missing.
    max_cells : int, default=1048576
        If the data have more cells (stored entries, if sparse), a random sample of the rows is
        used.
    random_state : int, RandomState or None, default=0
        Seed of the sample.

    Returns
    -------
    description : DataDescription
        The kind, the evidence, and what stands out; `print` it, or use its `to_dict`.

    See Also
    --------
    advise : Advise how to fit the data.

    Examples
    --------
    >>> from neocc.datasets import load_wine
    >>> from neocc.selection import describe_data
    >>> found = describe_data(load_wine().data)
    >>> found.kind
    'units'
    >>> print(found)  # doctest: +NORMALIZE_WHITESPACE
    178 rows and 13 columns that look like columns of different units: the 13 columns differ in
    scale by up to 720 times, and are of different kinds; the column with the largest unit alone
    would decide.
    """
    check_positive("max_cells", max_cells)
    seed = int(make_rng(random_state).integers(1 << 31))
    check_choice("missing", missing, ("zero", "ignore"))
    facts = look_at(X, column_names, max_cells, seed, observed=missing == "ignore")
    kind, evidence = kind_of(facts)
    remarks = tuple(_remarks(facts))
    return DataDescription(kind.name, evidence, implied(kind, facts), remarks, facts)


def _remarks(facts: Facts) -> list[str]:
    """Say what else stands out."""
    found = []
    if facts.is_list:
        found.append(
            "The three columns look like a list of row, column and value, not like a table: read "
            'it as one (layout="triplets").'
        )
    if facts.id_columns:
        names = ", ".join(repr(name) for name in facts.id_columns[:_MOST_NAMED])
        found.append(f"These look like ids, not measurements: {names}. Leave them out.")
    if np.isinf([facts.low, facts.high]).any():
        found.append("Some values are infinite: replace them before a fit.")
    elif max(facts.high, -facts.low) > LARGEST:
        found.append(
            f"Values up to {max(facts.high, -facts.low):.2g} are too large to be squared: rescale "
            "the data."
        )
    for side, n_cells in zip(("rows", "columns"), facts.shape[::-1], strict=True):
        empty, constant, twice = (
            getattr(facts, f"{what}_{side}") for what in ("empty", "constant", "duplicate")
        )
        parts = [f"{empty:,} without any value"] * bool(empty)
        parts += [f"{constant:,} with the same value throughout"] * bool(constant and n_cells > 1)
        parts += [f"{twice:,} that repeat{'s' * (twice == 1)} an earlier one"] * bool(twice)
        if parts:
            found.append(f"{side.capitalize()}: {_and(parts)}.")
    if facts.constant_columns and facts.constant_columns < facts.shape[1]:
        found.append("Constant columns are grouped with the others, but do not tell rows apart.")
    if facts.missing:
        found.append(f"{facts.missing:.1%} of the cells are missing.")
    if facts.n_rows_seen < facts.shape[0]:
        found.append(f"(Seen: a random sample of {facts.n_rows_seen:,} rows.)")
    return found


def _number_of(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _and(parts: list[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
