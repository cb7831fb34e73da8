"""NEO-K-Means as a semidefinite programme, relaxed and solved in low rank (Hou et al., KDD 2015).

With memberships U and Z = Uh Uh', where Uh has the columns u_c / sqrt(n_c), the objective of
NEO-K-Means is linear in Z and in f = U 1, the number of clusters of each item:

    minimise    f'd - trace(K Z)                            K = X X',  d = diag(K)
    subject to  trace(Z) = k,   Z e = f,   e'f = T,   e'min(f, 1) >= N1,   0 <= f <= k,   Z >= 0

plus conditions that only 0/1 memberships meet. Dropping those and writing Z = Y Y' with a thin
table Y >= 0 leaves a smooth problem of n k + n variables, in which starts get stuck at poor
assignments less often than the alternation does.

* `relaxation`: the problem, the point that memberships are, and the nearest feasible f.
* `sides`: the same problem for one side of NEO-CC, the other being fixed.
* `lagrangians`: two augmented Lagrangians of it; `multipliers`: the loop around either.
* `rounding`: back to memberships.
* `solve`: all of it, for the rows alone and as a start of NEO-CC.
* `estimator`: `LowRankNEOKMeans`.

Nothing of size n x n is ever formed: K appears only in products with thin tables.
"""

from __future__ import annotations

from neocc.rivals.lowrank.estimator import LowRankNEOKMeans
from neocc.rivals.lowrank.solve import sdp_start

__all__ = ["LowRankNEOKMeans", "sdp_start"]
