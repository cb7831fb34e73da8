"""Sets of which an item follows one cluster in each cluster of the other side, on a card."""

from __future__ import annotations

from typing import Any

import numpy as np

from neocc.kernels.gpu.card import FLOAT, INT, LONG
from neocc.kernels.gpu.lists import Lists
from neocc.kernels.gpu.sets import CardSets
from neocc.kernels.inputs import Parts

__all__ = ["CardFollowing"]

_THREADS, _EXACT = 64, "--fmad=false"


class CardFollowing(CardSets):
    """Best sets where the nearest cluster counts, part by part."""

    def least_sets(
        self,
        parts: Parts,
        squares: Any,
        minima: Any,
        members: Lists | None,
        curves: Any,
        sets: Any,
        steps: Any,
        present: Any,
    ) -> float:
        """Do what `set_curves` does where the nearest cluster of a set counts, part by part.

        Items are rounded against the smallest distance.
        """
        (n, largest), l = curves.shape, parts.sums.shape[1]  # noqa: E741
        if n == 0:
            return 0.0
        threads = _THREADS
        while 8 * threads * (3 * l | 1) > self.shared - 8 * _THREADS:
            threads //= 2
            if not threads:
                raise ValueError(
                    f'overlap_model="either" with {l} clusters of the other side does not fit into '
                    'the shared memory of this GPU. engine="auto" fits the data on the CPU.'
                )
        n_blocks = -(-n // threads)
        partial = self.xp.empty(n_blocks + 1)
        virtual = None if members is None else members.virtual
        self.call(
            self.function("follow.cu", "least_sets", _EXACT),
            (n_blocks,),
            threads,
            (
                LONG(n),
                INT(len(parts.magnitude)),
                INT(l),
                INT(largest),
                parts.sums,
                *self._tables(parts),
                squares,
                minima,
                *_lists(members),
                *_lists(virtual),
                None if members is None else members.item_weights,
                curves,
                sets,
                present,
                partial,
            ),
            8 * threads * (3 * l | 1),
        )
        hull = self.function("sets.cu", "hull_steps", _EXACT)
        self.call(hull, (-(-n // 512),), 512, (LONG(n), INT(largest), curves, steps))
        return 0.0 if members is None else self.added(partial, n_blocks)

    def follow(self, parts: Parts, squares: Any, minima: Any, members: Lists, items: Any) -> Any:
        """Return what some items follow in each other cluster."""
        n, l = len(items), parts.sums.shape[1]  # noqa: E741
        found = self.xp.empty((n, l), dtype=self.xp.int32)
        if n:
            sizes = (LONG(n), INT(len(parts.magnitude)), INT(l))
            given = (*sizes, items, parts.sums, *self._tables(parts), squares, minima)
            function = self.function("follow.cu", "follow", _EXACT)
            rest = (*_lists(members), None, found)
            self.call(function, (-(-n * l // 256),), 256, (*given, *rest))
        return found

    def _tables(self, parts: Parts) -> list[Any]:
        """Return slope, curve and magnitude there, and the largest of the last."""
        magnitude = parts.magnitude
        top = magnitude[np.isfinite(magnitude)].max(initial=0.0)
        return [*self.put_together(parts.slope, parts.curve, magnitude), FLOAT(top)]


def _lists(members: Lists | None) -> tuple[Any, Any, Any]:
    if members is None:
        return None, None, None
    if not members.n_extra:
        return members.first, None, None
    return members.first, members.extra_ptr, members.extra_clusters
