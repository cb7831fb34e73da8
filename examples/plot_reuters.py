"""
Reuters: topics and their words
===============================

395 news stories of 1996 and 1997 and 4,258 words, the sample that comes with the package lda. Topic
models give each story a mixture of topics. Co-clustering says something plainer: which stories, and
which words, belong together.
"""

# %%
# The file has one line for each story: how many words, then word and count.

from importlib.metadata import distribution
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from scipy import sparse

from neocc import NEOCC


def lines(kind):
    path = Path(distribution("lda").locate_file(f"lda/tests/reuters.{kind}"))
    return path.read_text(encoding="utf-8").splitlines()


words = np.array(lines("tokens"))
titles = [line.split(" ", 1)[1] for line in lines("titles")]
stories = [[pair.split(":") for pair in line.split()[1:]] for line in lines("ldac")]
places = [(p, int(word)) for p, story in enumerate(stories) for word, _ in story]
values = [float(count) for story in stories for _, count in story]
X = sparse.csr_array((values, tuple(zip(*places, strict=True))), shape=(len(titles), len(words)))

# %%
# Every topic has its own words: that is the objective ``"diagonal"``. Counts go in as they are,
# sparse, without TF-IDF.

model = NEOCC(10, 10, objective="diagonal", random_state=0).fit(X)

# %%
# For each topic, the words that exceed expectation most, and its most typical story: the one whose
# membership lowers the objective most.

total = np.asarray(X.sum(axis=0)).ravel()
gains = -model.transform(X)
topics = []
for group, inside in enumerate(model.row_membership_.T):
    found = X.T @ inside.astype(float)
    expected = total * found.sum() / total.sum()
    top = np.argsort(expected - found)[:6]
    typical = titles[np.argmax(np.where(inside, gains[:, group], -np.inf))]
    topics.append((words[top], (found / expected)[top], int(inside.sum()), typical))
    print(f"{inside.sum():3d} stories, such as {typical[:70]}")

# %%
# One panel for each topic. Bars are lifts: how many times as often as expected.

figure, axes = plt.subplots(2, 5, figsize=(13, 5.2), layout="constrained")
for ax, (top, lifts, size, _) in zip(axes.flat, topics, strict=True):
    ax.barh(range(6), lifts, color="#4477aa")
    ax.set_yticks(range(6), top)
    ax.invert_yaxis()
    ax.set_title(f"{size} stories", loc="left", fontsize=10)
    ax.spines[["top", "right"]].set_visible(False)
figure.supxlabel("lift: times as often as expected", fontsize=10)

# %%
# Each group reads as one story of the time: Charles and Diana, Mother Teresa, Yeltsin's operation,
# the murder of Versace. Nobody had to choose weights for words: the objective itself allows for
# words that are frequent everywhere, and for stories that are long.
