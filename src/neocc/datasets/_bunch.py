"""The form in which all larger data sets are returned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neocc._typing import BoolArray

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def make_bunch(
    *,
    title: str,
    text: str,
    citation: str,
    licence: str,
    data: Any,
    row_names: list[str],
    column_names: list[str],
    row_membership: BoolArray | None = None,
    row_class_names: list[str] | None = None,
    column_membership: BoolArray | None = None,
    column_class_names: list[str] | None = None,
    **more: Any,
) -> Bunch:
    """Collect a matrix, its names, what is known about its clusters, and where it comes from."""
    from sklearn.utils import Bunch

    return Bunch(
        data=data,
        row_names=row_names,
        column_names=column_names,
        row_membership=row_membership,
        row_class_names=row_class_names,
        column_membership=column_membership,
        column_class_names=column_class_names,
        DESCR=f"{title}\n{'=' * len(title)}\n\n{text}\n\n{citation}\n\nLicence: {licence}\n",
        citation=citation,
        licence=licence,
        **more,
    )
