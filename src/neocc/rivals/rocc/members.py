"""ROCC, last step: which rows and columns fit a co-cluster, found or new.

A co-cluster is the only block of a problem with one row cluster and one column cluster, and the
distances of rows and columns to it are those of the solver.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.core.engine import Engine
from neocc.core.objectives import Features, Terms, block_means
from neocc.core.problem import Problem
from neocc.core.steps import distances, make_features
from neocc.kernels import Memberships


@dataclass(frozen=True)
class Cocluster:
    """Rows and columns of a co-cluster, as boolean masks; neither is empty."""

    rows: BoolArray
    columns: BoolArray

    @property
    def n_entries(self) -> int:
        """Number of cells."""
        return int(self.rows.sum()) * int(self.columns.sum())

    def is_inside(self, other: Cocluster) -> bool:
        """Return whether another co-cluster holds all rows and all columns of this one."""
        return bool((self.rows <= other.rows).all() and (self.columns <= other.columns).all())

    def expanded(self, data: Engine, problem: Problem, margin: float, noise: float) -> Cocluster:
        """Let rows, then columns, join that fit no worse than those inside.

        The mean squared error of one more row may exceed that of the co-cluster by `margin`
        standard errors, sqrt(2 / m) of it for the mean over m normal errors.
        """
        fitted = self.fitted(data, problem, noise)
        errors = fitted.row_errors(data)
        wider = replace(self, rows=self.rows | (errors <= fitted.row_limit(margin)))
        errors = wider.column_errors(data, problem, noise)
        limit = _limit(errors[self.columns].mean(), int(wider.rows.sum()), margin)
        return replace(wider, columns=self.columns | (errors <= limit))

    def fitted(self, data: Engine, problem: Problem, noise: float) -> Fitted:
        """Compute what rows are compared with, and the error of those inside."""
        U, V, features = self._features(data, problem)
        mean = data.effects.restore(block_means(features, U, V), U, V)[0, 0]
        terms = problem.objective.terms("rows", features, (U, V))
        fitted = Fitted(self, terms, V, float(mean), noise)
        inside = fitted.row_errors(data)[self.rows]
        return replace(fitted, error=float(inside.mean()))

    def column_errors(self, data: Engine, problem: Problem, noise: float) -> FloatArray:
        """Return the mean squared error of every column over the rows of the co-cluster."""
        U, V, features = self._features(data, problem)
        d = distances(data, problem, "columns", (U, V), features)[:, 0]
        return _mean_errors(d, int(U.sizes[0]), noise)

    def _features(
        self, data: Engine, problem: Problem
    ) -> tuple[Memberships, Memberships, Features]:
        U = Memberships.from_dense(self.rows[:, None])
        V = Memberships.from_dense(self.columns[:, None])
        return U, V, make_features(data, problem, (U, V))


@dataclass(frozen=True)
class Fitted:
    """A co-cluster with the terms that rows, old or new, are compared with.

    Attributes
    ----------
    cocluster : Cocluster
        Its rows and columns.
    terms, V : Terms and Memberships
        What the distances of rows need.
    mean : float
        Mean of the data inside.
    noise : float
        Mean squared errors that rounding alone can make.
    error : float
        Mean squared error of the rows inside.
    """

    cocluster: Cocluster
    terms: Terms
    V: Memberships
    mean: float
    noise: float
    error: float = 0.0

    def row_errors(self, data: Engine) -> FloatArray:
        """Return the mean squared error of every row over the columns of the co-cluster."""
        d = data.row_distances(self.terms, self.V)[:, 0]
        return _mean_errors(d, int(self.V.sizes[0]), self.noise)

    def row_limit(self, margin: float) -> float:
        """Return the largest mean squared error of a row that fits the co-cluster."""
        return _limit(self.error, int(self.V.sizes[0]), margin)


def without_nested(found: list[Cocluster]) -> list[Cocluster]:
    """Leave out co-clusters that lie inside an earlier one."""
    kept: list[Cocluster] = []
    for each in found:
        if not any(each.is_inside(other) for other in kept):
            kept.append(each)
    return kept


def _mean_errors(d: FloatArray, n_entries: int, noise: float) -> FloatArray:
    errors = d / n_entries
    errors[errors <= noise] = 0.0
    return errors


def _limit(error: float, n_entries: int, margin: float) -> float:
    return error * (1.0 + margin * float(np.sqrt(2.0 / n_entries)))
