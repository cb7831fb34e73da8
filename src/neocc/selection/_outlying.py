"""Which items are outliers: those that are farther from all clusters than noise explains.

Squared distances of items whose values have independent noise are chi-squared; their cube roots are
nearly normal (Wilson and Hilferty, 1931). The half of the items below the median tells its width,
which outliers do not touch. Above the median a half-normal of that width competes with one beside a
uniform share of outliers, from a few widths on, or two, four, ... times as many; where they begin
and their share are those of largest likelihood. Where the law of the others is known, outliers may
also be normal: those that are no farther than others are then counted too.

Real data have tails of their own. Unless items vary as little as independent values make them,
half-normals of any width and Student's t compete as well: only what these cannot explain is called
an outlier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, gammaln

from neocc._counts import round_half_away
from neocc._typing import BoolArray, FloatArray, IntArray

__all__ = ["Outlying", "farthest", "levels_of", "of_equal_lengths", "outlying"]

# What a share of outliers must gain, in units of log-likelihood: more where items vary more than
# independent values make them.
_MARGIN = 3.0
# Items of so many values vary little if these are independent: if they do, up to this factor, the
# law of their distances is known, and outliers may begin nearer.
_LONG = 18
_PURE = 1.2
# So do items whose distances hardly vary: of thousands of values, how many items helped to find a
# prototype makes more of a difference than noise does.
_HARDLY = 0.01
_BEGIN_KNOWN, _BEGIN = 2.5, 6.0
# Outliers leave so many times what others do.
_NOTICEABLY = 1.25
_FREEDOMS = (1.0, 2.0, 3.0, 5.0, 8.0, 15.0, 30.0)
_ROUNDS, _STEPS = 6, 40
# Shares and widths that change no more than this stand.
_STANDS = 1e-6
_FEWEST = 5
# Clusters of so many items tell at what level these are, up to a factor.
_ENOUGH, _LOW, _LEVELS = 10, 0.25, 4.0
# Levels differ if they are so many standard deviations apart; that of the logarithm of a quartile
# is so many times that of a mean.
_DEVIATIONS, _QUARTILE = 4.0, 1.36
_TINY = 1e-300


@dataclass(frozen=True)
class Outlying:
    """Outliers, and the distance beyond which they are, infinite if there are none.

    `gain` is what they add to the log-likelihood, beyond the best explanation without them. The law
    of the others is `known` if they vary as independent values make them.
    """

    items: BoolArray
    threshold: float
    gain: float = 0.0
    known: bool = False


def farthest(left: FloatArray, share: float) -> Outlying:
    """Return a given share of outliers: the farthest items."""
    items, threshold = _farthest(left, round_half_away(share * len(left)))
    return Outlying(items, threshold)


def _farthest(
    left: FloatArray, n_outliers: int, strays: BoolArray | None = None
) -> tuple[BoolArray, float]:
    """Return the farthest items among the strays, and what lies between them and nearer items."""
    n_outliers = min(n_outliers, len(left) - 1)
    items = np.zeros(len(left), dtype=bool)
    if n_outliers <= 0:
        return items, float("inf")
    order = np.argsort(-left if strays is None else np.where(strays, -left, 0.0), kind="stable")
    items[order[:n_outliers]] = True
    last = left[order[n_outliers - 1]]
    nearer = left[~items & (left <= last)].max(initial=0.0)
    return items, float(np.sqrt([nearer, last]).mean())


def outlying(
    left: FloatArray,
    freedom: int,
    strays: BoolArray | None = None,
    least: float = 0.0,
    *,
    pure: bool = True,
) -> Outlying:
    """Find outliers from squared distances, which have so many degrees of freedom.

    They are among the `strays`, and `least` widths beyond the median, or more. Of many values next
    to nothing is beyond noise: outliers leave noticeably more than the median, too. Unless noise
    may be `pure`, the law of the others is not known, however little they vary.
    """
    noticeable = left > _NOTICEABLY * np.median(left)
    strays = noticeable if strays is None else strays & noticeable
    roots = np.cbrt(left)
    # Many outliers would raise what is usual: at first nothing that may be one counts.
    items, threshold = strays, float("inf")
    for _ in range(_ROUNDS):
        n_outliers, gain, known = _count(roots, ~items, freedom, strays, least, pure)
        before = items
        items, threshold = _farthest(left, n_outliers, strays)
        if np.array_equal(items, before):
            break
    return Outlying(items, threshold, gain, known)


def of_equal_lengths(left: FloatArray, room: float | FloatArray) -> tuple[FloatArray, int]:
    """Return distances as they would be if all items had as many values as usual, and that number.

    Their cube roots are nearly normal (see `_outlying`); an item without values is a usual one.
    """
    if not isinstance(room, np.ndarray):
        return left, int(room)
    some = room > 0
    if not some.any():
        return left, 0
    usual = float(np.median(room[some]))
    each = np.where(some, room, usual)
    level = float(np.median((left / each)[some]))
    if level <= 0:
        return left, int(usual)
    width, usual_width = np.sqrt(2.0 / 9.0 / each), np.sqrt(2.0 / 9.0 / usual)
    scores = (np.cbrt(left / each / level) - 1.0 + width**2) / width
    roots = 1.0 - usual_width**2 + usual_width * np.where(some, scores, 0.0)
    return level * usual * np.maximum(roots, 0.0) ** 3, int(usual)


def levels_of(left: FloatArray, freedom: int, clusters: IntArray, n_clusters: int) -> FloatArray:
    """Return the level of the distances of each cluster, 1 unless it differs by more than chance.

    It is a low one, which outliers do not raise; items of cluster -1 do not count.
    """
    levels = np.ones(n_clusters)
    counted = left[clusters >= 0]
    level_of_all = float(np.quantile(counted, _LOW)) if len(counted) else 0.0
    for cluster in range(n_clusters):
        own = left[clusters == cluster]
        if len(own) < _ENOUGH or level_of_all <= 0:
            continue
        level = max(float(np.quantile(own, _LOW)) / level_of_all, _TINY)
        by_chance = _DEVIATIONS * _QUARTILE * np.sqrt(2.0 / max(freedom, 1) / len(own))
        if abs(np.log(level)) > by_chance:
            levels[cluster] = np.clip(level, 1.0 / _LEVELS, _LEVELS)
    return levels


def _count(
    roots: FloatArray,
    kept: BoolArray,
    freedom: int,
    strays: BoolArray,
    least: float,
    may_be_pure: bool,
) -> tuple[int, float, bool]:
    """Return the number of outliers, given those kept before, their gain, and `known`."""
    middle = float(np.median(roots[kept]))
    below = middle - roots[kept & (roots <= middle)]
    pure = middle * np.sqrt(2.0 / max(freedom, 1)) / 3.0
    # Of two measures of width the mean of squares varies less by chance.
    own = float(np.sqrt(np.mean(below * below)))
    known = may_be_pure and freedom >= _LONG and own <= max(_PURE * pure, _HARDLY * middle)
    if not known:
        own = max(own, 1.4826 * float(np.median(below)))
    width = max(own, pure)
    beyond = np.where(strays, roots, np.minimum(roots, middle + width))[roots > middle] - middle
    if len(beyond) < _FEWEST or middle <= 0:
        return 0, 0.0, False
    begin = max(_BEGIN_KNOWN if known else _BEGIN, least) * width
    end = max(float(beyond.max()), begin + width)
    n_begins = 1 + int(np.log2(end / begin))
    begins = (begin * 2.0**i for i in range(n_begins))
    likelihood, share = max(_mixed(beyond, width, each, end, fixed=known) for each in begins)
    penalty = 0.5 * np.log(len(beyond))
    others = [float(_half_normal(beyond, width).sum())]
    if known:
        # Outliers that are not far away have a law like that of the others.
        near, of_near = _normally(beyond, width, begin)
        likelihood, share = max((likelihood, share), (near - 2.0 * penalty, of_near))
    else:
        likelihood -= penalty
        spread = _half_normal(beyond, float(np.sqrt(np.mean(beyond * beyond)))).sum()
        others += [spread - penalty, _half_student(beyond) - 2.0 * penalty]
    gain = float(likelihood - penalty - max(others))
    margin = _MARGIN * max(1.0, own / pure)
    return (round_half_away(share * len(beyond)) if gain > margin else 0), gain, known


def _mixed(
    beyond: FloatArray, width: float, begin: float, end: float, *, fixed: bool
) -> tuple[float, float]:
    """Return the likelihood of a uniform share of outliers beside the others, and that share."""
    far = beyond[beyond > begin]
    outside, squares, share, before = -np.log(end - begin + _TINY), far * far, 0.05, 0.0
    whole, n = float(beyond @ beyond), len(beyond)
    for _ in range(_STEPS):
        if abs(share - before) <= _STANDS * share:
            break
        out = expit(outside - _half_normal(far, width) + np.log(share) - np.log1p(-share))
        before, share = share, float(np.clip(out.sum() / n, 1e-9, 0.9))
        if not fixed:
            width = float(np.sqrt((whole - out @ squares) / (n - out.sum())))
    inside = _half_normal(beyond, width) + np.log1p(-share)
    inside[beyond > begin] = np.logaddexp(inside[beyond > begin], outside + np.log(share))
    return float(inside.sum()), share


def _normally(beyond: FloatArray, width: float, begin: float) -> tuple[float, float]:
    """Return the likelihood of a normal share of outliers beside the others, and that share."""
    out = (beyond > begin).astype(np.float64)
    inside = _half_normal(beyond, width)
    share, mixed = 0.0, inside
    for _ in range(_STEPS):
        before, share = share, float(np.clip(out.mean(), 1e-9, 0.9))
        if abs(share - before) <= _STANDS * share:
            break
        mean = max(float(out @ beyond) / (out.sum() + _TINY), begin)
        own = max(float(np.sqrt(out @ np.square(beyond - mean) / (out.sum() + _TINY))), width)
        outside = _half_normal(beyond - mean, own) - np.log(2.0)
        mixed = np.logaddexp(inside + np.log1p(-share), outside + np.log(share))
        out = np.exp(outside + np.log(share) - mixed)
    return float(mixed.sum()), share


def _half_normal(values: FloatArray, width: float) -> FloatArray:
    scaled = values / width
    density: FloatArray = 0.5 * np.log(2.0 / np.pi) - np.log(width) - 0.5 * scaled * scaled
    return density


def _half_student(values: FloatArray) -> float:
    """Return the largest log-likelihood of the upper half of Student's t."""
    best, squares = -np.inf, np.square(values)
    for freedom in _FREEDOMS:
        width = float(np.median(values))
        for _ in range(_STEPS):
            weights = (freedom + 1.0) / (freedom + squares / width**2)
            before, width = width, float(np.sqrt(weights @ squares / len(values)))
            if abs(width - before) <= _STANDS * width:
                break
        constant = gammaln((freedom + 1) / 2) - gammaln(freedom / 2) + np.log(2.0)
        constant -= 0.5 * np.log(freedom * np.pi) + np.log(width)
        tails = 0.5 * (freedom + 1) * np.log1p(np.square(values / width) / freedom)
        best = max(best, float((constant - tails).sum()))
    return best
