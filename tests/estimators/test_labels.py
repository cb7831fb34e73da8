"""Labels, scores and columns: one cluster for each item, and minus the objective per cell."""

from __future__ import annotations

import builtins
import sys
import warnings
from dataclasses import replace

import numpy as np
import oracle
import pytest
from instances import planted
from models import NAMES, column_members, fit_noticing, make_model, row_members, save_unchecked
from scipy import sparse
from sklearn.base import clone, is_clusterer
from sklearn.model_selection import GridSearchCV

from neocc import (
    MSSR,
    NEOCC,
    ROCC,
    LowRankNEOKMeans,
    NEOKMeans,
    RedundancyWarning,
    SingleClusterWarning,
    top_features,
)
from neocc.core.engine import Engine
from neocc.io import ModelFileError, column_distances, load_model, save_model

OVERLAP = {"row_overlap": 0.3, "row_outliers": 0.1, "column_overlap": 0.3, "column_outliers": 0.1}
ROWS = {"row_overlap": 0.3, "row_outliers": 0.1}
CASES = {
    "mean": OVERLAP,
    "share": {"overlap_model": "share", **OVERLAP},
    "average": {"overlap_model": "average", **OVERLAP},
    "sum": {"overlap_model": "sum", **OVERLAP},
    "either": {"overlap_model": "either", **ROWS},
    "residue": {"objective": "residue", **OVERLAP},
    "residue average": {"objective": "residue", "overlap_model": "average", **OVERLAP},
    "background": {"outlier_cost": "background", **OVERLAP},
    "poisson": {"objective": "poisson", **OVERLAP},
    "poisson average": {"objective": "poisson", "overlap_model": "average", **OVERLAP},
    "diagonal": {"objective": "diagonal", **OVERLAP},
    "modularity": {"objective": "modularity", **OVERLAP},
    "observed": {"missing": "ignore", "overlap_model": "share", **OVERLAP},
    "observed average": {"missing": "ignore", "overlap_model": "average", **OVERLAP},
    "observed effects": {"missing": "ignore", "remove_effects": True, **OVERLAP},
    "disjoint": {},
}


def make_data(options, seed=0):
    rng = np.random.default_rng(seed)
    X = planted(rng, 40, 18, 3, 3, noise=0.8)
    if options.get("objective") in ("poisson", "diagonal", "modularity"):
        return rng.poisson(np.exp(X / 3)).astype(float)
    if options.get("missing") == "ignore":
        return np.where(rng.random(X.shape) < 0.3, np.nan, X)
    return X


def fit(options, X, **others):
    model = NEOCC(3, 3, n_init=2, refine=False, tol=0.0, random_state=0, **options, **others)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundancyWarning)
        return model.fit(X)


def literal_labels(members, d):
    """The nearest of the clusters of an item, found one item at a time."""
    labels = np.full(len(members), -1)
    for item, clusters in enumerate(members):
        inside = np.flatnonzero(clusters)
        if len(inside):
            labels[item] = min(inside, key=lambda cluster: (d[item, cluster], cluster))
    return labels


# ------------------------------------------------------------------------------------ labels


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("case", CASES)
def test_labels_are_the_nearest_of_the_memberships(case, seed):
    options = CASES[case]
    X = make_data(options, seed)
    model = fit(options, X)
    expected = literal_labels(model.row_membership_, model.transform(X))
    np.testing.assert_array_equal(model.row_labels_, expected)
    expected = literal_labels(model.column_membership_, column_distances(model, X))
    np.testing.assert_array_equal(model.column_labels_, expected)
    np.testing.assert_array_equal(model.row_labels_ == -1, model.row_outliers_)
    assert model.row_labels_.dtype == model.column_labels_.dtype == np.intp


@pytest.mark.parametrize("max_iter", [1, 100])
@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_labels_follow_the_papers_distances(objective, max_iter):
    X = np.random.default_rng(3).normal(size=(40, 30))
    overlap = {"row_overlap": 0.8, "column_overlap": 0.8}
    model = fit({"objective": objective, **overlap}, X, max_iter=max_iter)
    U, V = model.row_membership_, model.column_membership_
    assert (U.sum(axis=1) > 1).any()
    assert (V.sum(axis=1) > 1).any()
    d = oracle.distances_rows(X, U, V, objective)
    np.testing.assert_array_equal(model.row_labels_, literal_labels(U, d))
    d = oracle.distances_rows(X.T, V, U, objective)
    np.testing.assert_array_equal(model.column_labels_, literal_labels(V, d))


@pytest.mark.parametrize("name", NAMES)
def test_predictions_are_labels_whatever_the_memberships(name):
    X = make_data({})
    model = fit_noticing(make_model(name, tol=0.0), X)
    labels = model.labels_ if hasattr(model, "labels_") else model.row_labels_
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_array_equal(labels, literal_labels(row_members(model), model.transform(X)))
    new = X[:7] + 0.1
    members = model.predict_membership(new)
    np.testing.assert_array_equal(model.predict(new), literal_labels(members, model.transform(new)))
    again = fit_noticing(make_model(name, tol=0.0), X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundancyWarning)
        np.testing.assert_array_equal(clone(again).fit_predict(X), labels)


def test_neo_k_means_is_a_clusterer():
    assert is_clusterer(NEOKMeans())
    assert is_clusterer(LowRankNEOKMeans())
    X = make_data({})
    model = NEOKMeans(3, overlap=0.3, outliers=0.1, random_state=0).fit(X)
    assert set(model.labels_) == {-1, 0, 1, 2}
    np.testing.assert_array_equal(model.fit_predict(X, row_weight=np.ones(len(X))), model.labels_)


def test_rocc_labels_are_the_best_of_its_coclusters():
    X = np.random.default_rng(0).normal(size=(60, 40))
    X[:20, :25] += 3.0
    X[15:40, 20:35] -= 3.0
    model = ROCC(n_coclusters=2, random_state=0).fit(X)
    assert model.row_membership_.all(axis=1).any()
    assert model.column_membership_.all(axis=1).any()
    expected = literal_labels(model.row_membership_, model.transform(X))
    np.testing.assert_array_equal(model.row_labels_, expected)
    np.testing.assert_array_equal(model.column_labels_ == -1, model.column_outliers_)
    errors = np.empty((40, 2))
    for i, rows in enumerate(model.row_membership_.T):
        errors[:, i] = np.square(X[rows] - model.means_[i]).mean(axis=0)
    expected = literal_labels(model.column_membership_, errors)
    np.testing.assert_array_equal(model.column_labels_, expected)
    members, sizes = model.predict_membership(X), model.column_membership_.sum(axis=0)
    costs = (model.transform(X) * sizes)[members].sum()
    assert model.score(X) == pytest.approx(-costs / X.size)


def test_labels_do_not_depend_on_how_rows_are_read(tmp_path):
    from neocc.io import open_store, write_store

    X = sparse.csr_array(np.maximum(make_data({}), 0.0))
    expected = fit(OVERLAP, X)
    store = open_store(write_store(tmp_path / "store", X, rows_per_block=7).path)
    for rows, n_jobs in ((X, 2), (store, 1), (store, 2)):
        found = fit(OVERLAP, rows, n_jobs=n_jobs)
        np.testing.assert_array_equal(found.row_labels_, expected.row_labels_)
        np.testing.assert_array_equal(found.column_labels_, expected.column_labels_)


def test_without_overlap_labels_cost_no_pass(monkeypatch):
    asked = []
    monkeypatch.setattr(Engine, "nearest_rows", lambda *_: asked.append(1) or np.zeros(40, int))
    X = make_data({})
    NEOKMeans(3, overlap=-0.1, outliers=0.1, n_init=1).fit(X)
    fit({}, X)
    assert not asked
    fit(OVERLAP, X)
    assert len(asked) == 1


# ------------------------------------------------------------------------------------- score


@pytest.mark.parametrize("case", CASES)
def test_score_is_minus_the_objective_per_cell(case):
    options = CASES[case]
    X = make_data(options)
    model = fit(options, X)
    # At the price of a membership a pair may differ by a change that exact counts took.
    same = np.array_equal(model.predict_membership(X), model.row_membership_)
    n_cells = np.isfinite(X).sum()
    assert model.score(X) == pytest.approx(-model.objective_ / n_cells, rel=1e-9 if same else 0.02)


@pytest.mark.parametrize("name", NAMES)
def test_score_of_new_rows_is_literal(name):
    X = make_data({})
    model = fit_noticing(make_model(name, tol=0.0), X)
    new = X[:9] + np.random.default_rng(1).normal(size=(9, X.shape[1]))
    members, d = model.predict_membership(new), model.transform(new)
    assert model.score(new) == pytest.approx(-d[members].sum() / new.size, rel=1e-9)
    assert model.score(new, np.zeros(9)) == model.score(new)


def test_grid_search_needs_no_scorer():
    X = planted(np.random.default_rng(0), 60, 24, 3, 3, noise=0.3)
    search = GridSearchCV(
        NEOCC(3, 3, n_init=2, random_state=0), {"n_row_clusters": [1, 2, 3]}, cv=3
    ).fit(X)
    assert search.best_params_ == {"n_row_clusters": 3}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    search = GridSearchCV(NEOKMeans(n_init=2, random_state=0), {"n_clusters": [1, 3]}, cv=3).fit(X)
    assert search.best_params_ == {"n_clusters": 3}
    assert (search.best_estimator_.predict(X) >= 0).all()


def test_grid_search_with_overlap_may_begin_with_one_cluster():
    X = planted(np.random.default_rng(0), 60, 24, 3, 3, noise=0.3)
    search = GridSearchCV(
        NEOKMeans(overlap=0.1, n_init=2, random_state=0), {"n_clusters": [1, 3]}, cv=3
    )
    with pytest.warns(SingleClusterWarning, match="^overlap=0.1 has no meaning with n_clusters=1"):
        search.fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


# ----------------------------------------------------------------------------------- columns


@pytest.mark.parametrize("case", [case for case in CASES if case != "observed effects"])
def test_columns_of_the_fit_get_their_own_memberships(case):
    options = CASES[case]
    X = make_data(options)
    model = fit(options, X)
    found = model.predict_membership(X, axis="columns")
    same = (found == model.column_membership_).all(axis=1)
    # At the price of a membership exact counts may have taken a few single changes.
    assert same.all() if "overlap_model" not in options else same.mean() > 0.8
    np.testing.assert_array_equal(
        model.predict_membership(X[:, [5, 3]], axis="columns"), found[[5, 3]]
    )


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_new_columns_are_decided_as_new_rows_of_the_transpose_are(objective, offset):
    X = make_data({}) + offset
    if objective == "residue":
        X += offset * np.random.default_rng(1).normal(size=(40, 1))
    model = fit({"objective": objective, **OVERLAP}, X)
    assert (model._column_model.row_effects is not None) == (offset > 0.0)
    U, V = model.row_membership_, model.column_membership_
    swapped = NEOCC(
        3,
        3,
        objective=objective,
        init=(V, U),
        n_init=1,
        refine=False,
        max_iter=1,
        row_overlap=OVERLAP["column_overlap"],
        row_outliers=OVERLAP["column_outliers"],
        column_overlap=OVERLAP["row_overlap"],
        column_outliers=OVERLAP["row_outliers"],
    )
    swapped = fit_noticing(swapped, X.T)
    np.testing.assert_array_equal(swapped.row_membership_, V)
    rng = np.random.default_rng(2)
    new = np.hstack([X, X[:, :6] + 3.0, rng.permutation(X)]) + rng.normal(size=(40, 42)) / 5
    found = model.predict_membership(new, axis="columns")
    np.testing.assert_array_equal(found, swapped.predict_membership(new.T))
    assert found[:18].any(axis=1).sum() > 9
    assert not found[24:].all()
    as_sparse = sparse.csr_array(new)
    np.testing.assert_array_equal(model.predict_membership(as_sparse, axis="columns"), found)


def test_columns_where_rows_could_follow_several_clusters_and_none_does():
    X = make_data({})
    model = NEOCC(1, 3, overlap_model="either", row_outliers=0.1, random_state=0).fit(X)
    assert (model.row_membership_.sum(axis=1) == 1).all()
    found = model.predict_membership(X, axis="columns")
    np.testing.assert_array_equal(found, model.column_membership_)


def test_columns_of_disjoint_models_and_of_files(tmp_path):
    X = make_data({})
    for model in (MSSR(3, 3, random_state=0), NEOCC(3, 3, random_state=0, **OVERLAP)):
        fit_noticing(model, X)
        found = model.predict_membership(X, axis="columns")
        np.testing.assert_array_equal(found, column_members(model))
        save_model(model, tmp_path / "model.neocc", force=True)
        again = load_model(tmp_path / "model.neocc")
        np.testing.assert_array_equal(again.predict_membership(X, axis="columns"), found)
        np.testing.assert_array_equal(again.row_labels_, model.row_labels_)


def test_effects_of_new_columns_are_found_from_those_of_the_rows():
    options = CASES["observed effects"]
    X = make_data(options)
    model = fit(options, X)
    found = model.predict_membership(X, axis="columns")
    # The effects of columns in a fit come from the effects of rows one turn before.
    assert (found == model.column_membership_).all(axis=1).mean() > 0.8


@pytest.mark.parametrize(
    "damage",
    [
        lambda model: 3,
        lambda model: replace(model, terms=None),
        lambda model: replace(model, terms=replace(model.terms, slope=None)),
        lambda model: replace(model, terms=replace(model.terms, offset=np.zeros(2))),
        lambda model: replace(model, terms=replace(model.terms, single=2)),
        lambda model: replace(model, terms=replace(model.terms, table=np.zeros((39, 3)))),
        lambda model: replace(model, row_effects=np.zeros(7)),
        lambda model: replace(model, extra_threshold="far"),
    ],
)
def test_damaged_comparisons_of_columns_are_refused(damage, tmp_path):
    model = fit({"objective": "residue", **OVERLAP}, make_data({}))
    model._column_model = damage(model._column_model)
    save_unchecked(model, tmp_path / "model.neocc")
    with pytest.raises(ModelFileError):
        load_model(tmp_path / "model.neocc")


def test_comparisons_over_other_row_clusters_are_refused():
    X = make_data({})
    model = fit(OVERLAP, X)
    terms = model._column_model.terms
    narrow = replace(terms, slope=terms.slope[:2])
    model._column_model = replace(model._column_model, terms=narrow)
    with pytest.raises(ValueError, match="other clusters than the rows"):
        model.predict_membership(X, axis="columns")


def test_other_rows_and_axes_are_refused():
    X = make_data({})
    model = fit({}, X)
    with pytest.raises(ValueError, match="New columns need the 40 rows of the fit"):
        model.predict_membership(X[:30], axis="columns")
    with pytest.raises(ValueError, match='axis must be "rows" or "columns"'):
        model.predict_membership(X, axis=1)
    model._column_model = None
    with pytest.raises(ValueError, match="older file"):
        model.predict_membership(X, axis="columns")


def test_patterns_of_rows_on_disk_are_not_kept(tmp_path):
    from neocc.io import open_store, write_store

    X = make_data({})
    store = open_store(write_store(tmp_path / "store", X, rows_per_block=9).path)
    model = fit({"objective": "residue", **OVERLAP}, store)
    np.testing.assert_array_equal(
        model.column_labels_, fit({"objective": "residue", **OVERLAP}, X).column_labels_
    )
    with pytest.raises(ValueError, match='engine="memory"'):
        model.predict_membership(X, axis="columns")
    assert fit({}, store).predict_membership(X, axis="columns").shape == (18, 3)


@pytest.mark.parametrize("kind", [NEOCC, MSSR])
def test_rows_of_new_columns_are_compared_by_name(kind, tmp_path):
    """As scikit-learn compares columns: other names are refused, and none are warned of."""
    pd = pytest.importorskip("pandas")
    X = make_data({})
    named = pd.DataFrame(X, index=[f"r{i}" for i in range(40)])
    model = kind(3, 3, n_init=1, refine=False, random_state=0).fit(named)
    wanted = model.predict_membership(named, axis="columns")
    save_model(model, tmp_path / "model.neocc")
    loaded = load_model(tmp_path / "model.neocc")
    np.testing.assert_array_equal(loaded.predict_membership(named, axis="columns"), wanted)
    for one in (model, loaded):
        with pytest.raises(ValueError, match=r"row 0 is 'r39', in the fit it was 'r0'. Take X.loc"):
            one.predict_membership(named[::-1], axis="columns")
        with pytest.raises(ValueError, match=r"row 3 is 'who', in the fit it was 'r3'\.$"):
            one.predict_membership(named.rename(index={"r3": "who"}), axis="columns")
    back = named[::-1].loc[model.row_names_in_]
    np.testing.assert_array_equal(model.predict_membership(back, axis="columns"), wanted)
    with pytest.warns(UserWarning, match="The fit has row names, but X has none"):
        np.testing.assert_array_equal(model.predict_membership(X, axis="columns"), wanted)
    model.fit(pd.DataFrame(X))  # numbers are no names
    assert not hasattr(model, "row_names_in_")
    model.predict_membership(pd.DataFrame(X)[::-1], axis="columns")
    with pytest.warns(UserWarning, match="X has row names, but the fit has none"):
        model.predict_membership(named, axis="columns")


# ------------------------------------------------------------------------------------ tables


def test_tables_name_members_with_their_groups_and_distances():
    pd = pytest.importorskip("pandas")
    X = make_data({})
    index, columns = [f"r{i}" for i in range(40)], [f"c{j}" for j in range(18)]
    frame = pd.DataFrame(X, index=index, columns=columns)
    model = fit(OVERLAP, frame)
    for side, table, members, d, names in (
        ("row", model.row_table(frame), model.row_membership_, model.transform(frame), index),
        (
            "column",
            model.column_table(frame),
            model.column_membership_,
            column_distances(model, frame),
            columns,
        ),
    ):
        assert list(table.columns) == [side, "name", "group", "distance"]
        expected, letter = [], side[0].upper()
        for item, clusters in enumerate(members):
            groups = np.flatnonzero(clusters).tolist()
            expected += [
                (item, names[item], f"{letter}{group + 1}", d[item, group]) for group in groups
            ]
            if not groups:
                expected.append((item, names[item], "", d[item].min()))
        assert table["group"].isna().sum() == (~members.any(axis=1)).sum()
        assert list(table.fillna({"group": ""}).itertuples(index=False, name=None)) == expected


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, lambda X: X.tolist()])
def test_items_without_names_are_called_by_their_numbers(make):
    pytest.importorskip("pandas")
    X = make_data({})
    model = NEOKMeans(3, overlap=0.2, random_state=0).fit(X)
    table = model.row_table(make(X))
    assert len(table) == 48
    assert table["name"].tolist() == [f"row {row + 1}" for row in table["row"]]
    disjoint = MSSR(3, 3, n_init=1, random_state=0).fit(X)
    rows, columns = disjoint.row_table(make(X)), disjoint.column_table(make(X))
    assert rows["group"].tolist() == [f"R{label + 1}" for label in disjoint.row_labels_]
    assert columns["group"].tolist() == [f"C{label + 1}" for label in disjoint.column_labels_]
    assert set(rows["group"]) == set(top_features(disjoint))


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_columns_of_coclusters_have_the_errors_that_decided_them(objective):
    pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(60, 40))
    X[:20, :25] += 3.0
    X[15:40, 20:35] -= 3.0
    model = ROCC(n_coclusters=2, objective=objective, random_state=0).fit(X)
    table, members = model.column_table(X), model.column_membership_
    nearest = table.dropna().sort_values("distance").drop_duplicates("column").sort_values("column")
    assert nearest.column.tolist() == np.flatnonzero(members.any(axis=1)).tolist()
    assert nearest.group.tolist() == [
        f"C{label + 1}" for label in model.column_labels_ if label >= 0
    ]
    for k, group in enumerate(("C1", "C2")):
        block = X[np.ix_(*model.get_indices(k))]
        centre = block.mean()
        if objective == "residue":
            centre = block.mean(axis=1, keepdims=True) + block.mean(axis=0) - centre
        d = table[table.group == group].distance
        np.testing.assert_allclose(d, np.square(block - centre).mean(axis=0))


def test_tables_take_what_fits_take():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(make_data({}))
    model = fit({}, frame.lazy())
    for table in (model.row_table, model.column_table):
        assert table(frame.lazy()).equals(table(frame))


def test_tables_need_the_data_of_the_fit_and_pandas(monkeypatch):
    X = make_data({})
    model = fit({}, X)
    for table in (model.row_table, model.column_table):
        with pytest.raises(ValueError, match=r"of shape \(40, 18\); X has shape \(7, 18\)"):
            table(X[:7])
    imported = builtins.__import__

    def without_pandas(name, *rest, **options):
        if name == "pandas":
            raise ImportError(name)
        return imported(name, *rest, **options)

    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match="row_table returns a data frame: pip install pandas"):
        model.row_table(X)
