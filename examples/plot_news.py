"""
News: stories that belong to two topics
=======================================

Three hundred news stories from Australia, 2001, part of the gensim wheel. A story on an airline
dispute is about work and about politics. Here documents may belong to two groups.
"""

# %%
# Count words: those of at least four stories and at most three in ten.

from importlib.metadata import distribution
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from sklearn.feature_extraction.text import CountVectorizer

from neocc import NEOCC, plot

path = distribution("gensim").locate_file("gensim/test/test_data/lee_background.cor")
texts = Path(path).read_text(encoding="utf-8").splitlines()
vectorizer = CountVectorizer(
    min_df=4, max_df=0.3, stop_words="english", token_pattern=r"\b[A-Za-z]{3,}\b"
)
X = vectorizer.fit_transform(texts).astype(float)
words = vectorizer.get_feature_names_out()

# %%
# Eight groups of stories and of words. With ``"average"`` a story of two groups uses their words at
# the mean of both rates; one story in ten may do so.

model = NEOCC(
    8,
    8,
    objective="poisson",
    overlap_model="average",
    row_overlap=0.1,
    random_state=0,
).fit(X)

total = np.asarray(X.sum(axis=0)).ravel()
lifts, names = np.empty((8, len(words))), []
for group, inside in enumerate(model.row_membership_.T):
    found = X.T @ inside.astype(float)
    expected = total * found.sum() / total.sum()
    lifts[group] = found / expected
    names.append(words[np.argsort(expected - found)[:5]])
    print(f"R{group + 1}, {inside.sum()} stories: {', '.join(names[-1])}")

# %%
# Some stories in two groups, by how they begin.

for p in np.flatnonzero(model.row_membership_.sum(axis=1) > 1)[:6]:
    groups = " and ".join(f"R{g + 1}" for g in np.flatnonzero(model.row_membership_[p]))
    print(f"{groups}: {texts[p][:75]}...")

# %%
# Left: the words of each group, and how often other groups use them. Right: which groups share
# stories.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(13, 6), layout="constrained", gridspec_kw={"width_ratios": (1, 1.25)}
)
shown = list(dict.fromkeys(t for name in names for t in np.searchsorted(words, name[:4])))
image = left.imshow(lifts[:, shown].T, cmap="Blues", vmin=0, vmax=10, aspect="auto")
left.set_yticks(range(len(shown)), words[shown], fontsize=8)
left.set_xticks(range(8), [f"R{g + 1}" for g in range(8)])
figure.colorbar(image, ax=left, label="lift, 10 and more in full colour")
left.set_title("The words of each group", loc="left", fontsize=10)
plot.memberships(model, most=14, title="Stories in each combination of groups", ax=right)

# %%
# The topics of that December emerge by themselves: the war in Afghanistan, bushfires, cricket, the
# Qantas dispute. For stories in two groups a single label would not do, and the picture on the
# right says which topics meet.
