"""What a fit leaves behind, and that it is the same again for the same seed."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import oracle
import pytest
from instances import planted
from models import NAMES, TWO_WAY_NAMES, column_members, make_model, row_members
from sklearn.base import clone

from neocc import MSSR, NEOCC, NEOKMeans, objective_value


@pytest.fixture
def X():
    return planted(np.random.default_rng(0), 40, 30, 3, 3, noise=1.0)


def state(model):
    """Everything a fit computes, to be compared bit by bit."""
    names = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    return {name: getattr(model, name) for name in sorted(names)}


def assert_same_bits(first, second):
    first, second = state(first), state(second)
    assert list(first) == list(second)
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], err_msg=name)


def assert_history(model, X, literal):
    """It ends at the literal objective, and rises by no more than its largest term may round."""
    U, V = row_members(model), column_members(model)
    energy = oracle.energy(X, U, np.ones((X.shape[1], 1)) if V is None else V)
    assert model.history_[-1] == pytest.approx(literal, rel=1e-10, abs=1e-12 * energy)
    assert np.diff(model.history_).max(initial=0.0) <= 1e-9 * energy


# -------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (
            NEOCC,
            """n_row_clusters n_column_clusters objective row_overlap row_outliers column_overlap
            column_outliers init n_init refine max_iter tol engine kernel n_jobs random_state
            verbose""",
        ),
        (NEOKMeans, "n_clusters overlap outliers"),
        (MSSR, "n_row_clusters n_column_clusters objective"),
    ],
)
def test_parameters_have_the_planned_names(kind, names):
    assert set(names.split()) <= set(inspect.signature(kind).parameters)


# -------------------------------------------------------------------------------- attributes


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_neocc_attributes(X, objective, refine):
    model = NEOCC(
        4,
        3,
        objective=objective,
        row_overlap=0.3,
        row_outliers=0.1,
        column_overlap=0.2,
        column_outliers=0.1,
        refine=refine,
        random_state=0,
    ).fit(X)
    U, V = model.row_membership_, model.column_membership_
    assert (U.shape, U.dtype) == ((40, 4), bool)
    assert (V.shape, V.dtype) == ((30, 3), bool)
    assert (U.sum(), V.sum()) == (52, 36)
    np.testing.assert_array_equal(model.row_outliers_, ~U.any(axis=1))
    np.testing.assert_array_equal(model.column_outliers_, ~V.any(axis=1))
    assert model.row_outliers_.sum() <= 4
    assert model.column_outliers_.sum() <= 3
    means = [[X[np.ix_(u, v)].mean() for v in V.T] for u in U.T]
    np.testing.assert_allclose(model.block_means_, means, rtol=1e-10, atol=1e-12)
    literal = oracle.objective(X, U, V, objective)
    assert model.objective_ == pytest.approx(literal, rel=1e-10)
    assert objective_value(X, U, V, objective) == pytest.approx(literal, rel=1e-10)
    assert isinstance(model.objective_, float)
    assert isinstance(model.n_iter_, int)
    assert model.n_iter_ >= 1
    if not refine:
        assert model.n_iter_ <= 100
        assert len(model.history_) == 2 * model.n_iter_ + 1
    assert_history(model, X, literal)
    assert model.n_features_in_ == 30


@pytest.mark.parametrize("max_iter", [1, 2, 3, 4, 100])
@pytest.mark.parametrize("name", NAMES)
def test_every_entry_of_a_history_is_an_objective_of_memberships_on_the_way(X, name, max_iter):
    """What a fit of so many iterations ends with is what a longer one passes through."""
    options = {"init": "random", "n_init": 1, "tol": 0.0}
    model = make_model(name, max_iter=max_iter, **options).fit(X)
    whole = make_model(name, **options).fit(X)
    n = len(model.history_)
    np.testing.assert_array_equal(model.history_, whole.history_[:n])
    U, V = row_members(model), column_members(model)
    objective = model.get_params().get("objective")
    literal = (
        oracle.objective_neo_kmeans(X, U) if V is None else oracle.objective(X, U, V, objective)
    )
    assert_history(model, X, literal)


def test_bicluster_members(X):
    model = make_model("NEOCC mean overlap", n_column_clusters=2).fit(X)
    assert model.rows_.shape == (6, 40)
    assert model.columns_.shape == (6, 30)
    rows, columns = model.biclusters_
    np.testing.assert_array_equal(rows, model.rows_)
    np.testing.assert_array_equal(columns, model.columns_)
    for i in range(3):
        for j in range(2):
            block = i * 2 + j
            np.testing.assert_array_equal(rows[block], model.row_membership_[:, i])
            np.testing.assert_array_equal(columns[block], model.column_membership_[:, j])
            part = X[np.ix_(rows[block], columns[block])]
            np.testing.assert_array_equal(model.get_submatrix(block, X), part)
            assert model.get_shape(block) == part.shape
            assert part.mean() == pytest.approx(model.block_means_[i, j], rel=1e-10)


def test_neokmeans_attributes(X):
    model = NEOKMeans(4, overlap=0.3, outliers=0.1, random_state=0).fit(X)
    U = model.membership_
    assert (U.shape, U.dtype) == ((40, 4), bool)
    assert U.sum() == 52
    np.testing.assert_array_equal(model.outliers_, ~U.any(axis=1))
    assert model.outliers_.sum() <= 4
    centers = [X[u].mean(axis=0) for u in U.T]
    np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-10, atol=1e-12)
    literal = oracle.objective_neo_kmeans(X, U)
    assert model.objective_ == pytest.approx(literal, rel=1e-10)
    assert_history(model, X, literal)
    assert len(model.history_) == model.n_iter_ + 1
    assert model.n_features_in_ == 30


@pytest.mark.parametrize(
    ("objective", "literal"), [("mean", oracle.mssr1), ("residue", oracle.mssr2)]
)
def test_mssr_attributes(X, objective, literal):
    model = MSSR(3, 2, objective=objective, random_state=0).fit(X)
    assert model.row_labels_.shape == (40,)
    assert model.column_labels_.shape == (30,)
    assert set(model.row_labels_) == {0, 1, 2}
    assert set(model.column_labels_) == {0, 1}
    expected = literal(X, model.row_labels_, model.column_labels_)
    assert model.objective_ == pytest.approx(expected, rel=1e-10)
    assert_history(model, X, expected)
    assert model.rows_.shape == (6, 40)
    np.testing.assert_array_equal(
        model.get_submatrix(3, X), X[model.row_labels_ == 1][:, model.column_labels_ == 1]
    )


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_neocc_without_overlap_and_outliers_is_mssr(X, objective):
    neo = make_model(f"NEOCC {objective}").fit(X)
    classic = make_model(f"MSSR {objective}").fit(X)
    np.testing.assert_array_equal(neo.row_membership_.argmax(axis=1), classic.row_labels_)
    np.testing.assert_array_equal(neo.column_membership_.argmax(axis=1), classic.column_labels_)
    np.testing.assert_array_equal(neo.history_, classic.history_)


@pytest.mark.parametrize("max_iter", [1, 2, 3, 100])
def test_neocc_with_single_columns_as_clusters_is_neokmeans(X, max_iter):
    X = X[:, :8]
    rng = np.random.default_rng(0)
    U = np.eye(3)[rng.permutation(40) % 3]
    U[np.arange(8), (U[:8].argmax(axis=1) + 1) % 3] = 1
    one_way = NEOKMeans(3, overlap=0.2, outliers=0.1, init=U, max_iter=max_iter).fit(X)
    two_way = NEOCC(
        3,
        8,
        row_overlap=0.2,
        row_outliers=0.1,
        init=(U, np.eye(8)),
        refine=False,  # exact swaps would move columns too
        max_iter=max_iter,
    ).fit(X)
    np.testing.assert_array_equal(two_way.row_membership_, one_way.membership_)
    np.testing.assert_allclose(two_way.block_means_, one_way.cluster_centers_, rtol=1e-10)
    np.testing.assert_allclose(two_way.history_[::2], one_way.history_, rtol=1e-10)


def test_clusters_default_to_three_or_fewer():
    for model in (NEOCC(None, None, random_state=0), MSSR(random_state=0)):
        model.fit(np.arange(10.0).reshape(2, 5) ** 2)
        assert model.block_means_.shape == (2, 3)


# --------------------------------------------------------------------------- reproducibility


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_bits(X, name):
    assert_same_bits(make_model(name).fit(X), make_model(name).fit(X))


@pytest.mark.parametrize("name", NAMES)
def test_refitting_forgets_the_earlier_fit(X, name):
    model = make_model(name).fit(X[:30, :20] * 5)
    assert_same_bits(model.fit(X), make_model(name).fit(X))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_jobs", [2, 3, -1, None])
def test_same_bits_for_any_number_of_threads(X, name, n_jobs, set_pass_options):
    set_pass_options(row_block=100, column_block=50, entries_per_cell=0)
    one = make_model(name, n_jobs=1).fit(X)
    many = make_model(name, n_jobs=n_jobs).fit(X)
    assert_same_bits(one, many)
    np.testing.assert_array_equal(one.transform(X), many.transform(X))


@pytest.mark.parametrize("name", TWO_WAY_NAMES)
def test_refined_fits_have_the_same_bits_for_any_number_of_threads(X, name, set_pass_options):
    set_pass_options(row_block=100, column_block=50, entries_per_cell=0)
    one, three = (make_model(name, refine=True, n_init=2, n_jobs=n).fit(X) for n in (1, 3))
    assert_same_bits(one, three)
    np.testing.assert_array_equal(one.transform(X), three.transform(X))


@pytest.mark.parametrize("name", TWO_WAY_NAMES)
def test_refined_fits_are_reproducible(X, name):
    first, second = (make_model(name, refine=True).fit(X) for _ in range(2))
    assert_same_bits(first, second)
    np.testing.assert_array_equal(first.predict(X), second.predict(X))


@pytest.mark.parametrize("name", TWO_WAY_NAMES)
def test_refined_fits_predict_their_own_rows(X, name):
    model = make_model(name, refine=True, tol=0.0).fit(X)
    np.testing.assert_array_equal(model.predict_membership(X), row_members(model))


@pytest.mark.parametrize("name", NAMES)
def test_different_seeds_give_different_starts(X, name):
    starts = {make_model(name, random_state=seed).fit(X).history_[0] for seed in range(5)}
    assert len(starts) > 1


def test_random_state_may_be_a_generator_of_numpys_old_kind(X):
    first = make_model("NEOCC mean", random_state=np.random.RandomState(3)).fit(X)
    second = make_model("NEOCC mean", random_state=3).fit(X)
    assert_same_bits(first, second)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("init", ["random", None])
def test_more_starts_never_end_higher(X, name, init):
    options = {} if init is None else {"init": init}
    found = [make_model(name, n_init=n, **options).fit(X).objective_ for n in (1, 2, 4, 8)]
    assert (np.diff(found) <= 0).all()


def test_the_lowest_of_several_starts_is_kept(X):
    found = [make_model("NEOCC mean", n_init=n, init="random").fit(X).objective_ for n in (1, 12)]
    assert found[1] < found[0]


@pytest.mark.parametrize("name", NAMES)
def test_pickling_keeps_the_fit(X, name):
    model = make_model(name).fit(X)
    copy = pickle.loads(pickle.dumps(model))
    assert_same_bits(model, copy)
    np.testing.assert_array_equal(copy.transform(X), model.transform(X))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))


@pytest.mark.parametrize("name", NAMES)
def test_clones_carry_parameters_but_no_fit(X, name):
    model = make_model(name).fit(X)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not state(copy)
    assert_same_bits(copy.fit(X), model)


# -------------------------------------------------------------------------------------- init


@pytest.mark.parametrize("make", [np.asarray, lambda U: U.astype(int), lambda U: U.tolist()])
def test_given_memberships_are_the_start(X, make):
    rng = np.random.default_rng(1)
    U, V = np.eye(3)[rng.permutation(40) % 3] > 0, np.eye(2)[rng.permutation(30) % 2] > 0
    model = NEOCC(3, 2, init=(make(U), make(V))).fit(X)
    assert model.history_[0] == pytest.approx(oracle.objective_mean(X, U, V), rel=1e-10)


@pytest.mark.parametrize("objective", ["mean", "residue"])
@pytest.mark.parametrize("max_iter", [1, 100])
def test_refinement_never_ends_above_given_memberships(X, objective, max_iter):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        U, V = np.eye(3)[rng.permutation(40) % 3] > 0, np.eye(2)[rng.permutation(30) % 2] > 0
        for _ in range(2):  # from memberships at random, then from the refined ones
            model = NEOCC(
                3, 2, objective=objective, init=(U, V), max_iter=max_iter, random_state=seed
            )
            start = oracle.objective(X, U, V, objective)
            model.fit(X)
            U, V = model.row_membership_, model.column_membership_
            assert model.history_[0] == pytest.approx(start, rel=1e-10)
            assert model.objective_ == model.history_[-1] <= model.history_[0]
            assert oracle.objective(X, U, V, objective) <= start * (1 + 1e-12)


def test_given_memberships_may_hold_empty_clusters(X):
    U, V = np.zeros((40, 3)), np.ones((30, 1))
    U[:, 1] = 1
    model = NEOCC(3, 1, init=(U, V)).fit(X)
    assert model.row_membership_.any(axis=0).all()
    assert model.row_membership_.sum() == 40


@pytest.mark.parametrize("name", NAMES)
def test_memberships_of_a_fit_start_the_next_where_it_ended(X, name):
    model = make_model(name, tol=0.0).fit(X)
    U, V = row_members(model), column_members(model)
    init = U if V is None else (U, V)
    again = make_model(name, init=init).fit(X)
    assert again.history_[0] == pytest.approx(model.objective_, rel=1e-10)
    np.testing.assert_array_equal(row_members(again), U)
