"""How a file is to be read: the options of `read_matrix`, checked once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

__all__ = ["Duplicates", "Layout", "Missing", "ReadOptions"]

Missing: TypeAlias = Literal["error", "zero", "ignore"]
Duplicates: TypeAlias = Literal["sum", "mean", "error", "once"]
Layout: TypeAlias = Literal["table", "triplets", "pairs"]

_CHOICES = {
    "missing": ("error", "zero", "ignore"),
    "duplicates": (None, "sum", "mean", "error"),
    "layout": (None, "table", "triplets", "pairs"),
    "header": (None, True, False),
    "decimal": (None, ".", ","),
    "thousands": (None, ",", ".", " ", "'"),
}


@dataclass(frozen=True)
class ReadOptions:
    """The options of `read_matrix`, which explains them. None: recognise it."""

    missing: Missing = "error"
    duplicates: Duplicates | None = None
    layout: Layout | None = None
    header: bool | None = None
    row_names: bool | str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str = "utf-8"
    columns: tuple[str | int, ...] | None = None
    drop: tuple[str, ...] = ()
    layer: str | None = None
    thousands: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                wanted = ", ".join(repr(choice) for choice in choices)
                raise ValueError(f"{name} must be one of {wanted}; got {getattr(self, name)!r}.")
        if self.delimiter is not None and not _is_delimiter(self.delimiter):
            raise ValueError(
                f"delimiter must be one character, and no letter, digit, quote or line end; got "
                f"{self.delimiter!r}."
            )
        if self.delimiter == self.decimal == ".":  # commas can be both: the decimal ones are quoted
            raise ValueError("delimiter and decimal are both '.'.")
        if self.thousands is not None and self.thousands in (self.decimal, self.delimiter):
            other = "decimal" if self.thousands == self.decimal else "delimiter"
            raise ValueError(f"thousands and {other} are both {self.thousands!r}.")
        try:
            "".encode(self.encoding)
        except (LookupError, TypeError) as error:
            raise ValueError(
                f"encoding must be the name of one, such as 'utf-8', 'latin-1' or 'utf-16'; got "
                f"{self.encoding!r}."
            ) from error
        if self.columns is not None:
            _check_columns(self.columns)
            if self.layout == "table":
                raise ValueError("columns names the columns of triplets or pairs, not of a table.")
            if self.layout not in (None, "pairs" if len(self.columns) == 2 else "triplets"):
                raise ValueError(
                    f"columns must name the columns of {self.layout}; got {list(self.columns)}."
                )

    def duplicates_of(self, layout: Layout) -> Duplicates:
        """Return what becomes of several entries for a cell; one of pairs is 1, however often."""
        return self.duplicates or ("once" if layout == "pairs" else "sum")

    @property
    def given(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        pairs = ((one.name, getattr(self, one.name), one.default) for one in fields(self))
        return {name: value for name, value, default in pairs if value != default}

    def refuse_others(self, accepted: Iterable[str], format: str) -> None:  # noqa: A002
        """Refuse options that mean nothing to a format, rather than ignore them."""
        for name in self.given:
            if name not in accepted:
                raise ValueError(f"{name}=... has no meaning for the format {format!r}.")


def _is_delimiter(text: Any) -> bool:
    if not isinstance(text, str) or len(text) != 1:
        return False
    return not text.isalnum() and text.isascii() and text not in "\"'\r\n\0+-"


def _check_columns(columns: Any) -> None:
    is_list = isinstance(columns, tuple) and len(columns) in (2, 3)
    if not is_list or not all(isinstance(one, str | int) for one in columns):
        raise ValueError(
            "columns must be three names, or numbers counted from 1: those of rows, columns and "
            f"values; or two, of rows and columns; got {columns!r}."
        )
