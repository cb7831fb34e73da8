"""What a run shall do: settings from the command line, a TOML file or a record, checked alike.

A setting is called alike everywhere: `row_overlap` is `--row-overlap` on the command line and
`row_overlap = 0.1` in a settings file or `"row_overlap": 0.1` in a record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, TypeAlias

from neocc.cli._guard import Mistake

__all__ = ["AUTO", "FitSettings", "Reading", "check", "did_you_mean", "from_options"]

AUTO = "auto"
_MOST = 1e300


@dataclass(frozen=True)
class Reading:
    """How a file becomes a matrix: the options of `neocc.io.read_matrix`, and preprocessing.

    Attributes
    ----------
    triplet_columns : tuple
        `columns` of `read_matrix`.
    dense : bool
        Whether a sparse matrix is filled with its zeros before it is preprocessed.
    preprocess : tuple of str
        Steps of `neocc.preprocessing`, in order.
    """

    format: str | None = None
    layout: str | None = None
    header: bool | None = None
    row_names: bool | str | None = None
    triplet_columns: tuple[str | int, ...] | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str = "utf-8"
    drop: tuple[str, ...] = ()
    layer: str | None = None
    missing: str = "error"
    duplicates: str = "sum"
    dense: bool = False
    preprocess: tuple[str, ...] = ()

    @property
    def read_options(self) -> dict[str, Any]:
        """The arguments of `read_matrix`."""
        own = ("dense", "preprocess")
        names = [one.name for one in fields(Reading) if one.name not in own]
        renamed = {"triplet_columns": "columns"}
        return {renamed.get(name, name): getattr(self, name) for name in names}


@dataclass(frozen=True)
class FitSettings(Reading):
    """All that decides over the files of a fit. "auto" is chosen from the data."""

    rows: int | str = AUTO
    columns: int | str = AUTO
    objective: str = "mean"
    row_overlap: float | str = AUTO
    row_outliers: float | str = AUTO
    column_overlap: float | str = AUTO
    column_outliers: float | str = AUTO
    overlap_rule: str = "averages"
    init: str = "neo-kmeans"
    n_init: int = 10
    refine: bool = True
    max_iter: int = 100
    tol: float = 1e-6
    seed: int = 0
    jobs: int | None = None
    row_noun: str = "rows"
    column_noun: str = "columns"
    report: bool = True
    parquet: bool = False

    @property
    def estimator_options(self) -> dict[str, Any]:
        """The arguments of `NEOCC`."""
        return {
            "n_row_clusters": self.rows,
            "n_column_clusters": self.columns,
            **{name: getattr(self, name) for name in _SAME_IN_NEOCC},
            "random_state": self.seed,
            "n_jobs": self.jobs,
        }

    def as_json(self) -> dict[str, Any]:
        """Return all settings as JSON knows them."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


_SAME_IN_NEOCC = (
    "objective",
    "row_overlap",
    "row_outliers",
    "column_overlap",
    "column_outliers",
    "init",
    "n_init",
    "refine",
    "max_iter",
    "tol",
)

# --------------------------------------------------------------------------------------- checks

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


_CHECKS: dict[str, Check] = {
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


def check(name: str, value: Any) -> Any:
    """Return the value of a setting in its own type.

    Raises
    ------
    ValueError
        With what the value must be.

    Examples
    --------
    >>> from neocc.cli._settings import check
    >>> check("row_overlap", 1), check("triplet_columns", "user,film,3")
    (1.0, ('user', 'film', 3))
    """
    value_or_none = _DEFAULTS[name] is None and value is None
    return None if value_or_none else _CHECKS[name](value)


_DEFAULTS = {one.name: one.default for one in fields(FitSettings)}


def from_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings among the parameters of a command, checked, under their own names.

    None and nothing mean not given; what is no setting is passed over.
    """
    named = {name.rstrip("_"): value for name, value in options.items()}
    for name in ("header", "row_names", "refine", "report"):
        if named.pop(f"no_{name}", None):
            if named.get(name):
                raise _contradiction(name, f"no_{name}")
            named[name] = False
    column = named.pop("row_names_in", None)
    if column is not None:
        if named.get("row_names") is False:
            raise _contradiction("row_names_in", "no_row_names")
        named["row_names"] = column
    found = {}
    for name, value in named.items():
        if name not in _CHECKS or value is None or value in ([], ()):
            continue
        try:
            found[name] = check(name, value)
        except ValueError as error:
            raise Mistake(f"{_option(name)} must be {error}; got {value!r}.") from error
    return found


def _contradiction(one: str, other: str) -> Mistake:
    return Mistake(f"{_option(one)} and {_option(other)} contradict each other. Give one.")


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def did_you_mean(name: str, known: Any) -> str:
    """Suggest a known name that is close to an unknown one."""
    close = get_close_matches(str(name), list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
