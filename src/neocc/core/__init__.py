"""The method itself: counts, objectives, assignment, starts and the one loop.

Letters follow the paper: X is the data (n rows, m columns), U and V are the row and column
memberships, k and l their numbers of clusters. Nothing here touches X: every number that does comes
from an engine (see `neocc.core.engine`).
"""
