"""Overlap models of the estimators: checkpoints, files, and rows that are decided one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import oracle
import pytest
from instances import planted
from models import save_unchecked
from scipy import sparse

import neocc.core.engine as engines
from neocc import NEOCC, NEOKMeans
from neocc.io import Checkpoint, ModelFileError, load_model, save_model

ESTIMATORS = [
    (kind, model)
    for model in oracle.OVERLAP_MODELS
    for kind in ("mean", "residue", "kmeans")
    if (kind, model) != ("residue", "sum")
]
ESTIMATORS += [("background", "average"), ("kmeans", "either")]
each_estimator = pytest.mark.parametrize(("kind", "model"), ESTIMATORS)


def make(kind, model, **more):
    options = {"overlap_model": model, "max_memberships": 3, "random_state": 0, "n_init": 3}
    if kind == "kmeans":
        return NEOKMeans(**{"n_clusters": 4, "overlap": 0.3, "outliers": 0.05, **options, **more})
    options |= {"row_overlap": 0.3, "row_outliers": 0.05, "column_overlap": 0.2, "refine": False}
    options |= {"n_row_clusters": 4, "n_column_clusters": 3, "objective": kind}
    if kind == "background":
        options |= {"objective": "mean", "outlier_cost": kind}
    return NEOCC(**{**options, **more})


def row_members(fitted):
    return fitted.membership_ if isinstance(fitted, NEOKMeans) else fitted.row_membership_


def make_data(seed=0, n=45):
    X = planted(np.random.default_rng(seed), n + 15, 24, 4, 3, noise=0.8)
    return X[:n], X[n:]


def published(fitted):
    return {name: value for name, value in vars(fitted).items() if name.endswith("_")}


# ----------------------------------------------------------------------------- pieces and files


class Killed(Exception):  # noqa: N818
    """Stands in for the death of the process, right after a checkpoint was written."""


class Fragile(Checkpoint):
    """Dies after two checkpoints."""

    lives = 2

    def save(self, fingerprint, state):
        super().save(fingerprint, state)
        self.lives -= 1
        if self.lives == 0:
            raise Killed


@pytest.mark.parametrize(
    ("kind", "model", "refine"),
    [*((*each, False) for each in ESTIMATORS), ("mean", "average", True)],
)
def test_a_fit_in_pieces_has_the_bits_of_one_in_one_go(tmp_path, kind, model, refine):
    X = make_data(n=20)[0][:, :12]
    more = (
        {"n_init": 1, "refine": True} if refine else {"n_init": 4, "init": "random", "max_iter": 5}
    )
    n_fits = 0
    while n_fits < 200:
        n_fits += 1
        kept = Fragile(tmp_path / "kept", every=0.0)
        # Dies a few times only: a search writes many checkpoints.
        kept.lives = 2 if n_fits < 5 else 10**9
        try:
            found = make(kind, model, checkpoint=kept, **more).fit(X)
        except Killed:
            continue
        break
    assert n_fits > 1
    wanted = published(make(kind, model, **more).fit(X))
    for name, value in published(found).items():
        if name != "n_passes_":
            assert np.array_equal(value, wanted[name]), name


@pytest.mark.parametrize(
    ("kind", "model"),
    [("mean", "average"), ("residue", "share"), ("residue", "average"), ("kmeans", "average")],
)
def test_so_has_one_that_is_killed_in_the_middle_of_a_run(tmp_path, kind, model):
    """Memberships that are parts of an item go into the file with their weights."""
    X = np.random.default_rng(0).normal(size=(300, 30))
    at = []

    class Watched(Fragile):
        def save(self, fingerprint, state):
            if state["run"] is not None:
                at.append(state["run"][0])
            super().save(fingerprint, state)

    more = {"init": "random", "tol": 0.0, "n_init": 1, "max_iter": 12}
    more |= {"n_clusters": 6} if kind == "kmeans" else {"n_row_clusters": 6, "n_column_clusters": 5}
    found = None
    for _ in range(10):
        kept = Watched(tmp_path / "kept", every=0.0)
        kept.lives = 1 if not at else 10**9
        try:
            found = make(kind, model, checkpoint=kept, **more).fit(X)
        except Killed:
            continue
        break
    assert at, "no run was long enough"
    wanted = make(kind, model, **more).fit(X)
    for name, value in published(wanted).items():
        if name != "n_passes_":
            assert np.array_equal(value, published(found)[name]), name


@each_estimator
def test_a_model_from_a_file_predicts_the_same_bits(tmp_path, kind, model):
    X, new = make_data()
    for data in (X, sparse.csr_array(np.where(np.abs(X) > 1.0, X, 0.0))):
        fitted = make(kind, model, n_init=1).fit(data)
        save_model(fitted, tmp_path / "model.neocc", force=True)
        loaded = load_model(tmp_path / "model.neocc")
        assert loaded.get_params() == fitted.get_params()
        for name, value in published(fitted).items():
            assert np.array_equal(getattr(loaded, name), value), name
        for rows in (X, new, sparse.csr_array(new)):
            for method in ("predict_membership", "predict", "transform"):
                found, wanted = (getattr(each, method)(rows) for each in (loaded, fitted))
                np.testing.assert_array_equal(found, wanted)
        again = loaded.fit(data)
        np.testing.assert_array_equal(again.history_, fitted.history_)


# --------------------------------------------------------------------------------- predictions


@each_estimator
@pytest.mark.parametrize("most", [2, 3])
def test_rows_of_the_fit_get_their_own_memberships_but_for_single_changes(
    monkeypatch, kind, model, most
):
    """Rows are decided one by one at the price of the fit. Exact counts may need other rows beside:

    * those that single changes after the price gave another number of memberships;
    * one whose next corner is wider than the memberships that were left;
    * of sets of three or more clusters, which are looked for step by step, those that a row had
      and that no longer can be found from its best pair.
    """
    last, find = [], engines.find_thresholds

    def spy(*args, **options):
        last[:] = find(*args, **options)
        return last

    monkeypatch.setattr(engines, "find_thresholds", spy)
    n_equal = 0
    for seed in range(4):
        X, _ = make_data(seed)
        options = {"tol": 0.0, "n_init": 1, "max_memberships": most}
        if kind != "kmeans":
            options["column_overlap"] = 0.2
        fitted = make(kind, model, **options).fit(X)
        U, found = row_members(fitted), fitted.predict_membership(X)
        others = set(np.flatnonzero((found != U).any(axis=1)).tolist())
        n_equal += not others
        others -= {item for item, _ in last[0].changes}
        others -= set(np.flatnonzero(U.sum(axis=1) > 2).tolist())
        assert len(others) <= 1
    assert n_equal >= 1


@pytest.mark.parametrize(("kind", "model"), [each for each in ESTIMATORS if each[1] != "either"])
def test_new_rows_take_the_cheapest_set_at_the_price_of_the_fit(kind, model):
    """Literally: the cost of each set, less the price of an extra membership."""
    n_pairs = n_outside = 0
    for seed in range(2):
        X, new = make_data(seed)
        both = X[:4] + X[4:8]
        new = np.concatenate([new, 30.0 * new[:3], -0.5 * new[:5], both / 2, both])
        fitted = make(kind, model, tol=0.0, n_init=1, max_memberships=2).fit(X)
        nearest = fitted._row_model.nearest_threshold
        price = fitted._row_model.extra_threshold
        U = np.concatenate([row_members(fitted), np.zeros((len(new), 4), dtype=bool)])
        V = None if kind == "kmeans" else fitted.column_membership_
        name = "mean" if kind == "background" else kind
        cost = oracle.set_pricer(np.concatenate([X, new]), U, V, name, model)
        bases = (new**2).sum(axis=1) if kind == "background" else np.zeros(len(new))
        for row, found in enumerate(fitted.predict_membership(new)):
            sets = {
                chosen: cost(len(X) + row, chosen) - bases[row]
                for size in (1, 2)
                for chosen in combinations(range(4), size)
            }
            one, two = (
                min((each for each in sets if len(each) == size), key=sets.get) for size in (1, 2)
            )
            best = two if sets[two] - sets[one] <= price else one
            value = sets[best] - price * (len(best) - 1)
            wanted = best if value <= max(nearest, price) else ()
            assert tuple(np.flatnonzero(found).tolist()) == wanted
            n_pairs += len(wanted) == 2
            n_outside += not wanted
    assert min(n_pairs, n_outside) > 0


@each_estimator
def test_rows_are_decided_one_by_one(kind, model):
    X, new = make_data()
    fitted = make(kind, model, n_init=1).fit(X)
    together = fitted.predict_membership(new)
    for row in range(len(new)):
        np.testing.assert_array_equal(fitted.predict_membership(new[[row]])[0], together[row])


# -------------------------------------------------------------------------------- damaged files


DAMAGED = {
    "an unknown model": {"overlap_model": "borrow"},
    "no bound": {"max_memberships": 0},
    "a bound as text": {"max_memberships": "3"},
    "no inner products": {"gram": None},
    "inner products of other clusters": {"gram": np.eye(3)},
    "inner products as integers": {"gram": np.eye(4, dtype=int)},
    "a table of the wrong shape": {"shrink": np.eye(2)},
    "weights of other columns": {"scale": np.ones(7)},
    "weights as integers": {"scale": np.ones(24, dtype=int)},
    "mixed as a number": {"mixed": 1.0},
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_models_are_refused(tmp_path, damage):
    fitted = make("residue", "average", n_init=1).fit(make_data()[0])
    row_model, change = fitted._row_model, DAMAGED[damage]
    for part in ("terms", "V"):
        names = getattr(row_model, part).__dataclass_fields__
        of_part = {key: change[key] for key in change if key in names}
        # Both have a scale: that of memberships is meant.
        if of_part and not (part == "terms" and "scale" in of_part):
            whole = replace(getattr(row_model, part), **of_part)
            row_model = replace(row_model, **{part: whole})
    own = {key: change[key] for key in change if key in ("overlap_model", "max_memberships")}
    fitted._row_model = replace(row_model, **own)
    save_unchecked(fitted, tmp_path / "model.neocc")
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(tmp_path / "model.neocc")


def test_a_large_overlap_raises_the_usual_bound_but_not_a_given_one():
    X = np.random.default_rng(0).normal(size=(40, 12))
    model = NEOCC(7, 3, row_overlap=3.2, overlap_model="average", n_init=1, refine=False)
    numbers = model.fit(X).row_membership_.sum(axis=1)
    assert numbers.sum() == 40 + 128
    assert numbers.max() <= 6  # one more than 4.2, rounded up
    with pytest.raises(ValueError, match="max_memberships"):
        model.set_params(max_memberships=4).fit(X)


def test_clusters_that_a_row_follows_nowhere_are_not_predicted():
    """The fit has to give away two memberships more than the data have a use for."""
    rng, blocks = np.random.default_rng(0), np.array([[5.0, 1.0, 1.0], [1.0, 6.0, 2.0]])
    X = blocks[np.arange(24) % 2][:, np.arange(15) % 3] + rng.normal(0, 0.2, (24, 15))
    model = NEOCC(2, 3, overlap_model="either", row_overlap=0.1, random_state=0).fit(X)
    assert model.row_membership_.sum() == 26
    predicted = model.predict_membership(X)
    assert predicted.sum() <= 26
    assert not (predicted & ~model.row_membership_).any()


@pytest.mark.parametrize("model", ["repeat", "average", "either"])
def test_searches_of_points_end_no_higher_than_their_starts_with_exact_counts(model, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 4))
    plain, default, thorough = (
        make("kmeans", model, n_clusters=5, refine=effort).fit(X)
        for effort in (False, True, "thorough")
    )
    assert thorough.objective_ <= default.objective_ <= plain.objective_
    assert thorough.objective_ < plain.objective_
    for found in (default, thorough):
        assert found.membership_.sum() == 40 + 12
        assert found.outliers_.sum() <= 2
        assert found.history_[-1] == pytest.approx(found.objective_, rel=1e-12)
    resumed = None
    while resumed is None:
        kept = Fragile(tmp_path / "fit.neocc", every=0.0)
        try:
            resumed = make("kmeans", model, n_clusters=5, refine=True, checkpoint=kept).fit(X)
        except Killed:
            continue
    np.testing.assert_array_equal(resumed.membership_, default.membership_)
    assert resumed.objective_ == default.objective_


@pytest.mark.parametrize("seed", [3, 4, 7])
def test_a_column_cluster_that_is_seeded_anew_costs_nothing(seed):
    # Two different columns, and four clusters of columns: two of these end up empty.
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(30, 2)), 6, axis=1)
    counts = {"row_overlap": 0.2, "n_init": 2, "refine": False, "random_state": seed}
    model = NEOCC(3, 4, overlap_model="either", **counts).fit(X)
    assert (model.column_membership_.sum(axis=0) > 0).all()
    assert (np.diff(model.history_) <= 1e-9 * np.square(X).sum()).all()
