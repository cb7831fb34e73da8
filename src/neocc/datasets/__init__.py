"""Real data sets, and data made to order.

* Small tables that ship with the library: :func:`load_southern_women`, :func:`load_case_study`.
* Data sets that are downloaded from their publishers, or read from a folder that the environment
  variable ``NEOCC_DATA`` or `data_home` names: :func:`fetch_yeast`, :func:`fetch_movielens_100k`,
  :func:`fetch_movielens_1m`, :func:`load_movielens_subset`.
* Data sets inside other packages: :func:`load_digits`, :func:`load_wine`, :func:`load_leukemia`.
* Planted co-clusters: :func:`make_coclusters`, and of counts :func:`make_count_coclusters`.

Nothing is read, and neither NumPy nor scikit-learn is imported, before a name that needs it is
used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neocc._later import importing_later
from neocc.datasets._case_study import load_case_study
from neocc.datasets._southern_women import load_southern_women

if TYPE_CHECKING:
    from neocc.datasets._files import DatasetError
    from neocc.datasets._leukemia import load_leukemia
    from neocc.datasets._movielens import (
        fetch_movielens_1m,
        fetch_movielens_100k,
        load_movielens_subset,
    )
    from neocc.datasets._planted import make_coclusters
    from neocc.datasets._planted_counts import make_count_coclusters
    from neocc.datasets._scikit import load_digits, load_wine
    from neocc.datasets._yeast import fetch_yeast

__all__ = [
    "DatasetError",
    "fetch_movielens_1m",
    "fetch_movielens_100k",
    "fetch_yeast",
    "load_case_study",
    "load_digits",
    "load_leukemia",
    "load_movielens_subset",
    "load_southern_women",
    "load_wine",
    "make_coclusters",
    "make_count_coclusters",
]

_MODULES = {
    "DatasetError": "_files",
    "fetch_movielens_100k": "_movielens",
    "fetch_movielens_1m": "_movielens",
    "fetch_yeast": "_yeast",
    "load_digits": "_scikit",
    "load_leukemia": "_leukemia",
    "load_movielens_subset": "_movielens",
    "load_wine": "_scikit",
    "make_coclusters": "_planted",
    "make_count_coclusters": "_planted_counts",
}


# Import what needs NumPy on first use.
__getattr__, __dir__ = importing_later("neocc.datasets", _MODULES, __all__)
