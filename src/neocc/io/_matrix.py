"""What every reader returns: the numbers, the names, and where both came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from neocc._names import item_name
from neocc._typing import AnyArray
from neocc.engines.reading import summed

__all__ = ["Matrix"]


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix from a file, with the names of its rows and columns.

    Attributes
    ----------
    data : ndarray of shape (n_rows, n_columns), or csr_array
        The numbers: C-ordered, or row-compressed with sorted, unique entries. All are finite.
    row_names, column_names : tuple of str or None
        Names in the order of `data`, None where the file has none.
    source : Path or None
        The file.
    format : str
        Name of the reader.
    sha256 : str
        Digest of the file as stored on disk.
    notes : tuple of str
        What was recognised and what was changed, one sentence each.
    options : dict
        The options that were given to `read_matrix`; with `source` they repeat the reading.
    steps : tuple of str
        The steps of preprocessing that made the numbers of those in the file.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.io import Matrix
    >>> Matrix(np.eye(2), row_names=("a", "b")).name_of_row(1)
    'b'
    """

    data: Any
    row_names: tuple[str, ...] | None = None
    column_names: tuple[str, ...] | None = None
    source: Path | None = None
    format: str = ""
    sha256: str = ""
    notes: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", _as_rows(self.data))
        for names, size, side in zip(
            (self.row_names, self.column_names), self.shape, ("row", "column"), strict=True
        ):
            if names is not None and len(names) != size:
                raise ValueError(f"{len(names)} {side} names for {size} {side}s.")

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n_rows, n_columns = self.data.shape
        return int(n_rows), int(n_columns)

    @property
    def is_sparse(self) -> bool:
        """Whether the data is row-compressed."""
        return bool(sparse.issparse(self.data))

    def name_of_row(self, row: int) -> str:
        """Return the name of a row; one without a name is called by its number, from 1."""
        return item_name("rows", row) if self.row_names is None else self.row_names[row]

    def name_of_column(self, column: int) -> str:
        """Return the name of a column; one without a name is called by its number, from 1."""
        return (
            item_name("columns", column) if self.column_names is None else self.column_names[column]
        )

    def place(self, row: int, column: int) -> str:
        """Say where a cell is: by numbers from 1, and by names where there are any."""
        where = (("row", row, self.row_names), ("column", column, self.column_names))
        return ", ".join(
            f"{side} {at + 1}" + (f" ({names[at]!r})" if names else "") for side, at, names in where
        )

    def filled(self) -> Matrix:
        """Return the matrix with its zeros stored."""
        return replace(self, data=self.data.toarray()) if self.is_sparse else self

    def align_columns(self, names: Sequence[str]) -> Matrix:
        """Return the matrix over other columns, matched by name, such as those of a model.

        A sparse matrix has zeros in columns that it lacks, as everywhere else where nothing is
        stored. Columns that are not asked for are refused, for a model knows nothing about them.

        Parameters
        ----------
        names : sequence of str
            The columns wanted, in order.

        Returns
        -------
        matrix : Matrix
            The same rows over these columns.

        Examples
        --------
        >>> import numpy as np
        >>> from neocc.io import Matrix
        >>> new = Matrix(np.array([[1, 2]]), column_names=("b", "a"))
        >>> new.align_columns(["a", "b"]).data
        array([[2, 1]])
        """
        if self.column_names == tuple(names):
            return self
        places = self._match(self.column_names, names, "columns", all_wanted=not self.is_sparse)
        return replace(
            self, data=_with_columns(self.data, places, len(names)), column_names=tuple(names)
        )

    def align_rows(self, names: Sequence[str]) -> Matrix:
        """Return the matrix with its rows in another order, matched by name, such as that of a fit.

        Parameters
        ----------
        names : sequence of str
            The rows in the order wanted. They must be those of the matrix.

        Returns
        -------
        matrix : Matrix
            The same rows in this order.

        Examples
        --------
        >>> import numpy as np
        >>> from neocc.io import Matrix
        >>> Matrix(np.array([[1], [2]]), row_names=("b", "a")).align_rows(["a", "b"]).data
        array([[2],
               [1]])
        """
        if self.row_names == tuple(names):
            return self
        places = self._match(self.row_names, names, "rows", all_wanted=True)
        return replace(self, data=self.data[np.argsort(places)], row_names=tuple(names))

    def _match(
        self, own: Sequence[str] | None, names: Sequence[str], side: str, *, all_wanted: bool
    ) -> AnyArray:
        """Return the place among `names` of each own name, or say why there is none."""
        if own is None:
            (n, m), rows = self.shape, side == "rows"
            raise ValueError(
                f"{self._label} has no names of {side}, so its {n if rows else m} {side} cannot be "
                f"matched with the {len(names)} named ones. Give it "
                f"{'names' if rows else 'a header'}."
            )
        if not (self.is_sparse or isinstance(self.data, np.ndarray)):
            raise ValueError(
                f"{self._label}: The {side} are not the expected ones in the same order, and those "
                "of a block store cannot be moved. Convert a file with the same ones."
            )
        at = {name: place for place, name in enumerate(names)}
        if len(at) < len(names) or len(set(own)) < len(own):
            raise ValueError(
                f"{side.capitalize()} cannot be matched by name: some in {self._label} or among "
                "the expected ones have the same name. Make the names unique."
            )
        unknown = [name for name in own if name not in at]
        known = set(own)
        absent = [name for name in names if name not in known] if all_wanted else []
        for found, what in ((unknown, "not expected"), (absent, "expected but missing")):
            if found:
                many = f"{len(found)} {side} of {self._label} are {what}, the first: {found[0]!r}"
                one = f"{side[:-1].capitalize()} {found[0]!r} of {self._label} is {what}"
                raise ValueError(
                    f"{many if len(found) > 1 else one}; it has {len(own)} {side}, expected are "
                    f"{len(names)}. Use a file with the same {side}."
                )
        return np.array([at[name] for name in own], dtype=np.intp)

    @property
    def _label(self) -> str:
        return "the matrix" if self.source is None else str(self.source)


def _as_rows(data: Any) -> Any:
    """Return any sparse matrix as a csr_array with sorted, unique entries; others as they are.

    SciPy's older `csr_matrix` multiplies matrices where arrays multiply cells.
    """
    if not sparse.issparse(data):
        return data
    rows = sparse.csr_array(summed(data))
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _with_columns(data: Any, places: AnyArray, n_columns: int) -> Any:
    """Move column j of the data to `places[j]` of a matrix with `n_columns` columns."""
    if not sparse.issparse(data):
        moved = np.empty((data.shape[0], n_columns), dtype=data.dtype)
        moved[:, places] = data
        return moved
    indices = places.astype(data.indices.dtype)[data.indices]
    shape = (data.shape[0], n_columns)
    moved = sparse.csr_array((data.data.copy(), indices, data.indptr.copy()), shape=shape)
    moved.sort_indices()
    return moved
