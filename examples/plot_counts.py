"""
Documentation: which functions are about the same thing
=======================================================

Counts without a download: the words in the documentation of NumPy's functions. Five modules are
about five different things, but the fit is not told which function belongs to which.
"""

# %%
# Every function is a document, named by its module. Words of at least five documents and of at most
# half of them are counted.

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from sklearn.feature_extraction.text import CountVectorizer

from neocc import NEOCC, plot
from neocc.io import Matrix

MODULES = {
    "fft": np.fft,
    "linalg": np.linalg,
    "polynomial": np.polynomial.chebyshev,
    "random": np.random.Generator,
    "strings": getattr(np, "strings", np.char),  # NumPy 1 has the latter
}


def functions() -> Matrix:
    """Return how often words occur in the documentation of functions of NumPy."""
    texts = {}
    for module, place in MODULES.items():
        for name, about in sorted(vars(place).items()):
            if not name.startswith("_") and callable(about) and len(about.__doc__ or "") > 500:
                texts[f"{module}.{name}"] = about.__doc__
    words = CountVectorizer(
        min_df=5, max_df=0.5, stop_words="english", token_pattern=r"\b[a-z]{3,}\b"
    )
    counts = words.fit_transform(texts.values()).astype(float)
    return Matrix(counts, tuple(texts), tuple(words.get_feature_names_out()))


matrix = functions()
print(f"{matrix.shape[0]} functions, {matrix.shape[1]} words")

# %%
# Each group of functions has words of its own: the objective ``"diagonal"``.


def fit(matrix: Matrix, n_groups: int, **options: Any) -> NEOCC:
    """Find groups of rows, each with columns of its own."""
    model = NEOCC(n_groups, n_groups, objective="diagonal", random_state=0, **options)
    return model.fit(matrix.data)


model = fit(matrix, 5, n_init=4)

# %%
# For each group, the words that are most beyond expectation, with their lift: how many times as
# often they occur as they would if functions and words had nothing to do with each other. Typical
# members are those whose membership lowers the objective most.


def most_beyond(model: NEOCC, matrix: Matrix, group: int, n: int = 6) -> list[tuple[str, float]]:
    """Return the columns that a group of rows has most beyond expectation, and their lifts."""
    inside = model.row_membership_[:, group].astype(float)
    found = matrix.data.T @ inside
    columns = np.asarray(matrix.data.sum(axis=0)).ravel()
    expected = columns * found.sum() / columns.sum()
    most = np.argsort(expected - found)[:n]
    return [(matrix.name_of_column(t), float(found[t] / expected[t])) for t in most]


def describe(model: NEOCC, matrix: Matrix, n_rows: int = 3) -> list[str]:
    """Return a line for each group: its size, words, and members."""
    gains = -model.transform(matrix.data)
    lines = []
    for group, inside in enumerate(model.row_membership_.T):
        members = np.flatnonzero(inside)
        typical = members[np.argsort(-gains[members, group])][:n_rows]
        terms = [f"{name} {lift:.1f}" for name, lift in most_beyond(model, matrix, group)]
        names = [matrix.name_of_row(row) for row in typical]
        lines.append(f"{len(members):4d}  {', '.join(terms)}; as in {', '.join(names)}")
    return lines


print("\n".join(describe(model, matrix)))

# %%
# The counts, sorted, and which module the functions of each group come from.

figure, axes = plt.subplots(
    1, 2, figsize=(12.5, 5.5), layout="constrained", gridspec_kw={"width_ratios": (1.6, 1)}
)
shown = np.log1p(matrix.data.toarray())
plot.reordered(
    model, shown, title="log(1 + count), functions and words sorted by group", ax=axes[0]
)
modules = np.array([name.split(".")[0] for name in matrix.row_names])
left = np.zeros(5)
for module in MODULES:
    sizes = model.row_membership_[modules == module].sum(axis=0)
    axes[1].barh(range(5), sizes, left=left, label=module)
    left += sizes
axes[1].set_yticks(range(5), [f"R{g + 1}" for g in range(5)])
axes[1].invert_yaxis()
axes[1].legend(frameon=False)
axes[1].set_xlabel("functions")
axes[1].spines[["top", "right"]].set_visible(False)
axes[1].set_title("Modules of the functions in each group", loc="left", fontsize=10)

# %%
# The groups are the modules, nearly without exception, and their words say why. Long docstrings and
# words that occur everywhere do no harm: an objective for counts allows for them.
