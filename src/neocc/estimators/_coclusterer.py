"""What NEOCC and MSSR share: two clustered sides, and scikit-learn's view of them."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from neocc._sklearn import Interval, StrOptions
from neocc._typing import BoolArray, FloatArray
from neocc.core.engine import Engine
from neocc.core.objectives import COCLUSTERING, COUNTS
from neocc.core.problem import Problem
from neocc.core.search import Init
from neocc.core.solve import Solution
from neocc.engines import Matrix
from neocc.engines.validation import check_feasible, read_memberships
from neocc.estimators._base import BaseNEO
from neocc.estimators._columns import ColumnsMixin, column_side
from neocc.estimators._labels import BiclusterLabelsMixin, only_labels, row_labels
from neocc.estimators._tables import GridTableMixin
from neocc.kernels import Memberships

INIT_NAMES = {"neo-kmeans", "random", "spectral", "sketch", "sdp", "modularity"}

COCLUSTERING_CONSTRAINTS: dict[str, list[Any]] = {
    "objective": [StrOptions({*COCLUSTERING, *COUNTS})],
    "prior": [Interval(Real, 0, None, closed="neither")],
    "init": [StrOptions(INIT_NAMES), tuple, list],
    "refine": ["boolean", StrOptions({"thorough"})],
}
"""Rules for the parameters of NEOCC that say what is minimised, and from where."""


def refuse_start(init: str, problem: Problem) -> None:
    """Refuse starts that do not go with an objective."""
    counts = problem.objective.of_counts
    assert problem.rows is not None and problem.columns is not None
    name = problem.objective.name
    if init == "sdp" and counts:
        raise ValueError(
            f"init='sdp' relaxes squared differences; objective={name!r} has none. Use another "
            "init."
        )
    if init == "modularity" and not counts:
        raise ValueError(
            f"init='modularity' is a start for counts; objective={name!r} is not for these. Take "
            "another init."
        )
    if init == "modularity" and problem.rows.n_clusters != problem.columns.n_clusters:
        raise ValueError(
            "init='modularity' pairs every row cluster with a column cluster: n_row_clusters="
            f"{problem.rows.n_clusters} and n_column_clusters={problem.columns.n_clusters} must be "
            "equal. Ask for as many of both, or use another init."
        )


def _per_weight(members: Memberships, weights: FloatArray | None) -> FloatArray:
    """Return the members of each cluster for each that they count as."""
    return np.asarray(members.sizes * members.weighing(weights).inverse_sizes)


class BaseCoclusterer(BiclusterLabelsMixin, GridTableMixin, ColumnsMixin, BaseNEO):
    """Base of the two-sided estimators."""

    _column_members: BoolArray

    def _read_init(self, matrix: Matrix, problem: Problem) -> Init:
        """Check the parameter `init`: a name, or a pair of feasible membership matrices."""
        if isinstance(self.init, str):
            refuse_start(self.init, problem)
            if self.init == "sdp":
                from neocc.rivals.lowrank import sdp_start

                return sdp_start
            name: Init = self.init  # type: ignore[assignment]
            return name
        if isinstance(self.init, np.ndarray) or len(self.init) != 2:
            raise ValueError(
                f"init must be a name or a pair (U, V) of membership matrices; got a "
                f"{type(self.init).__name__} of length {len(self.init)}."
            )
        assert problem.rows is not None and problem.columns is not None
        U = read_memberships(self.init[0], "U", matrix.shape[0], problem.rows.n_clusters)
        V = read_memberships(self.init[1], "V", matrix.shape[1], problem.columns.n_clusters)
        most = problem.overlap_model.most
        check_feasible(U, problem.rows, "U", "row_", most)
        check_feasible(V, problem.columns, "V", "column_", most)
        return U, V

    def _publish(self, engine: Engine, problem: Problem, solution: Solution) -> None:
        super()._publish(engine, problem, solution)
        assert solution.U is not None and solution.V is not None
        self._column_members = solution.V.dense
        means = problem.objective.block_means(solution.features, solution.U, solution.V)
        if problem.objective.of_counts:
            means *= np.outer(
                _per_weight(solution.U, problem.row_weights),
                _per_weight(solution.V, problem.column_weights),
            )
        self.block_means_ = engine.effects.restore(means, solution.U, solution.V)
        profiles = problem.objective.profiles(solution.features, solution.U, solution.V)
        self._profiles = engine.effects.restore(profiles, solution.U, None)
        self._margins = solution.features.squares if problem.objective.of_counts else None

    def _labels(self, solution: Solution, *data: Any) -> dict[str, Any]:
        assert solution.V is not None
        columns, model = column_side(solution, *data) if data else (only_labels(solution.V), None)
        rows = row_labels(solution, *data[:2])
        return {"row_labels_": rows, "column_labels_": columns, "_column_model": model}

    @property
    def rows_(self) -> BoolArray:
        """Rows of each co-cluster, of shape (n_row_clusters * n_column_clusters, n_rows).

        Co-cluster `i * n_column_clusters + j` joins row cluster i and column cluster j.
        """
        check_is_fitted(self)
        return np.repeat(self._row_members.T, self._column_members.shape[1], axis=0)

    @property
    def columns_(self) -> BoolArray:
        """Columns of each co-cluster, of shape (n_row_clusters * n_column_clusters, n_columns)."""
        check_is_fitted(self)
        return np.tile(self._column_members.T, (self._row_members.shape[1], 1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.objective in COUNTS
        return tags
