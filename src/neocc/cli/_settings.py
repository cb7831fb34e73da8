"""What a run shall do: settings from the command line, a TOML file or a record, checked alike.

A setting is called alike everywhere: `row_overlap` is `--row-overlap` on the command line and
`row_overlap = 0.1` in a settings file or `"row_overlap": 0.1` in a record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from neocc.cli._checks import AUTO, CHECKS, did_you_mean
from neocc.cli._guard import Mistake

__all__ = ["AUTO", "FitSettings", "Reading", "check", "did_you_mean", "from_options"]


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
    return None if value_or_none else CHECKS[name](value)


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
        if name not in CHECKS or value is None or value in ([], ()):
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
