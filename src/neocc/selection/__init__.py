"""Help with the parameters: overlap, outliers, numbers of clusters, and trust in a result."""

from __future__ import annotations

from neocc.selection._advice import Advice, Reason
from neocc.selection._advise import advise
from neocc.selection._describe import DataDescription, describe_data
from neocc.selection._overlap import estimate_overlap_and_outliers
from neocc.selection._overlap_estimate import OverlapEstimate
from neocc.selection._predicted import PredictedClusters, SidePrediction
from neocc.selection._stability import stability
from neocc.selection._stability_result import Stability
from neocc.selection._suggest import suggest_n_clusters
from neocc.selection._suggested import SuggestedClusters

__all__ = [
    "Advice",
    "DataDescription",
    "OverlapEstimate",
    "PredictedClusters",
    "Reason",
    "SidePrediction",
    "Stability",
    "SuggestedClusters",
    "advise",
    "describe_data",
    "estimate_overlap_and_outliers",
    "stability",
    "suggest_n_clusters",
]
