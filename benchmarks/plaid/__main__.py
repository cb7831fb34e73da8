"""`python -m benchmarks.plaid` checks the plaid sampler against its model, and what it recovers.

Parts: `prior` (runs without data against the Indian buffet process), `joint` (Geweke's test, also
of samplers with a bug put in), `recovery` (data drawn from the model) and `yeast` (the full
matrix). `--write docs/plaid.md` keeps their tables.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.__main__ import machine
from benchmarks.pages import Line, markdown, replace_section
from benchmarks.plaid import checks
from benchmarks.plaid.simulate import draw_buffet, draw_clear_state, draw_state, mean_K
from neocc import InfinitePlaid
from neocc.datasets import fetch_yeast
from neocc.metrics import best_match_f1, matched_f1, trivial_baseline
from neocc.rivals.plaid import births, conditionals, splits
from neocc.rivals.plaid.chain import sweep
from neocc.rivals.plaid.kernels import numpy_
from neocc.rivals.plaid.model import Prior, harmonic

# Shape, gamma1, gamma2.
PRIORS = [
    ((10, 8), 1.0, 1.0),
    ((20, 20), 1.0, 1.0),
    ((20, 20), 2.0, 2.0),
    ((30, 10), 0.5, 2.0),
    ((60, 40), 1.0, 1.5),
]
# Tighter than the default: states that differ less show smaller errors.
JOINT_PRIOR = Prior(gamma=(3.0, 4.0), tau=(4.0, 3.0), mu_precision=1.0)
JOINT_SHAPE = (4, 3)

# Name: module, function, and what takes its place.
BUGS: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "births always accepted": (births, "log_birth_ratio", lambda _: lambda *_: math.inf),
    "births without 1 / (K + 1)": (
        births,
        "log_gain",
        lambda right: lambda shape, n, *rest: right(shape, n, *rest) + math.log(n + 1),
    ),
    "anchors of births taken for uniform": (
        births,
        "log_anchor",
        lambda _: lambda field, _anchor: -math.log(field.values.size),
    ),
    "splits without p(parts)": (
        splits,
        "log_split_ratio",
        lambda right: (
            lambda state, union, parts, weighting, _: right(state, union, parts, weighting, 0.0)
        ),
    ),
    "gamma with H = 1": (conditionals, "harmonic", lambda _: lambda _: 1.0),
    "shapes of Gammas + 1/2": (
        conditionals,
        "_draw_gamma",
        lambda right: lambda prior, shape, rate, rng: right(prior, shape + 0.5, rate, rng),
    ),
}


def prior_lines(console: Console) -> Iterator[Line]:
    """Run the sampler without data; count sub-matrices, and memberships of one item."""
    yield [
        "rows x columns",
        "gamma1, gamma2",
        "c",
        "mean K: sampler",
        "exact",
        "pairs of buffets",
        "off by",
        "rows per sub-matrix: sampler",
        "buffet",
        "columns per sub-matrix: sampler",
        "buffet",
    ]
    for shape, gamma1, gamma2 in PRIORS:
        rng = np.random.default_rng(0)
        prior = Prior(given={"gamma1": gamma1, "gamma2": gamma2})
        state = draw_state(prior, shape, rng, observed=np.zeros(shape))
        counts = np.zeros(3)
        n_sweeps = 10_000
        for _ in range(n_sweeps):
            sweep(state, prior, numpy_, 2, rng)
            counts += state.K, state.rows.sum(), state.columns.sum()
        exact = mean_K(shape, gamma1, gamma2)
        c = math.sqrt(gamma1 * harmonic(shape[0]) * gamma2 * harmonic(shape[1]))
        line = [
            f"{shape[0]} x {shape[1]}",
            f"{gamma1}, {gamma2}",
            f"{c:.3f}",
            f"{counts[0] / n_sweeps:.3f}",
            f"{exact:.3f}",
            f"{pairs_of_buffets(shape, gamma1, gamma2, rng):.3f}",
            f"{counts[0] / n_sweeps / exact - 1:+.1%}",
            f"{counts[1] / counts[0]:.2f}",
            f"{shape[0] / harmonic(shape[0]):.2f}",
            f"{counts[2] / counts[0]:.2f}",
            f"{shape[1] / harmonic(shape[1]):.2f}",
        ]
        console.print(" | ".join(line))
        yield line


def pairs_of_buffets(
    shape: tuple[int, int], gamma1: float, gamma2: float, rng: np.random.Generator
) -> float:
    """Mean number of dishes of pairs of restaurants that happen to have the same number."""
    n_dishes = []
    while len(n_dishes) < 2_000:
        n_rows, n_columns = (
            len(draw_buffet(n, gamma, rng))
            for n, gamma in zip(shape, (gamma1, gamma2), strict=True)
        )
        if n_rows == n_columns:
            n_dishes.append(n_rows)
    return float(np.mean(n_dishes))


@contextmanager
def put_in(bug: str) -> Iterator[None]:
    """Put a bug into the sampler for a while."""
    module, name, wrong = BUGS[bug]
    right = getattr(module, name)
    setattr(module, name, wrong(right))
    try:
        yield
    finally:
        setattr(module, name, right)


def joint_lines(console: Console) -> Iterator[Line]:
    """Run the joint test on the sampler as it is, with missing entries, and with bugs."""
    yield [
        "sampler",
        "runs x sweeps",
        "largest z of 24, without sign",
        "expected of 24 normals",
        "of what",
    ]
    half_missing = np.ones(JOINT_SHAPE)
    half_missing.flat[::2] = 0.0
    n_runs, n_rounds = 4_000, 8
    cases: list[tuple[str, int, np.ndarray | None]] = [
        ("as it is", n_runs, None),
        ("as it is, half of the entries missing", n_runs, half_missing),
        *((bug, n_runs, None) for bug in BUGS),
    ]
    expected = np.abs(np.random.default_rng(0).standard_normal((20_000, 24))).max(axis=1)
    usual = f"{np.quantile(expected, 0.05):.1f} to {np.quantile(expected, 0.95):.1f}"
    for name, n, observed in cases:
        rng = np.random.default_rng(1)
        options = (JOINT_PRIOR, JOINT_SHAPE, numpy_, n, n_rounds, rng, observed)
        if name in BUGS:
            with put_in(name):
                z = np.abs(checks.joint_test(*options))
        else:
            z = np.abs(checks.joint_test(*options))
        line = [name, f"{n:,} x {n_rounds}", f"{z.max():.1f}", usual, checks.NAMES[z.argmax()]]
        console.print(" | ".join(line))
        yield line


def recovery_lines(console: Console) -> Iterator[Line]:
    """Fit data drawn from the model, with the default settings and from an empty start."""
    yield [
        "seed",
        "sub-matrices",
        "found",
        "matched F1, rows",
        "columns",
        "K in the kept sweeps",
        "from an empty start: found",
        "rows",
        "columns",
    ]
    for seed in range(10):
        state = draw_clear_state((100, 80), np.random.default_rng(seed))
        line = [str(seed), str(state.K)]
        for init in ("greedy", "empty"):
            model = InfinitePlaid(init=init, random_state=seed).fit(state.data.values)
            line += [
                str(model.n_submatrices_),
                f"{matched_f1(state.rows.T, model.row_membership_):.3f}",
                f"{matched_f1(state.columns.T, model.column_membership_):.3f}",
            ]
            if init == "greedy":
                numbers = model.history_["n_submatrices"][model.burn_in :]
                line.append(f"{numbers.mean():.1f}")
        console.print(" | ".join(line))
        yield line


def yeast_lines(console: Console) -> Iterator[Line]:
    """Fit the whole yeast matrix, which the published program could not."""
    yield [
        "setting",
        "time",
        "of which computing",
        "sub-matrices in the last sample",
        "in the result",
        "log-likelihood, first sweep",
        "last sweep",
        "best-match F1 % of the rows",
    ]
    yeast = fetch_yeast()
    X, classes = yeast.data, yeast.row_membership
    for name, options in {"default": {}, "max_submatrices=20": {"max_submatrices": 20}}.items():
        start = time.perf_counter(), time.process_time()
        model = InfinitePlaid(random_state=0, **options).fit(X)
        elapsed, computing = time.perf_counter() - start[0], time.process_time() - start[1]
        history = model.history_
        line = [
            name,
            f"{elapsed:.0f} s",
            f"{computing:.0f} s",
            str(history["n_submatrices"][-1]),
            str(model.n_submatrices_),
            f"{history['log_likelihood'][0]:,.0f}",
            f"{history['log_likelihood'][-1]:,.0f}",
            f"{100 * best_match_f1(classes, model.row_membership_):.1f}",
        ]
        console.print(" | ".join(line))
        yield line
    baseline = f"{100 * trivial_baseline(classes):.1f}"
    yield ["one cluster of all rows", "", "", "", "", "", "", baseline]


PARTS = {
    "prior": prior_lines,
    "joint": joint_lines,
    "recovery": recovery_lines,
    "yeast": yeast_lines,
}


def main() -> None:
    """Run the parts asked for, print their tables and, if asked, put them into a file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plaid", description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    parser.add_argument(
        "--write", type=Path, help="file whose sections of these names are replaced"
    )
    options = parser.parse_args()
    console = Console()
    for name in options.parts:
        start = time.perf_counter()
        table = markdown(PARTS[name](console))
        minutes = (time.perf_counter() - start) / 60
        text = f"{table}\n\n`python -m benchmarks.plaid {name}`, {minutes:.1f} minutes. {machine()}"
        console.print(text, soft_wrap=True, highlight=False)
        if options.write:
            replace_section(options.write, name, text)


if __name__ == "__main__":
    main()
