"""Non-exhaustive, overlapping co-clustering of the rows and columns of a matrix."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neocc.estimators import (
        MSSR,
        NEOCC,
        CellPredictor,
        NEOKMeans,
        RedundancyWarning,
        SingleClusterWarning,
        UnknownIdWarning,
        objective_value,
        top_features,
    )
    from neocc.rivals.lowrank import LowRankNEOKMeans
    from neocc.rivals.plaid import InfinitePlaid
    from neocc.rivals.rocc import ROCC

__version__ = "0.1.0"

__all__ = [
    "MSSR",
    "NEOCC",
    "ROCC",
    "CellPredictor",
    "InfinitePlaid",
    "LowRankNEOKMeans",
    "NEOKMeans",
    "RedundancyWarning",
    "SingleClusterWarning",
    "UnknownIdWarning",
    "__version__",
    "objective_value",
    "top_features",
]

_MODULES = (
    *("datasets", "io", "metrics", "plot", "preprocessing", "report", "scverse", "selection"),
)

_RIVALS = {
    "InfinitePlaid": "neocc.rivals.plaid",
    "LowRankNEOKMeans": "neocc.rivals.lowrank",
    "ROCC": "neocc.rivals.rocc",
}


def __getattr__(name: str) -> Any:
    """Import public names and modules on first use, so that `import neocc` costs nothing."""
    if name in _MODULES:
        return import_module(f"neocc.{name}")
    if name in __all__:
        return getattr(import_module(_RIVALS.get(name, "neocc.estimators")), name)
    raise AttributeError(f"module 'neocc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
