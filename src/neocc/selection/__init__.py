"""Help with the parameters: overlap, outliers, numbers of clusters, and trust in a result."""

from __future__ import annotations

from neocc.selection._distances import kmeans
from neocc.selection._overlap import estimate, estimate_overlap_and_outliers
from neocc.selection._overlap_estimate import OverlapEstimate
from neocc.selection._stability import stability
from neocc.selection._stability_result import Stability
from neocc.selection._suggest import suggest_n_clusters
from neocc.selection._suggested import SuggestedClusters

__all__ = [
    "OverlapEstimate",
    "Stability",
    "SuggestedClusters",
    "estimate",
    "estimate_overlap_and_outliers",
    "kmeans",
    "stability",
    "suggest_n_clusters",
]
