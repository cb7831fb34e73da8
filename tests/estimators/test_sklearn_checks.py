"""scikit-learn's own checks, for every estimator, none of them expected to fail."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from neocc import MSSR, NEOCC, NEOKMeans

OVERLAP = {"row_overlap": 0.2, "row_outliers": 0.1, "column_overlap": 0.2, "column_outliers": 0.1}
OVERLAPPING = (
    NEOCC(None, None, n_init=2, refine=False, **OVERLAP),
    NEOCC(None, None, objective="residue", n_init=2, refine=False, **OVERLAP),
    # The checks ask for a single cluster, which cannot overlap.
    NEOKMeans(outliers=0.1, n_init=2),
)
# With overlap or outliers `predict` returns an indicator matrix, as scikit-learn's multi-label
# classifiers do. These two checks want one label per row, whatever the estimator; that sparse input
# is read as dense input is, which is what they are about, test_input.py says of all settings.
ONE_LABEL_PER_ROW = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")


@parametrize_with_checks(
    [
        NEOCC(),
        NEOCC(None, None),
        NEOCC(None, None, objective="residue", n_init=2),
        NEOKMeans(n_init=2),
        MSSR(n_init=2),
        MSSR(objective="residue", n_init=2),
    ]
)
def test_sklearn_check(estimator, check):
    check(estimator)


def checks_with_overlap():
    for given in OVERLAPPING:
        for estimator, check in estimator_checks_generator(given):
            name = getattr(check, "func", check).__name__
            if name not in ONE_LABEL_PER_ROW:
                yield pytest.param(estimator, check, id=f"{estimator}-{name}".replace(" ", ""))


@pytest.mark.parametrize(("estimator", "check"), list(checks_with_overlap()))
@pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")  # tiny data, much overlap
def test_sklearn_check_with_overlap_and_outliers(estimator, check):
    check(estimator)
