"""Pictures of counts and of observed cells: scales around what is expected, blanks for unknowns."""

from __future__ import annotations

import numpy as np
import pytest
from measures import counts, ratings
from scipy import sparse

from neocc import plot
from neocc.plot._binning import bin_means
from neocc.plot._limits import colour_limits

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib.colors import LogNorm  # noqa: E402


def title(ax):
    return ax.get_title(loc="left").replace("\n", " ")


def texts(ax):
    return {text.get_text() for text in ax.texts}


def test_lifts_have_a_logarithmic_scale_around_one():
    model, X = counts()
    ax = plot.blocks(model, X)
    ax.figure.canvas.draw()
    norm = ax.images[0].norm
    assert isinstance(norm, LogNorm)
    assert norm.vmin * norm.vmax == pytest.approx(1.0)
    assert norm(1.0) == pytest.approx(0.5)
    assert norm.vmax == pytest.approx(np.exp(np.abs(np.log(model.block_lifts_)).max()))
    shown = np.sort(ax.images[0].get_array(), axis=None)
    np.testing.assert_allclose(shown, np.sort(model.block_lifts_, axis=None))
    assert title(ax).startswith(f"Block lifts: highest {model.block_lifts_.max():.2g}×")
    assert f"{model.block_lifts_.max():.2g}×" in texts(ax)
    (bar,) = [axes for axes in ax.figure.axes if axes is not ax]
    assert [label.get_text() for label in bar.get_yticklabels()][2] == "1"


def test_deviations_have_a_scale_around_zero():
    model, X = ratings()
    ax = plot.blocks(model, X)
    norm = ax.images[0].norm
    assert norm.vmin == -norm.vmax == -np.abs(model.block_means_).max()
    assert title(ax).startswith("Block deviations from expectation: highest +")


@pytest.mark.parametrize("seed", range(5))
def test_bins_hold_the_mean_of_their_observed_cells(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 12, size=2))
    X = np.where(rng.random(shape) < 0.4, rng.integers(0, 3, size=shape).astype(float), np.nan)
    p, t = np.nonzero(~np.isnan(X))
    stored = sparse.csr_array((X[p, t], (p, t)), shape=shape)
    rows, columns = (rng.integers(-1, n, size=rng.integers(1, 15)) for n in shape)
    most = tuple(rng.integers(1, 12, size=2))
    found = bin_means(stored, rows, columns, most, observed=True)
    edges = [
        np.arange(k + 1) * n // k
        for n, k in zip(map(len, (rows, columns)), found.shape, strict=True)
    ]
    for i, j in np.ndindex(found.shape):
        cells = [
            X[a, b]
            for a in rows[edges[0][i] : edges[0][i + 1]]
            for b in columns[edges[1][j] : edges[1][j + 1]]
            if a >= 0 and b >= 0 and not np.isnan(X[a, b])
        ]
        expected = np.mean(cells) if cells else np.nan
        np.testing.assert_allclose(found[i, j], expected)


@pytest.mark.parametrize("kind", ["array", "csr"])
def test_missing_cells_are_blank(kind):
    model, X = ratings()
    p, t = np.nonzero(~np.isnan(X))
    given = X if kind == "array" else sparse.csr_array((X[p, t], (p, t)), shape=X.shape)
    ax = plot.matrix(given, missing="ignore")
    shown = ax.images[0].get_array()
    assert np.array_equal(shown.mask, np.isnan(X))
    np.testing.assert_allclose(shown.data[p, t], X[p, t])
    assert title(ax) == f"60 rows and 40 columns, {len(p) / X.size:.0%} of the cells observed"
    cmap, norm = ax.images[0].cmap, ax.images[0].norm
    assert min(cmap(norm(X[p, t]))[:, :3].min(axis=1)) >= 0
    assert cmap(norm(X[p, t]))[:, :3].sum(axis=1).max() < 2.5  # nothing is as light as a blank
    shown = plot.reordered(model, given).images[0].get_array()
    assert (~shown.mask).sum() == len(p)
    np.testing.assert_allclose(np.sort(shown.compressed()), np.sort(X[p, t]))


@pytest.mark.parametrize("fit", [counts, ratings])
def test_every_picture_of_these_fits(fit):
    model, X = fit()
    for ax in (
        plot.blocks(model),
        plot.reordered(model, X, repeat=True),
        plot.memberships(model),
        plot.sizes(model),
        plot.convergence(model),
    ):
        ax.figure.canvas.draw()
        assert title(ax)


def test_limits_of_ratios():
    limits = colour_limits(np.array([0.5, 8.0, np.nan]), kind="ratio")
    assert (limits.low, limits.high) == pytest.approx((1 / 8, 8))
    assert not limits.cut_low
    assert not limits.cut_high
    same = colour_limits(np.ones(3), kind="ratio")
    assert same.low < 1 < same.high
    assert colour_limits(np.array([0.0, 2.0]), kind="ratio").cut_low
    # Numbers beside blanks go from the lowest to the highest, whatever their signs.
    between = colour_limits(np.array([-1.0, 0.0, 5.0]), kind="range")
    assert (between.low, between.high) == (-1.0, 5.0)
    assert colour_limits(np.array([1.0, 2.0]), kind="signed").low == -2.0
