"""Bad input gets one clear error and leaves the estimator usable."""

from __future__ import annotations

import numpy as np
import pytest
from models import make_model
from scipy import sparse
from sklearn.exceptions import NotFittedError

from neocc import MSSR, NEOCC, NEOKMeans, objective_value

ESTIMATORS = ("NEOCC mean", "NEOCC residue", "NEOKMeans", "MSSR mean")
GOOD = np.random.default_rng(0).normal(size=(12, 9))


def with_value(value, row=7, column=2):
    X = GOOD.copy()
    X[row, column] = value
    return X


def test_rows_near_zero_are_rows_like_others():
    X = np.where(np.arange(12)[:, None] < 11, GOOD * 1e-200, GOOD)
    model = make_model("NEOKMeans").fit(X)
    assert model.predict(X[:3]).shape == (3,)
    fitted = make_model("NEOCC mean").fit(X)
    assert fitted.predict_membership(X[:, :2] * 1e-200, axis="columns").shape == (2, 3)
    assert make_model("NEOKMeans").fit(np.zeros((12, 9))).objective_ == 0.0


def assert_usable(model):
    """Fit good data as if nothing had happened."""
    expected = type(model)(**model.get_params()).fit(GOOD)
    np.testing.assert_array_equal(model.fit(GOOD).history_, expected.history_)


# --------------------------------------------------------------------------------------- data

BAD_DATA = {
    "NaN": (with_value(np.nan), r"contains NaN.*row 7, column 2"),
    "infinity": (with_value(np.inf), r"contains infinity.*row 7, column 2"),
    "minus infinity": (with_value(-np.inf), r"contains infinity.*row 7, column 2"),
    "NaN in float32": (with_value(np.nan).astype(np.float32), r"contains NaN.*row 7, column 2"),
    "NaN in Fortran order": (np.asfortranarray(with_value(np.nan)), r"NaN.*row 7, column 2"),
    "NaN in CSR": (sparse.csr_array(with_value(np.nan)), r"contains NaN.*row 7, column 2"),
    "infinity in CSC": (sparse.csc_array(with_value(np.inf)), r"infinity.*row 7, column 2"),
    "NaN as an object": (with_value(np.nan).astype(object), r"contains NaN.*row 7, column 2"),
    "too large": (with_value(1e200), r"1e\+200 at row 7, column 2.*[Rr]escale"),
    "too large, negative": (with_value(-1e200), r"-1e\+200 at row 7, column 2.*[Rr]escale"),
    "too large in CSR": (sparse.csr_array(with_value(1e200)), r"1e\+200 at row 7, column 2"),
    "too small": (GOOD * 1e-200, r"no number larger than 2\.\de-200.*underflow.*Rescale"),
    "too small in CSR": (sparse.csr_array(GOOD * 1e-200), r"no number larger than 2\.\de-200"),
    "no rows": (np.empty((0, 4)), r"0 sample"),
    "no columns": (np.empty((4, 0)), r"0 feature"),
    "no rows in CSR": (sparse.csr_array((0, 4)), r"0 sample"),
    "one-dimensional": (np.arange(5.0), r"Expected 2D array, got 1D array"),
    "three-dimensional": (np.ones((2, 3, 4)), r"dim 3"),
    "scalar": (3.0, r"Expected 2D array, got scalar"),
    "strings": (np.array([["a", "b"], ["c", "d"]]), r"strings|could not convert string"),
    "strings as objects": (np.array([["a", 1], ["b", 2]], dtype=object), r"could not convert"),
    "complex": (GOOD + 1j, r"[Cc]omplex data not supported"),
    "complex CSR": (sparse.csr_array(GOOD + 1j), r"[Cc]omplex data not supported"),
}


@pytest.mark.parametrize("bad", BAD_DATA)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_bad_data(name, bad):
    X, message = BAD_DATA[bad]
    model = make_model(name)
    with pytest.raises(ValueError, match=message):
        model.fit(X)
    assert_usable(model)


@pytest.mark.parametrize("bad", BAD_DATA)
def test_objective_value_of_bad_data(bad):
    X, message = BAD_DATA[bad]
    with pytest.raises(ValueError, match=message):
        objective_value(X, np.ones((12, 1)), np.ones((9, 1)))


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_bad_cells_of_frames_are_named(name, library):
    frames = pytest.importorskip(library)
    X = with_value(np.inf)
    frame = frames.DataFrame({f"gene {t}": X[:, t] for t in range(9)})
    model = make_model(name)
    with pytest.raises(ValueError, match=r"infinity.*row 7, column 2 \('gene 2'\)"):
        model.fit(frame)
    assert_usable(model)


def test_the_first_of_several_bad_cells_is_named_and_all_are_counted():
    X = with_value(np.nan)
    X[9, 0], X[7, 5] = np.inf, np.nan
    with pytest.raises(ValueError, match=r"3 of its values.*first at row 7, column 2"):
        NEOCC().fit(X)
    with pytest.raises(ValueError, match=r"3 of its values.*first at row 7, column 2"):
        NEOCC().fit(sparse.csr_array(X))


# --------------------------------------------------------------------------------- parameters

BAD_NEOCC = {
    "more clusters than rows": ({"n_row_clusters": 13}, r"n_row_clusters=13 .*rows.*12"),
    "more clusters than columns": ({"n_column_clusters": 10}, r"n_column_clusters=10 .*columns.*9"),
    "no clusters": ({"n_row_clusters": 0}, r"'n_row_clusters' parameter"),
    "fractional clusters": ({"n_row_clusters": 2.5}, r"'n_row_clusters' parameter"),
    "clusters as text": ({"n_column_clusters": "3"}, r"'n_column_clusters' parameter"),
    "row overlap too high": ({"row_overlap": 2.1}, r"row_overlap=2\.1 is above"),
    "row overlap beyond floats": ({"row_overlap": 1e308}, r"row_overlap=1e\+308 is above"),
    "row overlap far below": ({"row_overlap": -1e308}, r"row_overlap=-1e\+308 is below"),
    "column overlap too high": ({"column_overlap": 2.1}, r"column_overlap=2\.1 is above"),
    "row overlap too low": (
        {"row_overlap": -0.3, "row_outliers": 0.1},
        r"row_overlap=-0\.3 is below",
    ),
    "column overlap too low": ({"column_overlap": -0.3}, r"column_overlap=-0\.3 is below"),
    "overlap NaN": ({"row_overlap": np.nan}, r"'row_overlap' parameter"),
    "overlap infinite": ({"column_overlap": np.inf}, r"'column_overlap' parameter"),
    "overlap as text": ({"row_overlap": "much"}, r"'row_overlap' parameter"),
    "overlap None": ({"row_overlap": None}, r"'row_overlap' parameter"),
    "outliers one": ({"row_outliers": 1.0}, r"'row_outliers' parameter"),
    "outliers above one": ({"column_outliers": 1.5}, r"'column_outliers' parameter"),
    "outliers negative": ({"row_outliers": -0.1}, r"'row_outliers' parameter"),
    "outliers NaN": ({"column_outliers": np.nan}, r"'column_outliers' parameter"),
    "everything an outlier": ({"row_outliers": 0.99}, r"row_outliers=0\.99 would leave out all"),
    "unknown objective": ({"objective": "median"}, r"'objective' parameter.*'median'"),
    "objective of the solver": ({"objective": "kmeans"}, r"'objective' parameter"),
}
# Four clusters to a side, but no more than so many memberships.
BAD_BOUNDS = {
    "rows": (
        {"row_overlap": 2.5, "max_memberships": 3},
        r"row_overlap=2\.5 is above max_memberships - 1 = 2.*raise max_memberships",
    ),
    "columns": (
        {"column_overlap": 1.2, "max_memberships": 2},
        r"column_overlap=1\.2 is above max_memberships - 1 = 1",
    ),
    "rows of another model": (
        {"n_row_clusters": 6, "row_overlap": 3.5, "overlap_model": "share", "max_memberships": 4},
        r"row_overlap=3\.5 is above max_memberships - 1 = 3",
    ),
    "a yes as clusters": ({"n_row_clusters": True}, r"'n_row_clusters' parameter"),
    "a yes as overlap": ({"row_overlap": True}, r"'row_overlap' parameter"),
    "a yes as prior": ({"objective": "poisson", "prior": True}, r"'prior' parameter"),
    "a yes as shrinkage": ({"missing": "ignore", "shrinkage": True}, r"'shrinkage' parameter"),
    "residue and sum": (
        {"objective": "residue", "overlap_model": "sum"},
        r"overlap_model='sum' makes no sense for objective='residue'",
    ),
}
BAD_OVERLAP_MODELS = {
    "unknown overlap model": ({"overlap_model": "borrow"}, r"'overlap_model' parameter.*'borrow'"),
    "overlap model None": ({"overlap_model": None}, r"'overlap_model' parameter"),
    "no memberships": ({"max_memberships": 0}, r"'max_memberships' parameter"),
    "a yes as memberships": ({"max_memberships": True}, r"'max_memberships' parameter"),
    "a yes as a size": ({"min_cluster_size": True}, r"'min_cluster_size' parameter"),
    "half a membership": ({"max_memberships": 1.5}, r"'max_memberships' parameter"),
    "memberships as text": ({"max_memberships": "2"}, r"'max_memberships' parameter"),
}
BAD_NEOKMEANS = {
    "more clusters than rows": ({"n_clusters": 13}, r"n_clusters=13 .*12"),
    "no clusters": ({"n_clusters": 0}, r"'n_clusters' parameter"),
    "clusters None": ({"n_clusters": None}, r"'n_clusters' parameter"),
    "overlap too high": ({"overlap": 2.1}, r"overlap=2\.1 is above"),
    "overlap too low": ({"overlap": -0.3, "outliers": 0.1}, r"overlap=-0\.3 is below"),
    "overlap NaN": ({"overlap": np.nan}, r"'overlap' parameter"),
    "outliers one": ({"outliers": 1}, r"'outliers' parameter"),
    "outliers negative": ({"outliers": -0.1}, r"'outliers' parameter"),
    "everything an outlier": ({"outliers": 0.99}, r"outliers=0\.99 would leave out all"),
    "init of NEOCC": ({"init": "neo-kmeans"}, r"'init' parameter"),
}
BAD_MSSR = {
    "more clusters than rows": ({"n_row_clusters": 13}, r"n_row_clusters=13 .*rows.*12"),
    "more clusters than columns": ({"n_column_clusters": 10}, r"n_column_clusters=10 .*columns.*9"),
    "unknown objective": ({"objective": "median"}, r"'objective' parameter"),
}
BAD_FOR_ALL = {
    "unknown init": ({"init": "best"}, r"'init' parameter.*'best'"),
    "init a number": ({"init": 3}, r"'init' parameter|init must have shape"),
    "no start": ({"n_init": 0}, r"'n_init' parameter"),
    "a yes as starts": ({"n_init": True}, r"'n_init' parameter"),
    "half a start": ({"n_init": 0.5}, r"'n_init' parameter"),
    "no iteration": ({"max_iter": 0}, r"'max_iter' parameter"),
    "negative tolerance": ({"tol": -1e-3}, r"'tol' parameter"),
    "tolerance NaN": ({"tol": np.nan}, r"'tol' parameter"),
    "unknown engine": ({"engine": "steam"}, r"'engine' parameter.*'steam'"),
    "unknown kernel": ({"kernel": "fortran"}, r"'kernel' parameter.*'fortran'"),
    "threads as text": ({"n_jobs": "all"}, r"'n_jobs' parameter"),
    "no threads": ({"n_jobs": 0}, r"n_jobs"),
    "seed as text": ({"random_state": "seed"}, r"'random_state' parameter"),
    "verbose negative": ({"verbose": -1}, r"'verbose' parameter"),
}
BAD_PARAMETERS = [
    *(
        ("NEOCC mean", bad, *case)
        for bad, case in {**BAD_NEOCC, **BAD_OVERLAP_MODELS, **BAD_FOR_ALL}.items()
    ),
    *(
        ("NEOKMeans", bad, *case)
        for bad, case in {**BAD_NEOKMEANS, **BAD_OVERLAP_MODELS, **BAD_FOR_ALL}.items()
    ),
    *(("MSSR mean", bad, *case) for bad, case in {**BAD_MSSR, **BAD_FOR_ALL}.items()),
]


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [(name, parameters, message) for name, _, parameters, message in BAD_PARAMETERS],
    ids=[f"{name}-{bad}" for name, bad, _, _ in BAD_PARAMETERS],
)
def test_bad_parameters(name, parameters, message):
    good = make_model(name).get_params()
    model = make_model(name, **parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(GOOD)
    assert_usable(model.set_params(**{key: good[key] for key in parameters}))


@pytest.mark.parametrize("bad", BAD_BOUNDS)
def test_bad_bounds_of_memberships(bad):
    parameters, message = BAD_BOUNDS[bad]
    model = NEOCC(**{"n_row_clusters": 4, "n_column_clusters": 4, "random_state": 0, **parameters})
    with pytest.raises(ValueError, match=message):
        model.fit(GOOD)
    good = NEOCC(4, 4, random_state=0, n_init=2, refine=False).get_params()
    assert_usable(model.set_params(**good))


def test_bad_bound_of_memberships_of_neokmeans():
    model = NEOKMeans(4, overlap=1.5, max_memberships=2, random_state=0)
    message = r"^overlap=1\.5 is above max_memberships - 1 = 1: 12 rows with at most"
    with pytest.raises(ValueError, match=message):
        model.fit(GOOD)
    assert_usable(model.set_params(max_memberships=3))


def test_the_largest_overlap_that_a_bound_allows_is_taken():
    U = NEOKMeans(4, overlap=1.0, max_memberships=2, random_state=0).fit(GOOD).membership_
    assert (U.sum(axis=1) == 2).all()


# -------------------------------------------------------------------------- given memberships

U3, V3 = np.eye(3)[np.arange(12) % 3], np.eye(3)[np.arange(9) % 3]


def changed(matrix, *cells):
    """A copy with some cells replaced: (row, column, value)."""
    matrix = matrix.copy()
    for row, column, value in cells:
        matrix[row, column] = value
    return matrix


BAD_PAIRS = {
    "U too short": ((U3[:-1], V3), r"U must have shape \(12, 3\).*\(11, 3\)"),
    "V too wide": ((U3, np.eye(9)), r"V must have shape \(9, 3\).*\(9, 9\)"),
    "U and V exchanged": ((V3, U3), r"U must have shape \(12, 3\)"),
    "U one-dimensional": ((np.zeros(12), V3), r"U must have shape"),
    "U with a two": ((changed(U3, (4, 1, 2)), V3), r"U must hold only 0 and 1.*row 4, column 1"),
    "V with NaN": ((U3, changed(V3, (2, 0, np.nan))), r"V must hold only 0 and 1.*row 2, column 0"),
    "U of text": ((U3.astype(str), V3), r"U must hold 0 and 1"),
    "U with too many memberships": ((changed(U3, (0, 1, 1)), V3), r"U has 13 .*exactly 12"),
    "V with too few memberships": ((U3, changed(V3, (0, 0, 0))), r"V has 8 .*exactly 9"),
    "U with an outlier too many": (
        (changed(U3, (0, 0, 0), (1, 0, 1)), V3),
        r"U leaves 1 .*row_outliers allows at most 0",
    ),
    "V with an outlier too many": (
        (U3, changed(V3, (0, 0, 0), (1, 0, 1))),
        r"V leaves 1 .*column_outliers allows at most 0",
    ),
    "one matrix": ((U3,), r"pair \(U, V\).*length 1"),
    "three matrices": ((U3, V3, U3), r"pair \(U, V\).*length 3"),
    "nothing": ((), r"pair \(U, V\).*length 0"),
    "Nones": ((None, None), r"U must"),
}


@pytest.mark.parametrize("bad", BAD_PAIRS)
@pytest.mark.parametrize("kind", [NEOCC, MSSR])
def test_bad_given_memberships(kind, bad):
    init, message = BAD_PAIRS[bad]
    if kind is MSSR:
        message = message.replace("row_outliers", ".*").replace("column_outliers", ".*")
    model = kind(3, 3, init=init, random_state=0)
    with pytest.raises(ValueError, match=message):
        model.fit(GOOD)
    assert_usable(model.set_params(init=(U3, V3)))


@pytest.mark.parametrize(
    ("init", "message"),
    [
        (U3[:-1], r"init must have shape \(12, 3\)"),
        (changed(U3, (4, 1, 2)), r"init must hold only 0 and 1.*row 4, column 1"),
        (changed(U3, (0, 1, 1)), r"init has 13 .*exactly 12"),
        (changed(U3, (0, 0, 0), (1, 0, 1)), r"init leaves 1 .*outliers allows at most 0"),
    ],
)
def test_bad_given_memberships_of_neokmeans(init, message):
    model = NEOKMeans(3, init=init)
    with pytest.raises(ValueError, match=message):
        model.fit(GOOD)
    assert_usable(model.set_params(init=U3))


@pytest.mark.parametrize("side", ["row", "column"])
def test_given_memberships_of_more_clusters_than_allowed(side):
    crowded = [changed(each, (5, 0, 1), (5, 1, 1), (5, 2, 1)) for each in (U3, V3)]
    U, V = (crowded[0], V3) if side == "row" else (U3, crowded[1])
    overlap = {f"{side}_overlap": 2 / 12 if side == "row" else 2 / 9}
    model = NEOCC(3, 3, init=(U, V), max_memberships=2, refine=False, **overlap)
    letter = "U" if side == "row" else "V"
    message = rf"{letter} puts item 5 into 3 clusters, but max_memberships allows at most 2"
    with pytest.raises(ValueError, match=message):
        model.fit(GOOD)
    assert_usable(model.set_params(max_memberships=3))


def test_given_memberships_of_neokmeans_of_more_clusters_than_allowed():
    crowded = changed(U3, (5, 0, 1), (5, 1, 1))
    model = NEOKMeans(3, init=crowded, overlap=2 / 12, max_memberships=2)
    with pytest.raises(ValueError, match=r"init puts item 5 into 3 clusters.*max_memberships=3"):
        model.fit(GOOD)
    assert_usable(model.set_params(max_memberships=None))


@pytest.mark.parametrize(
    ("objective", "overlap_model", "message"),
    [
        ("mean", "borrow", r"overlap_model must be one of 'repeat', 'share'.*'borrow'"),
        ("mean", None, r"overlap_model must be one of"),
        ("residue", "sum", r"overlap_model='sum' makes no sense for objective='residue'"),
    ],
)
def test_bad_overlap_models_of_objective_value(objective, overlap_model, message):
    with pytest.raises(ValueError, match=message):
        objective_value(GOOD, U3, V3, objective, overlap_model)


@pytest.mark.parametrize(
    ("U", "V", "objective", "message"),
    [
        (U3[:-1], V3, "mean", r"U must have shape \(12, n_clusters\)"),
        (U3, V3.T, "mean", r"V must have shape \(9, n_clusters\)"),
        (changed(U3, (4, 1, 0.5)), V3, "mean", r"U must hold only 0 and 1.*0\.5 at row 4"),
        (U3, V3, "median", r"objective must be .*'mean', 'residue'.*median"),
        (U3, V3, "kmeans", r"objective must be .*'mean', 'residue'.*kmeans"),
        (U3, V3, None, r"objective must be"),
    ],
)
def test_bad_arguments_of_objective_value(U, V, objective, message):
    with pytest.raises(ValueError, match=message):
        objective_value(GOOD, U, V, objective)


# ------------------------------------------------------------------------------ after the fit


@pytest.mark.parametrize("method", ["predict", "predict_membership", "transform"])
@pytest.mark.parametrize("name", ESTIMATORS)
class TestUse:
    def test_before_the_fit(self, name, method):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(make_model(name), method)(GOOD)

    def test_after_a_failed_fit(self, name, method):
        model = make_model(name)
        with pytest.raises(ValueError, match="NaN"):
            model.fit(with_value(np.nan))
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(model, method)(GOOD)

    def test_wrong_number_of_columns(self, name, method):
        model = make_model(name).fit(GOOD)
        with pytest.raises(ValueError, match=r"8 features.*expecting 9 features"):
            getattr(model, method)(GOOD[:, :-1])
        assert len(getattr(model, method)(GOOD)) == 12

    def test_bad_rows(self, name, method):
        model = make_model(name).fit(GOOD)
        with pytest.raises(ValueError, match=r"NaN.*row 7, column 2"):
            getattr(model, method)(with_value(np.nan))
        assert len(getattr(model, method)(GOOD)) == 12


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_failed_refit_leaves_the_earlier_fit(name):
    model = make_model(name).fit(GOOD)
    expected, earlier = model.predict(GOOD), dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(with_value(np.nan)[:, :5])
    assert vars(model).keys() == earlier.keys()
    assert all(value is earlier[name] for name, value in vars(model).items())
    np.testing.assert_array_equal(model.predict(GOOD), expected)


def test_a_path_is_no_data(tmp_path):
    with pytest.raises(TypeError, match=r"Input X is the path .* neocc\.io\.open_store"):
        NEOCC().fit(tmp_path / "ratings.blocks")
