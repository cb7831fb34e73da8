"""`"residue"`, NEO-CC-RCM: blocks in which rows and columns follow a common pattern.

    J = sum_ij sum_{p in i, t in j} (x_pt - C_it - A_pj + M_ij)^2

with C_it the mean of column t over row cluster i, A_pj the mean of row p over column cluster j and
M the block means; d_pq (eq. dpq2): slope = 2 M, scale_q = -2 / n_q, shrink_j = 1 / m_j and
offset_q = sum_t w_t C_qt^2 - sum_j m_j M_qj^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray
from neocc.core.objectives.base import Centring, Features, Objective, Side, Terms, bound
from neocc.core.objectives.kmeans import column_energy, mean_rows, row_energy
from neocc.core.objectives.mean import block_means
from neocc.kernels import Memberships, inverse

__all__ = ["RESIDUE", "Residue", "residue_squares"]


def residue_squares(X: Any, U: Memberships, C: FloatArray, M: FloatArray, V: Memberships) -> float:
    """Return the squared residues of some rows, term by term."""
    X = X.toarray() if sparse.issparse(X) else X
    A = (X @ V.indicator) * V.inverse_sizes
    total = 0.0
    for i, row_cluster in enumerate(U.dense.T):
        rows, means = X[row_cluster] - C[i], A[row_cluster] - M[i]
        for j, inside in enumerate(V.dense.T):
            total += float(np.square(rows[:, inside] - means[:, [j]]).sum())
    return total


class Residue(Objective):
    """Squared residues of rows and columns within blocks."""

    name = "residue"
    needs_products = True

    def centring(self, side: Side | None) -> Centring:
        """Return "double": row and column effects change nothing."""
        return "double"

    def row_terms(self, features: Features, U: Memberships, V: Memberships | None) -> Terms:
        """Return the terms of the row step."""
        assert V is not None
        table, energy = row_energy(features, U, V.weights)
        return _terms(block_means(features, U, V), U, V, energy, table)

    def column_terms(self, features: Features, U: Memberships | None, V: Memberships) -> Terms:
        """Return the terms of the column step: the same, with the roles exchanged."""
        assert U is not None
        energy = column_energy(features, V)
        return _terms(block_means(features, U, V).T, V, U, energy, None)

    def value(self, features: Features, U: Memberships | None, V: Memberships | None) -> float:
        """Return J."""
        assert U is not None and V is not None
        M = block_means(features, U, V)
        rows = row_energy(features, U, V.weights)[1] @ U.sizes
        columns = column_energy(features, V) @ V.sizes
        blocks = U.sizes @ (M * M) @ V.sizes
        return float(V.weights @ features.squares - rows - columns + blocks)

    def exact_value(self, engine: Any, features: Features, U: Memberships, V: Memberships) -> float:
        """Return J as the sum of squared residues."""
        C, M = mean_rows(features, U), block_means(features, U, V)
        return float(engine.sum_blocks(residue_squares, U, C, M, V))

    def n_parameters(self, shape: tuple[int, int], n_clusters: tuple[int, int]) -> int:
        """Return the number of means of rows and of columns, less those of blocks."""
        (n, m), (k, l) = shape, n_clusters  # noqa: E741
        return l * n + k * m - k * l

    def block_values(
        self,
        squares: FloatArray,
        sums: FloatArray,
        rows: FloatArray,
        columns: FloatArray,
        sizes: FloatArray,
    ) -> FloatArray:
        """Return the squared residues in each block."""
        return squares - rows - columns + sums * sums * inverse(sizes)


def _terms(
    M: FloatArray,
    own: Memberships,
    other: Memberships,
    energy: FloatArray,
    table: FloatArray | None,
) -> Terms:
    return Terms(
        energy - (M * M) @ other.sizes,
        np.multiply(M.T, 2.0, order="C"),
        -2.0 * own.inverse_sizes,
        other.inverse_sizes,
        bound(energy, own),
        table,
    )


RESIDUE = Residue()
