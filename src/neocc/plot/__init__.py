"""Pictures of co-clusterings, drawn with matplotlib (the extra ``plot``).

======================  ============================================================
`matrix`                the matrix as it is
`reordered`             the matrix sorted by its clusters, overlaps and outliers shown
`blocks`                the mean of every block
`memberships`           how many rows belong to which combination of clusters
`sizes`                 how large the clusters are, and how much of them is shared
`convergence`           how the objective fell
======================  ============================================================

Each function takes a fitted model - or a pair of membership matrices, rows and columns, from any
source - draws into the axes given or into a new figure, and returns the axes. Matrices may be what
`neocc.io.read_matrix` returns, whose names are shown then. Clusters are named by their numbers in
the model, from 1 as in reports and tables: R1 is ``model.row_membership_[:, 0]``, C1 is
``model.column_membership_[:, 0]``. Colours are distinct for every kind of colour blindness, and
nothing is shown by colour alone: lightness, hatching or a label shows it too.

`neocc.plot.arrange` holds the order in which clusters are shown; it does not need matplotlib.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neocc._later import importing_later

if TYPE_CHECKING:
    from neocc.plot._blocks import blocks
    from neocc.plot._matrix import matrix, reordered
    from neocc.plot._memberships import memberships
    from neocc.plot._summary import convergence, sizes

__all__ = ["blocks", "convergence", "matrix", "memberships", "reordered", "sizes"]

_MODULES = {
    "blocks": "_blocks",
    "convergence": "_summary",
    "matrix": "_matrix",
    "memberships": "_memberships",
    "reordered": "_matrix",
    "sizes": "_summary",
}


# Import functions on first use: those who only want an order need not load them.
__getattr__, __dir__ = importing_later("neocc.plot", _MODULES, __all__)
