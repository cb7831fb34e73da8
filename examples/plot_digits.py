"""
Digits: shapes, and pictures between two of them
================================================

Handwritten digits of 8 x 8 pixels, from scikit-learn. Rows are pictures, columns are pixels.
Co-clustering groups both: pictures into shapes, pixels into strokes.
"""

# %%
# 1,797 pictures of 64 pixels.

import numpy as np
from matplotlib import pyplot as plt

from neocc import NEOCC
from neocc.datasets import load_digits

data = load_digits()
X = data.data
digits = data.row_membership.argmax(axis=1)

# %%
# Ten groups of pictures, twenty of pixels. Five percent of the pictures may be in two groups, three
# percent in none.

model = NEOCC(
    n_row_clusters=10,
    n_column_clusters=20,
    overlap_model="average",
    row_overlap=0.05,
    row_outliers=0.03,
    n_init=4,
    refine=False,
    random_state=0,
).fit(X)
common = []
for group, inside in enumerate(model.row_membership_.T, start=1):
    counts = np.bincount(digits[inside], minlength=10)
    common.append(counts.argmax())
    print(f"R{group}: {inside.sum()} pictures, {counts.max()} of them a {counts.argmax()}")

# %%
# What a group looks like is its row of block means, painted onto the pixels. Below, pictures that
# the fit put into two groups, and pictures it left out.

V = model.column_membership_
paint = (V / V.sum(axis=1, keepdims=True).clip(1)).T
several = np.flatnonzero(model.row_membership_.sum(axis=1) > 1)[:10]
outside = np.flatnonzero(model.row_outliers_)[:10]
figure, axes = plt.subplots(3, 10, figsize=(12, 4.4), layout="constrained")
for ax in axes.flat:
    ax.set_axis_off()
for ax, group in zip(axes[0], np.argsort(common), strict=True):
    ax.imshow((model.block_means_ @ paint)[group].reshape(8, 8), cmap="Greys")
    ax.set_title(f"R{group + 1}: {common[group]}", fontsize=10)
for ax, p in zip(axes[1], several, strict=False):
    ax.imshow(X[p].reshape(8, 8), cmap="Blues")
    groups = np.flatnonzero(model.row_membership_[p])
    ax.set_title(f"{digits[p]}: " + " + ".join(f"R{g + 1}" for g in groups), fontsize=9)
for ax, p in zip(axes[2], outside, strict=False):
    ax.imshow(X[p].reshape(8, 8), cmap="Oranges")
    ax.set_title(f"{digits[p]}", fontsize=9)
figure.suptitle(
    "Top: what each group looks like.  Middle: pictures in two groups.  Bottom: pictures in none.",
    fontsize=11,
)

# %%
# Groups of pictures are shapes rather than digits: some digits have a group of their own, others
# share one, or have two. Pictures in two groups are those you have to look at twice; those in none
# are rare ways of writing, such as a 7 with a bar.
