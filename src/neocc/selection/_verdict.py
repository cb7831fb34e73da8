"""Numbers of clusters by prediction: the verdict on held-out errors, for each side by itself.

Let e_k be the held-out error with k clusters, and s the smallest number within one standard error
of the best (of the differences of all items, pairwise). If s is 1 there is no structure. If both
halves of the items give the same s clusters, or more of them, up to twice as many, predict clearly
worse, by three standard errors, s it is, as on planted clusters. Real groups are seldom like that:
finer and finer clusters predict a little better, but differ from half to half.
Then the number is the *knee*: the k up to s that lies farthest below the straight line from e_1 to
the best error, at twice as many clusters as s. But halves have a veto: of the numbers up to the
knee the largest is taken on which they agree nearly as well as on any of them. Numbers that lie
nearly as far below the line, a knee that was refused, and what single cuts of the data would say
are plausible too; if there are any, or if halves disagree, the number is said to be unclear.

No number is taken that predicts no better than one cluster does, by more than one standard error.
If a cut of the data by itself shows no structure, next to nothing that was gained is nothing.

Where cells are held out there are no halves, and no veto; and if with twice as many clusters as s a
fifth of what was gained is lost again, there is no knee: s it is, and all up to the best are
plausible, unless parts agree on s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neocc.core.objectives import Side
from neocc.selection._curves import Curve
from neocc.selection._predicted import SAME, SidePrediction

__all__ = ["Tried", "judged", "judged_together"]

_LARGEST = 32
# Clusters found in a half of the items must be large enough to be found again.
_ITEMS_PER_CLUSTER, _FEW_ITEMS = 4, 20
_ITEMS_PER_PATTERN = 8
_NEARLY, _VETO = 0.98, 0.25
_GIVEN_BACK = 0.2
# So small a share of the error is no evidence where a cut of the data shows no structure.
_NEXT_TO_NOTHING = 0.01


@dataclass(frozen=True)
class Tried:
    """Numbers to choose from on one side, None for any, and the largest that makes sense."""

    numbers: tuple[int, ...] | None
    limit: int

    @classmethod
    def of(cls, numbers: list[int] | None, n_items: int, *, per_item: bool) -> Tried:
        """Return what can be tried of so many items."""
        each = _ITEMS_PER_CLUSTER if n_items >= _FEW_ITEMS else 2
        limit = max(1, n_items // (_ITEMS_PER_PATTERN if per_item else each))
        return cls(None if numbers is None else tuple(numbers), limit)

    def first(self, most: int) -> int:
        """Return the largest number to begin with: so many, or more if these are asked for."""
        # The other side sees its items through at least some clusters.
        return min(self.limit, most if self.numbers is None else max(2 * self.numbers[-1], most))

    def grown(self, found: SidePrediction) -> int:
        """Return how many to try next: as many again if these may not be enough.

        Fewer that overlap are enough.
        """
        largest = found.largest
        stable = found.stability[found.within_error - 1] >= SAME
        most = self.limit if stable else min(_LARGEST, self.limit)
        apart = self.numbers is None and found.overlapping is None
        short = apart and 2 * found.within_error > largest
        return min(2 * largest, most) if short and largest < most else largest


def judged(curve: Curve, side: Side, tried: Tried) -> SidePrediction:
    """Choose a number of clusters of one side, and say how sure that is."""
    errors = curve.errors
    n_numbers, n = errors.shape
    mean = errors.mean(axis=1)
    best = int(mean.argmin())
    away = (errors - errors[best]).std(axis=1, ddof=1 if n > 1 else 0) / np.sqrt(n)
    within = int(np.argmax(mean <= mean[best] + away))
    found = SidePrediction(
        number=within + 1,
        plausible=(within + 1,),
        side=side,
        n_items=n,
        errors=mean,
        standard_errors=away,
        stability=curve.stability,
        within_error=within + 1,
        at_limit=2 * (within + 1) > n_numbers and n_numbers < tried.limit,
        of_halves=curve.of_halves,
        is_told=curve.is_told,
    )
    gained = (errors[0] - errors).std(axis=1, ddof=1 if n > 1 else 0) / np.sqrt(n)
    better = mean[0] - mean > gained
    better[0] = True
    allowed = np.arange(1, n_numbers + 1)
    if tried.numbers is None:
        allowed = allowed[better]
    if tried.numbers is not None:
        allowed = np.intersect1d(allowed, tried.numbers)
        if not len(allowed):
            number = tried.numbers[0]
            return replace(found, number=number, plausible=(number,))
    if found.number in allowed:
        if found.is_agreed:
            return found
        if not curve.of_halves and _rises(mean, within):
            near = allowed[(allowed > within) & (allowed <= best + 1)]
            return replace(found, plausible=tuple(near.tolist()))
    usable = allowed[allowed <= within + 1]
    if not len(usable):
        return replace(found, number=int(allowed[0]), plausible=(int(allowed[0]),))
    depth = _depth(mean, within)
    knee = int(usable[depth[usable - 1].argmax()])
    number = _agreed(curve.stability, usable[usable <= knee]) if curve.of_halves else knee
    near = usable[(depth[usable - 1] >= _NEARLY * depth[knee - 1]) | (usable == number)]
    return replace(found, number=number, plausible=tuple(near.tolist()))


def judged_together(curves: list[Curve], side: Side, tried: Tried) -> SidePrediction:
    """Choose a number from the mean of several cuts; what each says by itself is plausible too."""
    errors = np.mean([each.errors for each in curves], axis=0)
    stability = np.mean([each.stability for each in curves], axis=0)
    found = judged(replace(curves[0], errors=errors, stability=stability), side, tried)
    single = [judged(each, side, tried).number for each in curves]
    plausible = tuple(sorted({*found.plausible, *single}))
    found = replace(found, of_cuts=tuple(single), plausible=plausible)
    if tried.numbers is None and 1 in plausible and found.explained < _NEXT_TO_NOTHING:
        return replace(found, number=1)
    return found


def _agreed(stability: Any, numbers: Any) -> int:
    """Return the largest number on which halves agree nearly as well as on any of them."""
    several = numbers[numbers > 1] if numbers[-1] > 1 else numbers
    agreement = stability[several - 1]
    best = float(agreement.max())
    return int(several[agreement >= best - _VETO * abs(best)][-1])


def _rises(mean: Any, within: int) -> bool:
    """Return whether twice as many clusters clearly predict worse, so that there is no knee."""
    end = min(2 * (within + 1), len(mean)) - 1
    return bool(mean[end] - mean.min() > _GIVEN_BACK * (mean[0] - mean.min()))


def _depth(mean: Any, within: int) -> Any:
    """Return how far errors lie below the line to the best one, at twice as many clusters."""
    end = max(min(2 * (within + 1), len(mean)) - 1, 1)
    lowest = np.minimum.accumulate(mean)
    line = lowest[0] + (lowest[min(end, len(mean) - 1)] - lowest[0]) * np.arange(len(mean)) / end
    return line - lowest
