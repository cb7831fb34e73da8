"""Best sets of clusters: the compiled kernel against the reference, and both against all sets."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from neocc.core.overlap import OVERLAP_MODELS
from neocc.kernels import get_kernels, numba_, numpy_

MODELS = tuple(OVERLAP_MODELS)
# Of the parts that a cost is made of: what it is rounded by, so that equal ones compare equal.
ROUNDING = 2.0**-40
each_model = pytest.mark.parametrize("name", MODELS)


def draw(name, seed, kind="normal", most=12):
    """Distances of items from at most so many prototypes, and what makes sets of them cost."""
    rng = np.random.default_rng(seed)
    n, k, width = int(rng.integers(1, 9)), int(rng.integers(1, most + 1)), int(rng.integers(1, 5))
    items, prototypes = rng.normal(size=(n, width)), rng.normal(size=(k, width))
    if kind == "tied":
        items, prototypes = (rng.integers(-1, 2, size=x.shape) * 1.0 for x in (items, prototypes))
    d = np.square(items[:, None] - prototypes).sum(axis=2)
    if kind == "empty":
        d[:, rng.random(k) < 0.5] = np.inf
    squares = np.square(items).sum(axis=1)
    costs = OVERLAP_MODELS[name]().costs(np.arange(1.0, k + 1), prototypes @ prototypes.T)
    return d, squares, costs, int(rng.integers(1, k + 1))


def best_sets(kernels, d, squares, costs, largest):
    curves = np.full((len(d), largest), np.nan)
    sets = np.full((len(d), largest, largest), -1, dtype=np.int32)
    kernels.best_sets(d, squares, costs, curves, sets)
    return curves, sets


def cost_of(chosen, d, squares, costs):
    """The formula of a set's cost, word for word, and what the kernels may round it by."""
    at = len(chosen) - 1
    parts = [costs.own[at] * sum(d[i] for i in chosen), costs.fixed[at] * squares]
    if costs.pairs is not None:
        parts.append(costs.joint[at] * sum(costs.pairs[i, j] for i, j in combinations(chosen, 2)))
    return sum(parts), ROUNDING * sum(abs(part) for part in parts)


@each_model
@pytest.mark.parametrize("kind", ["normal", "tied", "empty"])
def test_compiled_sets_are_those_of_the_reference(name, kind):
    for seed in range(40):
        # Of twelve clusters the best three are found among all, of more greedily.
        d, squares, costs, largest = draw(name, seed, kind, 12 if seed % 2 else 19)
        for of_items in (squares, None) if name != "sum" else (squares,):
            wanted, found = (
                best_sets(kernels, d, of_items, costs, largest) for kernels in (numpy_, numba_)
            )
            np.testing.assert_array_equal(found[1], wanted[1])
            scale = max(1.0, np.abs(squares).max()) * d.shape[1] ** 2
            np.testing.assert_allclose(found[0], wanted[0], rtol=1e-11, atol=1e-12 * scale)


@each_model
@pytest.mark.parametrize("kernel", ["numpy", "numba"])
@pytest.mark.parametrize("kind", ["normal", "tied", "empty"])
def test_sets_are_real_and_small_ones_the_best_of_all(name, kernel, kind):
    kernels = get_kernels(kernel, 0)
    for seed in range(12):
        d, squares, costs, largest = draw(name, seed, kind)
        curves, sets = best_sets(kernels, d, squares, costs, largest)
        for p, size in np.ndindex(curves.shape):
            chosen = sets[p, size][sets[p, size] >= 0].tolist()
            assert len(set(chosen)) == size + 1
            assert chosen == sorted(chosen)
            assert (sets[p, size, size + 1 :] == -1).all()
            expected, rounding = cost_of(chosen, d[p], squares[p], costs)
            assert expected == curves[p, size] or abs(curves[p, size] - expected) <= rounding
            # Of more than three clusters that interact only some sets are looked at.
            if size < 3 or costs.pairs is None:
                every = (
                    cost_of(each, d[p], squares[p], costs)
                    for each in combinations(range(d.shape[1]), size + 1)
                )
                if np.isinf(expected):
                    assert all(np.isinf(cost) for cost, _ in every)
                else:
                    assert all(cost + margin >= expected - rounding for cost, margin in every)


@each_model
@pytest.mark.parametrize("kernel", ["numpy", "numba"])
def test_of_equal_sets_the_first_counts(name, kernel):
    d, gram = np.ones((2, 4)), np.ones((4, 4))
    costs = OVERLAP_MODELS[name]().costs(np.arange(1.0, 5.0), gram)
    _, sets = best_sets(get_kernels(kernel, 0), d, np.ones(2), costs, 4)
    for size in range(4):
        assert sets[0, size].tolist() == [*range(size + 1)] + [-1] * (3 - size)


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
def test_many_items_are_served_in_parts(kernel):
    """The reference looks at a few items at a time."""
    rng = np.random.default_rng(0)
    prototypes = rng.normal(size=(12, 3))
    d = np.square(rng.normal(size=(2000, 1, 3)) - prototypes).sum(axis=2)
    costs = OVERLAP_MODELS["average"]().costs(np.arange(1.0, 13.0), prototypes @ prototypes.T)
    kernels = get_kernels(kernel, 0)
    whole = best_sets(kernels, d, None, costs, 3)
    for rows in (slice(0, 7), slice(490, 510), slice(1990, 2000)):
        part = best_sets(kernels, d[rows], None, costs, 3)
        np.testing.assert_array_equal(part[0], whole[0][rows])
        np.testing.assert_array_equal(part[1], whole[1][rows])


@pytest.mark.parametrize("name", ["average", "sum"])
@pytest.mark.parametrize("kernel", ["numpy", "numba"])
def test_the_best_three_clusters_are_found(name, kernel):
    """Of all, where there are few clusters; adding the best one to a pair often misses them."""
    rng = np.random.default_rng(0)
    shares = []
    for k, width in ((5, 2), (8, 4), (12, 4), (13, 4)):
        items, prototypes = rng.normal(size=(40, width)), rng.normal(size=(k, width))
        d, squares = (
            np.square(items[:, None] - prototypes).sum(axis=2),
            np.square(items).sum(axis=1),
        )
        costs = OVERLAP_MODELS[name]().costs(np.arange(1.0, k + 1), prototypes @ prototypes.T)
        curves, sets = best_sets(get_kernels(kernel, 0), d, squares, costs, 3)
        n_found = n_greedy = 0
        for p in range(len(d)):
            costs_of = {
                each: cost_of(each, d[p], squares[p], costs)[0]
                for each in combinations(range(k), 3)
            }
            least, pair = min(costs_of.values()), set(sets[p, 1, :2].tolist())
            n_found += curves[p, 2] <= least + 1e-9
            n_greedy += min(cost for each, cost in costs_of.items() if pair < set(each)) <= least
        shares.append((k, n_greedy / len(d), n_found / len(d)))
    print(f"{name}: clusters, share of best triples greedily, and as found: {shares}")  # noqa: T201
    assert [found for *_, found in shares[:3]] == [1.0] * 3
    # One more cluster, and they are looked for greedily.
    assert shares[3][1] == shares[3][2] < 1.0


COMPILED = """
import numpy as np
from numba.core import event

names = []

class Listener(event.Listener):
    def on_start(self, started):
        names.append(started.data["dispatcher"].py_func.__qualname__)

    def on_end(self, ended):
        pass

event.register("numba:compile", Listener())
from neocc.kernels.set_loops import best_sets

one, none = np.ones(3), np.empty(0)
sets = np.full((2, 3, 3), -1, dtype=np.int32)
best_sets(np.ones((2, 4)), none, one, 0 * one, one, np.ones((4, 4)), 3, np.ones((2, 3)), sets)
print(*names)
"""


@pytest.mark.slow
def test_loops_are_compiled_once_and_without_messages(tmp_path):
    # Numba's expressions of whole arrays bring code that formats shapes for an error: a third of
    # the time that a first fit spent compiling.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", COMPILED]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    names = ran.stdout.split()
    assert names.count("_least_pairs") == 1
    assert not [name for name in names if "shape_context" in name or "unicode" in name]
