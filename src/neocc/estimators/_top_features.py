"""Which features set each group of rows apart from the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from neocc._names import cluster_name, item_name
from neocc._typing import FloatArray
from neocc.core.objectives.counts import lifts_of, likelihoods
from neocc.estimators._fitted import last_step, weigh
from neocc.kernels import inverse
from neocc.selection._data import check_positive

__all__ = ["TopFeatures", "top_features"]

# Smaller differences are rounding.
_NOTHING = 1e-12


class TopFeatures(dict[str, list[tuple[str, float]]]):
    """Features per cluster, ``{"R1": [(name, number), ...], ...}``, which print as a list.

    Attributes
    ----------
    measure : {"lift", "difference"}
        Meaning of the numbers.
    """

    def __init__(self, groups: dict[str, list[tuple[str, float]]], measure: str) -> None:
        super().__init__(groups)
        self.measure = measure

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{group:{width}}  {self._line(group)}" for group in self)

    def _line(self, group: str) -> str:
        figure = "{:.2g}×" if self.measure == "lift" else "{:+.2g}"
        found = [f"{name} {figure.format(number)}" for name, number in self[group]]
        return ", ".join(found) or "nothing more than the others"


def top_features(model: Any, names: Sequence[Any] | None = None, n: int = 10) -> TopFeatures:
    """Return the features (columns) that characterise each row cluster, such as words of a topic.

    With objectives for counts, these are the features that occur more often in the rows of a
    cluster than expected under independence, with their lifts: 3× means three times as often. The
    most certain come first, since a large lift of a rare feature says little. With other
    objectives, they are the features whose means exceed those of the other clusters most, with the
    differences.

    A row in several clusters counts in each of them, weighted as in the overlap model. Differences
    are in the units of the data: standardise features with different units before the fit, or those
    with the largest numbers dominate.

    Parameters
    ----------
    model : NEOCC, NEOKMeans, MSSR or LowRankNEOKMeans
        The fitted model.
    names : sequence of str, default=None
        Names of the features. By default those of the fitted data frame, or numbers.
    n : int, default=10
        Maximum number of features per cluster.

    Returns
    -------
    features : dict of str to list of (str, float)
        Names and numbers for each cluster: R1 is ``model.row_membership_[:, 0]``. It prints as a
        list, and its `measure` is "lift" or "difference".

    Examples
    --------
    >>> import numpy as np
    >>> from neocc import NEOCC, top_features
    >>> words = ["ball", "goal", "vote", "law", "the"]
    >>> X = np.array([[4, 5, 0, 0, 9], [3, 6, 1, 0, 8], [0, 0, 5, 4, 9], [0, 1, 3, 6, 7]])
    >>> model = NEOCC(2, 2, objective="poisson", random_state=0).fit(X)
    >>> found = top_features(model, words, n=2)
    >>> found
    R1  goal 1.7×, ball 1.8×
    R2  law 1.9×, vote 1.7×
    >>> [word for word, lift in found["R1"]]
    ['goal', 'ball']
    """
    table, margins = _read_profiles(model)
    names = _read_names(model, names, table.shape[1])
    n = check_positive("n", n)
    if margins is None:
        numbers = _above_rest(model, table)
        cost, least = -numbers, _NOTHING * float(np.abs(table).max(initial=0.0))
    else:
        total = float(margins.sum())
        expected = np.outer(table.sum(axis=1), margins / total if total else margins)
        numbers, least = lifts_of(table, expected, model.prior), 1.0
        cost = likelihoods(table, expected, model.prior)
    # Equal ones compare equal, in whatever order their sums were made.
    cost = np.rint(cost / (_NOTHING * max(float(np.abs(cost).max(initial=0.0)), 1e-300)))
    order = np.argsort(cost, axis=1, kind="stable")
    groups = {}
    for group, (line, best) in enumerate(zip(numbers, order, strict=True)):
        above = best[line[best] > least][:n]
        groups[cluster_name("rows", group)] = [(names[t], float(line[t])) for t in above]
    return TopFeatures(groups, "difference" if margins is None else "lift")


def _above_rest(model: Any, means: FloatArray) -> FloatArray:
    """Return how far the means of each group are above those of all others; 0 of the only one."""
    members = getattr(model, "_row_members", None)
    sizes = weigh(model, model.membership_ if members is None else members).sizes[:, None]
    others = (sizes * means).sum(axis=0) - sizes * means
    n_others = sizes.sum() - sizes
    found: FloatArray = np.where(
        (sizes > 0) & (n_others > 0), means - others * inverse(n_others), 0.0
    )
    return found


def _read_profiles(model: Any) -> tuple[FloatArray, FloatArray | None]:
    """Return what the groups of a model have of each feature, and margins of counts."""
    if hasattr(model, "fit"):
        check_is_fitted(model)
    table = getattr(model, "_profiles", getattr(model, "cluster_centers_", None))
    if table is None:
        raise ValueError(
            f"This {type(model).__name__} does not know what its groups have of each feature: "
            "top_features takes a fitted NEOCC, NEOKMeans, MSSR or LowRankNEOKMeans"
            f"{last_step(model)}. Models saved by earlier versions have to be fitted again."
        )
    return table, getattr(model, "_margins", None)


def _read_names(model: Any, names: Sequence[Any] | None, n_features: int) -> list[str]:
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [item_name("columns", t) for t in range(n_features)]
    if len(names) != n_features:
        raise ValueError(f"{len(names)} names for {n_features} features: give one name for each.")
    return [str(name) for name in names]
