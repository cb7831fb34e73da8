"""Where things stand along a side of a picture."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from neocc.plot._frames import _shaded
from neocc.plot._layout import once, repeated
from neocc.plot.arrange import arrange


def random_membership(seed, n_clusters=4):
    rng = np.random.default_rng(seed)
    membership = rng.random((30, n_clusters)) < 0.35
    membership[:, rng.random(n_clusters) < 0.2] = False
    return membership


def covered(layout, cluster):
    inside = np.zeros(layout.n_places, dtype=bool)
    for start, stop in layout.bars[cluster]:
        inside[start:stop] = True
    return inside


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("lay_out", [once, repeated])
def test_bars_cover_the_members_and_nobody_else(seed, lay_out):
    membership = random_membership(seed)
    layout = lay_out(arrange(membership))
    shown = layout.items >= 0
    for cluster in range(membership.shape[1]):
        inside = covered(layout, cluster)
        assert not inside[~shown].any()
        assert (inside[shown] == membership[layout.items[shown], cluster]).all()


@pytest.mark.parametrize("seed", range(15))
def test_each_item_is_shown_once(seed):
    membership = random_membership(seed)
    layout = once(arrange(membership))
    assert sorted(layout.items[layout.items >= 0].tolist()) == list(range(30))
    for cluster, (start, stop) in layout.boxes.items():
        assert set(layout.items[start:stop].tolist()) == set(np.flatnonzero(membership[:, cluster]))
    framed = set(layout.boxes)
    assert framed == {c for c, pieces in layout.bars.items() if len(pieces) == 1}


@pytest.mark.parametrize("seed", range(15))
def test_each_item_is_repeated_in_each_of_its_clusters(seed):
    membership = random_membership(seed)
    layout = repeated(arrange(membership))
    assert set(layout.boxes) == set(np.flatnonzero(membership.any(axis=0)))
    for cluster, (start, stop) in layout.boxes.items():
        inside = layout.items[start:stop].tolist()
        assert sorted(inside) == np.flatnonzero(membership[:, cluster]).tolist()
    times = Counter(layout.items[layout.items >= 0].tolist())
    assert [times[item] for item in range(30)] == np.maximum(membership.sum(axis=1), 1).tolist()


@pytest.mark.parametrize("lay_out", [once, repeated])
def test_outliers_stand_apart_at_the_end(lay_out):
    membership = np.ones((200, 1), dtype=bool)
    membership[[5, 17]] = False
    layout = lay_out(arrange(membership))
    start, stop = layout.outliers
    assert layout.items[start:stop].tolist() == [5, 17]
    assert stop == layout.n_places
    assert layout.end == 198
    assert (layout.items[layout.end : start] == -1).all()
    assert start > layout.end


@pytest.mark.parametrize("lay_out", [once, repeated])
def test_no_place_is_left_empty_without_need(lay_out):
    layout = lay_out(arrange(np.zeros((4, 2), dtype=bool)))
    assert layout.items.tolist() == [0, 1, 2, 3]
    assert layout.outliers == (0, 4)
    assert layout.boxes == {}
    layout = lay_out(arrange(np.ones((4, 1), dtype=bool)))
    assert layout.items.tolist() == [0, 1, 2, 3]
    assert layout.outliers is None


def test_a_shaded_bar_shows_how_much_of_it_is_filled():
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    length = 1203
    inside = np.repeat(rng.random(401) < 0.3, 3)
    ends = np.flatnonzero(np.diff(inside, prepend=False, append=False)).reshape(-1, 2)
    colours = _shaded([tuple(pair) for pair in ends.tolist()], length, "black")
    # Literally: stretch both to a common length and average.
    fine = np.repeat(inside, 500).reshape(500, -1).mean(axis=1)
    weight = np.where(fine > 0, np.maximum(fine, 0.15), 0)
    np.testing.assert_allclose(colours, ((1 - weight) * 0.92)[:, None] * np.ones(3), atol=1e-12)
