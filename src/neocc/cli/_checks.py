"""What the value of each setting must be, wherever it was written."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, TypeAlias

__all__ = ["AUTO", "CHECKS", "Check", "did_you_mean"]

AUTO = "auto"
_MOST = 1e300

Check: TypeAlias = Callable[[Any], Any]


def _whole(low: int, *others: str) -> Check:
    def checked(value: Any) -> int | str:
        if value in others or (type(value) is int and value >= low):
            return value  # type: ignore[no-any-return]
        raise ValueError(f"a whole number of at least {low}{_or(others)}")

    return checked


def _real(low: float | None, high: float | None, *others: str) -> Check:
    def checked(value: Any) -> float | str:
        if value in others:
            return value  # type: ignore[no-any-return]
        # Neither infinity nor NaN lies between two numbers.
        lowest, above = (-_MOST if low is None else low), (_MOST if high is None else high)
        if type(value) in (int, float) and lowest <= value < above:
            return float(value)
        limits = ["" if low is None else f"from {low:g}", "" if high is None else f"below {high:g}"]
        raise ValueError(" ".join(["a number", *filter(None, limits)]) + _or(others))

    return checked


def _share(low: float | None, high: float | None) -> Check:
    """Check a share, which may be written in percent, or "auto"."""
    plain = _real(low, high, AUTO)

    def checked(value: Any) -> float | str:
        if isinstance(value, str) and value.strip().endswith("%"):
            with suppress(ValueError):  # no number: the check below says what is wanted
                value = float(value.strip()[:-1]) / 100
        return plain(value)  # type: ignore[no-any-return]

    return checked


def _choice(*choices: str) -> Check:
    def checked(value: Any) -> str:
        if value in choices:
            return str(value)
        raise ValueError(" or ".join(f'"{one}"' for one in choices))

    return checked


def _jobs(value: Any) -> int:
    if type(value) is int and value != 0:
        return value
    raise ValueError("a number of threads")


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError("true or false")


def _text(value: Any) -> str:
    if isinstance(value, str) and value:
        return value
    raise ValueError("a text")


def _flag_or_text(value: Any) -> bool | str:
    if isinstance(value, bool) or (isinstance(value, str) and value):
        return value
    raise ValueError("true, false, or the name of a column")


def _delimiter(value: Any) -> str:
    return {"tab": "\t", "\\t": "\t", "space": " "}.get(value, _text(value))


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return tuple(value)
    raise ValueError("a list of texts")


def _three_columns(value: Any) -> tuple[str | int, ...]:
    if isinstance(value, str):
        value = [int(one) if one.strip().isdecimal() else one for one in value.split(",")]
    is_list = isinstance(value, list | tuple) and len(value) == 3
    if is_list and all(type(one) in (int, str) for one in value):
        return tuple(value)
    raise ValueError("three names, or numbers from 1: those of rows, columns and values")


def _steps(value: Any) -> tuple[str, ...]:
    from neocc.preprocessing import PREPROCESSORS

    steps = _texts(value)
    for step in steps:
        if step not in PREPROCESSORS:
            hint = did_you_mean(step, PREPROCESSORS)
            raise ValueError(f"steps that `neocc fit --help` lists{hint}")
    return steps


def _or(others: tuple[str, ...]) -> str:
    return "".join(f', or "{one}"' for one in others)


CHECKS: dict[str, Check] = {
    "format": _text,
    "layout": _choice("table", "triplets"),
    "header": _flag,
    "row_names": _flag_or_text,
    "triplet_columns": _three_columns,
    "delimiter": _delimiter,
    "decimal": _choice(".", ","),
    "encoding": _text,
    "drop": _texts,
    "layer": _text,
    "missing": _choice("error", "zero"),
    "duplicates": _choice("sum", "mean", "error"),
    "dense": _flag,
    "preprocess": _steps,
    "rows": _whole(1, AUTO),
    "columns": _whole(1, AUTO),
    "objective": _choice("mean", "residue"),
    "row_overlap": _share(None, None),
    "row_outliers": _share(0, 1),
    "column_overlap": _share(None, None),
    "column_outliers": _share(0, 1),
    "overlap_rule": _choice("averages", "first", "second"),
    "init": _choice("neo-kmeans", "random", "spectral", "sketch"),
    "n_init": _whole(1),
    "refine": _flag,
    "max_iter": _whole(1),
    "tol": _real(0, None),
    "seed": _whole(0),
    "jobs": _jobs,
    "row_noun": _text,
    "column_noun": _text,
    "report": _flag,
    "parquet": _flag,
}
"""By the name of the setting. They return the value in its own type, or raise what it must be."""


def did_you_mean(name: str, known: Any) -> str:
    """Suggest a known name that is close to an unknown one."""
    close = get_close_matches(str(name), list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
