"""Invented files in the formats of the real ones, for tests that may not hold the real ones."""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile
from dataclasses import replace
from functools import cache

import numpy as np

from neocc.datasets import _ratings, _yeast

# user, movie, rating: user 7 and movie 30 are out of order, movie 20 is rated by nobody in 1M.
RATINGS = [(7, 10, 5), (1, 30, 2), (1, 10, 4), (2, 40, 1), (7, 40, 3)]
MATRIX = [[4, 2, 0], [0, 0, 1], [5, 0, 3]]
TITLES = {10: "Fjord: Déjà Vu (1901)", 20: "Nobody (1902)", 30: "Ice, Ice (1903)", 40: "Sun (1904)"}


def files_100k():
    flags = {10: "0|1|1", 30: "0|0|1", 40: "1|0|0"}
    items = (f"{n}|{TITLES[n]}|01-Jan-1901||http://x/|{flags[n]}" for n in flags)
    return {
        "u.data": "".join(f"{u}\t{m}\t{r}\t88125\n" for u, m, r in RATINGS).encode(),
        "u.genre": b"unknown|0\nRomance|1\nAdventure|2\n\n",
        "u.item": ("\n".join(items) + "\n").encode("latin-1"),
    }


def files_1m():
    genres = {10: "Romance|Action", 20: "Horror", 30: "Romance", 40: "War"}
    return {
        "movies.dat": "".join(f"{n}::{TITLES[n]}::{genres[n]}\n" for n in genres).encode("latin-1"),
        "ratings.dat": "".join(f"{u}::{m}::{r}::97830\n" for u, m, r in RATINGS).encode(),
    }


def ratings_csv():
    lines = "".join(f"{u},{m},{r}\n" for u, m, r in sorted(RATINGS))
    return gzip.compress(f"user_id,movie_id,rating\n{lines}".encode())


@cache
def yeast_table():
    rng = np.random.default_rng(0)
    return np.hstack([rng.normal(size=(5, 103)).round(6), rng.integers(2, size=(5, 14))])


def files_yeast():
    lines = "\n".join(",".join(f"{x:.10g}" for x in row) for row in yeast_table()).encode() + b"\n"
    attributes = b"@relation MultiLabelData\n\n@attribute Att1 numeric\n\n"
    header = b"Att1,Class14\n"
    return {
        "yeast.arff": attributes + b"@data\n" + lines,
        "yeast.csv.gz": gzip.compress(header + lines),
    }


def zipped(files, inside):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(inside + name, content)
    return buffer.getvalue()


def fake(collection, files, **changes):
    """Return the collection with the checksums of other files."""
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    assert checksums.keys() <= collection.checksums.keys()
    return replace(collection, checksums=checksums, **changes)


def install(monkeypatch, url=None):
    """Put invented files in the place of the real ones; return them by folder and name."""
    ml_100k, ml_1m, yeast = files_100k(), files_1m(), files_yeast()
    ml_100k["ml-100k.zip"] = zipped(ml_100k, "ml-100k/")
    ml_1m["ml-1m.zip"] = zipped(ml_1m, "ml-1m/")
    ml_1m["ratings.csv.gz"] = ratings_csv()
    for module, name, files in (
        (_ratings, "ML_100K", ml_100k),
        (_ratings, "ML_1M", ml_1m),
        (_yeast, "YEAST", yeast),
    ):
        collection = getattr(module, name)
        changes = {"url": f"{url}/{collection.download}"} if url else {}
        monkeypatch.setattr(module, name, fake(collection, files, **changes))
    return {"movielens-100k": ml_100k, "movielens-1m": ml_1m, "yeast": yeast}


def write(home, folder, files):
    (home / folder).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (home / folder / name).write_bytes(content)
