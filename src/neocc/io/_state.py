"""Whether the attributes of a fitted estimator, read from a file, fit each other.

Kernels trust memberships and tables: an index out of range would read out of bounds. So everything
that a prediction uses is checked; sizes are n rows, m columns, k row and l column clusters.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from neocc.core.objectives import Centring, Terms
from neocc.core.overlap import STORED_MODELS
from neocc.estimators._columns import ColumnModel
from neocc.estimators._rows import RowModel
from neocc.io._codec import Undecodable
from neocc.kernels import Base, Memberships
from neocc.selection import OverlapEstimate

__all__ = ["check_state"]

# Attributes by name: kind of number and shape. A size that is not known yet becomes known.
_ARRAYS: dict[str, tuple[str, str]] = {
    "_row_members": ("b", "nk"),
    "_column_members": ("b", "ml"),
    "row_membership_": ("b", "nk"),
    "column_membership_": ("b", "ml"),
    "membership_": ("b", "nk"),
    "row_outliers_": ("b", "n"),
    "column_outliers_": ("b", "m"),
    "outliers_": ("b", "n"),
    "labels_": ("i", "n"),
    "row_labels_": ("i", "n"),
    "column_labels_": ("i", "m"),
    "followed_": ("i", "nl"),
    "block_means_": ("f", "kl"),
    "block_lifts_": ("f", "kl"),
    "cluster_centers_": ("f", "km"),
    "_profiles": ("f", "km"),
    "_margins": ("f", "m"),
    "history_": ("fV", "h"),
    "row_effects_": ("f", "n"),
    "column_effects_": ("f", "m"),
    "value_range_": ("f", "2"),
}
# Of these, what some models have none of.
_OPEN = ("followed_", "block_lifts_", "_margins")
_TERMS: dict[str, tuple[str, str]] = {
    "offset": ("f", "K"),
    "slope": ("f", "LK"),
    "scale": ("f", "K"),
    "shrink": ("f", "L"),
    "magnitude": ("f", "K"),
    "table": ("f", "mK"),
    "gram": ("f", "KK"),
    "rate": ("f", "K"),
    "curve": ("f", "LK"),
}
# Of mixed clusters, where those of others are numbers.
_TABLES = {"scale": "KK", "shrink": "LL"}
_NEEDED = (
    "n_features_in_",
    "_row_model",
    "_row_members",
    "_n_features_out",
    "objective_",
    "history_",
    "n_iter_",
)
_ONE_WAY = ("membership_", "outliers_", "cluster_centers_")
_TWO_WAY = ("_column_members", "block_means_")
# What predictions, tables, scores and reports use of each estimator besides.
_NEEDED_BY: dict[str, tuple[str, ...]] = {
    "NEOCC": (
        *_TWO_WAY,
        "row_membership_",
        "column_membership_",
        "row_outliers_",
        "column_outliers_",
    ),
    "MSSR": (*_TWO_WAY, "row_labels_", "column_labels_"),
    "NEOKMeans": _ONE_WAY,
    "LowRankNEOKMeans": _ONE_WAY,
}


class _Sizes:
    """Sizes by letter, learnt from the first array that has them."""

    def __init__(self, n_columns: int) -> None:
        self._known = {"m": n_columns, "2": 2}

    def check(self, name: str, array: Any, kind: str, letters: str) -> None:
        """Compare type and shape of an array with what its name promises."""
        good = isinstance(array, np.ndarray) and array.dtype.kind in kind
        if not good or array.ndim != len(letters):
            raise Undecodable(f"its {name!r} is of the wrong type")
        if array.dtype.kind == "f" and array.dtype != np.float64:
            raise Undecodable(f"its {name!r} holds {array.dtype}, not float64")
        for letter, size in zip(letters, array.shape, strict=True):
            if self._known.setdefault(letter, size) != size:
                raise Undecodable(f"its {name!r} has the shape {array.shape}, which does not fit")

    def check_types(self, single: Any) -> None:
        """Compare clusters, or their pairs, that rows are compared with (K, L) with those found."""
        known = self._known
        k, l = known["k"], known.get("l", known.get("L"))  # noqa: E741
        fits = single in (0, k) and known["K"] == (k * (k + 1) // 2 if single else k)
        if not fits or known.get("L") not in (l, (l or 0) * ((l or 0) + 1) // 2):
            raise Undecodable("its '_row_model' has other clusters than the fit")

    def check_members(self, name: str, members: Any, letters: str) -> None:
        """Check memberships of items (first letter) in clusters (second)."""
        if not isinstance(members, Memberships):
            raise Undecodable(f"its {name!r} is not a list of memberships")
        for part, letter in (("first", letters[0]), ("extra_items", "e"), ("extra_clusters", "e")):
            self.check(f"{name}.{part}", getattr(members, part), "i", letter)
        for part in ("scale", "item_weights"):
            if (weights := getattr(members, part)) is not None:
                self.check(f"{name}.{part}", weights, "f", letters[0])
        n_items, n_clusters = len(members.first), members.n_clusters
        if n_clusters != self._known[letters[1]]:
            raise Undecodable(f"its {name!r} has {n_clusters} clusters, which does not fit")
        arrays = (members.first, members.extra_clusters, members.extra_items)
        right = [array.dtype for array in arrays] == [np.int32, np.int32, np.intp]
        if not right or members.virtual is not None or type(members.mixed) is not bool:
            raise Undecodable(f"its {name!r} is of the wrong type")
        for values, low, high in (
            (members.first, -1, n_clusters),
            (members.extra_items, 0, n_items),
            (members.extra_clusters, 0, n_clusters),
        ):
            if values.size and not (low <= values.min() and values.max() < high):
                raise Undecodable(f"its {name!r} names an item or cluster that is not there")
        flat = members.extra_items.astype(np.int64) * n_clusters + members.extra_clusters
        if (np.diff(flat) <= 0).any() or members.n_total != int(members.dense.sum()):
            raise Undecodable(f"its {name!r} is out of order, or names a membership twice")


def check_state(estimator: str, parameters: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Raise Undecodable if attributes are missing, of wrong types, or do not fit each other."""
    absent = [each for each in (*_NEEDED, *_NEEDED_BY[estimator]) if each not in attributes]
    if absent:
        raise Undecodable(f"its {absent[0]!r} is missing")
    n_columns = attributes["n_features_in_"]
    if type(n_columns) is not int or n_columns < 1:
        raise Undecodable("its 'n_features_in_' is not a number of columns")
    objective = attributes["objective_"]
    if not isinstance(objective, float) or not np.isfinite(objective):
        raise Undecodable("its 'objective_' is not a number")
    if type(attributes["n_iter_"]) is not int:
        raise Undecodable("its 'n_iter_' is not a number of iterations")
    sizes = _Sizes(n_columns)
    _check_row_model(attributes["_row_model"], sizes)
    # Without column clusters, what rows follow differs from column to column.
    l = "l" if "_column_members" in attributes else "m"  # noqa: E741
    for name, (kind, letters) in _ARRAYS.items():
        if name in attributes and not (name in _OPEN and attributes[name] is None):
            sizes.check(name, attributes[name], kind, letters.replace("l", l))
    sizes.check_types(attributes["_row_model"].terms.single)
    _check_column_model(attributes)
    _check_followed(attributes)
    _check_weights(attributes.get("_weights", (None, None)), sizes)
    if attributes["_n_features_out"] != attributes["_row_members"].shape[1]:
        raise Undecodable("its '_n_features_out' does not fit")
    for side in ("row", "column") if estimator == "NEOCC" else ():
        is_auto = "auto" in (parameters.get(f"{side}_overlap"), parameters.get(f"{side}_outliers"))
        _check_estimate(f"{side}_estimate_", attributes.get(f"{side}_estimate_"), needed=is_auto)
    _check_observed(parameters, attributes)
    _check_steps(attributes.get("preprocessing_"), n_columns)
    _check_names(attributes, n_columns)


def _check_names(attributes: dict[str, Any], n_columns: int) -> None:
    """Check the names of columns and rows."""
    for side, size in (("feature", n_columns), ("row", len(attributes["_row_members"]))):
        names = attributes.get(f"{side}_names_in_", np.empty(size))
        if not isinstance(names, np.ndarray) or names.shape != (size,):
            raise Undecodable(f"its '{side}_names_in_' do not fit")


def _check_weights(weights: Any, sizes: _Sizes) -> None:
    """Check the weights that rows and columns had."""
    if type(weights) is not tuple or len(weights) != 2:
        raise Undecodable("its '_weights' are of the wrong type")
    for letter, each in zip("nm", weights, strict=True):
        if each is not None:
            sizes.check("_weights", each, "f", letter)


def _check_followed(attributes: dict[str, Any]) -> None:
    """Check that rows follow clusters of theirs, where the model has it so."""
    followed, members = attributes.get("followed_"), attributes["_row_members"]
    if STORED_MODELS[attributes["_row_model"].overlap_model].needs_sums == (followed is None):
        raise Undecodable("its 'followed_' does not fit its overlap model")
    if followed is None:
        return
    inside = members.any(axis=1)
    good = followed.dtype == np.int32 and followed.size and followed.min() >= -1
    if not good or followed.max() >= members.shape[1] or (followed[~inside] != -1).any():
        raise Undecodable("its 'followed_' names a cluster that is not there")
    if not np.take_along_axis(members[inside], followed[inside], axis=1).all():
        raise Undecodable("its 'followed_' names clusters that rows do not belong to")


def _check_estimate(name: str, estimate: Any, *, needed: bool) -> None:
    """Check an estimate; a fit that was interrupted, or given all numbers, may have none."""
    if estimate is None and not needed:
        return
    shares = (getattr(estimate, "overlap", None), getattr(estimate, "outliers", None))
    is_whole = isinstance(estimate, OverlapEstimate)
    if not is_whole or not all(isinstance(share, float | int) for share in shares):
        raise Undecodable(f"its {name!r} is not an estimate")


def _check_observed(parameters: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Check what a fit over observed cells knows besides."""
    observed = parameters.get("missing", "zero") == "ignore"
    terms = attributes["_row_model"].terms
    if observed != (terms.curve is not None):
        raise Undecodable("its '_row_model' does not fit its parameter 'missing'")
    for name in ("row_effects_", "column_effects_") if observed else ():
        if name not in attributes:
            raise Undecodable(f"its {name!r} is missing")
    if observed and not isinstance(attributes.get("overall_mean_"), float):
        raise Undecodable("its 'overall_mean_' is not a number")


def _check_steps(kept: Any, n_columns: int) -> None:
    """Check what prepares new rows: steps that learnt numbers, and arrays of one a column."""
    if kept is None:
        return
    kinds = {name: type(part) for name, part in kept.items()} if isinstance(kept, dict) else {}
    if kinds != {"dense": bool, "steps": list}:
        raise Undecodable("its 'preprocessing_' has other parts than steps")
    unseen = list(kept["steps"])
    for step in unseen:
        if not hasattr(step, "get_params"):
            raise Undecodable("its 'preprocessing_' has something in place of a step")
        for name, value in vars(step).items():
            if isinstance(value, np.ndarray):
                good = value.dtype.kind in "iuf" and value.shape == (n_columns,)
                if not good or not np.isfinite(value).all():
                    raise Undecodable(f"a step of its 'preprocessing_' has a wrong {name!r}")
            elif not (value is None or isinstance(value, bool | int | float | str)):
                unseen.append(value)  # steps within steps


def _check_row_model(model: Any, sizes: _Sizes) -> None:
    """Check all that a comparison of new rows with the clusters will use."""
    if not isinstance(model, RowModel) or not isinstance(model.terms, Terms):
        raise Undecodable("its '_row_model' is not one")
    _check_terms(model, sizes)
    one_way = model.V is None
    if one_way != (model.terms.slope is None) or (one_way and model.terms.table is None):
        raise Undecodable("its '_row_model' has terms that do not fit each other")
    if not one_way:
        sizes.check_members("V", model.V, "mL")
    sizes.check("column_effects", model.column_effects, "f", "m")
    if model.column_weights is not None:
        sizes.check("column_weights", model.column_weights, "f", "m")
    rule, most = STORED_MODELS.get(str(model.overlap_model)), model.max_memberships
    if rule is None or not (most is None or (type(most) is int and most >= 1)):
        raise Undecodable("its '_row_model' has an unknown overlap model")
    if rule.needs_pairs and model.terms.gram is None:
        raise Undecodable("its 'gram' is missing")
    if model.centring not in get_args(Centring):
        raise Undecodable("its '_row_model' is centred in an unknown way")


def _check_column_model(attributes: dict[str, Any]) -> None:
    """Check all that a comparison of new columns will use; older files know nothing of these."""
    model = attributes.get("_column_model")
    if model is None:
        return
    if not isinstance(model, ColumnModel) or not isinstance(model.terms, Terms):
        raise Undecodable("its '_column_model' is not one")
    if "_column_members" not in attributes or model.terms.slope is None:
        raise Undecodable("its '_column_model' does not fit")
    n, l = len(attributes["_row_members"]), attributes["_column_members"].shape[1]  # noqa: E741
    sizes, single = _Sizes(n), model.terms.single
    _check_terms(model, sizes)
    if single not in (0, l) or len(model.terms.offset) != (l * (l + 1) // 2 if single else l):
        raise Undecodable("its '_column_model' has other clusters than the fit")
    if model.row_effects is not None:
        sizes.check("row_effects", model.row_effects, "f", "m")


def _check_terms(model: RowModel | ColumnModel, sizes: _Sizes) -> None:
    terms, limits = model.terms, (model.nearest_threshold, model.extra_threshold)
    if not all(isinstance(limit, float) for limit in limits):
        raise Undecodable("its thresholds are not numbers")
    for name, (kind, letters) in _TERMS.items():
        table = getattr(terms, name)
        if table is not None or name in ("offset", "magnitude"):
            mixed = name in _TABLES and np.ndim(table) == 2
            sizes.check(name, table, kind, _TABLES[name] if mixed else letters)
    if terms.base not in get_args(Base) or type(terms.constant) is not float:
        raise Undecodable("its '_row_model' has terms of an unknown kind")
