"""Small data sets that ship with the library, and data made to order.

Nothing is read, and neither NumPy nor scikit-learn is imported, before a name that needs it is
used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from neocc.datasets._case_study import load_case_study
from neocc.datasets._southern_women import load_southern_women

if TYPE_CHECKING:
    from neocc.datasets._planted import make_coclusters

__all__ = ["load_case_study", "load_southern_women", "make_coclusters"]


def __getattr__(name: str) -> Any:
    """Import what needs NumPy on first use."""
    if name == "make_coclusters":
        return import_module("neocc.datasets._planted").make_coclusters
    raise AttributeError(f"module 'neocc.datasets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
