"""Criteria for numbers of clusters. Larger is better for all of them.

With N = sum n_i * sum m_j the number of cells (memberships counted as often as they occur), J the
objective, and p the number of parameters of the block model,

* `icl`: integrated completed likelihood of the Gaussian latent block model with a common variance
  (Keribin, Brault, Celeux and Govaert, "Estimation and selection for the latent block model on
  categorical data", 2015; its Gaussian form):

      - N/2 (log(2 pi J/N) + 1) + sum_i n_i log(n_i / sum n) + sum_j m_j log(m_j / sum m)
      - (k-1)/2 log n - (l-1)/2 log m - penalty of the p means and the variance

  Means of `"mean"` blocks, p = k l, cost log(N)/2 each. The residue model has means per column in
  each row cluster and per row in each column cluster, p = k m + l n - k l, each estimated from few
  cells: these cost half the logarithm of the number of their own cells.
* `pseudo_f`: Calinski and Harabasz' ratio for two-mode partitions (Rocci and Vichi, "Two-mode
  multi-partitioning", 2008): explained sum of squares per parameter over J per degree of freedom.
* `gap`: mean of log J over permuted data, minus log J (Tibshirani, Walther and Hastie, "Estimating
  the number of clusters in a data set via the gap statistic", 2001).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neocc._typing import FloatArray
from neocc.core.problem import Objective
from neocc.core.solve import Solution

CRITERIA = ("icl", "pseudo_f", "gap")


@dataclass(frozen=True)
class Fit:
    """What the criteria need to know of a solution."""

    objective: float
    row_sizes: FloatArray
    column_sizes: FloatArray
    n_rows: int
    n_columns: int

    @classmethod
    def of(cls, solution: Solution) -> Fit:
        """Read a solution of a two-sided problem."""
        U, V = solution.U, solution.V
        assert U is not None and V is not None
        return cls(solution.objective, U.sizes, V.sizes, U.n_items, V.n_items)

    @property
    def n_cells(self) -> float:
        """N."""
        return float(self.row_sizes.sum() * self.column_sizes.sum())

    def n_parameters(self, objective: Objective) -> float:
        """p."""
        k, l = len(self.row_sizes), len(self.column_sizes)
        if objective == "mean":
            return float(k * l)
        return float(k * self.n_columns + l * self.n_rows - k * l)


def icl(fit: Fit, objective: Objective, floor: float) -> float:
    """Integrated completed likelihood; `floor` is the least J that rounding lets us tell from 0."""
    N = fit.n_cells
    J = max(fit.objective, floor)
    k, l = len(fit.row_sizes), len(fit.column_sizes)
    likelihood = -0.5 * N * (np.log(2.0 * np.pi * J / N) + 1.0)
    assignments = _entropy(fit.row_sizes) + _entropy(fit.column_sizes)
    shares = 0.5 * ((k - 1) * np.log(fit.n_rows) + (l - 1) * np.log(fit.n_columns))
    return float(likelihood + assignments - shares - _means_penalty(fit, objective))


def pseudo_f(fit: Fit, whole: Fit, objective: Objective, floor: float) -> float:
    """Explained sum of squares per parameter over J per degree of freedom; NaN where undefined.

    `whole` is the fit of one block.
    """
    added = fit.n_parameters(objective) - whole.n_parameters(objective)
    left = fit.n_cells - fit.n_parameters(objective)
    if added <= 0 or left <= 0:
        return float("nan")
    J = max(fit.objective, floor)
    return float((whole.objective - fit.objective) / added / (J / left))


def gap(fit: Fit, references: list[float], floor: float) -> tuple[float, float]:
    """Gap, and its standard error, from the objectives of the same (k, l) on permuted data."""
    logs = np.log(np.maximum(references, floor))
    error = float(logs.std()) * float(np.sqrt(1.0 + 1.0 / len(logs)))
    return float(logs.mean() - np.log(max(fit.objective, floor))), error


def _entropy(sizes: FloatArray) -> float:
    filled = sizes[sizes > 0]
    return float(filled @ np.log(filled / filled.sum()))


def _means_penalty(fit: Fit, objective: Objective) -> float:
    k, l = len(fit.row_sizes), len(fit.column_sizes)
    if objective == "mean":
        return 0.5 * (k * l + 1) * float(np.log(fit.n_cells))
    rows = float(np.log(np.maximum(fit.row_sizes, 1.0)).sum())
    columns = float(np.log(np.maximum(fit.column_sizes, 1.0)).sum())
    effects = (fit.n_columns - l) * rows + (fit.n_rows - k) * columns
    return 0.5 * (effects + float(np.log(fit.n_cells)))
