"""The estimators in the settings that most tests run over."""

from __future__ import annotations

import warnings
from unittest import mock

from neocc import MSSR, NEOCC, NEOKMeans, RedundancyWarning
from neocc.io import _model, save_model

OVERLAP = {"row_overlap": 0.2, "row_outliers": 0.1, "column_overlap": 0.1, "column_outliers": 0.1}

# Name: class and parameters. Three clusters on each clustered side.
SETTINGS = {
    "NEOCC mean": (NEOCC, {"n_row_clusters": 3, "n_column_clusters": 3}),
    "NEOCC residue": (
        NEOCC,
        {"n_row_clusters": 3, "n_column_clusters": 3, "objective": "residue"},
    ),
    "NEOCC mean overlap": (NEOCC, {"n_row_clusters": 3, "n_column_clusters": 3, **OVERLAP}),
    "NEOCC residue overlap": (
        NEOCC,
        {"n_row_clusters": 3, "n_column_clusters": 3, "objective": "residue", **OVERLAP},
    ),
    "NEOKMeans": (NEOKMeans, {"n_clusters": 3}),
    "NEOKMeans overlap": (NEOKMeans, {"n_clusters": 3, "overlap": 0.2, "outliers": 0.1}),
    "MSSR mean": (MSSR, {"n_row_clusters": 3, "n_column_clusters": 3}),
    "MSSR residue": (MSSR, {"n_row_clusters": 3, "n_column_clusters": 3, "objective": "residue"}),
}
NAMES = tuple(SETTINGS)
# Those that can refine their solutions.
TWO_WAY_NAMES = tuple(name for name in NAMES if not name.startswith("NEOKMeans"))


def make_model(name: str, **options):
    """Return an unfitted estimator; `options` replace its parameters."""
    kind, parameters = SETTINGS[name]
    plain = {} if kind is NEOKMeans else {"refine": False}
    return kind(**{"random_state": 0, "n_init": 2, **plain, **parameters, **options})


def fit_noticing(model, X):
    """Fit; clusters that nearly coincide are warned of where there are any, and only there."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", RedundancyWarning)
        model.fit(X)
    n_sides = 0 if isinstance(model, MSSR) else sum(map(bool, model.redundancy_.pairs().values()))
    assert len(told) == n_sides
    return model


def row_members(model):
    """Row memberships under whatever name the estimator has for them."""
    if isinstance(model, NEOCC):
        return model.row_membership_
    if isinstance(model, NEOKMeans):
        return model.membership_
    return model.row_labels_[:, None] == range(model.block_means_.shape[0])


def column_members(model):
    """Column memberships; None for a one-way estimator."""
    if isinstance(model, NEOCC):
        return model.column_membership_
    if isinstance(model, NEOKMeans):
        return None
    return model.column_labels_[:, None] == range(model.block_means_.shape[1])


def save_unchecked(model, path):
    """Write a model that could not be read back, which `save_model` refuses."""
    with mock.patch.object(_model, "_decoded"):
        save_model(model, path, force=True)
