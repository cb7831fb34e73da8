"""The systems of the tables: which estimator, with which settings.

A system is one entry: an estimator, what it takes from the task, and what is set beside that. The
effort ``quick`` is enough to see that everything works, not enough for the scores of the full run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from neocc import MSSR, NEOCC, ROCC, InfinitePlaid, LowRankNEOKMeans, NEOKMeans
from neocc._typing import BoolArray
from neocc.paper._data import Task

__all__ = [
    "BASELINE",
    "FIGURE_SYSTEMS",
    "PICTURE",
    "PLAIN_M",
    "PLAIN_RCM",
    "SYSTEMS",
    "System",
    "memberships",
]

BASELINE = "one cluster of all"

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class System:
    """A system of the comparison.

    Attributes
    ----------
    name : str
        Name in tables and files.
    estimator : class
        What is fitted.
    asks : callable
        Parameters that depend on the task.
    options : dict
        Parameters that do not.
    quick : dict
        Parameters of a quick run, instead of others.
    one_way : bool
        Whether it clusters the scored side only.
    keeps_members : bool
        Whether a trial keeps who is in which cluster, for a picture.
    """

    name: str
    estimator: Callable[..., Any]
    asks: Callable[[Task], Settings]
    options: Settings = field(default_factory=dict)
    quick: Settings = field(default_factory=dict)
    one_way: bool = False
    keeps_members: bool = False

    def make(self, task: Task, seed: int, quick: bool) -> Any:
        """Make the estimator for a trial; trials run side by side, so each has one thread."""
        effort = self.quick if quick else {}
        model = self.estimator(**{**self.asks(task), **self.options, **effort})
        threads = {"n_jobs": 1} if "n_jobs" in model.get_params() else {}
        return model.set_params(random_state=seed, **threads)


def _nothing(task: Task) -> Settings:  # noqa: ARG001
    return {}


def _clusters(task: Task) -> Settings:
    return {"n_clusters": task.n_clusters}


def _coclusters(task: Task) -> Settings:
    return {"n_coclusters": task.n_clusters}


def _overlapping_clusters(task: Task) -> Settings:
    return {"n_clusters": task.n_clusters, "overlap": task.one_way_overlap}


def _grid(task: Task) -> Settings:
    return {"n_row_clusters": task.n_row_clusters, "n_column_clusters": task.n_column_clusters}


def _overlapping_grid(task: Task) -> Settings:
    overlaps = (task.overlap, task.other_overlap)
    row_overlap, column_overlap = overlaps if task.side == "rows" else overlaps[::-1]
    return {**_grid(task), "row_overlap": row_overlap, "column_overlap": column_overlap}


def _two_by_two(task: Task) -> Settings:
    """Ask for what figure 1 of the paper shows: overlaps on both sides and one outlying row."""
    return {
        "n_row_clusters": 2,
        "n_column_clusters": 2,
        "row_overlap": 0.1,
        "row_outliers": 1 / task.X.shape[0],
        "column_overlap": 0.1,
    }


def _by_name(*systems: System) -> Mapping[str, System]:
    return {system.name: system for system in systems}


_FEW = {"n_init": 2}
_FEW_PLAIN = {"n_init": 2, "refine": False}
_RESIDUE = {"objective": "residue"}
# The tables are about the objectives, not about how soon these are reached.
_THOROUGH = {"refine": "thorough"}
# As the authors of MSSR have it. The search of this library ends in lower objectives.
_PUBLISHED_MSSR = {"init": "spectral", "refine": "chains", "n_init": 3}
# As long as in the demonstration of the method's authors. Ratings are not sums of a few constants:
# without a limit the number of sub-matrices grows as long as the chain does.
# Compiled kernels are kept on disk: what is too short a chain to compile for is not so many times.
_SHORT_CHAIN = {
    "n_init": 1,
    "n_sweeps": 30,
    "burn_in": 10,
    "max_submatrices": 20,
    "kernel": "numba",
}

SYSTEMS = _by_name(
    System("IPM", InfinitePlaid, _nothing, _SHORT_CHAIN, {"n_sweeps": 10, "max_submatrices": 10}),
    System("ROCC", ROCC, _coclusters, quick=_FEW),
    System("MSSR1", MSSR, _grid, _PUBLISHED_MSSR, quick=_FEW_PLAIN),
    System("MSSR2", MSSR, _grid, {**_PUBLISHED_MSSR, **_RESIDUE}, quick=_FEW_PLAIN),
    System("k-means", KMeans, _clusters, {"n_init": 10}, quick=_FEW, one_way=True),
    System("NEO-iter", NEOKMeans, _overlapping_clusters, quick=_FEW, one_way=True),
    System("NEO-lrsdp", LowRankNEOKMeans, _overlapping_clusters, one_way=True),
    System("NEO-CC-M", NEOCC, _overlapping_grid, _THOROUGH, quick=_FEW_PLAIN),
    System("NEO-CC-RCM", NEOCC, _overlapping_grid, {**_THOROUGH, **_RESIDUE}, quick=_FEW_PLAIN),
)
"""The systems of the tables, in the order of the paper; k-means stands with the disjoint ones."""

PLAIN_M, PLAIN_RCM, PICTURE = "NEO-CC-M plain", "NEO-CC-RCM plain", "figure 1"

# One start as the paper has it, without a search.
_PLAIN = {"init": "random", "n_init": 1, "refine": False}

FIGURE_SYSTEMS = _by_name(
    System(PLAIN_M, NEOCC, _overlapping_grid, _PLAIN),
    System(PLAIN_RCM, NEOCC, _overlapping_grid, {**_PLAIN, **_RESIDUE}),
    System(PICTURE, NEOCC, _two_by_two, _THOROUGH, quick=_FEW_PLAIN, keeps_members=True),
)
"""What the figures show beside the systems of the tables."""


def memberships(model: Any, side: str, n_clusters: int) -> BoolArray:
    """Return the clusters that a fitted model found on one side, items x clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc import MSSR
    >>> from neocc.paper._systems import memberships
    >>> model = MSSR(1, 2, random_state=0).fit(np.array([[0.0, 9.0, 9.0]]))
    >>> memberships(model, "columns", 2).sum(axis=1)
    array([1, 1, 1])
    """
    word = {"rows": "row", "columns": "column"}[side]
    for name in (f"{word}_membership_", "membership_"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name), dtype=bool)
    labels = getattr(model, f"{word}_labels_", None)
    labels = model.labels_ if labels is None else labels
    found: BoolArray = np.asarray(labels)[:, None] == np.arange(n_clusters)
    return found
