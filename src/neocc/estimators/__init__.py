"""The public estimators: parameters, validation and attributes around the solver in `core`."""

from __future__ import annotations

from neocc.estimators._lowrank import LowRankNEOKMeans
from neocc.estimators._mssr import MSSR
from neocc.estimators._neocc import NEOCC
from neocc.estimators._neokmeans import NEOKMeans
from neocc.estimators._objective import objective_value
from neocc.estimators._plaid import InfinitePlaid
from neocc.estimators._rocc import ROCC

__all__ = [
    "MSSR",
    "NEOCC",
    "ROCC",
    "InfinitePlaid",
    "LowRankNEOKMeans",
    "NEOKMeans",
    "objective_value",
]
