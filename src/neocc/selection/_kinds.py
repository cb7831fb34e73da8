"""Kinds of data, each with what tells it: the first whose evidence is there is the kind.

What the kinds are told by are plain facts about values and scales; the limits are those that
`benchmarks.choosing` was made with, on tables some of which were kept back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from neocc.selection._facts import Facts

__all__ = ["KINDS", "Kind", "implied", "kind_of", "rows_apart"]

_MOST_RATINGS, _MOST_STEPS, _CELLS_PER_LEVEL = 11, 20, 3
# Cells that are not there, or zero, before ratings count as incomplete.
INCOMPLETE = 0.9
_WHOLES = (1.0, 100.0)
_SAME_TOTAL = 0.03
_DECADES, _SKEWED = 2.0, 2.0
# Columns of so many scales are in different units, unless there are many of one sort. One of a
# scale so many times that of the others decides alone.
APART, _LEVELS_APART, _MANY_COLUMNS = 10.0, 10.0, 50
# So many times as long is another scale.
_LONGER = 1.5
DECISIVE = 3.0
# Scores are spread evenly, or around their middle. Of Poisson variables the skewness times the mean
# over the standard deviation is 1, and about half of that if they have several means.
_MOSTLY_SMALL, _COUNT_LIKE = 0.5, 0.5
_CENTRED, _BOTH_SIGNS = 0.75, 0.2
# Rows of so many scales, over enough columns to tell; positive ones must differ in totals, too.
_ROW_SCALES, _ENOUGH_COLUMNS, _TOTALS_APART, _MOSTLY_FULL = 10.0, 10, 0.5, 0.5
_COMPARABLE = "they can be compared as they are"
# Larger numbers are written with a power of ten.
_LONG = 1e12


class Kind(NamedTuple):
    """A kind of data."""

    name: str
    noun: str  # what the data are called
    evidence: Callable[[Facts], str]  # a clause that tells why, or nothing
    implies: str  # a clause: what a fit must take care of
    one_unit: bool = True  # whether a mean over several columns means anything


def _binary(facts: Facts) -> str:
    if facts.missing or len(facts.levels) != 1 or facts.levels[0] <= 0 or facts.fill == 1:
        return ""
    return f"every cell is 0 or {facts.levels[0]:g}, and {_percent(facts.fill)} of them are not 0"


def _ratings(facts: Facts) -> str:
    levels, n = facts.levels, len(facts.levels)
    if not 2 < n <= _MOST_RATINGS or facts.negative or not _is_even(levels):
        return ""
    if _scales_differ(facts):
        return ""
    if facts.fill * facts.n_rows_seen * facts.shape[1] < _CELLS_PER_LEVEL * n:
        return ""  # levels are values that occur again and again
    if facts.missing == 0 and (facts.fill < 1 and facts.lowest_is_mode):
        return ""  # counts: of few things there is more than one
    if facts.missing == 0 and facts.fill >= INCOMPLETE and facts.low == 0:
        return ""
    where = _percent(facts.fill)
    return f"there are {n} levels from {levels[0]:g} to {levels[-1]:g}, in {where} of the cells"


def _proportions(facts: Facts) -> str:
    total = facts.row_total
    near = [whole for whole in _WHOLES if abs(total / whole - 1) <= _SAME_TOTAL]
    if facts.low < 0 or facts.is_whole or not near or facts.row_totals_vary > _SAME_TOTAL:
        return ""
    return f"no value is negative and every row sums to about {near[0]:g}"


def _counts(facts: Facts) -> str:
    if not facts.is_whole or facts.low != 0 or facts.skew <= 0 or facts.fill == 0:
        return ""
    if _scales_differ(facts) or (facts.answer_scales and facts.heavy_columns):
        return ""
    if _units_apart(facts):
        return ""
    if facts.small < _MOSTLY_SMALL and facts.skew * facts.centre < _COUNT_LIKE:
        return ""
    are_small = facts.small >= _MOSTLY_SMALL
    return (
        f"all values are whole numbers from 0 to {_figure(facts.high)}, "
        f"{_percent(1 - facts.fill)} of them 0, and "
        + ("small ones are the most common" if are_small else "they thin out towards large ones")
    )


def _intensities(facts: Facts) -> str:
    if facts.low < 0 or facts.decades < _DECADES or facts.mixed_columns or _units_apart(facts):
        return ""
    if facts.skew < _SKEWED or abs(facts.log_skew) > facts.skew / 2:
        return ""
    return (
        f"positive values span {facts.decades:.1f} orders of magnitude (up to "
        f"{_figure(facts.high)}) and are far less skewed as logarithms "
        f"({facts.log_skew:.1f}) than as they are ({facts.skew:.1f})"
    )


def _ratios(facts: Facts) -> str:
    both = min(facts.negative, 1 - facts.negative) >= _BOTH_SIGNS
    if not both or abs(facts.centre) > _CENTRED or facts.column_scales > APART:
        return ""
    return (
        f"values lie on both sides of 0 ({_percent(facts.negative)} are negative), and columns "
        f"differ little in scale (by up to {facts.column_scales:.1f} times)"
    )


def _units(facts: Facts) -> str:
    m, few = facts.shape[1], facts.heavy_columns
    differ = facts.column_scales > APART or (facts.mixed_columns and not few)
    if differ and (apart := _units_apart(facts)):
        return apart
    if few and m < _MANY_COLUMNS and not facts.is_sparse:
        has = "has" if few == 1 else "have"
        return f"{few} of the {m} columns {has} {_percent(facts.heavy_share)} of the variation"
    if _scales_differ(facts):
        short, long = facts.answer_scales
        return (
            "columns hold whole numbers, often the highest of a scale, and scales end at "
            f"{short:g} to {long:g}"
        )
    return _units_apart(facts)


def _scales_differ(facts: Facts) -> bool:
    """Whether columns hold answers on scales of different lengths."""
    return bool(facts.answer_scales) and facts.answer_scales[1] >= _LONGER * facts.answer_scales[0]


def _units_apart(facts: Facts) -> str:
    apart = facts.column_scales > APART or facts.column_levels > _LEVELS_APART
    many = facts.shape[1] >= _MANY_COLUMNS and not (facts.mixed_columns and apart)
    if facts.is_sparse or many or not (apart or facts.mixed_columns):
        return ""
    if facts.column_scales <= APART and not facts.mixed_columns:
        said = (
            f"means of the {facts.shape[1]} columns differ {facts.column_levels:,.3g} times as much"
        )
        return f"{said} as values of a column usually do"
    return (
        f"the {facts.shape[1]} columns differ in scale by up to {facts.column_scales:,.3g} times"
        + (", and are of different kinds" if facts.mixed_columns else "")
    )


def _plain(facts: Facts) -> str:
    if facts.fill == 0:
        return "no cell has a value" if facts.missing == 1 else "no cell has a value other than 0"
    return (
        f"values from {_figure(facts.low)} to {_figure(facts.high)}, and no sign of different units"
    )


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "binary",
            "binary data",
            _binary,
            "a block is a share of ones",
        ),
        Kind(
            "ratings",
            "ratings",
            _ratings,
            "rows and columns that are rated high throughout should not form groups for that alone",
        ),
        Kind(
            "proportions",
            "proportions",
            _proportions,
            "columns that are large everywhere would outweigh all others",
        ),
        Kind(
            "counts",
            "counts",
            _counts,
            "rows and columns with large totals would outweigh all others",
        ),
        Kind(
            "ratios",
            "standardised values or log ratios",
            _ratios,
            _COMPARABLE,
        ),
        Kind(
            "intensities",
            "intensities",
            _intensities,
            "a few large values would outweigh all others",
        ),
        Kind(
            "units",
            "columns of different units",
            _units,
            "the column with the largest unit alone would decide",
            one_unit=False,
        ),
        Kind("plain", "numbers of one scale", _plain, _COMPARABLE),
    )
}
"""All kinds by name, in the order in which they are tried."""


def kind_of(facts: Facts) -> tuple[Kind, str]:
    """Return the first kind that there is evidence of, with the evidence."""
    for kind in KINDS.values():
        evidence = kind.evidence(facts)
        if evidence:
            return kind, evidence
    raise AssertionError("the last kind fits all data")


def rows_apart(facts: Facts) -> bool:
    """Return whether rows differ so much in scale that a few of them would decide.

    Rows of few levels, or with many zeros, may just have few values that differ.
    """
    bare = facts.is_sparse or facts.fill < _MOSTLY_FULL
    if bare or facts.levels or facts.shape[1] < _ENOUGH_COLUMNS:
        return False
    scaled = facts.negative > 0 or facts.row_totals_vary > _TOTALS_APART
    return scaled and facts.row_scales > _ROW_SCALES


def implied(kind: Kind, facts: Facts) -> str:
    """Return what data of a kind imply: a clause."""
    if kind.name == "ratings" and facts.fill >= INCOMPLETE:
        return _COMPARABLE
    if kind.name == "units" and not facts.heavy_columns and facts.column_scales <= DECISIVE:
        return "values of one column cannot be compared with those of another"
    if kind.implies != _COMPARABLE or not rows_apart(facts):
        return kind.implies
    scales = f"rows differ in scale by up to {facts.row_scales:,.3g} times"
    return f"{scales}, and those with large values would outweigh all others"


def _is_even(levels: tuple[float, ...]) -> bool:
    """Whether levels are small multiples of a common step, such as 1, 2, 3 or 0.5, 1.0, 1.5."""
    multiples = np.array(levels) / np.diff(levels).min()
    return bool(np.allclose(multiples, np.rint(multiples)) and multiples[-1] <= _MOST_STEPS)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < _LONG else f"{value:.4g}"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.1 else f"{share:.2g}" if share == 0 else f"{share:.1%}"
