"""Help with the parameters: overlap, outliers, numbers of clusters, and trust in a result."""

from __future__ import annotations

from neocc.selection._overlap import estimate, estimate_overlap_and_outliers
from neocc.selection._overlap_estimate import OverlapEstimate

__all__ = ["OverlapEstimate", "estimate", "estimate_overlap_and_outliers"]
