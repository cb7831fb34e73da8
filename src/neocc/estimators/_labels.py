"""Labels: of the clusters that an item belongs to the nearest, -1 for an item in none."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BiclusterMixin

from neocc._typing import IntArray
from neocc.core.engine import Engine
from neocc.core.problem import Problem
from neocc.core.solve import Solution
from neocc.core.steps import make_terms
from neocc.kernels import Memberships

__all__ = ["BiclusterLabelsMixin", "only_labels", "row_labels"]


def only_labels(members: Memberships) -> IntArray:
    """Return the cluster of each item; of several the first."""
    k = members.n_clusters
    labels: IntArray = members.first.astype(np.intp)
    if len(members.extra_items):
        labels[labels < 0] = k
        np.minimum.at(labels, members.extra_items, members.extra_clusters)
        labels[labels == k] = -1
    return labels


def row_labels(
    solution: Solution, engine: Engine | None = None, problem: Problem | None = None
) -> IntArray:
    """Return the labels of the rows of a solution, by one pass over the data if some overlap.

    Without the data rows that overlap have the first of their clusters.
    """
    U, V = solution.pair
    assert U is not None
    if engine is None or problem is None or not len(U.extra_items):
        return only_labels(U)
    return engine.nearest_rows(make_terms(problem, "rows", solution.features, (U, V)), U, V)


class BiclusterLabelsMixin(BiclusterMixin):
    """Estimators that label rows and columns."""

    row_labels_: IntArray
    column_labels_: IntArray
    fit: Any

    def fit_predict(self, X: Any, y: Any = None, **options: Any) -> IntArray:
        """Fit and return the labels of the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : None
            Ignored.
        **options
            Further arguments of `fit`.

        Returns
        -------
        labels : ndarray of int, shape (n_rows,)
            `row_labels_`: the nearest of the clusters of each row, -1 for an outlier.
        """
        self.fit(X, y, **options)
        return self.row_labels_
