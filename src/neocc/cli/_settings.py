"""The settings of a fit. Each is declared once; its option, its check and its default follow.

A setting is called alike everywhere: `row_overlap` is `--row-overlap` on the command line,
`row_overlap = 0.1` in a settings file and `"row_overlap": 0.1` in a record. No option has a default
of its own: a settings file may say what the command line does not, then the defaults here count.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

from neocc.cli import _kinds as kinds
from neocc.cli._kinds import AUTO, FLAG, TEXT, Kind, Panel, Setting, choice, number
from neocc.preprocessing import PREPROCESSORS

__all__ = ["LABELS", "READ_OPTIONS", "SETTINGS", "FitSettings", "Panel", "Reading", "Setting"]
__all__ += ["SUGGEST_OPTIONS", "option_of"]

# As `neocc.core.overlap` names them; importing it would make help pages slow.
OVERLAP_MODELS = ("repeat", "share", "average", "sum", "either", "auto")
_MOVIELENS = ("u.data", "ratings.dat")
FORMATS = ("csv", "tsv", "parquet", "excel", "mtx", "npz", "npy", "h5ad", "arff", *_MOVIELENS)
_COUNT = number(int, 1, auto=True)
_OVERLAP, _OUTLIERS = number(float, auto=True), number(float, 0, 1, auto=True)


def _setting(
    panel: Panel, kind: Kind, metavar: str, help_: str, default: Any = None, **more: Any
) -> Any:
    return field(
        default=default, metadata={"setting": Setting(panel, kind, metavar, help_, **more)}
    )


_reading, _groups = partial(_setting, Panel.FILE), partial(_setting, Panel.GROUPS)
_search, _output = partial(_setting, Panel.SEARCH), partial(_setting, Panel.OUTPUT)


@dataclass(frozen=True)
class Reading:
    """How a file is read: the options of `neocc.io.read_matrix`."""

    format: str | None = _reading(
        TEXT, "NAME", f"{', '.join(FORMATS)}; detected if not given.", words=FORMATS
    )
    layout: str | None = _reading(
        choice("table", "triplets", "pairs"),
        "NAME",
        "table: each line is a row of the matrix; triplets: each line is a row id, a column id and "
        "a value; pairs: a row id and a column id. Detected if not given.",
    )
    header: bool | None = _reading(
        FLAG, "", "The first line names the columns.", off="It does not. Detected if not given."
    )
    row_names: bool | str | None = _reading(
        kinds.FLAG_OR_TEXT,
        "",
        "The first column names the rows.",
        off="It does not. Detected if not given.",
        column="This column names the rows.",
    )
    triplet_columns: tuple[str | int, ...] | None = _reading(
        kinds.THREE_COLUMNS,
        "A,B,C",
        "Columns of row ids, column ids and values, by name or number; two for pairs. The first "
        "ones if not given.",
    )
    delimiter: str | None = _reading(
        kinds.DELIMITER, "CHAR", "Field separator, such as ';' or tab."
    )
    decimal: str | None = _reading(choice(".", ","), "CHAR", "Decimal separator: point or comma.")
    thousands: str | None = _reading(
        choice(*",. '"), "CHAR", "Thousands separator, such as the comma in 2,000."
    )
    encoding: str = _reading(TEXT, "NAME", "Text encoding. Default: utf-8.", "utf-8")
    drop: tuple[str, ...] = _reading(
        kinds.TEXTS,
        "COLUMN",
        "Leave out a column, or all columns that match a pattern such as 'Class*'. Repeatable.",
        (),
    )
    layer: str | None = _reading(TEXT, "NAME", "Layer of an AnnData file to read instead of X.")
    sheet: str | None = _reading(
        TEXT, "NAME", "Sheet of an Excel workbook; the first if not given."
    )
    missing: str = _reading(
        choice("error", "zero", "ignore"),
        "WHAT",
        "error: reject blank cells and NaN; zero: read them as 0; ignore: use only the cells that "
        "are given, also in a list of row, column and value.",
        "error",
    )
    duplicates: str | None = _reading(
        choice("sum", "mean", "error"),
        "WHAT",
        "sum, mean or error: how to combine several values for one cell. Default: sum; pairs "
        "count once.",
    )

    @property
    def read_options(self) -> dict[str, Any]:
        """The arguments of `read_matrix`."""
        renamed = {"triplet_columns": "columns"}
        return {renamed.get(name, name): getattr(self, name) for name in READ_OPTIONS}


READ_OPTIONS = tuple(one.name for one in fields(Reading))
SUGGEST_OPTIONS = (
    *(*READ_OPTIONS, "dense", "preprocess", "objective"),
    *("overlap_model", "max_memberships", "overlap_rule", "seed", "jobs"),
)
"""The settings that `neocc suggest` has options for."""
LABELS = ("labels", "labels_of_columns", "row_labels", "column_labels")
"""The settings that name files besides the matrix: only what is shown depends on them."""


@dataclass(frozen=True)
class FitSettings(Reading):
    """Everything that determines the files of a fit. "auto" is chosen from the data."""

    dense: bool = _reading(
        FLAG, "", "Make a sparse matrix dense, for preprocessing that requires it.", False
    )
    preprocess: tuple[str, ...] = _reading(
        kinds.STEPS,
        "STEP",
        "Transform the data first; repeatable, applied in order. Steps are listed below; none: "
        "use the data as they are; auto: what suits this kind of data. Default: auto.",
        (AUTO,),
        words=(AUTO, kinds.NONE, *PREPROCESSORS),
    )
    rows: int | str = _groups(
        _COUNT, "K", "Number of groups of rows; chosen from the data if not given.", AUTO
    )
    columns: int | str = _groups(_COUNT, "L", "The same for groups of columns.", AUTO)
    objective: str = _groups(
        choice("mean", "residue", "poisson", "diagonal", "modularity", AUTO),
        "NAME",
        "mean: look for blocks of constant value; residue: for blocks whose rows and columns rise "
        "and fall together. For counts, poisson: blocks whose rates deviate from independence; "
        "diagonal, modularity: the same with one group of columns per group of rows; auto: what "
        "suits this kind of data. Default: auto.",
        AUTO,
    )
    prior: float = _groups(
        number(float, 1e-9),
        "X",
        "For poisson and diagonal: pseudocount added to the observed and expected counts of each "
        "block. Default: 1.",
        1.0,
    )
    overlap_model: str = _groups(
        choice(*OVERLAP_MODELS),
        "NAME",
        "Cost of a row or column in several groups. repeat, as in the paper: the sum of its "
        "distances to them; share: the mean of these; average, sum: its distance to the mean, or "
        "the sum, of their prototypes; either: in each group of columns, its distance to the "
        "nearest of its groups; auto: average, sum or either, whichever explains more (for "
        "counts average, or share with diagonal and modularity). Default: auto.",
        "auto",
    )
    max_memberships: int | None = _groups(
        number(int, 1),
        "N",
        "Maximum number of groups of a row or column. Default: 4; no limit for repeat.",
    )
    outlier_cost: str = _groups(
        choice("zero", "background", AUTO),
        "NAME",
        "Cost of a row or column in no group. zero: nothing; background: its sum of squares, the "
        "cost without any structure; auto: zero for squared errors. Default: auto.",
        AUTO,
    )
    min_cluster_size: int = _groups(
        number(int, 1), "N", "Minimum number of rows or columns in a group. Default: 1.", 1
    )
    row_overlap: float | str = _groups(
        _OVERLAP,
        "SHARE",
        "Memberships beyond one per row, as a fraction of the rows, such as 0.1 or 10%; estimated "
        "if not given.",
        AUTO,
    )
    row_outliers: float | str = _groups(
        _OUTLIERS, "SHARE", "Maximum fraction of rows in no group; estimated if not given.", AUTO
    )
    column_overlap: float | str = _groups(_OVERLAP, "SHARE", "The same for columns.", AUTO)
    column_outliers: float | str = _groups(_OUTLIERS, "SHARE", "The same for columns.", AUTO)
    remove_effects: bool | None = _groups(
        FLAG,
        "",
        "With --missing ignore: subtract row and column effects first.",
        off="Do not. What suits this kind of data if not given.",
    )
    shrinkage: float = _groups(
        number(float, 0),
        "X",
        "With --missing ignore: number of zeros added to each block. Default: 10.",
        10.0,
    )
    overlap_rule: str = _groups(
        choice("mixture", "first", "second"),
        "NAME",
        "How overlap is estimated. mixture: from rows or columns that lie between groups; first, "
        "second: by the rules of the method's authors, which find more. Default: mixture.",
        "mixture",
    )
    init: str = _search(
        choice("neo-kmeans", "random", "spectral", "sketch", "modularity"),
        "NAME",
        "Initialisation: neo-kmeans, random, spectral, sketch or (for counts) modularity. "
        "Default: neo-kmeans.",
        "neo-kmeans",
    )
    n_init: int = _search(number(int, 1), "N", "Number of starts. Default: 10.", 10)
    refine: bool = _search(
        FLAG, "", "", True, off="Run each start once, as in the paper, without further search."
    )
    thorough: bool = _search(FLAG, "", "Search longer, for a lower objective.", False)
    max_iter: int = _search(number(int, 1), "N", "Maximum number of iterations. Default: 100.", 100)
    tol: float = _search(
        number(float, 0), "X", "Stop a start below this relative gain. Default: 1e-6.", 1e-6
    )
    seed: int = _search(number(int, 0), "N", "Random seed: same seed, same result. Default: 0.", 0)
    jobs: int | None = _search(kinds.JOBS, "N", "Number of threads; all cores if not given.")
    gpu: bool = _setting(
        Panel.LONG, FLAG, "", "Fit on an NVIDIA GPU (needs CuPy).", False, off="Fit on the CPU."
    )
    labels: str | None = _output(
        TEXT,
        "FILE",
        "Row labels, such as classes: a table of row names and labels. The report shows which "
        "labels are over-represented in each group. FILE:COLUMN selects the column.",
    )
    labels_of_columns: str | None = _output(TEXT, "FILE", "The same for columns.")
    row_labels: str | None = _output(
        TEXT,
        "FILE",
        "Names to show instead of ids: a table of row ids and names, such as film titles. "
        "FILE:COLUMN selects the column.",
    )
    column_labels: str | None = _output(TEXT, "FILE", "The same for columns.")
    row_noun: str = _output(TEXT, "WORD", "What rows are, such as genes.", "rows")
    column_noun: str = _output(TEXT, "WORD", "What columns are, such as conditions.", "columns")
    report: bool = _output(FLAG, "", "", True, off="Do not write report.html.")
    parquet: bool = _output(FLAG, "", "Also write the tables as Parquet.", False)

    @property
    def estimator_options(self) -> dict[str, Any]:
        """The arguments of `NEOCC`."""
        renamed = {"rows": "n_row_clusters", "columns": "n_column_clusters"}
        renamed |= {"seed": "random_state", "jobs": "n_jobs"}
        # An estimator is told how much overlap there is, not how that was estimated.
        used = [name for name, one in SETTINGS.items() if one.panel in (Panel.GROUPS, Panel.SEARCH)]
        used = [name for name in used if name not in ("overlap_rule", "thorough")]
        effort = {"refine": "thorough"} if self.refine and self.thorough else {}
        cells: dict[str, Any] = {"missing": "ignore" if self.is_observed else "zero"}
        cells["remove_effects"] = bool(self.remove_effects)
        return {renamed.get(n, n): getattr(self, n) for n in used} | effort | cells

    @property
    def is_observed(self) -> bool:
        """Whether only cells that are given count."""
        return self.missing == "ignore"

    @property
    def nouns(self) -> tuple[str, str]:
        """What rows and columns are called."""
        return self.row_noun, self.column_noun

    @property
    def left_open(self) -> list[str]:
        """What is to be chosen from the data; models are chosen by the fit itself."""
        open_ = (AUTO, (AUTO,))
        every = [n for n in SETTINGS if getattr(self, n) == DEFAULTS[n] and DEFAULTS[n] in open_]
        return [name for name in every if name not in ("overlap_model", "outlier_cost")]

    def as_json(self) -> dict[str, Any]:
        """Return all settings as JSON knows them."""
        values = {name: getattr(self, name) for name in SETTINGS}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


SETTINGS: dict[str, Setting] = {one.name: one.metadata["setting"] for one in fields(FitSettings)}
DEFAULTS = {one.name: one.default for one in fields(FitSettings)}


def option_of(name: str) -> str:
    """Return what a parameter is called on the command line."""
    return "--" + name.replace("_", "-")
