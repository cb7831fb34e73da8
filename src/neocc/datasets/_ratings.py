"""Ratings of movies by users: the files of MovieLens, and what is in them."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from neocc._typing import AnyArray, BoolArray
from neocc.datasets._files import Collection, find_files
from neocc.datasets._tables import read_numbers

# Checksums of the archives: their md5 sums are those that GroupLens publishes beside them.
ML_100K = Collection(
    title="MovieLens 100K",
    folder="movielens-100k",
    url="https://files.grouplens.org/datasets/movielens/ml-100k.zip",
    download="ml-100k.zip",
    inside="ml-100k/",
    checksums={
        "ml-100k.zip": "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
        "u.data": "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490",
        "u.genre": "9757e0d3e6b298159a80dd48eaf938114690e911e39af97a76949ef1663610bb",
        "u.item": "553841ebc7de3a0fd0d6b62a204ea30c1e651aacfb2814c7a6584ac52f2c5701",
    },
)
ML_1M = Collection(
    title="MovieLens 1M",
    folder="movielens-1m",
    url="https://files.grouplens.org/datasets/movielens/ml-1m.zip",
    download="ml-1m.zip",
    inside="ml-1m/",
    checksums={
        "ml-1m.zip": "a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
        "movies.dat": "0140fc2356357c1a851d0f52e893a1e4d3696df632c4141cea8d5bc3d621f0b9",
        "ratings.dat": "506d64ca44484487c11dc2d9a28de5c54948213e6b96285e298afe28d6ea4e0f",
        # The same ratings without their times, sorted.
        "ratings.csv.gz": "54c7b0b8e407d88478ee7a30407eff60b3834c35d9b4c6dce059b1d10de51182",
    },
)


@dataclass(frozen=True)
class Ratings:
    """Ratings, users x movies, and what is known of the movies."""

    matrix: Any
    users: AnyArray
    movies: AnyArray
    titles: list[str]
    membership: BoolArray
    genres: list[str]

    @classmethod
    def of(
        cls,
        triples: AnyArray,
        titles: dict[int, str],
        membership: dict[int, AnyArray],
        genres: list[str],
    ) -> Ratings:
        """Arrange triples of user, movie and rating, and look up the movies that occur."""
        from scipy import sparse

        users, rows = np.unique(triples[:, 0], return_inverse=True)
        movies, columns = np.unique(triples[:, 1], return_inverse=True)
        values = triples[:, 2].astype(np.float64)
        places = (rows.astype(np.int32), columns.astype(np.int32))
        matrix = sparse.coo_array((values, places), shape=(users.size, movies.size)).tocsr()
        described = [int(movie) for movie in movies]
        return cls(
            matrix,
            users,
            movies,
            [titles[movie] for movie in described],
            np.array([membership[movie] for movie in described], dtype=bool),
            genres,
        )

    def of_genres(self, genres: tuple[str, ...]) -> Ratings:
        """Keep the movies with any of some genres, and the users who rated any of them."""
        membership = self.membership[:, [self.genres.index(genre) for genre in genres]]
        kept = np.flatnonzero(membership.any(axis=1))
        matrix = self.matrix[:, kept]
        there = np.flatnonzero(np.diff(matrix.indptr))
        return Ratings(
            matrix[there],
            self.users[there],
            self.movies[kept],
            [self.titles[movie] for movie in kept],
            membership[kept],
            list(genres),
        )


def read_100k(data_home: str | os.PathLike[str] | None, download: bool | None) -> Ratings:
    """Read MovieLens 100K."""
    files = find_files(ML_100K, data_home, download)
    triples = read_numbers(files.read("u.data")[1], np.int64)
    genres = [line.split("|")[0] for line in _lines(files.read("u.genre")[1])]
    titles, membership = {}, {}
    for line in _lines(files.read("u.item")[1]):
        number, title, *rest = line.split("|")
        titles[int(number)] = title
        membership[int(number)] = np.array(rest[-len(genres) :]) == "1"
    return Ratings.of(triples, titles, membership, genres)


def read_1m(data_home: str | os.PathLike[str] | None, download: bool | None) -> Ratings:
    """Read MovieLens 1M, with times (the original) or without."""
    files = find_files(ML_1M, data_home, download)
    name, content = files.read("ratings.dat", "ratings.csv.gz")
    if name.endswith(".gz"):
        content = gzip.decompress(content).partition(b"\n")[2]
    triples = read_numbers(content, np.int64)
    titles, genres_of = {}, {}
    for line in _lines(files.read("movies.dat")[1]):
        number, title, names = line.split("::")
        titles[int(number)] = title
        genres_of[int(number)] = names.split("|")
    genres = sorted({genre for names in genres_of.values() for genre in names})
    membership = {movie: np.isin(genres, names) for movie, names in genres_of.items()}
    return Ratings.of(triples, titles, membership, genres)


def _lines(content: bytes) -> list[str]:
    """Lines that are not empty, of a text in the encoding of all MovieLens files."""
    return [line for line in content.decode("latin-1").split("\n") if line]
