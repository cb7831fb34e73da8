"""The public estimators: parameters, validation and attributes around the solver in `core`.

Those of other methods are in `neocc.rivals`.
"""

from __future__ import annotations

from neocc.engines.validation import SingleClusterWarning
from neocc.estimators._cells import CellPredictor
from neocc.estimators._mssr import MSSR
from neocc.estimators._neocc import NEOCC
from neocc.estimators._neokmeans import NEOKMeans
from neocc.estimators._objective import objective_value
from neocc.estimators._pairs import UnknownIdWarning
from neocc.estimators._redundancy import RedundancyWarning
from neocc.estimators._top_features import top_features

__all__ = [
    "MSSR",
    "NEOCC",
    "CellPredictor",
    "NEOKMeans",
    "RedundancyWarning",
    "SingleClusterWarning",
    "UnknownIdWarning",
    "objective_value",
    "top_features",
]
