"""An order of membership patterns in which clusters fall into few pieces and neighbours are alike.

Put the patterns in a row, with an empty one at both ends. Cluster c begins or ends wherever two
neighbours differ in c: the pieces of all clusters together are half the sum of the Hamming
distances along the row. So the fewest pieces are a shortest round trip through all patterns and the
empty one. Distances between the profiles of the patterns, scaled so far down that they never
outweigh a piece, decide among equals.

A round trip in which every cluster is in one piece is found whenever there is one (`_pqtree`).
Otherwise the order is the best of two good starts that improves by no exchange.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.plot._pqtree import contiguous_order

__all__ = ["seriate"]

_MOST_COMPARED = 400
_RARE_AT_ONCE = 1000
# No two features are this far apart: directions are at most 2, lengths and leanings 1.
_MOST_UNLIKE = 3.0
_LONGEST_MOVE = 3
_SMALLEST_GAIN = 1e-9
_TINY = np.finfo(np.float64).tiny


def seriate(
    patterns: BoolArray,
    counts: IntArray,
    profiles: FloatArray | None = None,
    leanings: FloatArray | None = None,
    most_compared: int = _MOST_COMPARED,
) -> IntArray:
    """Order patterns so that clusters fall into few pieces, then so that neighbours are alike.

    Parameters
    ----------
    patterns : ndarray of shape (n_patterns, n_clusters), bool
        Which pattern belongs to which clusters; all different, none empty.
    counts : ndarray of shape (n_patterns,), int
        How many items have each pattern.
    profiles : ndarray of shape (n_patterns, n_features), default=None
        What similarity is judged by: the direction of a profile, then its length.
    leanings : ndarray of shape (n_patterns,), default=None
        Numbers from 0 to 1 that are best sorted, as far as similarity leaves it open.
    most_compared : int, default=400
        The most common patterns are ordered as well as can be; each of the others follows the one
        of these that is nearest to it.

    Returns
    -------
    order : ndarray of shape (n_patterns,), int
        The patterns, in an order known up to its direction.
    """
    n_patterns = len(patterns)
    if n_patterns <= 2:
        return np.arange(n_patterns)
    features = _features(
        np.zeros((n_patterns, 1)) if profiles is None else profiles,
        np.zeros(n_patterns) if leanings is None else leanings,
    )
    if n_patterns > most_compared:
        return _with_rare_ones(patterns, counts, features, most_compared)
    return _shortest(patterns, counts, features)


def _features(profiles: FloatArray, leanings: FloatArray) -> FloatArray:
    """Return what patterns are compared by: distances between these say how unlike they are.

    Profiles are alike if they are high at the same places: they are scaled to length 1. How high
    comes second: a cluster that is high in two blocks stands between clusters that are high in one
    of them each.
    """
    lengths = np.sqrt((profiles**2).sum(axis=1))
    directions = profiles / np.maximum(lengths, _TINY)[:, None]
    return np.column_stack([directions, lengths / max(lengths.max(), _TINY), leanings])


def _shortest(patterns: BoolArray, counts: IntArray, features: FloatArray) -> IntArray:
    """Search for the shortest round trip from the better of two starts."""
    n_patterns = len(patterns)
    distances = _distances(patterns, features)
    starts = (_by_contiguity(patterns, counts), _by_similarity(distances[:-1, :-1]))
    tours = [_improved(np.append(start, n_patterns), distances) for start in starts]
    best = min(tours, key=lambda tour: round(_length(tour, distances), 9))
    empty = int(np.flatnonzero(best == n_patterns)[0])
    return np.roll(best, -empty - 1)[:-1]


def _with_rare_ones(
    patterns: BoolArray, counts: IntArray, features: FloatArray, most_compared: int
) -> IntArray:
    """Order the common patterns, and put each rare one behind the common one that is nearest."""
    common = np.sort(np.argsort(-counts, kind="stable")[:most_compared])
    common = common[_shortest(patterns[common], counts[common], features[common])]
    rare = np.setdiff1d(np.arange(len(patterns)), common)
    place, rank = np.empty((2, len(patterns)), dtype=np.intp)
    place[common], rank[common] = np.arange(len(common)), -1
    for chunk in np.array_split(rare, -(-len(rare) // _RARE_AT_ONCE)):
        distances = _between(patterns[chunk], features[chunk], patterns[common], features[common])
        place[chunk], rank[chunk] = distances.argmin(axis=1), chunk
    return np.lexsort((rank, place))


def _between(
    patterns: BoolArray, features: FloatArray, others: BoolArray, other_features: FloatArray
) -> FloatArray:
    """Distances: the clusters in which two patterns differ, and less than 1 for unlike features."""
    from scipy.spatial.distance import cdist

    pieces = cdist(patterns.astype(np.float64), others.astype(np.float64), "cityblock")
    unlike = cdist(features, other_features)
    # Rounded, so that the numbering of clusters cannot change the order through the last digit.
    return np.asarray(pieces + np.round(unlike / _MOST_UNLIKE, 9))


def _distances(patterns: BoolArray, features: FloatArray) -> FloatArray:
    """Distances between the patterns and, last, the empty one, which has no features.

    Those between features add up to less than 1 on any round trip.
    """
    n_patterns = len(patterns)
    unlike = _between(patterns, features, patterns, features)
    pieces = np.floor(unlike)
    distances = np.zeros((n_patterns + 1, n_patterns + 1))
    distances[:-1, :-1] = pieces + (unlike - pieces) / (n_patterns + 1)
    distances[-1, :-1] = distances[:-1, -1] = patterns.sum(axis=1)
    return distances


def _by_contiguity(patterns: BoolArray, counts: IntArray) -> IntArray:
    """Order patterns so that the large clusters, or if possible all, are in one piece."""
    # Clusters of equal size by their first patterns: numbers that a cluster happens to have do not
    # count.
    ranking = np.lexsort((*~patterns[::-1], -(counts @ patterns)))
    sets = [frozenset(np.flatnonzero(patterns[:, cluster]).tolist()) for cluster in ranking]
    return np.asarray(contiguous_order(len(patterns), sets)[0])


def _by_similarity(distances: FloatArray) -> IntArray:
    """Order patterns as the leaves of a tree, neighbouring leaves as near as the tree allows."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    condensed = squareform(distances, checks=False)
    tree = linkage(condensed, "average")
    return np.asarray(leaves_list(optimal_leaf_ordering(tree, condensed)), dtype=np.intp)


def _length(tour: IntArray, distances: FloatArray) -> float:
    return float(distances[tour, np.roll(tour, -1)].sum())


def _improved(tour: IntArray, distances: FloatArray) -> IntArray:
    """Apply the best exchange at each place in turn until none makes the round trip shorter."""
    n = len(tour)
    unchanged = 0
    while unchanged < n:
        exchanges = [_best_reversal(tour, distances)]
        exchanges += [
            _best_move(tour, distances, length)
            for length in range(1, min(_LONGEST_MOVE, n - 2) + 1)
        ]
        gain, changed = max(exchanges, key=lambda found: found[0])
        if gain > _SMALLEST_GAIN:
            tour, unchanged = changed, 0
        else:
            # A round trip has no beginning: the next place is tried by turning it by one.
            tour, unchanged = np.roll(tour, -1), unchanged + 1
    return tour


def _best_reversal(tour: IntArray, distances: FloatArray) -> tuple[float, IntArray]:
    """Return the best reversal of a stretch from the second place on, after what it gains."""
    first, second = distances[tour[0]], distances[tour[1]]
    after = np.roll(tour, -1)
    gains = first[tour[1]] + distances[tour, after] - first[tour] - second[after]
    stop = int(gains[1:].argmax()) + 2
    changed = np.concatenate([tour[:1], tour[1:stop][::-1], tour[stop:]])
    return float(gains[stop - 1]), changed


def _best_move(tour: IntArray, distances: FloatArray, length: int) -> tuple[float, IntArray]:
    """Return the best move of the first places to elsewhere, after what it gains."""
    stretch, rest = tour[:length], tour[length:]
    first, last = distances[stretch[0]], distances[stretch[-1]]
    freed = first[rest[-1]] + last[rest[0]] - distances[rest[-1], rest[0]]
    left, right = rest[:-1], rest[1:]
    forward, backward = first[left] + last[right], last[left] + first[right]
    gains = freed + distances[left, right] - np.minimum(forward, backward)
    at = int(gains.argmax())
    if backward[at] < forward[at]:
        stretch = stretch[::-1]
    return float(gains[at]), np.concatenate([rest[: at + 1], stretch, rest[at + 1 :]])
