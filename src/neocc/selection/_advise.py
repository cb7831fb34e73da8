"""What to do with data before and in a fit, by their kind, with the reasons.

Advice is what was measured to serve tables of a kind best (docs/choosing.md). Nothing is applied
behind anybody's back: the result is a pipeline of transformers and an estimator, to be fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from neocc.core.objectives import COUNTS, make_objective
from neocc.core.overlap import bounded_model
from neocc.selection._advice import Advice, Reason
from neocc.selection._describe import DataDescription, describe_data
from neocc.selection._facts import Facts
from neocc.selection._kinds import APART, DECISIVE, INCOMPLETE, rows_apart

if TYPE_CHECKING:
    pass

__all__ = ["advise", "recipe_for"]

_NOTHING = "use the values as they are"
# Columns whose means differ by more than this many standard deviations of a column are centred.
_LEVELS_APART = 0.5
# Sparse columns are scaled where they differ by more than this factor.
_SCALES_APART = 2.0
# Of so many genes, or the like, groups are told by patterns: offsets within a block count less.
_MANY_LINES = 1000


def advise(
    X: Any,
    *,
    column_names: Sequence[Any] | None = None,
    max_cells: int = 1 << 20,
    random_state: Any = 0,
    **parameters: Any,
) -> Advice:
    """Advise how to transform and cluster data, and why.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or store
        The data, of shape (n_rows, n_columns). NaN cells are missing.
    column_names, max_cells : sequence and int, default=None and 2**20
        As in `describe_data`.
    random_state : int, RandomState or None, default=0
        Seed of the sample of the data and of the estimator.
    **parameters
        Parameters of `NEOCC`, such as `n_row_clusters`, which are then not chosen.

    Returns
    -------
    advice : Advice
        The pipeline, not fitted, and the reasons. The cost of several memberships, if overlap is
        requested, is chosen during the fit (``overlap_model="auto"``).

    See Also
    --------
    describe_data : Describe the kind of data.

    Examples
    --------
    >>> from neocc.datasets import load_wine
    >>> from neocc.selection import advise
    >>> X = load_wine().data
    >>> pipeline, reasons = advise(X, n_row_clusters=3, n_column_clusters=10)
    >>> [name for name, _ in pipeline.steps]
    ['column-standardize', 'neocc']
    >>> pipeline.fit(X)["neocc"].row_membership_.shape
    (178, 3)
    """
    # Advice names what it recommends, which stands above it.
    from neocc.estimators import NEOCC
    from neocc.preprocessing import make_preprocessor

    missing = parameters.get("missing", "zero")
    look = {"max_cells": max_cells, "random_state": random_state}
    description = describe_data(X, column_names=column_names, missing=missing, **look)
    reasons = recipe_for(description, parameters)
    names = [reason.step for reason in reasons if reason.step is not None]
    chosen = {name: value for reason in reasons for name, value in reason.parameters.items()}
    usual = {"overlap_model": "auto", "random_state": random_state}
    model = NEOCC(**{**usual, **chosen, **parameters})
    pipeline = make_preprocessor(names)
    pipeline.steps = [*(pipeline.steps if names else ()), ("neocc", model)]
    return Advice(pipeline, reasons, description)


def recipe_for(
    description: DataDescription, given: Mapping[str, Any], *, steps: bool = True
) -> tuple[Reason, ...]:
    """Return what is advised for data, beside parameters that are given, with steps or without.

    Observed cells, and an objective of counts that is given, take the data as they are. The
    objective is one that an overlap model which is given goes with.
    """
    reasons = RECIPES[description.kind](description.facts)
    if description.facts.missing and given.get("missing", "ignore") == "ignore":
        reasons = _of_missing(description, reasons)
    elif given.get("missing") == "ignore":
        return () if "objective" in given else (_OBSERVED,)
    chosen = {name: value for one in reasons for name, value in one.parameters.items()}
    # Cells that are given may well count with the effects of their rows and columns.
    decisive = {name: value for name, value in given.items() if name != "remove_effects"}
    if any(chosen.get(name, value) != value for name, value in decisive.items()):
        reasons = INSTEAD.get(description.kind, RECIPES[description.kind])(description.facts)
    if not steps or given.get("objective") in COUNTS:
        reasons = [one for one in reasons if one.step is None and one.parameters] or [_MEAN]
    found = []
    for one in reasons:
        kept = {name: value for name, value in one.parameters.items() if name not in given}
        if kept or not one.parameters:
            with_effects = given.get("remove_effects") is False
            what = one.what.removesuffix(_LESS_EFFECTS) if with_effects else one.what
            found.append(replace(one, what=what, parameters=kept))
    if "objective" in given or _go_together({**chosen, **given}):
        return tuple(found)
    why = f"overlap_model={given['overlap_model']!r} is for squared errors over all cells"
    plain = {**given, "objective": "mean", "missing": "zero"}
    return (*recipe_for(description, plain, steps=steps), _objective("mean", why))


def _go_together(parameters: Mapping[str, Any]) -> bool:
    """Return whether an overlap model, if one is given, goes with an objective."""
    name, most = parameters.get("overlap_model", "auto"), parameters.get("max_memberships")
    cells = parameters.get("missing", "zero")
    try:
        kind = make_objective(parameters.get("objective", "mean"), missing=cells).kind
        return name == "auto" or bool(bounded_model(name, most, kind))
    except ValueError:
        return False


# ------------------------------------------------------------------------------------- by kind


def _objective(name: str, why: str) -> Reason:
    return Reason(f"objective {name}", why, None, {"objective": name})


def _nothing(why: str) -> Reason:
    return Reason(_NOTHING, why)


_MEAN, _ONE_SCALE = _objective("mean", "blocks of one value"), _nothing("the values have one scale")
# Steps that cells which are missing pass through, and kinds whose rows and columns have levels.
_PASSED = ("log2", "log1p", "column-standardize", "column-center")
_WITH_LEVELS = ("ratings", "counts", "intensities")
_OFFSETS = _objective(
    "residue",
    "rows and columns of a block rise and fall together, each from a level of its own",
)
_GIVEN_CELLS = "count only the cells that are given"
_LESS_EFFECTS = ", less the effects of their row and column"
_OBSERVED = _objective("mean", "it is the one for observed cells")
_STANDARDIZE = "standardise the columns"


def _of_missing(description: DataDescription, usual: list[Reason]) -> list[Reason]:
    """Advise for data with missing cells: those that are there count."""
    facts, kind = description.facts, description.kind
    steps = [one for one in usual if one.step in _PASSED]
    if kind == "counts":
        steps = [Reason("take log(1 + x)", "large counts would outweigh all others", "log1p")]
    parameters: dict[str, Any] = {"missing": "ignore", "objective": "mean"}
    what = _GIVEN_CELLS
    if kind in _WITH_LEVELS:
        parameters["remove_effects"] = True
        what += _LESS_EFFECTS
    why = f"{facts.missing:.1%} of the cells are missing"
    return [*steps, Reason(what, why, None, parameters)]


def _of_ratings(facts: Facts) -> list[Reason]:
    if facts.fill >= INCOMPLETE:
        return _of_plain(facts)
    step = None if facts.is_sparse or facts.missing else "drop-zeros"
    why = f"only {facts.fill:.1%} of the cells have a value, and those without one are not zeros"
    parameters = {"missing": "ignore", "remove_effects": True, "objective": "mean"}
    return [Reason(_GIVEN_CELLS + _LESS_EFFECTS, why, step, parameters)]


def _of_counts(_: Facts) -> list[Reason]:
    why = "it compares each count with what the totals of its row and column suggest"
    return [_nothing("counts are modelled as they are"), _objective("poisson", why)]


def _of_proportions(facts: Facts) -> list[Reason]:
    if facts.is_sparse:
        return _of_counts(facts)
    why = "small shares tell as much as large ones"
    return [Reason(_STANDARDIZE, why, "column-standardize"), _MEAN]


def _of_intensities(facts: Facts) -> list[Reason]:
    why = f"ratios matter, not differences: values span {facts.decades:.1f} orders of magnitude"
    step = Reason("take logarithms to base 2", why, "log2")
    if facts.low == 0:
        step = Reason("take log(1 + x)", f"{why}, and some are 0", "log1p")
    return [step, *_of_levels(facts)]


def _of_units(facts: Facts) -> list[Reason]:
    why = f"their scales differ by up to {facts.column_scales:,.3g} times"
    if (few := facts.heavy_columns) and facts.column_scales <= APART:
        why = f"otherwise {few} of {facts.shape[1]} would decide"
    elif facts.column_scales <= DECISIVE:
        why = "they are of different kinds, so that one unit says nothing of another"
    return [Reason(_STANDARDIZE, why, "column-standardize"), _MEAN]


def _of_levels(facts: Facts) -> list[Reason]:
    """Advise for values each row and column of which has a level of its own."""
    return [_OFFSETS] if max(facts.shape) >= _MANY_LINES else _centred(facts)


def _centred(facts: Facts) -> list[Reason]:
    if facts.is_sparse:
        return [_MEAN]
    why = "rows and columns have levels of their own, which should not form groups"
    return [Reason("subtract the means of rows and columns", why, "double-center"), _MEAN]


def _of_ratios(facts: Facts) -> list[Reason]:
    return [_scaled_rows(facts) if rows_apart(facts) else _ONE_SCALE, _MEAN]


def _scaled_rows(facts: Facts) -> Reason:
    why = f"their scales differ by up to {facts.row_scales:,.3g} times"
    return Reason("divide the rows by their norms", why, "row-norm")


def _of_plain(facts: Facts) -> list[Reason]:
    if rows_apart(facts):
        return [_scaled_rows(facts), _MEAN]
    if facts.is_sparse and facts.column_scales > _SCALES_APART:
        why = f"their scales differ by up to {facts.column_scales:,.3g} times, and zeros stay zeros"
        return [Reason("divide the columns by their norms", why, "column-norm"), _MEAN]
    if facts.is_sparse or facts.column_levels <= _LEVELS_APART:
        return [_ONE_SCALE, _MEAN]
    why = "columns have levels of their own, which say nothing about groups of rows"
    return [Reason("centre the columns", why, "column-center"), _MEAN]


def _of_scaled_counts(_: Facts) -> list[Reason]:
    why = "otherwise rows and columns with large totals would outweigh all others"
    return [Reason("scale rows and columns to equal norms", why, "binormalize"), _MEAN]


def _of_logarithms(facts: Facts) -> list[Reason]:
    return [_of_intensities(facts)[0], *_centred(facts)]


RECIPES: dict[str, Callable[[Facts], list[Reason]]] = {
    "binary": lambda _: [_nothing("0 and 1 have one scale"), _MEAN],
    "ratings": _of_ratings,
    "proportions": _of_proportions,
    "counts": _of_counts,
    "ratios": _of_ratios,
    "intensities": _of_intensities,
    "units": _of_units,
    "plain": _of_plain,
}
"""What is advised, by kind."""

INSTEAD: dict[str, Callable[[Facts], list[Reason]]] = {
    "ratings": _of_plain,
    "counts": _of_scaled_counts,
    "intensities": _of_logarithms,
}
"""What is advised where that goes against what is given."""
