"""scikit-learn's own checks, for every estimator, none of them left out or expected to fail."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from neocc import MSSR, NEOCC, ROCC, CellPredictor, InfinitePlaid, LowRankNEOKMeans, NEOKMeans

OUTLIERS = {"row_outliers": 0.1, "column_outliers": 0.1}
OVERLAP = {"row_overlap": 0.2, "column_overlap": 0.2, **OUTLIERS}
QUICK = {"n_init": 1, "refine": False}
DISJOINT = (
    NEOCC(None, None, n_init=2),
    NEOCC(None, None, objective="residue", **QUICK),
    NEOKMeans(n_init=2),
    MSSR(n_init=1),
    MSSR(objective="residue", init="spectral", refine="chains", n_init=1),
    ROCC(n_init=1),
    ROCC(objective="residue", n_coclusters=1, n_init=1, expand=None),
    InfinitePlaid(n_sweeps=4, burn_in=2, n_moves=1, n_init=1),
    NEOCC(None, None, objective="poisson", **QUICK),
    NEOCC(None, None, objective="diagonal", **QUICK),
    NEOCC(None, None, objective="modularity", **QUICK),
)


OVERLAPPING = (
    NEOCC(None, None, **QUICK, **OVERLAP),
    NEOCC(None, None, objective="residue", **QUICK, **OVERLAP),
    NEOCC(None, None, overlap_model="average", **QUICK, **OVERLAP),
    NEOCC(None, None, missing="ignore", overlap_model="share", **QUICK, **OVERLAP),
    NEOCC(None, None, objective="poisson", overlap_model="average", **QUICK, **OVERLAP),
    NEOCC(None, None, objective="diagonal", overlap_model="share", **QUICK, **OUTLIERS),
    NEOKMeans(overlap=0.2, outliers=0.1, n_init=1),
    NEOKMeans(overlap=0.2, outliers=0.1, overlap_model="average", n_init=1),
    NEOKMeans(overlap=0.2, outliers=0.1, overlap_model="either", n_init=1),
    LowRankNEOKMeans(overlap=0.2, outliers=0.1, columns_per_cluster=1, max_iter=1),
)


# What is chosen for the user is chosen in every check, and relaxations take long.
@pytest.mark.slow
@parametrize_with_checks([NEOCC(), LowRankNEOKMeans(columns_per_cluster=1, max_iter=1)])
def test_slow_sklearn_check(estimator, check):
    check(estimator)


@parametrize_with_checks(DISJOINT)
def test_sklearn_check(estimator, check):
    check(estimator)


@parametrize_with_checks(OVERLAPPING)
@pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")  # tiny data, much overlap
@pytest.mark.filterwarnings("ignore::neocc.SingleClusterWarning")  # some ask for one cluster
def test_sklearn_check_with_overlap_and_outliers(estimator, check):
    check(estimator)


def first_two(X):
    return X[:, :2] if isinstance(X, np.ndarray) and X.ndim == 2 else X


class FirstTwo(CellPredictor):
    """A table of features to scikit-learn, which would check nothing if it were pairs of names.

    Most checks ask what data an estimator takes, and are told below; one makes thirty features.
    """

    def fit(self, X, y, sample_weight=None):
        return super().fit(first_two(X), y, sample_weight)

    def predict(self, X):
        return super().predict(first_two(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        tags.input_tags.categorical = False  # scikit-learn 1.6 subtracts means from categories
        return tags


@parametrize_with_checks([FirstTwo(n_models=1)])
def test_sklearn_check_of_pairs(estimator, check, monkeypatch):
    enforced = estimator_checks._enforce_estimator_tags_X
    monkeypatch.setattr(
        estimator_checks,
        "_enforce_estimator_tags_X",
        lambda estimator, X, **options: first_two(enforced(estimator, X, **options)),
    )
    check(estimator)


def test_scikit_learn_makes_no_tables_of_pairs():
    with pytest.warns(SkipTestWarning, match="Can't test estimator CellPredictor"):
        estimator_checks.check_estimator(CellPredictor())


def test_no_estimator_is_left_out():
    import neocc

    checked = (*DISJOINT, *OVERLAPPING, CellPredictor())
    public = [getattr(neocc, name) for name in neocc.__all__]
    public = [kind for kind in public if hasattr(kind, "fit")]
    assert public
    for kind in public:
        assert any(isinstance(each, kind) for each in checked), kind
