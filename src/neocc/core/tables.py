"""The small tables of a half-step, from the column sums of the memberships."""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray
from neocc.core.objectives import Sums, Tables, block_means, make_tables, mean_vectors
from neocc.core.problem import Problem
from neocc.kernels import Memberships

__all__ = ["cocluster_means", "column_tables", "row_tables"]


def row_tables(problem: Problem, sums: Sums, U: Memberships, V: Memberships | None) -> Tables:
    """Return the tables of the row step from the column sums of the same U."""
    assert sums.by_cluster is not None
    R = sums.by_cluster.T
    means = None if V is None else cocluster_means(sums, U, V)
    product = energy = None
    if problem.objective != "mean":
        C = mean_vectors(R, U.sizes)
        weighted = C if V is None else C * V.weights
        energy = np.einsum("qt,qt->q", weighted, C)
        product = np.ascontiguousarray(-2.0 * weighted.T)
    other_sizes = None if V is None else V.sizes
    return make_tables(problem.objective, U.sizes, other_sizes, means, product, energy)


def column_tables(problem: Problem, sums: Sums, U: Memberships | None, V: Memberships) -> Tables:
    """Return the tables of the column step from the column sums of the same U and V."""
    means = None
    if U is not None and sums.by_cluster is not None:
        means = cocluster_means(sums, U, V).T
    other_sizes = None if U is None else U.sizes
    return make_tables(problem.objective, V.sizes, other_sizes, means, None, sums.energy)


def cocluster_means(sums: Sums, U: Memberships, V: Memberships) -> FloatArray:
    """Return M, the means of row clusters in column clusters, from the column sums of U."""
    assert sums.by_cluster is not None
    return block_means(sums.by_cluster.T @ V.indicator, U.sizes, V.sizes)
