"""Help with the parameters: overlap, outliers, numbers of clusters, and trust in a result."""

from __future__ import annotations

from neocc.selection._advise import Advice, Reason, advise
from neocc.selection._describe import DataDescription, describe_data
from neocc.selection._overlap import estimate_overlap_and_outliers
from neocc.selection._overlap_estimate import OverlapEstimate
from neocc.selection._predict import Wanted, choose_numbers
from neocc.selection._predicted import PredictedClusters, SidePrediction
from neocc.selection._stability import stability
from neocc.selection._stability_result import Stability
from neocc.selection._suggest import suggest_n_clusters
from neocc.selection._suggested import SuggestedClusters
from neocc.selection._together import Asked, completed, estimate_sides, is_estimated

__all__ = [
    "Advice",
    "Asked",
    "DataDescription",
    "OverlapEstimate",
    "PredictedClusters",
    "Reason",
    "SidePrediction",
    "Stability",
    "SuggestedClusters",
    "Wanted",
    "advise",
    "choose_numbers",
    "completed",
    "describe_data",
    "estimate_overlap_and_outliers",
    "estimate_sides",
    "is_estimated",
    "stability",
    "suggest_n_clusters",
]
