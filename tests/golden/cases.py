"""The fits that are frozen, one line each.

All are stable but where `moved_by` says otherwise: other kernels, another number of threads,
dense data given as sparse ones and relative noise of 1e-13 in the data leave memberships and number
of iterations as they are, and the objective to 2e-15 (noise: what it adds itself). Not so, and left
out for that reason: overlap or outliers of rows that are duplicates, outliers of binary data, and
overlap of binary data by "residue". There a cut falls among equal distances, and noise decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from neocc import MSSR, NEOCC, ROCC, InfinitePlaid, LowRankNEOKMeans, NEOKMeans

from .data import COUNTS, LOCAL, rolled

PLAIN = {"refine": False, "n_init": 2}
SEARCH = {"refine": "thorough", "n_init": 2}
DEFAULT = {"refine": True, "n_init": 3}
RESIDUE = {"objective": "residue"}
BOTH = COUNTS
OVERLAP = {"row_overlap": 0.3, "column_overlap": 0.2}
OUTLIERS = {
    "row_overlap": -0.1,
    "row_outliers": 0.1,
    "column_overlap": -0.1,
    "column_outliers": 0.1,
}
COLUMNS = {"column_overlap": 0.1, "column_outliers": 0.1}
NEGATIVE = {"row_overlap": -0.05, "row_outliers": 0.15}
AUTO = dict.fromkeys(("row_overlap", "row_outliers", "column_overlap", "column_outliers"), "auto")
ONCE = {"refine": False, "n_init": 1}
SHORT = {**ONCE, "max_iter": 3}
FIFTEEN = {**ONCE, "max_iter": 15}


@dataclass(frozen=True)
class Case:
    """One fit: an estimator, its parameters, and where the data are.

    Attributes
    ----------
    name : str
        What the case is about.
    data : str
        Name in `data.py`.
    model : type
        The estimator.
    options : dict
        Its parameters; a function stands for what it returns.
    where : {"memory", "store", "dask", "dask store"}
        Whether the rows are given as they are, or lie in small blocks on disk or on workers.
    n_new : int
        So many of the last rows are not fitted, but predicted and transformed afterwards.
    moved_by : tuple of str
        Perturbations (`stability.py`) that change the memberships: they hang on rounding, and the
        objective alone is compared. All other cases were found stable under each perturbation.
    slow : bool
        Whether the case runs with the slow tests.
    """

    name: str
    data: str
    model: type
    options: dict[str, Any] = field(default_factory=dict)
    where: str = "memory"
    n_new: int = 0
    moved_by: tuple[str, ...] = ()
    slow: bool = False

    @property
    def is_local(self) -> bool:
        return self.data in LOCAL


def neocc(name, data, k, width, *options, seed=0, **rest):
    sizes = {"n_row_clusters": k, "n_column_clusters": width}
    return _case(NEOCC, name, data, sizes, options, seed, rest)


def mssr(name, data, k, width, *options, seed=0, **rest):
    sizes = {"n_row_clusters": k, "n_column_clusters": width}
    return _case(MSSR, name, data, sizes, options, seed, rest)


def kmeans(name, data, k, *options, seed=0, model=NEOKMeans, **rest):
    return _case(model, name, data, {"n_clusters": k}, options, seed, rest)


def other(model, name, data, *options, seed=0, **rest):
    return _case(model, name, data, {}, options, seed, rest)


def _case(model, name, data, sizes, options, seed, rest):
    merged = dict(sizes, random_state=seed)
    for each in options:
        merged |= each
    return Case(name, data, model, merged, **rest)


# fmt: off
CASES = (
    # Plain starts, in memory. Overlap and outliers.
    neocc("mean, disjoint", "disjoint", 4, 3, PLAIN),
    neocc("mean, overlap", "planted", 3, 3, PLAIN, OVERLAP),
    neocc("mean, outliers", "planted", 3, 3, PLAIN, OUTLIERS),
    neocc("mean, both", "planted", 3, 3, PLAIN, BOTH, n_new=12),
    neocc("mean, negative overlap", "planted", 3, 3, PLAIN, NEGATIVE),
    neocc("mean, auto", "planted", 3, 3, PLAIN, AUTO),
    neocc("mean, auto rows only", "cancer", 2, 2, ONCE, {"row_overlap": "auto"}),
    neocc("residue, disjoint", "effects", 3, 2, PLAIN, RESIDUE, n_new=10),
    neocc("residue, overlap", "effects", 3, 2, PLAIN, RESIDUE, OVERLAP),
    neocc("residue, outliers", "effects", 3, 2, PLAIN, RESIDUE, OUTLIERS),
    neocc("residue, both", "effects", 3, 2, PLAIN, RESIDUE, BOTH, n_new=12),
    neocc("residue, negative overlap", "effects", 3, 2, PLAIN, RESIDUE, NEGATIVE),
    neocc("residue, auto", "effects", 3, 2, PLAIN, RESIDUE, AUTO),
    # Starts.
    neocc("random start", "planted", 3, 3, PLAIN, BOTH, {"init": "random"}),
    neocc("spectral start", "planted", 3, 3, PLAIN, BOTH, {"init": "spectral"}),
    neocc("sketched start", "planted", 3, 3, PLAIN, BOTH, {"init": "sketch"}),
    neocc("given start", "planted", 3, 3, PLAIN, BOTH, {"init": rolled}),
    neocc("residue, random start", "gaussian", 3, 2, PLAIN, RESIDUE, BOTH, {"init": "random"}),
    neocc("residue, spectral start", "effects", 3, 2, PLAIN, RESIDUE, BOTH, {"init": "spectral"}),
    neocc("residue, sketched start", "effects", 3, 2, PLAIN, RESIDUE, BOTH, {"init": "sketch"}),
    neocc("residue, given start", "planted", 3, 3, PLAIN, RESIDUE, BOTH, {"init": rolled}),
    neocc("semidefinite start", "tiny", 2, 2, ONCE, {"init": "sdp"}),
    # Kinds of data.
    neocc("noise", "gaussian", 4, 3, PLAIN, BOTH),
    neocc("float32", "float32", 3, 3, PLAIN, BOTH),
    neocc("residue, float32", "float32", 3, 3, PLAIN, RESIDUE, BOTH),
    neocc("counts", "counts", 4, 3, PLAIN, BOTH, n_new=15),
    neocc("residue, counts", "counts", 4, 3, PLAIN, RESIDUE, BOTH),
    neocc("binary", "binary", 3, 2, PLAIN, OVERLAP),
    neocc("residue, binary", "binary", 3, 2, PLAIN, RESIDUE),
    neocc("binary, disjoint", "binary", 2, 2, PLAIN),
    neocc("ratings", "ratings", 3, 3, PLAIN, BOTH),
    neocc("ties", "ties", 3, 2, PLAIN, BOTH),
    neocc("residue, ties", "ties", 3, 2, PLAIN, RESIDUE, OVERLAP),
    neocc("duplicates", "duplicates", 4, 3, PLAIN, COLUMNS),
    neocc("residue, duplicates", "duplicates", 4, 3, PLAIN, RESIDUE, COLUMNS),
    neocc("zero rows", "zero rows", 3, 2, PLAIN, BOTH),
    neocc("residue, zero rows", "zero rows", 3, 2, PLAIN, RESIDUE, OVERLAP),
    neocc("constant", "constant", 3, 2, PLAIN, BOTH),
    neocc("residue, constant", "constant", 3, 2, PLAIN, RESIDUE, OVERLAP),
    neocc("wide", "wide", 3, 4, PLAIN, BOTH),
    neocc("residue, tall", "tall", 4, 2, PLAIN, RESIDUE, BOTH),
    neocc("one row", "one row", 1, 3, PLAIN, {"column_overlap": 0.2}),
    neocc("one column", "one column", 3, 1, PLAIN, {"row_outliers": 0.1}),
    neocc("a cluster per item", "tiny", 7, 5, PLAIN),
    neocc("a cluster per row", "tiny", 7, 2, PLAIN, {"row_overlap": 1.0}),
    neocc("far off", "far off", 3, 3, PLAIN, BOTH),
    neocc("residue, far off", "far off", 3, 3, PLAIN, RESIDUE, BOTH),
    neocc("women", "women", 3, 3, PLAIN, {"row_overlap": 0.2}),
    neocc("residue, women", "women", 2, 3, PLAIN, RESIDUE),
    neocc("case study", "case study", 3, 2, PLAIN, {"row_overlap": 0.3}),
    neocc("digits", "digits", 8, 5, PLAIN, {"row_overlap": 0.1, "column_outliers": 0.05}),
    neocc("residue, digits", "digits", 6, 4, PLAIN, RESIDUE, BOTH),
    neocc("wine", "wine", 3, 3, PLAIN, BOTH),
    neocc("residue, cancer", "cancer", 3, 3, ONCE, RESIDUE, BOTH),
    # Beyond the sizes from which starts are sampled and sums follow the memberships.
    neocc("large dense", "large dense", 4, 3, ONCE, BOTH),
    neocc("large dense, random", "large dense", 4, 3, ONCE, BOTH, {"init": "random"}),
    neocc("large residue", "large effects", 4, 3, FIFTEEN, RESIDUE, OVERLAP),
    neocc("large residue, random", "large effects", 4, 3, ONCE, RESIDUE, BOTH, {"init": "random"}),
    neocc("large sparse", "large sparse", 4, 3, ONCE, BOTH),
    neocc("large sparse residue", "large sparse", 4, 3, FIFTEEN, RESIDUE, OUTLIERS),
    neocc("large sparse float32", "large float32", 4, 3, ONCE, BOTH, {"init": "random"}),
    kmeans("large k-means", "large dense", 5, {"overlap": 0.1, "outliers": 0.02, "n_init": 1}),
    kmeans("large sparse k-means", "large sparse", 4, {"overlap": 0.1, "n_init": 1}),
    # NEO-K-Means and MSSR.
    kmeans("k-means", "wine", 3, {"n_init": 2}, n_new=20),
    kmeans("k-means, overlap", "planted", 3, {"overlap": 0.3, "n_init": 3}),
    kmeans("k-means, outliers", "digits", 10, {"overlap": -0.1, "outliers": 0.1, "n_init": 2}),
    kmeans("k-means, both", "wine", 3, {"overlap": 0.2, "outliers": 0.05, "n_init": 2}, n_new=20),
    kmeans("k-means, random start", "counts", 4, {"overlap": 0.1, "init": "random", "n_init": 2}),
    kmeans("k-means, ties", "ties", 4, {"overlap": 0.2, "n_init": 2}),
    mssr("mssr", "disjoint", 4, 3, PLAIN, n_new=8),
    mssr("mssr, residue", "effects", 3, 2, PLAIN, RESIDUE),
    mssr("mssr, chains", "gaussian", 3, 3, {"refine": "chains", "n_init": 2}),
    mssr("mssr, residue chains", "effects", 3, 3, RESIDUE, {"refine": "chains", "n_init": 2}),
    mssr("mssr, spectral chains", "wine", 3, 2, {"refine": "chains", "init": "spectral"}, ONCE,
         {"refine": "chains"}),
    mssr("mssr, search", "disjoint", 4, 3, SEARCH),
    # The search.
    neocc("search, disjoint", "disjoint", 4, 3, SEARCH),
    neocc("search, overlap", "planted", 3, 3, SEARCH, OVERLAP),
    neocc("search, outliers", "planted", 3, 3, SEARCH, OUTLIERS),
    neocc("search, both", "planted", 3, 3, SEARCH, BOTH, n_new=12),
    neocc("search, negative overlap", "planted", 3, 3, SEARCH, NEGATIVE),
    neocc("search, auto", "planted", 3, 3, SEARCH, AUTO),
    neocc("search, residue", "effects", 3, 2, SEARCH, RESIDUE),
    neocc("search, residue overlap", "effects", 3, 2, SEARCH, RESIDUE, OVERLAP),
    neocc("search, residue outliers", "effects", 3, 2, SEARCH, RESIDUE, OUTLIERS),
    neocc("search, residue both", "effects", 3, 2, SEARCH, RESIDUE, BOTH),
    neocc("search, residue auto", "effects", 3, 2, SEARCH, RESIDUE, AUTO),
    neocc("search, random starts", "planted", 3, 3, SEARCH, BOTH, {"init": "random"}),
    neocc("search, spectral starts", "planted", 3, 3, SEARCH, BOTH, {"init": "spectral"}),
    neocc("search, sketched starts", "effects", 3, 2, SEARCH, RESIDUE, {"init": "sketch"}),
    neocc("search, given start", "planted", 3, 3, SEARCH, BOTH, {"init": rolled}),
    neocc("search, noise", "gaussian", 3, 2, SEARCH, BOTH),
    neocc("search, residue noise", "gaussian", 2, 2, SEARCH, RESIDUE),
    neocc("search, float32", "float32", 3, 3, SEARCH, BOTH),
    neocc("search, counts", "counts", 3, 2, SEARCH, OVERLAP),
    neocc("search, residue counts", "counts", 3, 2, SEARCH, RESIDUE),
    neocc("search, binary", "binary", 2, 2, SEARCH),
    neocc("search, ratings", "ratings", 3, 3, SEARCH, BOTH),
    neocc("search, ties", "ties", 3, 2, SEARCH, OVERLAP),
    neocc("search, duplicates", "duplicates", 4, 3, SEARCH, COLUMNS),
    neocc("search, residue duplicates", "duplicates", 4, 3, SEARCH, RESIDUE, COLUMNS),
    neocc("search, zero rows", "zero rows", 3, 2, SEARCH, BOTH, seed=1),
    neocc("search, constant", "constant", 3, 2, SEARCH),
    neocc("search, wide", "wide", 3, 4, SEARCH, OUTLIERS),
    neocc("search, residue tall", "tall", 3, 2, SEARCH, RESIDUE),
    neocc("search, women", "women", 3, 3, SEARCH, {"row_overlap": 0.2}),
    neocc("search, case study", "case study", 3, 2, SEARCH, {"row_overlap": 0.3}),
    neocc("search, wine", "wine", 3, 3, SEARCH, BOTH),
    neocc("default, disjoint", "disjoint", 4, 3, DEFAULT),
    neocc("default, both", "planted", 3, 3, DEFAULT, BOTH, n_new=12),
    neocc("default, residue overlap", "effects", 3, 2, DEFAULT, RESIDUE, OVERLAP, {"n_init": 2}),
    neocc("default, noise", "gaussian", 3, 2, DEFAULT, BOTH),
    neocc("default, residue noise", "gaussian", 2, 2, DEFAULT, RESIDUE),
    neocc("default, ratings", "ratings", 3, 3, DEFAULT, BOTH),
    neocc("default, random starts", "planted", 3, 3, DEFAULT, BOTH, {"init": "random"}),
    neocc("default, given start", "planted", 3, 3, DEFAULT, BOTH, {"init": rolled}),
    neocc("default, wine", "wine", 3, 3, DEFAULT, BOTH, {"n_init": 4}),
    mssr("mssr, default", "disjoint", 4, 3, DEFAULT),
    neocc("search, a cluster per item", "tiny", 7, 5, SEARCH),
    # Stores and workers.
    neocc("store", "planted", 3, 3, PLAIN, BOTH, where="store"),
    neocc("store, residue", "effects", 3, 2, PLAIN, RESIDUE, BOTH, where="store"),
    neocc("store, counts", "counts", 4, 3, PLAIN, BOTH, where="store"),
    neocc("store, default", "planted", 3, 3, DEFAULT, BOTH, where="store"),
    neocc("store, search", "planted", 3, 3, SEARCH, BOTH, where="store"),
    neocc("store, spectral start", "effects", 3, 2, ONCE, {"init": "spectral"}, where="store"),
    neocc("store, large dense", "large dense", 4, 3, ONCE, BOTH, where="store"),
    neocc("store, large residue", "large effects", 4, 3, FIFTEEN, RESIDUE, OVERLAP, where="store"),
    neocc("store, large sparse", "large sparse", 4, 3, ONCE, BOTH, where="store"),
    neocc("store, memory limit", "large sparse", 4, 3, ONCE, BOTH, {"memory_limit": "1GB"},
          where="store"),
    kmeans("store, k-means", "wine", 3, {"overlap": 0.2, "n_init": 2}, where="store"),
    neocc("dask", "planted", 3, 3, SHORT, BOTH, where="dask"),
    neocc("dask, residue", "effects", 3, 2, SHORT, RESIDUE, BOTH, where="dask"),
    neocc("dask, large sparse", "large sparse", 4, 3, SHORT, BOTH, {"max_iter": 6}, where="dask"),
    neocc("dask store", "counts", 4, 3, SHORT, BOTH, where="dask store"),
    neocc("dask store, residue", "effects", 3, 2, SHORT, RESIDUE, OVERLAP, where="dask store"),
    kmeans("dask store, k-means", "wine", 3, {"overlap": 0.2, "n_init": 1, "max_iter": 3},
           where="dask store"),
    # Compiled kernels.
    neocc("numba", "counts", 4, 3, PLAIN, BOTH, {"kernel": "numba"}),
    neocc("numba, dense", "planted", 3, 3, PLAIN, BOTH, {"kernel": "numba"}),
    neocc("numba, residue", "counts", 4, 3, PLAIN, RESIDUE, BOTH, {"kernel": "numba"}),
    neocc("numba, float32", "float32", 3, 3, PLAIN, BOTH, {"kernel": "numba"}),
    neocc("numba, search", "ratings", 3, 3, SEARCH, BOTH, {"kernel": "numba"}),
    neocc("numba, large sparse", "large sparse", 4, 3, ONCE, BOTH, {"kernel": "numba"}),
    neocc("numba, large float32", "large float32", 4, 3, ONCE, RESIDUE, {"kernel": "numba"},
          slow=True),
    neocc("numba, store", "large sparse", 4, 3, ONCE, RESIDUE, {"kernel": "numba"}, where="store"),
    kmeans("numba, k-means", "counts", 4, {"overlap": 0.1, "n_init": 2, "kernel": "numba"}),
    # What else stands on the same core.
    kmeans("low rank", "tiny", 2, {"overlap": 0.2}, model=LowRankNEOKMeans),
    other(ROCC, "rocc", "disjoint", {"n_coclusters": 4, "n_row_clusters": 6,
                                     "n_column_clusters": 5, "n_init": 2}),
    other(ROCC, "rocc, residue", "effects", RESIDUE, {"n_coclusters": 3, "n_init": 2}),
    other(InfinitePlaid, "plaid", "tiny", {"n_sweeps": 20, "burn_in": 10, "n_init": 1}),
    # Larger fits.
    neocc("default on a sample", "large dense", 4, 3, DEFAULT, BOTH, slow=True),
    neocc("search on a sample", "large dense", 4, 3, SEARCH, BOTH, slow=True),
    neocc("residue, search on a sample", "large effects", 4, 3, SEARCH, RESIDUE, OVERLAP,
          slow=True),
    neocc("yeast, plain", "yeast", 14, 3, {"row_overlap": 3.237, "column_overlap": 0.2}, PLAIN,
          slow=True),
    neocc("yeast, mean", "yeast", 14, 3, {"row_overlap": 3.237, "column_overlap": 0.2},
          {"refine": "thorough"}, slow=True, moved_by=("kernel",)),
    neocc("yeast, residue", "yeast", 14, 3, {"row_overlap": 3.237, "column_overlap": 0.2}, RESIDUE,
          {"refine": "thorough"}, slow=True, moved_by=("kernel", "noise")),
    neocc("movielens", "movielens", 8, 6, PLAIN, BOTH, slow=True),
    neocc("movielens, residue", "movielens", 8, 6, PLAIN, RESIDUE, BOTH, slow=True),
    neocc("movielens, random start", "movielens", 10, 5, PLAIN, OVERLAP, {"init": "random"},
          slow=True),
    kmeans("movielens, k-means", "movielens", 6, {"overlap": 0.2, "n_init": 2}, slow=True),
)
# fmt: on
