"""The data sets of the tables: where they come from, what is known, and how they are clustered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from neocc import datasets
from neocc._typing import BoolArray
from neocc.paper._treatments import RAW, treated

__all__ = [
    "CHOSEN",
    "DATA_SETS",
    "MOVIELENS",
    "N_USER_GROUPS",
    "TRIED",
    "USER_OVERLAP",
    "DataSet",
    "Task",
    "load_task",
]

CHOSEN = "column-norm"
"""What is done to the ratings for the second table of MovieLens; chosen among `TRIED`."""

N_USER_GROUPS, USER_OVERLAP = 5, 0.3
"""Row clusters of the MovieLens stand-ins, and their overlap for NEO-CC; alike for all of them."""

TRIED = (
    RAW,
    "log1p",
    CHOSEN,
    "binarize+column-norm",
    "column-tfidf",
    "row-norm+column-norm",
    "binormalize",
    "double-center+column-norm",
)


@dataclass(frozen=True)
class DataSet:
    """A matrix with known clusters of its rows or of its columns, and how to cluster it.

    Attributes
    ----------
    name : str
        Name in tables and files.
    load : callable
        Returns the matrix and the known clusters, a membership matrix.
    side : {"rows", "columns"}
        What the known clusters are clusters of; this side is scored.
    n_row_clusters, n_column_clusters : int
        Numbers of clusters asked for.
    treatments : tuple of str
        What is done to the matrix first; each has a table of its own.
    overlap : float or None
        Overlap of the scored side for NEO-CC; None takes the true one.
    other_overlap : float
        Overlap of the other side for NEO-CC.
    one_way_overlap : float or None
        Overlap for the one-way systems; None takes the true one.
    printed : str or None
        The data set of the paper whose printed values stand beside ours.
    tried : tuple of str
        Further treatments, for the table of what was tried.
    """

    name: str
    load: Callable[[], tuple[Any, BoolArray]]
    side: Literal["rows", "columns"]
    n_row_clusters: int
    n_column_clusters: int
    treatments: tuple[str, ...] = (RAW,)
    overlap: float | None = None
    other_overlap: float = 0.0
    one_way_overlap: float | None = None
    printed: str | None = None
    tried: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """A data set as it goes into the systems."""

    X: Any
    truth: BoolArray
    side: Literal["rows", "columns"]
    n_row_clusters: int
    n_column_clusters: int
    overlap: float
    other_overlap: float
    one_way_overlap: float

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the scored side."""
        return self.n_row_clusters if self.side == "rows" else self.n_column_clusters

    @property
    def items(self) -> Any:
        """The matrix with the scored side as its rows."""
        if self.side == "rows":
            return self.X
        turned = self.X.T
        return np.ascontiguousarray(turned) if isinstance(turned, np.ndarray) else turned.tocsr()


@lru_cache(maxsize=2)
def load_task(data: DataSet, treatment: str) -> Task:
    """Load a data set and treat it; the last ones are kept, for the next system wants the same."""
    X, truth = _loaded(data.load)
    overlap = float((truth.sum() - len(truth)) / len(truth))
    return Task(
        X=treated(X, treatment),
        truth=truth,
        side=data.side,
        n_row_clusters=data.n_row_clusters,
        n_column_clusters=data.n_column_clusters,
        overlap=overlap if data.overlap is None else data.overlap,
        other_overlap=data.other_overlap,
        one_way_overlap=overlap if data.one_way_overlap is None else data.one_way_overlap,
    )


@lru_cache(maxsize=2)
def _loaded(load: Callable[[], tuple[Any, BoolArray]]) -> tuple[Any, BoolArray]:
    return load()


_ROWS, _COLUMNS = "row_membership", "column_membership"


@dataclass(frozen=True)
class _Loader:
    """Calls a function of `neocc.datasets` by its name; `truth` names the known clusters."""

    function: str
    truth: str
    given: tuple[str, ...] = ()

    def __call__(self) -> tuple[Any, BoolArray]:
        found = getattr(datasets, self.function)(*self.given)
        return found["data"], found[self.truth]


def _movielens(name: str, n_genres: int, printed: str) -> DataSet:
    return DataSet(
        name=name,
        load=_Loader("load_movielens_subset", _COLUMNS, (name,)),
        side="columns",
        n_row_clusters=N_USER_GROUPS,
        n_column_clusters=n_genres,
        treatments=(RAW, CHOSEN),
        other_overlap=USER_OVERLAP,
        printed=printed,
        tried=TRIED,
    )


MOVIELENS = (
    _movielens("ml-a", 3, "ML1"),
    _movielens("ml-b", 3, "ML2"),
    _movielens("ml-c", 3, "ML3"),
    _movielens("ml-d", 2, "ML3"),
)

_YEAST = DataSet(
    name="yeast",
    load=_Loader("fetch_yeast", _ROWS),
    side="rows",
    n_row_clusters=14,
    n_column_clusters=3,
    overlap=3.237,
    other_overlap=0.2,
    one_way_overlap=3.55,
    printed="yeast",
)

_OTHERS = (
    DataSet("women", _Loader("load_southern_women", "cliques"), "rows", 2, 3),
    DataSet("wine", _Loader("load_wine", _ROWS), "rows", 3, 2, ("column-standardize",)),
    DataSet("digits", _Loader("load_digits", _ROWS), "rows", 10, 8),
    DataSet(
        name="leukemia",
        load=_Loader("load_leukemia", _COLUMNS),
        side="columns",
        n_row_clusters=10,
        n_column_clusters=3,
        treatments=("log1p+row-standardize",),
    ),
)

DATA_SETS: Mapping[str, DataSet] = {data.name: data for data in (_YEAST, *MOVIELENS, *_OTHERS)}
