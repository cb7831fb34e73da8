"""What a result says, in words."""

from __future__ import annotations

from collections.abc import Sequence

from neocc.plot._measure import Measure
from neocc.plot._words import join
from neocc.report._side import Side

__all__ = ["OVERLAP_MODELS", "count_of", "figure", "figure_of", "headline", "in_words"]

OVERLAP_MODELS = {
    "repeat": "members of several groups pay the full cost of each",
    "share": "members of several groups pay the mean of the costs",
    "average": "members of several groups are compared with the mean of these",
    "sum": "members of several groups are compared with the sum of these",
    "either": "members of several groups follow one of them here and another there",
}
"""What several memberships mean, by overlap model."""


def figure(value: float) -> str:
    """Write a number with three digits, and a minus sign that can be seen.

    Examples
    --------
    >>> from neocc.report._words import figure
    >>> figure(2.0), figure(-0.08421), figure(12345.6), figure(0.0)
    ('2.00', '−0.0842', '12,346', '0')
    """
    if value == 0:
        return "0"
    text = f"{value:,.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:#.3g}".rstrip(".")
    return text.replace("-", "−", 1) if value < 0 else text


def figure_of(measure: Measure, value: float) -> str:
    """Write the number of a block, with a minus sign that can be seen.

    Examples
    --------
    >>> from neocc.plot._measure import LIFT, MEAN, RESIDUAL
    >>> from neocc.report._words import figure_of
    >>> figure_of(LIFT, 6.23), figure_of(RESIDUAL, -0.5), figure_of(MEAN, 2.0)
    ('6.2×', '−0.5', '2.00')
    """
    if measure.expected is None:
        return figure(value)
    return measure.figure(value).replace("-", "−", 1)


def count_of(count: int, noun: str) -> str:
    """Write a count with a noun in the plural.

    Examples
    --------
    >>> from neocc.report._words import count_of
    >>> count_of(0, "women"), count_of(1, "women"), count_of(2417, "genes")
    ('none of the women', '1 of the women', '2,417 genes')
    """
    if count < 2:
        return f"{count or 'none'} of the {noun}"
    return f"{count:,} {noun}"


def headline(sides: Sequence[Side]) -> str:
    """Say what was found, in one sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.plot.arrange import arrange
    >>> from neocc.report._side import Side
    >>> from neocc.report._words import headline
    >>> U = np.array([[1, 0], [1, 1], [1, 1], [0, 0]], dtype=bool)
    >>> headline([Side("genes", U, arrange(U), str)])
    '2 groups of genes, 2 genes in more than one group, 1 outlier'
    """
    parts = []
    for place, side in enumerate(sides):
        word = "" if place else " group" if side.n_clusters == 1 else " groups"
        count = f"{side.n_clusters:,}" if side.n_clusters else "no"
        parts.append(f"{count}{word} of {side.noun}")
    several = [count_of(side.n_in[1], side.noun) for side in sides if side.n_in[1]]
    if several:
        parts.append(f"{join(several)} in more than one group")
    without = [side for side in sides if side.n_in[2]]
    if without:
        parts.append(_outliers(without, tell_apart=len(sides) > 1))
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def _outliers(sides: Sequence[Side], *, tell_apart: bool) -> str:
    counts = [f"{side.n_in[2]:,}" for side in sides]
    counts[0] += " outlier" if counts[0] == "1" else " outliers"
    if not tell_apart:
        return counts[0]
    return join([f"{c} among the {s.noun}" for c, s in zip(counts, sides, strict=True)])


def in_words(clusters: Sequence[int]) -> str:
    """Name clusters as people count, from 1.

    Examples
    --------
    >>> from neocc.report._words import in_words
    >>> in_words([0]), in_words([0, 1, 4]), in_words([])
    ('group 1', 'groups 1, 2 and 5', 'no group')
    """
    if not len(clusters):
        return "no group"
    word = "group" if len(clusters) == 1 else "groups"
    return f"{word} {join([str(cluster + 1) for cluster in clusters])}"
