"""scikit-learn's own checks, for every estimator, none of them expected to fail."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from neocc import MSSR, NEOCC, NEOKMeans


@parametrize_with_checks(
    [
        NEOCC(),
        NEOCC(objective="residue"),
        NEOCC(row_overlap=0.2, row_outliers=0.1, column_overlap=0.2, column_outliers=0.1),
        NEOCC(
            objective="residue",
            row_overlap=0.2,
            row_outliers=0.1,
            column_overlap=0.2,
            column_outliers=0.1,
        ),
        NEOKMeans(),
        NEOKMeans(outliers=0.1),  # the checks ask for a single cluster, which cannot overlap
        MSSR(),
        MSSR(objective="residue"),
    ]
)
def test_sklearn_check(estimator, check):
    check(estimator)
