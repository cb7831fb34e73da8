"""Normalised mutual information of covers, after Lancichinetti et al. and after McDaid et al.

The letters are those of McDaid et al.: X and Y are covers, X_i the indicator of cluster i of X.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from neocc._typing import FloatArray
from neocc.metrics._covers import Overlaps, read_covers

Variant = Literal["max", "lfk"]


def overlapping_nmi(true: Any, found: Any, *, variant: Variant = "max") -> float:
    r"""Compute the normalised mutual information of two sets of overlapping clusters.

    Each cluster :math:`X_i` is a binary variable over the items. What is left to learn about it
    when the cover :math:`Y` is known is measured by its most informative cluster,

    .. math:: H(X_i | Y) = \min_j H^*(X_i | Y_j),

    where :math:`H^*(X_i|Y_j)` is the conditional entropy :math:`H(X_i, Y_j) - H(Y_j)` if
    :math:`h(P_{11}) + h(P_{00}) > h(P_{01}) + h(P_{10})`, with :math:`h(p) = -p \log_2 p` and
    :math:`P_{ab} = P(X_i = a, Y_j = b)`, and :math:`H(X_i)` if not: a cluster that is closer to the
    complement of :math:`X_i` is not informative. The two published normalisations are

    .. math:: \mathrm{max}: \quad \frac{\frac12 [H(X) - H(X|Y) + H(Y) - H(Y|X)]}{\max(H(X), H(Y))},
              \qquad H(X) = \sum_i H(X_i), \quad H(X|Y) = \sum_i H(X_i|Y)

    by McDaid, Greene and Hurley [2]_, and

    .. math:: \mathrm{lfk}: \quad 1 - \frac12 \left[ \mathrm{mean}_i \frac{H(X_i|Y)}{H(X_i)}
              + \mathrm{mean}_j \frac{H(Y_j|X)}{H(Y_j)} \right]

    by Lancichinetti, Fortunato and Kertész [1]_. The second gives too much credit when the covers
    differ in size: a cover that holds a single one of many true clusters scores above one half.

    Parameters
    ----------
    true : array-like or sparse matrix of shape (n_items, n_true)
        Memberships in the true clusters, booleans or 0 and 1.
    found : array-like or sparse matrix of shape (n_items, n_found)
        Memberships in the clusters to be scored.
    variant : {"max", "lfk"}, default="max"
        The normalisation.

    Returns
    -------
    score : float
        Between 0 and 1, symmetric in `true` and `found`, 1 for equal covers.
        Clusters that hold no item or every item carry no information: they are left out of the
        means of ``"lfk"`` and add nothing to the sums of ``"max"``. A cover of such clusters only
        scores 0 against one that carries information. Two covers without information score 1 if
        both or neither hold a cluster of all items, else 0.

    See Also
    --------
    omega_index : Agreement about pairs of items, corrected for chance.

    Notes
    -----
    All items count, even those in no cluster of either cover. Programs that take lists of clusters
    often know only the items that occur in them, and then give other values. Neither variant equals
    scikit-learn's `normalized_mutual_info_score` when the clusters do not overlap.

    References
    ----------
    .. [1] Lancichinetti, A., Fortunato, S., and Kertész, J. (2009). Detecting the overlapping and
       hierarchical community structure in complex networks. New Journal of Physics 11, 033015,
       appendix B.
    .. [2] McDaid, A. F., Greene, D., and Hurley, N. (2011). Normalized mutual information to
       evaluate overlapping community finding algorithms. arXiv:1110.2515.

    Examples
    --------
    >>> from neocc.metrics import overlapping_nmi
    >>> true = [[1, 0], [1, 0], [0, 1], [0, 1], [0, 0]]
    >>> overlapping_nmi(true, true)
    1.0
    >>> first = [[1], [1], [0], [0], [0]]
    >>> overlapping_nmi(true, first)  # half of the truth
    0.5
    >>> round(overlapping_nmi(true, first, variant="lfk"), 4)
    0.75
    """
    if variant not in get_args(Variant):
        raise ValueError(f'variant must be "max" or "lfk", got {variant!r}.')
    overlaps = Overlaps.of(*read_covers(true, found))
    x = _entropy(overlaps.true_sizes / overlaps.n_items)
    y = _entropy(overlaps.found_sizes / overlaps.n_items)
    if not x.any() and not y.any():
        n_items = overlaps.n_items
        full = bool((overlaps.true_sizes == n_items).any())
        return float(full == bool((overlaps.found_sizes == n_items).any()))
    x_given_y, y_given_x = _conditional_entropies(overlaps, x, y)
    if variant == "max":
        shared = (x.sum() - x_given_y.sum() + y.sum() - y_given_x.sum()) / 2
        score = shared / max(x.sum(), y.sum())
    else:
        score = 1 - (_mean_ratio(x_given_y, x) + _mean_ratio(y_given_x, y)) / 2
    return float(min(max(score, 0.0), 1.0))


def _h(p: ArrayLike) -> FloatArray:
    """-p log2(p), and 0 for p = 0."""
    p = np.asarray(p, dtype=np.float64)
    logs = np.zeros_like(p)
    np.log2(p, out=logs, where=p > 0)
    terms: FloatArray = -p * logs
    return terms


def _entropy(p: FloatArray) -> FloatArray:
    """Entropy in bits of binary variables with P(1) = p."""
    return _h(p) + _h(1 - p)


def _conditional_entropies(
    overlaps: Overlaps, x: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """H(X_i | Y) for all i and H(Y_j | X) for all j; `x` and `y` are H(X_i) and H(Y_j)."""
    n = overlaps.n_items
    only_x = overlaps.true_sizes[:, None] - overlaps.common
    only_y = overlaps.found_sizes[None, :] - overlaps.common
    neither = n - overlaps.common - only_x - only_y
    alike = _h(overlaps.common / n) + _h(neither / n)
    unlike = _h(only_x / n) + _h(only_y / n)
    joint = np.where(alike > unlike, alike + unlike, np.inf)
    # H(X_i) is what remains where no cluster is informative, so it bounds both minima.
    x_given_y = np.minimum((joint - y[None, :]).min(axis=1, initial=np.inf), x)
    y_given_x = np.minimum((joint - x[:, None]).min(axis=0, initial=np.inf), y)
    return np.maximum(x_given_y, 0.0), np.maximum(y_given_x, 0.0)


def _mean_ratio(conditional: FloatArray, entropy: FloatArray) -> float:
    """Mean of H(X_i | Y) / H(X_i) over the clusters that carry information; 1 if none does."""
    informative = entropy > 0
    if not informative.any():
        return 1.0
    return float((conditional[informative] / entropy[informative]).mean())
