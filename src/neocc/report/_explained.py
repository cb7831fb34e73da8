"""What the overlap model means for a fit, and how much of the data the groups explain."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from neocc._counts import Counts
from neocc._typing import FloatArray
from neocc.core.overlap import compared_models
from neocc.estimators import objective_value
from neocc.estimators._fitted import asked_objective, weigh, weights_of
from neocc.report._cells import root_mean_squares
from neocc.report._html import Markup, element
from neocc.report._pieces import NOTHING, note
from neocc.report._result import Result
from neocc.report._words import OVERLAP_MODELS, figure

__all__ = ["by_models", "explained", "explained_share", "meaning", "overlap_model"]
__all__ += ["shares_by_model", "squares_about_mean", "trust"]

_LITTLE = 0.2
# Below so many times what chance could gain, many items are in wrong groups though these exist.
_DOUBTFUL = 2.0
_CELLS_AT_ONCE = 1 << 20


def overlap_model(result: Result) -> Markup:
    """Say what several memberships mean, and how much is explained; nothing if there are none."""
    used = result.overlap_model
    if used is None or not any(side.n_in[1] for side in result.sides):
        return NOTHING
    name = element("strong", used.name)
    said = f"{_sentence(result)} {by_models(result)}".rstrip()
    return note("Overlap model ", name, f"{meaning(result).removeprefix(used.name)}. ", said)


def meaning(result: Result) -> str:
    """Name the overlap model, what it means, and how many groups it allows, if that is a limit."""
    used = result.overlap_model
    assert used is not None
    most = np.inf if used.most is None else used.most
    nouns = [side.noun for side in result.sides if side.n_in[1] and side.n_clusters > most]
    bound = f"; none of the {' or '.join(nouns)} may be in more than {most} groups"
    bound = bound if nouns else ""
    return f"{used.name}: {OVERLAP_MODELS[used.name]}{bound}"


def explained(result: Result) -> Markup:
    """Say how much is explained where no group shares members."""
    sentence = _sentence(result)
    return note(sentence) if sentence and not any(s.n_in[1] for s in result.sides) else NOTHING


def _sentence(result: Result) -> str:
    if result.observed:
        return _errors(result)
    share = explained_share(result)
    if share is None:
        return _against_chance(result)
    model, used = result.model, result.overlap_model
    also = ""
    if result.columns is not None and asked_objective(model).needs_products:
        also = " with the offsets of rows and columns"
    mean = "the mean of all cells" if result.columns is not None else "the mean of each column"
    where = " and ".join(side.noun for side in result.sides)
    counted = ""
    if used is not None and used.repeats and any(s.n_in[1] for s in result.sides):
        counted = ", a cell as often as it is in a block"
    return (
        f"Groups{also} explain {_amount(share)} of the squared differences from {mean}, "
        f"over {where} in any group{counted}."
    )


def _amount(share: float) -> str:
    # A sum of groups may be farther from the data than their mean is.
    return f"{share:.1%}" if share > 0 else "none"


def _errors(result: Result) -> str:
    """Say how far predictions of the observed cells are off."""
    if not result.has_values or not result.is_whole:
        return ""
    with_groups, alone = (
        figure(error) for error in root_mean_squares(result.model, result.matrix.data)
    )
    without = "without them" if result.measure.expected is None else f"by {result.background}"
    return (
        f"Groups are off by {with_groups} (root mean square) over the observed cells, from which "
        f"they were found; {without} it would be {alone}."
    )


def explained_share(result: Result) -> float | None:
    """Return 1 - J / squares about the mean, over what is in any cluster.

    None where the matrix is not there, or not all of it, where all its cells are equal or some are
    missing, and where J has more in it: costs of counts, or of those in no cluster.
    """
    model = result.model
    if result.overlap_model is None or not result.has_values or not result.is_whole:
        return None
    if result.observed or result.rows.gains:
        return None
    rows = weigh(model, result.rows.members).weights
    columns = None
    if result.columns is not None:
        columns = weigh(model, result.columns.members, "columns").weights
    squares = squares_about_mean(result.matrix.data, rows, columns)
    return 1.0 - float(model.objective_) / squares if squares > 0 else None


def by_models(result: Result) -> str:
    """Say what the same memberships explain under each overlap model, where that is known."""
    shares = shares_by_model(result)
    if len(shares) < 2:
        return ""
    own, *others = (f"{_amount(share)} ({name})" for name, share in shares.items())
    once = ", where a cell counts once," if result.rows.repeats else ""
    return (
        f"Read under other models{once} but not fitted again, the same memberships explain "
        f"{', '.join(others)} instead of {own}."
    )


def shares_by_model(result: Result) -> dict[str, float]:
    """Return what the memberships explain under the model used, and under those comparable to it.

    Nothing where that is unknown, nobody is in several groups, or columns were not clustered.
    """
    model, used, columns = result.model, result.overlap_model, result.columns
    share, several = explained_share(result), any(side.n_in[1] for side in result.sides)
    if share is None or used is None or columns is None or not several:
        return {}
    X, weights = result.matrix.data, weights_of(model)
    members = result.rows.members, columns.members
    rows, across = (
        np.where(each.any(axis=1), 1.0 if given is None else given, 0.0)
        for each, given in zip(members, weights, strict=True)
    )
    squares = squares_about_mean(X, rows, across)
    n_memberships, n_out = int(columns.members.sum()), columns.n_in[2]
    counts = Counts(columns.n_items, columns.n_clusters, n_memberships, n_out)
    weighing: dict[str, Any] = {"row_weight": weights[0], "column_weight": weights[1]}
    others = {
        name: 1.0 - objective_value(X, *members, model.objective, name, **weighing) / squares
        for name in compared_models(asked_objective(model).kind, counts)
        if name != used.name
    }
    return {used.name: share, **others}


def trust(result: Result, *, binary: bool) -> str:
    """Say how much groups explain, and what that means for their use; nothing if it is unknown.

    Noise bounds the share that groups of `binary` data explain: even true ones explain little.
    """
    share = explained_share(result)
    if share is None:
        return _against_chance(result)
    said = f"Groups explain {max(share, 0.0):.0%} of the variation of the values clustered"
    if share < _LITTLE and not binary:
        said += "; that is little: take them as a summary, not as kinds that really exist"
    return f"{said}."


def _against_chance(result: Result) -> str:
    """Say so if groups of counts could be due to chance, or if single members could.

    Of independent counts, the best of so many ways to form groups gains no more than the logarithm
    of their number: that bounds the largest of so many likelihood ratios, but for a few units.
    """
    model = result.model
    if not asked_objective(model).likelihood_ratio:
        return ""
    if not result.has_values or not result.is_whole:
        return ""
    X, ways = result.matrix.data, 0.0
    values = X.data if sparse.issparse(X) else X
    if not np.array_equal(values, np.rint(values)):
        return ""  # fractions may have any unit, counts have one
    for axis, side in enumerate(result.sides):
        told = np.asarray(X.sum(axis=1 - axis)).ravel() > 0
        ways += np.count_nonzero(side.members[told]) * np.log(side.members.shape[1])
    nouns = " and ".join(result.nouns)
    if -model.objective_ < ways > 0:
        return (
            f"The counts are too few to tell these groups from chance: {nouns} that have nothing "
            "to do with each other could look like this. Do not rely on them; fewer groups, or "
            "more counts, may help."
        )
    if -model.objective_ < _DOUBTFUL * ways:
        return (
            f"The groups are more than chance, but the counts say little about single {nouns}: "
            "many of them may be in a wrong group."
        )
    return ""


def squares_about_mean(
    X: Any, rows: FloatArray, columns: FloatArray | None, cells_at_once: int = _CELLS_AT_ONCE
) -> float:
    """Return sum_pt rows_p columns_t (x_pt - mean)^2 with the weighted mean of the cells.

    Without weights of columns, each column has a mean of its own.
    """
    ones = np.ones(X.shape[1])
    sums = np.asarray(X.T @ rows, dtype=np.float64)
    total = float(rows.sum())
    if not total or (columns is not None and not columns.any()):
        return 0.0
    means = sums / total if columns is None else ones * (sums @ columns) / (total * columns.sum())
    weights = ones if columns is None else columns
    step = X.shape[0] if sparse.issparse(X) else max(1, cells_at_once // X.shape[1])
    squares, seen = 0.0, np.zeros(X.shape[1])
    for start in range(0, X.shape[0], step):
        part, here = X[start : start + step], rows[start : start + step]
        if sparse.issparse(part):
            entries = sparse.coo_array(part)
            at, t = entries.row, entries.col
            from_mean = np.square(entries.data.astype(np.float64) - means[t])
            squares += float((here[at] * weights[t]) @ from_mean)
            seen += np.bincount(t, here[at], minlength=len(seen))
        else:
            squares += float(here @ np.square(part - means) @ weights)
            seen += here.sum()
    # What a sparse matrix does not store is zero.
    return squares + float((weights * (total - seen)) @ np.square(means))
