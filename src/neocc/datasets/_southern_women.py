"""The Southern Women attendance table."""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# Rows of the two cliques that the book's authors saw: Ruth DeSand, row 8, is in both.
_CLIQUES = (range(9), range(8, 18))

# Month and day of E1 to E14 as printed in the book, which leaves out the year.
_EVENT_DATES = (
    "06-27", "03-02", "04-12", "09-26", "02-25", "05-19", "03-15",
    "09-16", "04-08", "06-10", "02-23", "04-07", "11-21", "08-03",
)  # fmt: skip

_CITATION = (
    "Davis, A., Gardner, B. B., and Gardner, M. R. (1941). Deep South: A Social "
    "Anthropological Study of Caste and Class. University of Chicago Press."
)

_DESCR = f"""\
Southern Women
==============

Which of 18 women were present at which of 14 social events, in a small town of the American South
in the 1930s. One row a woman, one column an event, 1 where she attended: 89 of the 252 cells.

Rows and columns stand in the order of the book, which its authors had already arranged by what
they knew of the town: two cliques, the first nine women and the last ten, with Ruth DeSand in
both (field "cliques"). Names follow the book; other copies spell Myra Liddell and Katherine Rogers
differently.

{_CITATION}
"""


def load_southern_women() -> Bunch:
    """Load the attendance of 18 women at 14 social events.

    The classic small two-mode network of Davis, Gardner and Gardner [1]_: two social circles that
    share some events and some members.

    Returns
    -------
    data : sklearn.utils.Bunch
        Dictionary-like object with the attributes

        data : ndarray of shape (18, 14), float64
            1 where the woman of this row attended the event of this column, else 0.
        row_names : list of str
            The women, in the order of the book.
        column_names : list of str
            The events, ``"E1"`` to ``"E14"``.
        column_dates : list of str
            The day of each event as month and day, ``"06-27"``. The book gives no year.
        cliques : ndarray of shape (18, 2), bool
            The two overlapping cliques that the authors of the book saw among the women; also as
            ``row_membership``, with ``row_class_names``.
        DESCR : str
            What the data is.
        citation : str
            Where it comes from.

    References
    ----------
    .. [1] Davis, A., Gardner, B. B., and Gardner, M. R. (1941). Deep South: A Social
       Anthropological Study of Caste and Class. University of Chicago Press.

    Examples
    --------
    >>> from neocc.datasets import load_southern_women
    >>> women = load_southern_women()
    >>> women.data.shape
    (18, 14)
    >>> attended = women.data[women.row_names.index("Flora Price")] == 1
    >>> [event for event, there in zip(women.column_names, attended) if there]
    ['E9', 'E11']
    """
    import numpy as np
    from sklearn.utils import Bunch

    path = files("neocc.datasets") / "data" / "southern_women.csv"
    header, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    cliques = np.array([[row in clique for clique in _CLIQUES] for row in range(len(rows))])
    return Bunch(
        data=np.array([row[1:] for row in rows], dtype=np.float64),
        row_names=[row[0] for row in rows],
        column_names=header[1:],
        column_dates=list(_EVENT_DATES),
        cliques=cliques,
        row_membership=cliques,
        row_class_names=[f"clique {number + 1}" for number in range(len(_CLIQUES))],
        DESCR=_DESCR,
        citation=_CITATION,
    )


def neutral_order() -> Bunch:
    """Load the data, women by name and events by date.

    The book prints the table as its authors sorted it, which gives the answer away.
    """
    data = load_southern_women()
    rows = sorted(range(len(data.row_names)), key=data.row_names.__getitem__)
    columns = sorted(range(len(data.column_names)), key=data.column_dates.__getitem__)
    data.data = data.data[rows][:, columns]
    data.row_names = [data.row_names[row] for row in rows]
    data.column_names = [data.column_names[column] for column in columns]
    data.column_dates = [data.column_dates[column] for column in columns]
    data.cliques = data.row_membership = data.cliques[rows]
    return data
