"""The 7 x 6 case study of the method paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sklearn.utils import Bunch

    from neocc._typing import BoolArray

_DATA = (
    (0.05, 0.05, 0.05, 0.00, 0.00, 0.00),
    (0.05, 0.05, 0.05, 0.00, 0.00, 0.00),
    (0.04, 0.04, 0.04, 0.00, 0.04, 0.04),
    (0.04, 0.04, 0.00, 0.04, 0.04, 0.04),
    (0.00, 0.00, 0.00, 0.05, 0.05, 0.05),
    (0.00, 0.00, 0.00, 0.05, 0.05, 0.05),
    (0.00, 0.00, 0.30, 0.00, 0.00, 0.00),
)

# Name, clusters of each row, clusters of each column, number of row clusters, printed objective.
# A digit is a cluster, two digits are an overlap, "-" is an outlier.
_CONFIGURATIONS = (
    ("a", "0 0 0 1 1 1 0", "0 0 0 1 1 1", 2, 0.0720),
    ("b", "0 0 1 1 2 2 0", "0 0 0 1 1 1", 3, 0.0677),
    ("c", "0 0 01 01 1 1 -", "0 0 0 1 1 1", 2, 0.0137),
    ("d", "0 0 01 01 1 1 -", "0 0 - 1 1 1", 2, 0.0102),
)

_CITATION = (
    "Whang, J. J., and Dhillon, I. S. Non-Exhaustive, Overlapping Co-Clustering: An Extended "
    "Analysis."
)

_DESCR = """\
Case study of the NEO-CC paper
==============================

A 7 x 6 matrix with two overlapping blocks, an outlying row (the last) and an outlying column (the
third), and four ways to co-cluster it, with the value of the NEO-CC-M objective printed for each:

(a) disjoint and exhaustive, two row clusters      0.0720
(b) disjoint and exhaustive, three row clusters    0.0677
(c) rows 3 and 4 in both clusters, row 7 in none   0.0137
(d) as (c), and column 3 in no cluster             0.0102

Whang, J. J., and Dhillon, I. S. Non-Exhaustive, Overlapping Co-Clustering: An Extended Analysis.
"""


def load_case_study() -> Bunch:
    """Load the 7 x 6 matrix of the method paper and its four co-clusterings.

    The case study [1]_ shows that the objective prefers the co-clustering a reader would draw, one
    with overlap and outliers, to those without.

    Returns
    -------
    data : sklearn.utils.Bunch
        Dictionary-like object with the attributes

        data : ndarray of shape (7, 6), float64
            The matrix.
        row_names, column_names : list of str
            Numbers, for the paper gives no names.
        configurations : list of sklearn.utils.Bunch
            The four co-clusterings, each with ``name`` (``"a"`` to ``"d"``), ``row_membership``
            (bool ndarray of shape (7, 2) or (7, 3)), ``column_membership`` (bool ndarray of shape
            (6, 2)) and ``printed_objective`` (NEO-CC-M, four decimals, as in the paper).
        DESCR, citation : str
            Description and citation of the data.

    References
    ----------
    .. [1] Whang, J. J., and Dhillon, I. S. Non-Exhaustive, Overlapping Co-Clustering: An Extended
       Analysis. Section "Case Study".

    Examples
    --------
    >>> from neocc.datasets import load_case_study
    >>> case = load_case_study()
    >>> [(c.name, c.printed_objective) for c in case.configurations]
    [('a', 0.072), ('b', 0.0677), ('c', 0.0137), ('d', 0.0102)]
    >>> case.configurations[3].column_membership.sum(axis=1)
    array([1, 1, 0, 1, 1, 1])
    """
    import numpy as np
    from sklearn.utils import Bunch

    def membership(labels: str, n_clusters: int) -> BoolArray:
        items = labels.split()
        return np.array([[str(j) in item for j in range(n_clusters)] for item in items])

    configurations = [
        Bunch(
            name=name,
            row_membership=membership(rows, n_row_clusters),
            column_membership=membership(columns, 2),
            printed_objective=objective,
        )
        for name, rows, columns, n_row_clusters, objective in _CONFIGURATIONS
    ]
    data = np.array(_DATA)
    return Bunch(
        data=data,
        row_names=[f"row {number + 1}" for number in range(data.shape[0])],
        column_names=[f"column {number + 1}" for number in range(data.shape[1])],
        configurations=configurations,
        DESCR=_DESCR,
        citation=_CITATION,
    )
