"""Robust overlapping co-clustering: co-clusters that need not form a grid.

`pressure` makes a grid with the solver of `core` (step 1), `grid` and `merging` join blocks of it
(step 2), `members` adds the rows and columns that fit (step 3). `results` and `estimator` are
`ROCC`.
"""

from __future__ import annotations

from neocc.rivals.rocc.estimator import ROCC

__all__ = ["ROCC"]
