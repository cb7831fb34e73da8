"""Which names a table needs in a file so that `read_matrix` recognises it as what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from neocc.io._errors import FormatError
from neocc.io._matrix import Matrix
from neocc.io.readers._plan import Plan
from neocc.io.readers._totals import find_summaries, says_summary

__all__ = ["TableForm", "choose_form", "sample_size"]

# `read_matrix` looks at no more records than this, and at no more characters than that unless there
# are few records; a cell takes two at least.
_SAMPLE_RECORDS, _SAMPLE_CELLS, _FEW_RECORDS = 201, 1 << 17, 4


@dataclass(frozen=True)
class TableForm:
    """What a table has besides its numbers.

    Attributes
    ----------
    columns : tuple of str or None
        Headings of the columns of numbers; None for no header.
    rows : tuple of str or None
        Names of rows; None for no such column.
    corner : str
        Heading of the names of rows.
    """

    columns: tuple[str, ...] | None
    rows: tuple[str, ...] | None
    corner: str = "name"

    @property
    def headings(self) -> list[str] | None:
        """All headings, None where there is no header."""
        if self.columns is None:
            return None
        return [*([] if self.rows is None else [self.corner]), *self.columns]

    def is_read_by(self, plan: Plan) -> bool:
        """Whether what was recognised is this form."""
        headings = self.headings
        return (
            plan.layout == "table"
            and plan.ids == (() if self.rows is None else (0,))
            and len(plan.numbers) == plan.width - len(plan.ids)
            and (plan.headings is None) == (headings is None)
            and (headings is None or plan.headings == [name.strip() for name in headings])
        )


def choose_form(
    matrix: Matrix, recognise: Callable[[TableForm], Plan], *, headed: bool
) -> TableForm:
    """Return the plainest form of a table in which it is recognised.

    Names that the matrix lacks are added where a file would be taken for something else without
    them: three columns of small whole numbers for triplets, numbers as headings for a row.

    Parameters
    ----------
    matrix : Matrix
        The table.
    recognise : callable
        Returns how `read_matrix` would read the table in a form; may raise FormatError.
    headed : bool
        Whether the format needs headings.
    """
    for form in () if _has_summaries(matrix) else _forms(matrix, headed=headed):
        try:
            plan = recognise(form)
        except FormatError:
            continue
        if form.is_read_by(plan):
            return form
    raise ValueError(
        "The names of this matrix would not be recognised as names when the file is read. Rename "
        "rows and columns, or write triplets with layout='triplets'."
    )


def _has_summaries(matrix: Matrix) -> bool:
    """Whether rows would be left out, for they are called the sum of the others, and are it."""
    if not says_summary(matrix.row_names or ()):
        return False
    return any(one.is_named for one in find_summaries(matrix.filled().data, matrix.row_names))


def sample_size(matrix: Matrix) -> int:
    """Return how many rows at the beginning decide over what a file is recognised as."""
    n_rows, n_columns = matrix.shape
    return min(n_rows, _SAMPLE_RECORDS, _SAMPLE_CELLS // n_columns + _FEW_RECORDS)


def _forms(matrix: Matrix, *, headed: bool) -> Iterator[TableForm]:
    n_rows, n_columns = matrix.shape
    rows, columns = matrix.row_names, matrix.column_names
    if columns is not None or not headed:
        yield TableForm(columns, rows)
    columns = columns or tuple(matrix.name_of_column(place) for place in range(n_columns))
    yield TableForm(columns, rows)
    # A blank heading says that names stand below it.
    yield TableForm(columns, rows or tuple(map(matrix.name_of_row, range(n_rows))), "")
