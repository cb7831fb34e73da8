"""Titles that give the answer."""

from __future__ import annotations

from typing import Any

from neocc._typing import FloatArray
from neocc.plot._source import Clusters

__all__ = ["answer", "fall", "join", "number", "percent", "plural", "step_name"]


# Of its value, a fall of the objective that is none.
_ROUNDING = 1e-9


def plural(count: int, noun: str) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> from neocc.plot._words import plural
    >>> plural(1, "row"), plural(2417, "row")
    ('1 row', '2,417 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """Write a share in percent, small ones with two digits.

    Examples
    --------
    >>> from neocc.plot._words import percent
    >>> percent(0.349), percent(0.00063), percent(0.0)
    ('35%', '0.063%', '0%')
    """
    return f"{100 * share:.2g}%" if 0 < share < 0.01 else f"{share:.0%}"


def number(value: float) -> str:
    """Write a number with about five digits.

    Examples
    --------
    >>> from neocc.plot._words import number
    >>> number(812410.3), number(0.0102)
    ('812,410', '0.0102')
    """
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.5g}"


def join(parts: list[str]) -> str:
    """Join parts of a sentence.

    Examples
    --------
    >>> from neocc.plot._words import join
    >>> join(["one", "two", "three"])
    'one, two and three'
    """
    return " and ".join(part for part in [", ".join(parts[:-1]), *parts[-1:]] if part)


def answer(clusters: Clusters) -> str:
    """Say what was found: how many clusters, how many items in several, how many in none."""
    names: list[str] = []
    several: list[str] = []
    none: list[str] = []
    for members, noun in ((clusters.rows, "row"), (clusters.columns, "column")):
        if members is None:
            continue
        counts = members.sum(axis=1)
        names.append(plural(members.shape[1], f"{noun} cluster"))
        for found, wanted in ((several, counts > 1), (none, counts == 0)):
            if wanted.any():
                found.append(plural(int(wanted.sum()), noun))
    text = join(names)
    text += f"; {join(several)} in several" if several else ""
    return text + (f"; {join(none)} in none" if none else "")


def step_name(model: Any, n_steps: int) -> str:
    """Say what a step is: half an iteration for a model that clusters rows and columns in turn."""
    n_iter = getattr(model, "n_iter_", None)
    if n_iter == n_steps:
        return "iterations"
    return "half-iterations: rows and columns in turn" if n_steps == 2 * (n_iter or 0) else "steps"


def fall(values: FloatArray) -> str:
    """Say how far the objective fell.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.plot._words import fall
    >>> fall(np.array([4.0, 2.0, 1.0]))
    'The objective fell by 75%, from 4 to 1, in 2 steps'
    """
    start, end, n_steps = float(values[0]), float(values[-1]), len(values) - 1
    if not n_steps or start - end <= _ROUNDING * abs(start):
        return f"The objective stayed where it started, at {number(start)}"
    steps = f"{number(start)} to {number(end)}, in {plural(n_steps, 'step')}"
    if end < 0.0:
        return f"The objective fell from {steps}"
    return f"The objective fell by {percent((start - end) / start)}, from {steps}"
