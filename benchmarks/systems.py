"""`python -m benchmarks.systems [PART ...]` measures MSSR and ROCC as systems to compare with.

Parts: `planted` (overlapping co-clusters anywhere in a noisy matrix), `mssr` (yeast, as the
method's authors ran it), `rocc` (yeast and the MovieLens subsets: a reconstruction, printed values
beside it). `--write docs/systems.md` keeps their tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.pages import Line
from benchmarks.parts import Part, run_parts
from neocc import MSSR, ROCC
from neocc.datasets import fetch_yeast, load_movielens_subset
from neocc.metrics import best_match_f1, matched_f1, omega_index, trivial_baseline
from neocc.preprocessing import preprocess

N_COCLUSTERS = 4
SIZE = (40, 25)
# Of rows and columns, shared with the next co-cluster; noise inside; noise of the background.
PLANTED = [
    (0.25, 0.3, 1.0),
    (0.4, 0.3, 1.0),
    (0.25, 0.3, 1.5),
    (0.25, 0.6, 1.5),
    (0.25, 0.3, 2.0),
]

PRINTED = {
    "MSSR1": "16.4 to 17.4",
    "MSSR2": "18.0 to 19.3",
    "yeast": "12.8 to 15.0",
}


def scattered(
    seed: int, shared: float, noise: float, background: float, shape: tuple[int, int] = (200, 120)
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw four co-clusters in a noisy matrix, each sharing rows, columns or both with the next.

    Their levels are -3, -1, 1 and 3 in random order; cells of two have the mean of both levels.
    Rows and columns in none of them are noise.
    """
    rng = np.random.default_rng(seed)
    U, V = (np.zeros((size, N_COCLUSTERS), dtype=bool) for size in shape)
    first_row = first_column = 0
    for c in range(N_COCLUSTERS):
        U[first_row : first_row + SIZE[0], c] = True
        V[first_column : first_column + SIZE[1], c] = True
        first_row += SIZE[0] - (0 if c == 1 else int(shared * SIZE[0]))
        first_column += SIZE[1] - (0 if c == 0 else int(shared * SIZE[1]))
    levels = rng.permutation([-3.0, -1.0, 1.0, 3.0])
    times = U.astype(float) @ V.T
    inside = times > 0
    X = background * rng.normal(size=shape)
    X[inside] = ((U * levels) @ V.T)[inside] / times[inside] + noise * rng.normal(size=inside.sum())
    rows, columns = rng.permutation(shape[0]), rng.permutation(shape[1])
    return X[rows][:, columns], U[rows], V[columns]


def planted_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Compare ROCC with MSSR, which may have as many clusters or one more for the rest."""
    yield [
        "shared",
        "noise inside",
        "noise outside",
        "ROCC: rows",
        "columns",
        "seeds with both >= 0.9",
        "number found untold",
        f"MSSR, {N_COCLUSTERS}: rows",
        "columns",
        f"MSSR, {N_COCLUSTERS + 1}: rows",
        "columns",
        "seeds where ROCC is ahead",
    ]
    for setting in PLANTED:
        scores, ahead, untold = [], 0, []
        for seed in range(n_seeds):
            X, U, V = scattered(seed, *setting)
            outliers = {
                "row_outliers": float((~U.any(axis=1)).mean()),
                "column_outliers": float((~V.any(axis=1)).mean()),
                "random_state": seed,
            }
            model = ROCC(N_COCLUSTERS, **outliers).fit(X)
            found = [(model.row_membership_, model.column_membership_)]
            for k in (N_COCLUSTERS, N_COCLUSTERS + 1):
                rival = MSSR(k, k, random_state=seed).fit(X)
                found.append((np.eye(k)[rival.row_labels_], np.eye(k)[rival.column_labels_]))
            score = np.array([[matched_f1(U, u), matched_f1(V, v)] for u, v in found])
            scores.append(score)
            ahead += bool((score[0].sum() > score[1:].sum(axis=1)).all())
            grid = {"n_row_clusters": 2 * N_COCLUSTERS, "n_column_clusters": 2 * N_COCLUSTERS}
            untold.append(ROCC(**grid, **outliers).fit(X).n_coclusters_)
        mean = np.mean(scores, axis=0)
        good = sum(bool((score[0] >= 0.9).all()) for score in scores)
        line = [*map(str, setting), *(f"{value:.3f}" for value in mean[0])]
        line += [f"{good} of {n_seeds}", f"{min(untold)} to {max(untold)}"]
        line += [f"{value:.3f}" for value in mean[1:].ravel()]
        line.append(f"{ahead} of {n_seeds}")
        console.print(" | ".join(line))
        yield line


MSSR_SETTINGS: dict[str, dict[str, object]] = {
    "spectral start, chains": {"init": "spectral", "refine": "chains", "n_init": 1},
    "three of them, lowest objective": {"init": "spectral", "refine": "chains", "n_init": 3},
    "random start, no chains": {"init": "random", "refine": False, "n_init": 1},
    "default search": {},
}


def mssr_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Score MSSR on yeast, raw and binormalised."""
    yeast = fetch_yeast()
    yield [
        "system",
        "column clusters",
        "data",
        "how",
        "F1 %, lowest",
        "mean",
        "highest",
        "printed",
        "omega",
    ]
    chains, *others = MSSR_SETTINGS
    cases = [(l_, "raw", chains) for l_ in (2, 3, 5)] + [(3, "raw", how) for how in others]
    cases.append((3, "binormalised", chains))
    binormal = preprocess(yeast.data, "binormalize")
    for name, objective in (("MSSR1", "mean"), ("MSSR2", "residue")):
        for n_columns, data, how in cases:
            X = yeast.data if data == "raw" else binormal
            scores, omegas = [], []
            for seed in range(n_seeds):
                options = {**MSSR_SETTINGS[how], "objective": objective, "random_state": seed}
                members = np.eye(14)[MSSR(14, n_columns, **options).fit(X).row_labels_]
                scores.append(100 * best_match_f1(yeast.row_membership, members))
                omegas.append(omega_index(yeast.row_membership, members))
            line = [name, str(n_columns), data, how]
            line += [f"{value:.1f}" for value in (min(scores), np.mean(scores), max(scores))]
            line += [PRINTED[name], f"{np.mean(omegas):.3f}"]
            console.print(" | ".join(line))
            yield line


MOVIELENS_STEPS: tuple[tuple[str, ...], ...] = ((), ("column-norm",))


def rocc_lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Score ROCC on yeast and on the MovieLens subsets."""
    yield [
        "data",
        "shape",
        "steps",
        "objective",
        "last step",
        "F1 %, lowest",
        "mean",
        "highest",
        "printed",
        "everything in one cluster",
        "omega",
        "mean size",
        "in none",
    ]
    yeast = fetch_yeast()
    cases: list[Any] = [("yeast", yeast.data, yeast.row_membership, "row", ())]
    for name in ("ml-a", "ml-b", "ml-c", "ml-d"):
        subset = load_movielens_subset(name)
        genres = subset.column_membership
        cases += [(name, subset.data, genres, "column", steps) for steps in MOVIELENS_STEPS]
    for name, data, true, side, steps in cases:
        X = preprocess(data, steps)
        shape = f"{data.shape[0]} x {data.shape[1]}"
        for objective in ("mean", "residue"):
            for expand in (2.0, None):
                found = []
                for seed in range(n_seeds):
                    options = {"objective": objective, "expand": expand, "random_state": seed}
                    model = ROCC(true.shape[1], **options).fit(X)
                    found.append(getattr(model, f"{side}_membership_"))
                scores = [100 * best_match_f1(true, each) for each in found]
                line = [name, shape, ", ".join(steps) or "none", objective]
                line += ["yes" if expand else "no"]
                line += [f"{value:.1f}" for value in (min(scores), np.mean(scores), max(scores))]
                line += [PRINTED.get(name, "-"), f"{100 * trivial_baseline(true):.1f}"]
                line += [f"{np.mean([omega_index(true, each) for each in found]):.3f}"]
                line += [f"{np.mean([each.sum(axis=0).mean() for each in found]):.0f}"]
                line += [f"{np.mean([(~each.any(axis=1)).sum() for each in found]):.0f}"]
                console.print(" | ".join(line))
                yield line


PARTS: dict[str, Part] = {
    "planted": (planted_lines, 10),
    "mssr": (mssr_lines, 5),
    "rocc": (rocc_lines, 5),
}

if __name__ == "__main__":
    run_parts("benchmarks.systems", __doc__, PARTS)
