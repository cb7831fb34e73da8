"""Ratings of movies, collected by GroupLens; they may not be passed on and are always fetched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from neocc.datasets._bunch import make_bunch
from neocc.datasets._ratings import Ratings, read_1m, read_100k

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_CITATION = (
    "Harper, F. M., and Konstan, J. A. (2015). The MovieLens Datasets: History and Context. "
    "ACM Transactions on Interactive Intelligent Systems 5(4), article 19."
)
_LICENCE = (
    "Terms of GroupLens (README of the data set): research only, no commercial use without "
    "permission, to be acknowledged in publications, not to be passed on without permission."
)
_NOTE = """\
A cell holds the rating, 1 to 5, or nothing: a missing rating is not a zero, though it is read as
one. The genres of the movies are overlapping clusters of the columns."""

_SUBSETS = {
    "ml-a": ("Action", "Children's", "Thriller"),
    "ml-b": ("Adventure", "Crime", "Sci-Fi"),
    "ml-c": ("Action", "Adventure", "Film-Noir"),
    "ml-d": ("Adventure", "Romance"),
}


def fetch_movielens_100k(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool | None = None,
) -> Bunch:
    """Load MovieLens 100K: ratings of movies, with the genres of the movies.

    100,000 ratings by 943 users of 1,682 movies in 19 overlapping genres, one of them ``"unknown"``
    [1]_. Downloaded from GroupLens on first use (4.9 MB).

    Parameters
    ----------
    data_home : path, default=None
        Folder that holds the data set in a folder ``movielens-100k``, as the archive
        ``ml-100k.zip`` or as its files ``u.data``, ``u.item`` and ``u.genre``, or to which it is
        downloaded. By default the folder that the environment variable ``NEOCC_DATA`` names, from
        which data is only read, never downloaded to; without it, the user's cache folder.
    download_if_missing : bool or None, default=None
        Whether to download the data if there is no copy. None: only if no folder was named.

    Returns
    -------
    data : sklearn.utils.Bunch
        Dictionary-like object with the attributes

        data : scipy.sparse.csr_array of shape (943, 1682), float64
            Ratings from 1 to 5, users x movies.
        row_names : list of str
            User numbers.
        column_names : list of str
            Movie titles. 18 titles occur twice.
        column_ids : ndarray of shape (1682,), int64
            Movie numbers.
        column_membership : ndarray of shape (1682, 19), bool
            The genres of each movie.
        column_class_names : list of str
            Names of the genres.
        row_membership, row_class_names : None
            No clusters of the users are known.
        DESCR, citation, licence : str
            Description, citation and licence of the data.

    Raises
    ------
    DatasetError
        If there is no copy and no download, or a file is invalid.

    See Also
    --------
    load_movielens_subset : Movies of a few genres.

    References
    ----------
    .. [1] Harper, F. M., and Konstan, J. A. (2015). The MovieLens Datasets: History and Context.
       ACM Transactions on Interactive Intelligent Systems 5(4), article 19.

    Examples
    --------
    >>> from neocc.datasets import fetch_movielens_100k
    >>> movies = fetch_movielens_100k()  # doctest: +SKIP
    >>> movies.data.shape, movies.data.nnz  # doctest: +SKIP
    ((943, 1682), 100000)
    """
    text = "100,000 ratings by 943 users (rows) of 1,682 movies (columns); 18 genres and 'unknown'."
    return _bunch(read_100k(data_home, download_if_missing), "MovieLens 100K", text)


def fetch_movielens_1m(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool | None = None,
) -> Bunch:
    """Load MovieLens 1M: ratings of movies, with the genres of the movies.

    1,000,209 ratings by 6,040 users of 3,706 movies in 18 overlapping genres [1]_. Downloaded from
    GroupLens on first use (5.9 MB).

    Parameters
    ----------
    data_home : path, default=None
        Folder that holds the data set in a folder ``movielens-1m``, as the archive ``ml-1m.zip`` or
        as ``movies.dat`` with ``ratings.dat`` or ``ratings.csv.gz``, or to which it is downloaded.
        By default the folder that the environment variable ``NEOCC_DATA`` names, from which data is
        only read, never downloaded to; without it, the user's cache folder.
    download_if_missing : bool or None, default=None
        Whether to download the data if there is no copy. None: only if no folder was named.

    Returns
    -------
    data : sklearn.utils.Bunch
        Dictionary-like object with the attributes

        data : scipy.sparse.csr_array of shape (6040, 3706), float64
            Ratings from 1 to 5, users x movies. The 177 movies that nobody rated are left out.
        row_names : list of str
            User numbers.
        column_names : list of str
            Movie titles.
        column_ids : ndarray of shape (3706,), int64
            Movie numbers.
        column_membership : ndarray of shape (3706, 18), bool
            The genres of each movie.
        column_class_names : list of str
            Names of the genres.
        row_membership, row_class_names : None
            No clusters of the users are known.
        DESCR, citation, licence : str
            Description, citation and licence of the data.

    Raises
    ------
    DatasetError
        If there is no copy and no download, or a file is invalid.

    References
    ----------
    .. [1] Harper, F. M., and Konstan, J. A. (2015). The MovieLens Datasets: History and Context.
       ACM Transactions on Interactive Intelligent Systems 5(4), article 19.

    Examples
    --------
    >>> from neocc.datasets import fetch_movielens_1m
    >>> movies = fetch_movielens_1m()  # doctest: +SKIP
    >>> movies.data.shape, movies.data.nnz  # doctest: +SKIP
    ((6040, 3706), 1000209)
    """
    text = "1,000,209 ratings by 6,040 users (rows) of 3,706 movies (columns); 18 genres."
    return _bunch(read_1m(data_home, download_if_missing), "MovieLens 1M", text)


def load_movielens_subset(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool | None = None,
) -> Bunch:
    """Load the movies of a few genres from MovieLens 100K.

    The experiments of the method's paper [1]_ use three such subsets, of which only the numbers of
    ratings are known; no plain rule for the choice of genres gives all three. The four subsets here
    are near them and stand in for them: scores on them cannot be compared with the printed ones.

    ======  ============================  ============  =======  ==============
    name    genres                        shape         ratings  in place of
    ======  ============================  ============  =======  ==============
    `ml-a`  Action, Children's, Thriller  (943, 531)     44,337  ML1 (44,269)
    `ml-b`  Adventure, Crime, Sci-Fi      (940, 302)     28,340  ML2 (28,335)
    `ml-c`  Action, Adventure, Film-Noir  (942, 335)     30,770  ML3 (30,769)
    `ml-d`  Adventure, Romance            (943, 368)     30,790  ML3, two genres
    ======  ============================  ============  =======  ==============

    Parameters
    ----------
    name : {"ml-a", "ml-b", "ml-c", "ml-d"}
        Which subset. It has the movies with at least one of its genres, and the users who rated at
        least one of these movies.
    data_home : path, default=None
        Where MovieLens 100K is, see :func:`fetch_movielens_100k`.
    download_if_missing : bool or None, default=None
        Whether to download the data if there is no copy. None: only if no folder was named.

    Returns
    -------
    data : sklearn.utils.Bunch
        With the attributes of :func:`fetch_movielens_100k`. The clusters of the columns are the
        genres of the subset; every movie is in at least one.

    Raises
    ------
    DatasetError
        If there is no copy and no download, or a file is invalid.

    References
    ----------
    .. [1] Whang, J. J., and Dhillon, I. S. Non-Exhaustive, Overlapping Co-Clustering: An Extended
       Analysis.

    Examples
    --------
    >>> from neocc.datasets import load_movielens_subset
    >>> movies = load_movielens_subset("ml-d")  # doctest: +SKIP
    >>> movies.data.shape, movies.column_class_names  # doctest: +SKIP
    ((943, 368), ['Adventure', 'Romance'])
    """
    if name not in _SUBSETS:
        raise ValueError(f"name must be one of {', '.join(map(repr, _SUBSETS))}; got {name!r}.")
    ratings = read_100k(data_home, download_if_missing).of_genres(_SUBSETS[name])
    n_users, n_movies = ratings.matrix.shape
    text = (
        f"The movies of MovieLens 100K with at least one of the genres {', '.join(ratings.genres)},"
        f"\nand the users who rated one of them: {ratings.matrix.nnz:,} ratings by {n_users} users "
        f"(rows) of {n_movies}\nmovies (columns). A stand-in for a data set of the method's paper, "
        "which does not say how its\nsubsets were made."
    )
    return _bunch(ratings, f"MovieLens 100K, subset {name}", text)


def _bunch(ratings: Ratings, title: str, text: str) -> Bunch:
    return make_bunch(
        title=title,
        text=f"{text}\n\n{_NOTE}",
        citation=_CITATION,
        licence=_LICENCE,
        data=ratings.matrix,
        row_names=[str(user) for user in ratings.users],
        column_names=ratings.titles,
        column_membership=ratings.membership,
        column_class_names=ratings.genres,
        column_ids=ratings.movies,
    )
