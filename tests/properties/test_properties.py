"""Properties that hold for every input, over random and degenerate instances.

That the checks behind them can fail is shown in `test_checks_can_fail`.
"""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from instances import KINDS, OBJECTIVES, Instance, instances
from scipy import sparse
from sides import check_refined_history, watched

from neocc import MSSR, NEOCC, NEOKMeans, objective_value

# Of so few items many clusters are the same, and every fit may say so.
pytestmark = pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")

objectives = st.sampled_from(OBJECTIVES)
refinements = st.booleans()
seeds = st.integers(0, 2**31 - 1)


def fit(instance: Instance, objective, X=None, U=None, V=None, refine=False, **options):
    """Fit NEOCC from the instance's memberships."""
    rows, columns = instance.rows, instance.columns
    return NEOCC(
        rows.n_clusters,
        columns.n_clusters,
        objective=objective,
        row_overlap=rows.n_memberships / rows.n_items - 1,
        row_outliers=rows.max_outliers / rows.n_items,
        column_overlap=columns.n_memberships / columns.n_items - 1,
        column_outliers=columns.max_outliers / columns.n_items,
        init=(instance.U if U is None else U, instance.V if V is None else V),
        refine=refine,
        random_state=0,
        n_jobs=1,
        **options,
    ).fit(instance.X if X is None else X)


def scale(instance):
    return max((instance.X**2).sum(), oracle.energy(instance.X, instance.U, instance.V))


def watched_fit(model, X):
    """Fit, check every half-step of every run that the fit consists of, and what it tells of."""
    with watched() as steps:
        model.fit(X)
    check_refined_history(X, model.history_, steps)
    return model


@given(instances(), objectives)
def test_no_half_step_raises_the_objective(instance, objective):
    with watched() as steps:
        model = fit(instance, objective)
    check_refined_history(instance.X, model.history_, steps)
    assert model.history_.tolist() == [step.objective for step in steps]
    assert model.history_[0] == pytest.approx(
        oracle.objective(instance.X, instance.U, instance.V, objective),
        rel=1e-10,
        abs=1e-12 * scale(instance),
    )


@settings(max_examples=20)
@given(instances(largest=6), objectives)
def test_no_half_step_of_a_refinement_raises_the_objective(instance, objective):
    with watched() as steps:
        model = fit(instance, objective, refine=True)
    check_refined_history(instance.X, model.history_, steps)


@given(instances(), objectives)
def test_refinement_from_given_memberships_never_ends_above_the_plain_run(instance, objective):
    plain, refined = (fit(instance, objective, refine=refine) for refine in (False, True))
    assert refined.objective_ <= plain.objective_ + 1e-12 * scale(instance)


@given(instances(), objectives, refinements)
def test_counts_are_exact(instance, objective, refine):
    model = fit(instance, objective, refine=refine)
    for found, counts in (
        (model.row_membership_, instance.rows),
        (model.column_membership_, instance.columns),
    ):
        assert found.sum() == counts.n_memberships
        assert (~found.any(axis=1)).sum() <= counts.max_outliers


@given(instances(), objectives, refinements)
def test_the_objective_is_that_of_the_memberships(instance, objective, refine):
    model = fit(instance, objective, refine=refine)
    expected = oracle.objective(
        instance.X, model.row_membership_, model.column_membership_, objective
    )
    assert model.objective_ == pytest.approx(expected, rel=1e-10, abs=1e-12 * scale(instance))


@given(instances(kinds=["gaussian"], largest=12), objectives, seeds)
def test_permuting_rows_and_columns_permutes_the_answer(instance, objective, seed):
    model = fit(instance, objective)
    assume(no_ties(instance, model.n_iter_, objective))  # ties are decided by position
    rng = np.random.default_rng(seed)
    rows, columns = (rng.permutation(size) for size in instance.X.shape)
    moved = fit(
        instance,
        objective,
        instance.X[np.ix_(rows, columns)],
        instance.U[rows],
        instance.V[columns],
    )
    np.testing.assert_array_equal(moved.row_membership_, model.row_membership_[rows])
    np.testing.assert_array_equal(moved.column_membership_, model.column_membership_[columns])
    assert moved.objective_ == pytest.approx(model.objective_, rel=1e-9)


def no_ties(instance, n_iter, objective):
    """Whether all distances of all steps are clearly different, and no cluster is ever empty."""
    X, U, V = instance.X, instance.U, instance.V
    for max_iter in range(1, n_iter + 1):
        step = fit(instance, objective, max_iter=max_iter, tol=0.0)
        by_row = oracle.distances_rows(X, U, V, objective)
        U = step.row_membership_
        by_column = oracle.distances_columns(X, U, V, objective)
        V = step.column_membership_
        for d in (by_row, by_column):
            if np.isinf(d).any():
                return False
            if (np.diff(np.sort(d, axis=None)) <= 1e-9 * (X**2).sum()).any():
                return False
    return True


@given(instances(), objectives)
def test_transposing_exchanges_the_roles(instance, objective):
    X, U, V = instance.X, instance.U, instance.V
    there, back = objective_value(X, U, V, objective), objective_value(X.T, V, U, objective)
    assert back == pytest.approx(there, rel=1e-10, abs=1e-12 * scale(instance))


@given(instances(), objectives, st.sampled_from([2.0**-30, -1.0, 2.0**30]), refinements)
def test_scaling_the_data_scales_the_objective_by_the_square(instance, objective, factor, refine):
    model = fit(instance, objective, refine=refine)
    scaled = fit(instance, objective, factor * instance.X, refine=refine)
    np.testing.assert_array_equal(scaled.row_membership_, model.row_membership_)
    np.testing.assert_array_equal(scaled.column_membership_, model.column_membership_)
    tolerance = 1e-12 * factor**2 * scale(instance)
    assert scaled.objective_ == pytest.approx(
        factor**2 * model.objective_, rel=1e-10, abs=tolerance
    )


@given(instances(), objectives, st.sampled_from(["numpy", "numba"]))
def test_dense_equals_sparse(instance, objective, kernel):
    dense = fit(instance, objective)
    stored = fit(instance, objective, sparse.csr_array(instance.X), kernel=kernel)
    np.testing.assert_array_equal(stored.row_membership_, dense.row_membership_)
    np.testing.assert_array_equal(stored.column_membership_, dense.column_membership_)
    assert stored.objective_ == pytest.approx(
        dense.objective_, rel=1e-9, abs=1e-12 * scale(instance)
    )


@given(instances(), objectives, refinements, seeds)
def test_zero_overlap_and_outliers_equal_the_classic_method(instance, objective, refine, seed):
    X, sides = instance.X, (instance.rows.n_clusters, instance.columns.n_clusters)
    options = {"objective": objective, "n_init": 2, "random_state": seed, "n_jobs": 1}
    options["refine"] = refine
    neo, classic = NEOCC(*sides, **options).fit(X), MSSR(*sides, **options).fit(X)
    np.testing.assert_array_equal(neo.row_membership_.argmax(axis=1), classic.row_labels_)
    np.testing.assert_array_equal(neo.column_membership_.argmax(axis=1), classic.column_labels_)
    assert (neo.row_membership_.sum(axis=1) == 1).all()
    literal = {"mean": oracle.mssr1, "residue": oracle.mssr2}[objective]
    expected = literal(X, classic.row_labels_, classic.column_labels_)
    assert classic.objective_ == pytest.approx(expected, rel=1e-9, abs=1e-12 * (X**2).sum())


@given(instances(), seeds)
def test_neokmeans_keeps_its_counts_and_never_rises(instance, seed):
    rows = instance.rows
    model = NEOKMeans(
        rows.n_clusters,
        overlap=rows.n_memberships / rows.n_items - 1,
        outliers=rows.max_outliers / rows.n_items,
        n_init=2,
        random_state=seed,
        n_jobs=1,
    )
    watched_fit(model, instance.X)
    assert model.membership_.sum() == rows.n_memberships
    assert model.outliers_.sum() <= rows.max_outliers


@settings(max_examples=20)
@given(instances(), objectives, st.sampled_from(["neo-kmeans", "random"]), seeds)
def test_no_half_step_from_any_start_raises_the_objective(instance, objective, init, seed):
    rows, columns = instance.rows, instance.columns
    options = {"objective": objective, "init": init, "n_init": 2, "random_state": seed}
    model = NEOCC(
        rows.n_clusters,
        columns.n_clusters,
        row_overlap=rows.n_memberships / rows.n_items - 1,
        row_outliers=rows.max_outliers / rows.n_items,
        column_overlap=columns.n_memberships / columns.n_items - 1,
        column_outliers=columns.max_outliers / columns.n_items,
        refine=False,
        n_jobs=1,
        **options,
    )
    watched_fit(model, instance.X)


@settings(max_examples=20)
@given(instances(), objectives, seeds)
def test_no_half_step_of_the_classic_method_raises_the_objective(instance, objective, seed):
    sides = (instance.rows.n_clusters, instance.columns.n_clusters)
    options = {"objective": objective, "n_init": 2, "random_state": seed, "n_jobs": 1}
    watched_fit(MSSR(*sides, refine=False, **options), instance.X)


@given(instances(kinds=KINDS), objectives, refinements, seeds)
def test_any_start_fits_degenerate_data(instance, objective, refine, seed):
    rows, columns = instance.rows, instance.columns
    for init in ("neo-kmeans", "random"):
        model = NEOCC(
            rows.n_clusters,
            columns.n_clusters,
            objective=objective,
            init=init,
            n_init=1,
            refine=refine,
            random_state=seed,
            n_jobs=1,
        ).fit(instance.X)
        assert model.row_membership_.any(axis=0).all()
        assert model.column_membership_.any(axis=0).all()
        assert np.isfinite(model.objective_)


@given(instances(kinds=["gaussian", "sparse", "tied"]), objectives)
def test_float32_is_near_float64(instance, objective):
    X = instance.X.astype(np.float32)
    single, double = fit(instance, objective, X), fit(instance, objective, X.astype(np.float64))
    np.testing.assert_array_equal(single.row_membership_, double.row_membership_)
    assert single.objective_ == pytest.approx(
        double.objective_, rel=1e-10, abs=1e-12 * scale(instance)
    )
