"""What the figures hold: the matrix in order, frames, bars, labels, counts."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from neocc import MSSR, NEOCC, NEOKMeans, plot
from neocc.datasets import load_southern_women
from neocc.io import Matrix

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib.collections import PolyCollection  # noqa: E402
from matplotlib.colors import Normalize, PowerNorm  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402

from neocc.plot._style import cluster_style, colour_scale, fit_text  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    """Give figures back that pyplot keeps, if another test has loaded it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="module")
def women():
    return load_southern_women()


@pytest.fixture(scope="module")
def model(women):
    return NEOCC(
        2,
        3,
        row_overlap=0.05,
        row_outliers=0.05,
        column_overlap=-0.07,
        column_outliers=0.07,
        random_state=0,
    ).fit(women.data)


def new_ax(width=8, height=6):
    return Figure(figsize=(width, height), layout="constrained").subplots()


def draw(ax):
    """Lay out and go through all that saving would, but for the pixels."""
    ax.figure.figure.draw_without_rendering()
    return ax


def title(ax):
    return " ".join(ax.get_title(loc="left").split())


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def boxes(ax):
    """Return the frames by their names."""
    patches = [p for p in ax.patches if isinstance(p, Rectangle) and p.get_gid()]
    return {p.get_gid().removesuffix(" box"): p for p in patches}


def bars(ax):
    """Return the bars by their names."""
    found = [c for c in ax.collections if isinstance(c, PolyCollection) and c.get_gid()]
    return {c.get_gid().removesuffix(" bar"): c for c in found}


def shown_items(ax, axis, names):
    """Read the order off the labels of an axis."""
    return [names.index(label) for label in labels(axis)]


# --------------------------------------------------------------------------------------- matrix


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.coo_array, pd.DataFrame])
def test_matrix_shows_the_matrix(women, kind):
    ax = draw(plot.matrix(kind(women.data)))
    image = ax.images[0]
    assert (image.get_array() == women.data).all()
    assert image.get_extent() == [0, 14, 18, 0]
    assert labels(ax.yaxis) == [str(p) for p in range(1, 19)]
    assert title(ax) == "18 rows and 14 columns, 35% of the cells not zero"


def test_names_are_those_given_or_those_of_a_data_frame(women):
    names = {"row_names": women.row_names, "column_names": women.column_names}
    frame = pd.DataFrame(women.data, index=women.row_names, columns=women.column_names)
    for ax in (plot.matrix(women.data, **names), plot.matrix(frame)):
        assert labels(ax.yaxis) == women.row_names
        assert labels(ax.xaxis) == women.column_names


def test_names_give_way_to_counts_where_there_are_many():
    ax = draw(plot.matrix(np.ones((1234, 3))))
    assert labels(ax.yaxis) == []
    assert ax.get_ylabel() == "1,234 rows"
    assert labels(ax.xaxis) == ["1", "2", "3"]


def test_large_matrices_are_averaged():
    rng = np.random.default_rng(0)
    X = rng.random((1200, 700))
    image = plot.matrix(X).images[0]
    assert image.get_array().shape == (500, 500)
    assert image.get_extent() == [0, 700, 1200, 0]
    np.testing.assert_allclose(image.get_array()[0, 0], X[:2, :1].mean())
    sparse_one = sparse.random_array((4000, 3000), density=1e-3, random_state=rng, format="csr")
    assert plot.matrix(sparse_one).images[0].get_array().shape == (150, 150)


def test_wrong_input_is_refused(women, model):
    with pytest.raises(ValueError, match="17 names for 18 rows: give one name for each"):
        plot.matrix(women.data, row_names=women.row_names[1:])
    with pytest.raises(ValueError, match="contains NaN"):
        plot.matrix([[1.0, np.nan]])
    with pytest.raises(ValueError, match="X has 17 rows, but the memberships are of 18"):
        plot.reordered(model, women.data[1:])
    with pytest.raises(ValueError, match="This NEOCC has no memberships to draw: fit it first"):
        plot.sizes(NEOCC())
    with pytest.raises(TypeError, match="Cannot read clusters from a str"):
        plot.sizes("model")
    with pytest.raises(ValueError, match=r"pair \(rows, columns\), of which one may be None"):
        plot.sizes((None, None))
    with pytest.raises(ValueError, match="row memberships must hold only 0 and 1; found 2"):
        plot.sizes(([[2, 0]], None))


# ------------------------------------------------------------------------------------ reordered


@pytest.mark.parametrize("repeat", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_reordered_is_the_matrix_permuted(women, model, repeat, kind):
    names = {"row_names": women.row_names, "column_names": women.column_names}
    ax = draw(plot.reordered(model, kind(women.data), repeat=repeat, **names))
    rows = shown_items(ax, ax.yaxis, women.row_names)
    columns = shown_items(ax, ax.xaxis, women.column_names)
    places = [np.floor(axis.get_ticklocs()).astype(int) for axis in (ax.yaxis, ax.xaxis)]
    cells = ax.images[0].get_array()
    assert (cells[np.ix_(*places)] == women.data[np.ix_(rows, columns)]).all()
    # All other places are left empty.
    empty = np.ones(cells.shape, dtype=bool)
    empty[np.ix_(*places)] = False
    assert (np.ma.getmaskarray(cells) == empty).all()
    for items, members in ((rows, model.row_membership_), (columns, model.column_membership_)):
        times = np.maximum(members.sum(axis=1), 1) if repeat else np.ones(len(members))
        assert np.bincount(items).tolist() == times.tolist()


@pytest.mark.parametrize("repeat", [False, True])
def test_bars_and_frames_show_who_belongs_where(women, model, repeat):
    ax = plot.reordered(model, women.data, repeat=repeat)
    shown = bars(ax)
    assert set(shown) == {"R1", "R2", "C1", "C2", "C3"}
    assert {"R1", "R2", "C1", "C2", "C3"} <= set(texts(ax))
    for letter, axis, members, along in (
        ("R", ax.yaxis, model.row_membership_, 1),
        ("C", ax.xaxis, model.column_membership_, 0),
    ):
        items = np.array([int(label) - 1 for label in labels(axis)])
        middles = axis.get_ticklocs()
        for cluster in range(members.shape[1]):
            inside = np.zeros(len(items), dtype=bool)
            for path in shown[f"{letter}{cluster + 1}"].get_paths():
                start, stop = np.sort(path.vertices[:, along])[[0, -1]]
                inside |= (start < middles) & (middles < stop)
            assert (inside == members[items, cluster]).all()
            box = boxes(ax)[f"{letter}{cluster + 1}"]
            start = box.get_xy()[along]
            stop = start + (box.get_height() if along else box.get_width())
            framed = (start < middles) & (middles < stop)
            assert set(items[framed]) == set(np.flatnonzero(members[:, cluster]))


def test_frames_of_rows_and_columns_differ_in_more_than_colour(women, model):
    frames = boxes(plot.reordered(model, women.data))
    assert len(frames) == 5
    assert {frames[name].get_linestyle() for name in ("R1", "R2")} == {"solid"}
    assert "solid" not in {str(frames[name].get_linestyle()) for name in ("C1", "C2", "C3")}


def test_clusters_in_several_pieces_have_bars_but_no_frame():
    patterns = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]])
    ax = plot.reordered((patterns, None), np.eye(6))
    assert set(bars(ax)) == {"R1", "R2", "R3"}
    assert len(boxes(ax)) < 3
    whole = {name for name, bar in bars(ax).items() if len(bar.get_paths()) == 1}
    assert set(boxes(ax)) == whole
    repeated = plot.reordered((patterns, None), np.eye(6), repeat=True)
    assert set(boxes(repeated)) == {"R1", "R2", "R3"}


def test_outliers_are_set_apart_and_named(women, model):
    ax = plot.reordered(model, women.data)
    assert texts(ax).count("in none") == 2
    rows = np.array([int(label) - 1 for label in labels(ax.yaxis)])
    assert rows[-1] == np.flatnonzero(model.row_outliers_)[0]
    assert np.diff(ax.yaxis.get_ticklocs())[-1] > 1
    everyone = (np.ones((18, 1)), np.ones((14, 1)))
    assert "in none" not in texts(plot.reordered(everyone, women.data))


def test_the_title_tells_the_answer(women, model):
    assert title(plot.reordered(model, women.data)) == (
        "2 row clusters and 3 column clusters; 2 rows in several; 1 row and 1 column in none"
    )
    own = plot.reordered(model, women.data, title="$1 or $2")
    assert own.get_title(loc="left") == r"\$1 or \$2"


def test_outliers_do_not_set_the_colours():
    X = np.ones((40, 10))
    X[:20] = 2.0
    X[-1] = 1e6
    U = np.zeros((40, 2), dtype=bool)
    U[:20, 0] = U[20:39, 1] = True
    image = plot.reordered((U, None), X).images[0]
    assert image.norm.vmax == 2.0
    assert plot.matrix(X).images[0].norm.vmax == 1e6


def test_too_many_pieces_are_drawn_as_shades():
    rng = np.random.default_rng(0)
    U = rng.random((1500, 12)) < 0.3
    ax = draw(plot.reordered((U, None), rng.random((1500, 4))))
    assert not bars(ax)
    names = [image.get_gid() for image in ax.images[1:]]
    assert sorted(names) == sorted(f"R{cluster + 1} bar" for cluster in range(12))
    low, high = ax.get_xlim()
    assert low < 0
    assert high > 4


def test_repeated_rows_are_counted():
    rng = np.random.default_rng(0)
    U = np.ones((300, 2), dtype=bool)
    ax = plot.reordered((U, None), rng.random((300, 4)), repeat=True)
    assert ax.get_ylabel() == "300 rows, drawn 600 times"


# ---------------------------------------------------------------------------- other estimators


@pytest.mark.parametrize(
    "estimator",
    [
        NEOKMeans(3, overlap=0.2, outliers=0.1, random_state=0),
        MSSR(3, 2, refine=False, random_state=0),
        NEOCC(3, 2, objective="residue", row_overlap=0.2, refine=False, random_state=0),
    ],
)
def test_every_picture_of_every_estimator(estimator):
    X = np.random.default_rng(0).normal(size=(30, 8))
    estimator.fit(pd.DataFrame(X, columns=list("abcdefgh")))
    two_sided = not isinstance(estimator, NEOKMeans)
    for ax in (
        plot.reordered(estimator, X),
        plot.reordered(estimator, X, repeat=True),
        plot.blocks(estimator),
        plot.memberships(estimator),
        plot.sizes(estimator),
        plot.convergence(estimator),
    ):
        assert title(draw(ax))
    assert set(labels(plot.reordered(estimator, X).xaxis)) == set("abcdefgh")
    assert (labels(plot.blocks(estimator).xaxis) == list("abcdefgh")) != two_sided


def test_models_with_memberships_alone_are_drawn_too():
    """Those of other methods have neither means nor a history, and may have found nothing."""
    rng = np.random.default_rng(0)
    X = rng.random((20, 9))
    other = SimpleNamespace(
        row_membership_=rng.random((20, 3)) < 0.4, column_membership_=rng.random((9, 3)) < 0.4
    )
    draw(plot.reordered(other, X))
    draw(plot.memberships(other, "columns"))
    draw(plot.sizes(other))
    U, V = other.row_membership_, other.column_membership_
    means = np.array([[X[U[:, i]][:, V[:, j]].mean() for j in range(3)] for i in range(3)])
    ax = draw(plot.blocks(other, X))
    order = [
        [int(re.match(r".(\d+)", text)[1]) - 1 for text in labels(a)] for a in (ax.yaxis, ax.xaxis)
    ]
    np.testing.assert_allclose(ax.images[0].get_array(), means[np.ix_(*order)])
    with pytest.raises(ValueError, match=r"SimpleNamespace has no block means: pass the matrix"):
        plot.blocks(other)
    with pytest.raises(ValueError, match="SimpleNamespace has no history_"):
        plot.convergence(other)
    nothing = SimpleNamespace(
        row_membership_=np.zeros((20, 0), bool), column_membership_=np.zeros((9, 0), bool)
    )
    assert title(draw(plot.reordered(nothing, X))) == (
        "0 row clusters and 0 column clusters; 20 rows and 9 columns in none"
    )
    draw(plot.memberships(nothing))
    draw(plot.sizes(nothing))
    with pytest.raises(ValueError, match="no blocks to draw"):
        plot.blocks(nothing, X)


def test_labels_are_read_as_memberships():
    labelled = SimpleNamespace(row_labels_=np.array([0, 2, -1, 0]), column_labels_=np.array([1, 0]))
    assert title(plot.sizes(labelled)) == (
        "Row clusters hold 0 to 2 of 4 rows, column clusters 1 of 2 columns"
    )


# ---------------------------------------------------------------------------- blocks and others


def test_blocks_shows_means_and_sizes(model):
    ax = draw(plot.blocks(model))
    rows, columns = (
        [int(re.match(r"[RC](\d+)", text)[1]) - 1 for text in labels(axis)]
        for axis in (ax.yaxis, ax.xaxis)
    )
    means = model.block_means_[np.ix_(rows, columns)]
    assert (ax.images[0].get_array() == means).all()
    assert texts(ax) == [f"{mean:.3g}" for mean in means.ravel()]
    sizes = model.row_membership_.sum(axis=0)
    assert labels(ax.yaxis) == [f"R{row + 1}: {sizes[row]} rows" for row in rows]
    assert title(ax).startswith(f"Block means: highest {means.max():.3g} (R")


def test_blocks_of_empty_clusters_are_said_to_be_empty():
    U = np.array([[1, 0], [1, 0]], dtype=bool)
    ax = draw(plot.blocks((U, np.ones((3, 1))), np.arange(6.0).reshape(2, 3)))
    assert texts(ax) == ["2.5", "empty"]
    assert np.ma.getmaskarray(ax.images[0].get_array()).tolist() == [[False], [True]]
    assert title(ax) == "Block means: all 2.5"


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, np.float32])
def test_means_of_one_sided_clusters(kind):
    rng = np.random.default_rng(0)
    X = rng.random((12, 5)).round(3)
    U = rng.random((12, 3)) < 0.5
    by_rows = np.array([X[U[:, i]].mean(axis=0) for i in range(3)])
    for pair, data in (((U, None), X), ((None, U), X.T)):
        ax = draw(plot.blocks(pair, kind(data)))
        axis = ax.yaxis if pair[1] is None else ax.xaxis
        order = [int(re.match(r"[RC](\d+)", text)[1]) - 1 for text in labels(axis)]
        cells = ax.images[0].get_array()
        np.testing.assert_allclose(cells if pair[1] is None else cells.T, by_rows[order], rtol=1e-6)
    with pytest.raises(ValueError, match="columns are not clustered"):
        plot.memberships((U, None), "columns")


def test_memberships_counts_every_combination():
    rng = np.random.default_rng(0)
    U = rng.random((400, 4)) < 0.4
    ax = draw(plot.memberships((U, None), most=5))
    dots, counts, sizes = ax.child_axes
    truth = Counter(tuple(row) for row in U.tolist())
    none = truth.pop((False,) * 4)
    heights = [bar.get_height() for bar in counts.patches]
    commonest = sorted(truth.values(), reverse=True)
    assert heights == [*commonest[:5], sum(commonest[5:]), none]
    notes = [text for text in texts(counts) if not re.fullmatch(r"[\d,]*", text)]
    assert notes == [f"{len(commonest) - 5} further\ncombinations", "in none"]
    order = [int(text.removeprefix("R")) - 1 for text in labels(dots.yaxis)]
    for at, dark in enumerate(dots.collections[1:]):
        places = dark.get_offsets()
        assert (places[:, 0] == at).all()
        pattern = np.isin(np.arange(4), np.array(order)[places[:, 1].astype(int)])
        assert truth[tuple(pattern.tolist())] == heights[at]
    assert [bar.get_width() for bar in sizes.patches] == U.sum(axis=0)[order].tolist()
    n_several = (U.sum(axis=1) > 1).sum()
    assert title(ax) == (
        f"{(U.sum(axis=1) == 1).sum()} of 400 rows are in one cluster, {n_several} in several, "
        f"{none} in none"
    )


def test_memberships_does_not_hide_a_single_combination():
    U = np.array([[1, 0], [1, 1], [0, 1]], dtype=bool)
    counts = plot.memberships((U, None), most=2).child_axes[1]
    assert [bar.get_height() for bar in counts.patches] == [1, 1, 1]
    counts = plot.memberships((U, None), most=1).child_axes[1]
    assert [bar.get_height() for bar in counts.patches] == [1, 2]
    with pytest.raises(ValueError, match="most must be at least 1; got 0"):
        plot.memberships((U, None), most=0)
    with pytest.raises(ValueError, match="side must be 'rows' or 'columns'; got 'both'"):
        plot.memberships((U, None), "both")


def test_sizes_of_clusters_and_of_what_they_share():
    U = np.array([[1, 0], [1, 1], [0, 1], [0, 1], [0, 0]], dtype=bool)
    ax = draw(plot.sizes((U, np.ones((2, 1)))))
    own = [bar.get_width() for bar in ax.containers[0]]
    shared = [bar.get_width() for bar in ax.containers[1]]
    assert labels(ax.yaxis) == ["R1", "R2", "rows in none", "", "C1"]
    np.testing.assert_allclose(own, [20, 40, 20, 0, 100])
    np.testing.assert_allclose(shared, [20, 20, 0, 0, 0])
    assert texts(ax) == ["2 (1 shared)", "3 (1 shared)", "1", "", "2"]


def test_convergence_shows_the_history(model):
    ax = draw(plot.convergence(model))
    line = ax.lines[0]
    assert line.get_ydata().tolist() == model.history_.tolist()
    assert line.get_xdata().tolist() == list(range(len(model.history_)))
    plain = NEOCC(2, 2, refine=False, random_state=0).fit(np.arange(20.0).reshape(5, 4))
    assert "half-iterations" in plot.convergence(plain).get_xlabel()
    assert title(plot.convergence([5.0])) == "The objective stayed where it started, at 5"
    assert title(plot.convergence([0.0, 0.0])) == "The objective stayed where it started, at 0"
    assert title(plot.convergence([-1.5, -1.1])).startswith("The objective stayed where it started")
    for wrong in ([], [[1.0, 2.0]]):
        with pytest.raises(ValueError, match="A history is a list of numbers"):
            plot.convergence(wrong)


# ----------------------------------------------------------------------------------- appearance


def lightness(colours):
    return np.asarray(colours)[:, :3] @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize(
    "values",
    [np.linspace(0, 1, 50), np.linspace(-1, 0, 50), np.linspace(-2, 1, 50), np.geomspace(1, 1e4)],
)
def test_lightness_alone_orders_the_colours(values):
    scale = colour_scale(values)
    cmap = matplotlib.colormaps[scale["cmap"]] if isinstance(scale["cmap"], str) else scale["cmap"]
    steps = np.diff(lightness(cmap(scale["norm"](np.sort(values)))))
    assert steps.any()
    assert (steps >= 0).all() or (steps <= 0).all()


def test_scales_follow_the_signs_of_the_numbers():
    signed = colour_scale(np.array([-1.0, 4.0]))["norm"]
    assert (signed.vmin, signed.vmax) == (-4.0, 4.0)
    assert colour_scale(np.array([0.0, 4.0]))["norm"].vmin == 0.0
    far = colour_scale(np.array([100.0, 101.0]))["norm"]
    assert (far.vmin, far.vmax) == (100.0, 101.0)
    below = colour_scale(np.array([-3.0, 0.0]))["norm"]
    assert (below.vmin, below.vmax) == (-3.0, 0.0)
    assert type(colour_scale(np.array([0.0, 1.0]))["norm"]) is Normalize
    assert type(colour_scale(np.array([0.0, 1.0, 1.0, 2.0, 100.0]))["norm"]) is PowerNorm
    for constant in (0.0, 7.0, -7.0):
        norm = colour_scale(np.full(3, constant))["norm"]
        assert norm.vmin < norm.vmax


def test_extremes_are_cut_off_and_said_to_be():
    values = np.concatenate([np.linspace(0, 2, 9999), [500.0]])
    scale = colour_scale(values)
    assert scale["norm"].vmax < 3
    assert scale["extend"] == "max"
    assert colour_scale(np.append(values, -50.0))["extend"] == "both"
    assert colour_scale(values[-100:])["extend"] == "neither"


def test_clusters_differ_in_colour_or_hatching():
    styles = [tuple(cluster_style(cluster).values()) for cluster in range(40)]
    assert len(set(styles)) == 40
    assert {hatch for _, hatch in styles[:7]} == {None}


HARD_NAMES = ["$a_{$", r"\frac{1}{", "$$", "a" * 300, "line\nbreak\ttab", "100 % & #_^~", ""]


def test_names_are_not_read_as_formulas():
    X = np.arange(49.0).reshape(7, 7)
    ax = draw(plot.matrix(X, row_names=HARD_NAMES, column_names=HARD_NAMES, title="$x$ and $"))
    shown = labels(ax.yaxis)
    assert shown == [fit_text(name) for name in HARD_NAMES]
    assert shown[0] == r"\$a_{\$"
    assert max(map(len, shown)) <= 28
    assert shown[4] == "line break tab"
    draw(plot.reordered((np.eye(7), np.eye(7)), X, row_names=HARD_NAMES, column_names=HARD_NAMES))
    draw(plot.blocks((np.eye(7), None), X, column_names=HARD_NAMES))


CASES = {
    "one cluster": (np.ones((6, 1)), np.ones((5, 1)), np.arange(30.0).reshape(6, 5)),
    "all outliers on one side": (np.zeros((6, 2)), np.eye(5, 2), np.ones((6, 5))),
    "all outliers": (np.zeros((6, 2)), np.zeros((5, 2)), np.ones((6, 5))),
    "empty clusters": (np.eye(6, 3)[:, [1, 0, 1]] * [0, 1, 0], np.ones((5, 1)), np.ones((6, 5))),
    "one row": (np.ones((1, 1)), np.eye(9, 3), np.arange(9.0)[None]),
    "one column": (np.eye(9, 3), np.ones((1, 1)), np.arange(9.0)[:, None]),
    "one cell": (np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1))),
    "many clusters": (np.eye(24), np.eye(28), np.eye(24, 28)),
}
VALUES = {
    "zeros": np.zeros((4, 3)),
    "nothing stored": sparse.csr_array((4, 3)),
    "negative": -np.ones((4, 3)),
    "tiny": np.full((4, 3), 1e-310),
    "huge": np.linspace(-1e139, 1e139, 12).reshape(4, 3),
    "counts": np.arange(12).reshape(4, 3),
    "yes and no": np.arange(12).reshape(4, 3) % 2 == 0,
}


@pytest.mark.parametrize("name", CASES)
def test_degenerate_input_is_drawn(name):
    U, V, X = CASES[name]
    pair = (U, V)
    for ax in (
        plot.matrix(X),
        plot.reordered(pair, X),
        plot.reordered(pair, X, repeat=True),
        plot.blocks(pair, X),
        plot.memberships(pair),
        plot.memberships(pair, "columns"),
        plot.sizes(pair),
    ):
        assert title(draw(ax))


@pytest.mark.parametrize("name", VALUES)
def test_odd_values_are_drawn(name):
    pair, X = (np.eye(4), np.eye(3)), VALUES[name]
    for ax in (plot.matrix(X), plot.reordered(pair, X), plot.blocks(pair, X)):
        assert title(draw(ax))


# ------------------------------------------------------------------------------------ matplotlib


def test_axes_given_are_drawn_into_and_returned(women, model):
    figure = Figure(figsize=(12, 12), layout="constrained")
    some = figure.subplots(3, 2).ravel()
    assert plot.matrix(women.data, ax=some[0], colorbar=False) is some[0]
    assert plot.reordered(model, women.data, ax=some[1]) is some[1]
    assert plot.blocks(model, ax=some[2]) is some[2]
    assert plot.memberships(model, ax=some[3]) is some[3]
    assert plot.convergence(model, ax=some[4]) is some[4]
    assert plot.sizes(model, ax=some[5]) is some[5]
    draw(some[0])
    subfigure = Figure(layout="constrained").subfigures()
    draw(plot.reordered(model, women.data, ax=subfigure.subplots()))


def test_pyplot_is_left_alone_unless_it_is_in_use():
    code = (
        "import sys; from neocc import plot\n"
        "plot.reordered(([[1], [1]], None), [[1, 2], [3, 4]])\n"
        "plot.memberships(([[1], [1]], None))\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "import matplotlib; matplotlib.use('Agg'); import matplotlib.pyplot as plt\n"
        "ax = plot.sizes(([[1], [1]], None))\n"
        "assert plt.gcf() is ax.figure"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch, women, model):
    for module in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, module, None)
    message = r'neocc.plot needs matplotlib: pip install "neocc\[plot\]"'
    for picture in (
        lambda: plot.matrix(women.data),
        lambda: plot.reordered(model, women.data),
        lambda: plot.blocks(model),
        lambda: plot.memberships(model),
        lambda: plot.convergence(model),
        lambda: plot.sizes(model),
    ):
        with pytest.raises(ImportError, match=message):
            picture()


def test_public_names():
    assert sorted(plot.__all__) == sorted(dir(plot))
    for name in plot.__all__:
        assert callable(getattr(plot, name))
    with pytest.raises(AttributeError, match="no attribute 'matrx'"):
        plot.matrx  # noqa: B018


def test_matrices_from_files_and_data_sets_bring_their_names(women, model):
    named = Matrix(women.data, tuple(women.row_names), tuple(women.column_names))
    for X in (named, replace(named, data=sparse.csr_array(women.data)), women):
        for ax in (plot.matrix(X), plot.reordered(model, X)):
            assert set(women.row_names) == set(labels(ax.yaxis)) - {""}
            assert set(women.column_names) == set(labels(ax.xaxis)) - {""}
        assert title(plot.blocks(model, X)) == title(plot.blocks(model, women.data))
