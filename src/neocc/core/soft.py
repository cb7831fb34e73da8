"""Steps of soft memberships, which lead starts of counts past the nearest local minimum.

Where an item has few counts, its best cluster is a guess, and an alternation that takes guesses for
facts stays where it began. So every item is divided among all clusters, by how likely they are
(the EM algorithm for latent blocks: Govaert and Nadif 2005): with distances d_pq of a model of
counts, minus logarithms of likelihood ratios,

    u_pq = exp(-d_pq) / sum_q' exp(-d_pq'),

and the same for columns. Data in smaller units than counts are compared in their own. Sums over
clusters are products of X with thin tables.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray
from neocc.core.engine import Engine
from neocc.core.objectives.counts import Blocks, CountObjective, Tables
from neocc.core.problem import Problem
from neocc.core.steps import Pair, assigned, counted
from neocc.kernels import Memberships

__all__ = ["softened"]

# Further steps hardly change where the alternation ends.
_STEPS = 10


def softened(data: Engine, problem: Problem, pair: Pair) -> Pair:
    """Return feasible memberships that soft steps lead to from a pair.

    They end earlier if no row has another likeliest cluster than before.
    """
    objective, (U, V) = problem.objective, map(_divided, pair)
    assert isinstance(objective, CountObjective)
    rows, columns = data.row_margins(), data.column_margins()
    total = max(float(rows.sum()), np.finfo(float).tiny)
    # Of counts, squares add up to no less; of shares or small weights, to what a count is, about.
    per_count, unit = 1.0 / total, min(1.0, float(data.row_squares().sum()) / total) or 1.0

    def tables(observed: FloatArray) -> tuple[Tables, FloatArray, FloatArray]:
        """Return the tables of present blocks, and shares of the total by cluster."""
        of_rows, of_columns = rows @ U, columns @ V * per_count
        expected = np.multiply.outer(of_rows, of_columns)
        shares = of_rows * per_count, of_columns
        return objective.tables(Blocks(observed, expected, *shares)), *shares

    sums, labels = data.multiply(V), np.full(len(rows), -1)
    for _ in range(_STEPS):
        found, _, shares = tables(U.T @ sums)
        gains = sums @ found.gain.T - np.multiply.outer(rows, found.rate @ shares)
        U = _likely(gains / unit)
        before, labels = labels, U.argmax(axis=1)
        if np.array_equal(labels, before):
            break
        of_columns = data.multiply_transposed(U)
        found, shares, _ = tables(of_columns.T @ V)
        gains = of_columns @ found.gain - np.multiply.outer(columns, shares @ found.rate)
        V = _likely(gains / unit)
        sums = data.multiply(V)
    ends = (Memberships.from_labels(each.argmax(axis=1), each.shape[1]) for each in (U, V))
    pair = counted(data, problem, (next(ends), next(ends)))
    return assigned(data, problem, "columns", assigned(data, problem, "rows", pair))


def _divided(members: Memberships | None) -> FloatArray:
    """Return memberships as shares of items."""
    assert members is not None
    found: FloatArray = members.dense / np.maximum(members.numbers, 1.0)[:, None]
    return found


def _likely(gains: FloatArray) -> FloatArray:
    """Return how likely clusters are, by the logarithms of their likelihoods."""
    found: FloatArray = np.exp(gains - gains.max(axis=1, keepdims=True))
    found /= found.sum(axis=1, keepdims=True)
    return found
