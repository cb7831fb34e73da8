"""How well found clusters agree with true ones.

All measures take membership matrices, items x clusters, dense or sparse, of booleans or of 0 and 1,
in the order (true, found). They give fractions, not percent. Items in no cluster, items in several
and empty clusters are allowed everywhere.

The best match is kind to large clusters: always look at :func:`trivial_baseline` beside it, and at
a measure that one cluster holding everything cannot win (:func:`omega_index`,
:func:`overlapping_nmi`, or :func:`matched_f1` when there is more than one true cluster).

:func:`enrichment` asks another question: which labels does each found cluster hold more often than
by chance?

Lists of co-clusters in scikit-learn's form, such as the ``biclusters_`` of the estimators, can also
be given to :func:`sklearn.metrics.consensus_score` as they are.
"""

from neocc.metrics._coclusters import recovery, relevance
from neocc.metrics._enrichment import Enrichment, enrichment
from neocc.metrics._f1 import best_match_f1, matched_f1, trivial_baseline
from neocc.metrics._nmi import overlapping_nmi
from neocc.metrics._omega import omega_index

__all__ = [
    "Enrichment",
    "best_match_f1",
    "enrichment",
    "matched_f1",
    "omega_index",
    "overlapping_nmi",
    "recovery",
    "relevance",
    "trivial_baseline",
]
