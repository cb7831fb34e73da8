"""Find groups in counts, print what each has more of than expected, and draw their blocks.

    python examples/counts.py [FOLDER]

Two data sets that need no download: eighteen women at fourteen events, who ship with neocc, and
the words in the documentation of NumPy's functions, which ships with NumPy. For each group the
columns that are most beyond expectation are printed, with their lift: how many times as often they
occur as they would if rows and columns had nothing to do with each other. Pictures and reports are
written to FOLDER, by default a temporary one.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from neocc import NEOCC, plot
from neocc.datasets import load_southern_women
from neocc.io import Matrix
from neocc.report import write_report

# Modules whose functions are documents: what they are about is known, but not to the fit.
MODULES = {
    "fft": np.fft,
    "linalg": np.linalg,
    "polynomial": np.polynomial.chebyshev,
    "random": np.random.Generator,
    "strings": np.char,
}


def women() -> Matrix:
    """Return who came to which event."""
    data = load_southern_women()
    return Matrix(data.data, row_names=data.row_names, column_names=data.column_names)


def functions() -> Matrix:
    """Return how often words occur in the documentation of functions of NumPy."""
    texts = {}
    for module, place in MODULES.items():
        for name in dir(place):
            about = getattr(place, name)
            if not name.startswith("_") and callable(about) and len(about.__doc__ or "") > 500:
                texts[f"{module}.{name}"] = about.__doc__
    # Words of at least five documents and of at most half of them.
    words = CountVectorizer(
        min_df=5, max_df=0.5, stop_words="english", token_pattern=r"\b[a-z]{3,}\b"
    )
    counts = words.fit_transform(texts.values()).astype(float)
    return Matrix(counts, tuple(texts), tuple(words.get_feature_names_out()))


def most_beyond(model: NEOCC, matrix: Matrix, group: int, n: int = 6) -> list[tuple[str, float]]:
    """Return the columns that a group of rows has most beyond expectation, and their lifts."""
    inside = model.row_membership_[:, group].astype(float)
    found = matrix.data.T @ inside
    columns = np.asarray(matrix.data.sum(axis=0)).ravel()
    expected = columns * found.sum() / columns.sum()
    most = np.argsort(expected - found)[:n]
    return [(matrix.name_of_column(t), float(found[t] / expected[t])) for t in most]


def describe(model: NEOCC, matrix: Matrix, n_rows: int = 4) -> list[str]:
    """Return a line for each group: its size, the lift of its block, terms, and members."""
    gains = -model.transform(matrix.data)
    lines = []
    for group, inside in enumerate(model.row_membership_.T):
        members = np.flatnonzero(inside)
        typical = members[np.argsort(-gains[members, group])][:n_rows]
        terms = [f"{name} {lift:.1f}" for name, lift in most_beyond(model, matrix, group)]
        names = [matrix.name_of_row(row) for row in typical]
        lift = model.block_lifts_[group].max()
        lines.append(f"{len(members):4d} {lift:5.1f}  {', '.join(terms)}; as in {', '.join(names)}")
    return lines


def fit(matrix: Matrix, n_groups: int, **options: Any) -> NEOCC:
    """Find groups of rows, each with columns of its own."""
    model = NEOCC(n_groups, n_groups, objective="diagonal", random_state=0, **options)
    return model.fit(matrix.data)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    nouns = {"women": ("women", "events"), "functions": ("functions", "words")}
    for name, matrix, n_groups in (("women", women(), 2), ("functions", functions(), 5)):
        model = fit(matrix, n_groups)
        rows, columns = nouns[name]
        print(f"\n{matrix.shape[0]} {rows}, {matrix.shape[1]} {columns}")
        print(f"size  lift  {columns} most beyond expectation, with lift; typical {rows}")
        print("\n".join(describe(model, matrix)))
        for kind, ax in (
            ("blocks", plot.blocks(model)),
            ("matrix", plot.reordered(model, matrix)),
        ):
            ax.figure.savefig(folder / f"{name}_{kind}.png", dpi=100)
        page = {"matrix": matrix, "row_noun": rows, "column_noun": columns}
        write_report(model, folder / f"{name}.html", **page, force=True)
    print(f"\nPictures and reports are in {folder}.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
