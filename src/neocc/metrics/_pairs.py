"""Compiled count of pairs of sets by how much they share; NumPy's twin is in `neocc.metrics`.

Sets are rows of bits. Sharing is a bitwise `and`, how much is shared is a count of bits: less than
a nanosecond for a pair, where a matrix product takes ten.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from neocc._typing import AnyArray
from neocc.kernels.loops import compiled, intrinsic

# Pairs of a row that are handled together: their bits and weights stay in the nearest cache.
_TILE = 1024
# Counters for each code. Equal codes follow each other often, and a counter takes some cycles
# before it can be raised again.
_COPIES = 4


@intrinsic
def _count_bits(_context: Any, word: Any) -> tuple[Any, Any]:
    """Return the number of ones in a word: one machine instruction."""

    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return word(word), emit


@compiled
def count_pairs(
    words: AnyArray, scales: AnyArray, weights: AnyArray, start: int, stop: int, counts: AnyArray
) -> None:
    """Add the weights of the pairs (i, j), start <= i < stop, i < j, to the counts of their codes.

    Parameters
    ----------
    words : IN, uint64 of shape (n_words, n_rows)
        Word q of the bits of each row.
    scales : IN, uint32 of shape (n_words,)
        The code of a pair is the sum over q of ``scales[q]`` times the number of bits that its two
        words q share.
    weights : IN, int64 of shape (n_rows,)
        A pair weighs the product of the weights of its rows.
    start, stop : IN
        Which rows come first in the pairs.
    counts : IN and OUT, int64 of shape (n_codes,)
        Weights by code.
    """
    n_words, n_rows = words.shape
    n_codes = len(counts)
    codes = np.empty(_TILE, dtype=np.uint32)
    tallies = np.zeros(_COPIES * n_codes, dtype=np.int64)
    for tile in range(start + 1, n_rows, _TILE):
        tile_stop = min(tile + _TILE, n_rows)
        for i in range(start, min(stop, tile_stop - 1)):
            first = max(tile, i + 1)
            n = tile_stop - first
            codes[:n] = 0
            for q in range(n_words):
                own, others, scale = words[q, i], words[q, first:tile_stop], scales[q]
                for t in range(n):
                    codes[t] += scale * np.uint32(_count_bits(own & others[t]))
            weight, other_weights = weights[i], weights[first:tile_stop]
            for t in range(n):
                tallies[(t % _COPIES) * n_codes + codes[t]] += weight * other_weights[t]
    for copy in range(_COPIES):
        for code in range(n_codes):
            counts[code] += tallies[copy * n_codes + code]
