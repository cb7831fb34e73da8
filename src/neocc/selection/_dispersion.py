"""How much more counts vary than those of a Poisson distribution.

Let x_pt have the mean mu_pt and the variance mu_pt + mu_pt^2 / r, like a negative binomial variable
of size r. Among columns that are alike, mu_pt = a_p b_t, and things counted make pairs:

    in the same cell         sum of x_pt (x_pt - 1)    expected: (1 + 1/r) sum a^2 sum b^2
    in the same row only     sum of x_pt x_ps          expected: sum a^2 (B^2 - sum b^2)
    in the same column only  sum of x_pt x_qt          expected: (A^2 - sum a^2) sum b^2
    in neither               sum of x_pt x_qs          expected: (A^2 - sum a^2)(B^2 - sum b^2)

with p different from q, t from s, and A and B the sums of a and b. The second times the third over
the fourth is what the first would be of Poisson variables. Sums of rows and columns need not be
estimated, which would take some of the variance away.

Which columns are alike is learnt from other rows: clusters of the same ones would follow their
noise. Structure that clusters miss is taken for dispersion. So clusters of rows are asked, too, and
the smaller dispersion of both is taken.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from neocc._typing import FloatArray
from neocc.core.problem import Problem
from neocc.core.search import run_starts
from neocc.engines.reading import as_matrix
from neocc.selection._curves import turned
from neocc.selection._data import Open

__all__ = ["negative_binomial_size"]

_STANDARD_ERRORS = 2.0
_ROUNDING = 1e-9


def negative_binomial_size(
    cells: Any, open_: Open, problem: Problem, rng: np.random.Generator
) -> float:
    """Return the size r of counts in a CSR array: infinity if they may be Poisson variables."""
    views = ((cells, problem), (cells.T.tocsr(), turned(problem)))
    excess = min(_excess(*view, open_, rng) for view in views)
    return 1.0 / excess if excess > 0 else np.inf


def _excess(cells: Any, problem: Problem, open_: Open, rng: np.random.Generator) -> float:
    """Return 1 / r by clusters of columns: each half of the rows by those of the other half."""
    halves = np.array_split(rng.permutation(cells.shape[0]), 2)
    pairs = np.zeros(2)
    for own, other in (halves, halves[::-1]):
        known = as_matrix(cells[np.sort(other)])
        assert problem.rows is not None
        sized = replace(problem, rows=problem.rows.resized(len(other)))
        (run,) = run_starts(open_(known), sized, "neo-kmeans", rng.spawn(1))
        assert run.pair[1] is not None
        pairs += _pairs(cells[own], run.pair[1].indicator)
    same, expected = pairs
    # Pairs in the cells of Poisson variables have a variance of twice their number.
    clear = same - expected > _STANDARD_ERRORS * np.sqrt(2.0 * expected)
    return float(same / expected - 1.0) if clear and expected > 0 else 0.0


def _pairs(X: Any, clusters: Any) -> FloatArray:
    """Return how many pairs fall into the same cell, and how many would of Poisson variables.

    What is left of a whole makes pairs with the whole, but not with itself.
    """
    squares, whole = X.power(2), X.floor()
    rows, columns = X @ clusters, X.sum(axis=0)
    all_squares, inside = (
        each.sum(axis=0) @ clusters for each in (squares, squares - whole - (X - whole).power(2))
    )
    in_row = np.square(rows).sum(axis=0) - all_squares
    in_column = np.square(columns) @ clusters - all_squares
    total = np.square(rows.sum(axis=0))
    apart = total - in_row - in_column - all_squares
    known = apart > _ROUNDING * total
    expected = in_row[known] * in_column[known] / apart[known]
    return np.array([inside[known].sum(), expected.sum()])
