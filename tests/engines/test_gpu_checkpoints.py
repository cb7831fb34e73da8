"""Fits on a card that is not there (`stand_in`), interrupted and resumed from their checkpoints."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from stand_in import stand_in
from stores import planted, same_bits

from neocc import NEOCC, NEOKMeans
from neocc.engines.gpu import shard as gpu_shard
from neocc.engines.gpu.matrix import DenseCard, ObservedCard, SparseCard
from neocc.engines.observed import read_observed
from neocc.engines.reading import as_matrix
from neocc.estimators import _base, _checkpoints
from neocc.io import Checkpoint
from neocc.io._codec import Decoder, Encoder, Undecodable
from neocc.kernels import Memberships

pytestmark = pytest.mark.filterwarnings("ignore::neocc.estimators._redundancy.RedundancyWarning")
OPTIONS = {"init": "random", "n_init": 1, "max_iter": 4, "tol": 0.0, "random_state": 0}
OPTIONS |= {"row_overlap": 0.2, "row_outliers": 0.05, "kernel": "numpy", "engine": "gpu"}
CASES = {
    **{name: {"overlap_model": name} for name in ("repeat", "share", "average", "sum", "either")},
    "disjoint": {"row_overlap": 0.0, "row_outliers": 0.0},
    "residue": {"objective": "residue", "overlap_model": "average"},
    "poisson": {"objective": "poisson", "overlap_model": "average", "max_memberships": 2},
    "modularity": {"objective": "modularity", "row_overlap": 0.0, "n_column_clusters": 4},
    "observed": {"missing": "ignore", "overlap_model": "sum", "max_memberships": 2},
}


class Interrupted(Checkpoint):
    """Ends the fit as soon as a state is written."""

    def save(self, fingerprint, state):
        super().save(fingerprint, state)
        raise KeyboardInterrupt


def in_pieces(model, X, path, **given):
    """Fit from one checkpoint to the next until the fit ends."""
    for n_fits in range(1, 100):
        model.set_params(checkpoint=Interrupted(path, every=0.0))
        try:
            return model.fit(X, **given), n_fits
        except KeyboardInterrupt:
            assert path.exists()
    raise AssertionError("the fit never ends")


@pytest.fixture
def card(monkeypatch, set_pass_options):
    device = stand_in()
    monkeypatch.setattr(gpu_shard, "open_card", lambda: device)
    set_pass_options(least_held=0)
    # Every iteration is a point to go on from.
    monkeypatch.setattr(_base, "open_journal", partial(_base.open_journal, interval=1))
    return device


@pytest.mark.parametrize(
    ("case", "refine"),
    [*((case, False) for case in CASES), ("average", True), ("either", True), ("residue", True)],
)
def test_a_fit_in_pieces_has_the_bits_of_one_in_one_go(card, tmp_path, case, refine):
    X = planted("sparse", n=60, m=30)
    if CASES[case].get("objective") in ("poisson", "modularity"):
        X = abs(X.astype(int)).astype(float)
    options = {"n_row_clusters": 4, "n_column_clusters": 3, "refine": refine}
    options |= OPTIONS | CASES[case]
    if refine:
        options |= {"n_init": 2, "max_iter": 2}
    expected = NEOCC(**options).fit(X)
    found, n_fits = in_pieces(NEOCC(**options), X, tmp_path / "kept")
    assert n_fits > 2
    assert card.kernels.crossed
    assert same_bits(found, expected)
    assert not (tmp_path / "kept").exists()


def test_one_way_fits_too(card, tmp_path):
    X = planted("dense", n=60, m=20)
    how = {"init": "random", "n_init": 2, "tol": 0.0, "random_state": 0, "engine": "gpu"}
    model = NEOKMeans(4, overlap=0.1, max_iter=4, **how)
    expected = NEOKMeans(**model.get_params()).fit(X)
    found, n_fits = in_pieces(model, X, tmp_path / "kept")
    assert n_fits > 2
    assert np.array_equal(found.membership_, expected.membership_)
    assert np.array_equal(found.history_, expected.history_)


def test_a_fit_goes_on_elsewhere(card, tmp_path):
    """Where the card is gone, the CPU ends what was begun there."""
    X, path = planted("sparse", n=60, m=30), tmp_path / "kept"
    model = NEOCC(4, 3, refine=False, **OPTIONS, checkpoint=Interrupted(path, every=0.0))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    found = model.set_params(engine="auto", checkpoint=Checkpoint(path)).fit(X)
    assert not path.exists()
    assert same_bits(found, NEOCC(4, 3, refine=False, **{**OPTIONS, "engine": "auto"}).fit(X))


@pytest.mark.parametrize("mixed", [False, True])
def test_sums_over_members_keep_the_bits_they_have_on_a_card(mixed):
    """Sums of weights round otherwise in this process, and a resumed fit must not see that."""
    device, rng = stand_in(), np.random.default_rng(0)
    here = Memberships.from_dense(rng.random((50, 3)) < 0.5)
    here.scale, here.mixed = rng.random(50), mixed
    device.kernels.sizes = lambda lists: 0.5 * np.arange(1.0, 4.0)
    device.kernels.gram = lambda lists: np.full((3, 3), 7.0)
    found = device.memberships(device.lists(here))
    for _ in range(2):  # what has come back is written again
        encoder = Encoder(keep_bits=True)
        coded = encoder.encode(found)
        found = Decoder(encoder.arrays.__getitem__).decode(coded)
    assert type(found) is Memberships
    assert np.array_equal(found.dense, here.dense)
    assert found.scale.tobytes() == here.scale.tobytes()
    assert found.sizes.tolist() == [0.5, 1.0, 1.5]
    if mixed:
        assert (found.gram == 7.0).all()
    else:
        np.testing.assert_allclose(found.gram, here.gram)


def test_sums_that_do_not_fit_are_refused():
    device = stand_in()
    encoder = Encoder(keep_bits=True)
    held = device.memberships(device.lists(Memberships.from_dense(np.eye(4, dtype=bool))))
    coded = encoder.encode(held)
    arrays = {**encoder.arrays, coded["summed"][1]["dict"][0][1]["array"]: np.ones(3)}
    with pytest.raises(Undecodable, match="sums that do not fit"):
        Decoder(arrays.__getitem__).decode(coded)


class OnCard:
    """An array that nobody takes for one of this process, like CuPy's."""

    def __init__(self, array):
        self.array, self.shape, self.size = np.asarray(array), array.shape, array.size

    def __getitem__(self, at):
        return OnCard(self.array[at])

    def get(self):
        return self.array

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed")


@pytest.mark.parametrize("kind", ["sparse", "dense", "observed"])
def test_data_on_the_card_have_the_digest_of_those_here(kind):
    X = planted("dense" if kind == "dense" else "sparse", n=60, m=20)
    weights = np.random.default_rng(0).random((60, 20)) + 0.5
    here = read_observed(X, None, weights) if kind == "observed" else as_matrix(X)
    if kind == "dense":
        there = DenseCard(OnCard(X))
    else:
        parts = {name: OnCard(getattr(here.values, name)) for name in ("data", "indices", "indptr")}
        values = SimpleNamespace(**parts, shape=X.shape)
        there = SparseCard(values, here.indptr)
        if kind == "observed":
            there = ObservedCard(values, here.indptr, weights=OnCard(here.weights))
    expected = _checkpoints._digest(here)
    assert _checkpoints._digest(there) == expected
    # However much is read at a time.
    for one in (there, here):
        assert _checkpoints._digest(one, n_entries=50) == expected
    values = here.weights if kind == "observed" else X if kind == "dense" else X.data
    values[3] += 1.0
    assert _checkpoints._digest(there) != expected
