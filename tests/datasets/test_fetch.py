"""Data sets are found, downloaded, checked and read; what goes wrong is said and leaves no file.

The files are invented (`fake_data`) and served from this machine; see `test_real_data` for the
real ones.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fake_data
import numpy as np
import pooch
import pytest

from neocc.datasets import (
    DatasetError,
    fetch_movielens_1m,
    fetch_movielens_100k,
    fetch_yeast,
    load_movielens_subset,
)

FETCHERS = {
    "movielens-100k": fetch_movielens_100k,
    "movielens-1m": fetch_movielens_1m,
    "yeast": fetch_yeast,
}
DOWNLOADS = {"movielens-100k": "ml-100k.zip", "movielens-1m": "ml-1m.zip", "yeast": "yeast.arff"}
each_data_set = pytest.mark.parametrize("folder", FETCHERS)


class Server:
    """What the network sends: files, spoilt by `spoil`. Counts what it was asked for."""

    def __init__(self):
        self.content, self.asked = {}, 0
        self.spoil = lambda content: (content, len(content))

    def start(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked += 1
                content = outer.content.get(self.path.lstrip("/"))
                if content is None:
                    self.send_error(404)
                    return
                content, length = outer.spoil(content)
                self.send_response(200)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{self.http.server_address[1]}"

    def stop(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server():
    server = Server()
    server.url = server.start()
    yield server
    server.stop()
    with warnings.catch_warnings():
        # requests leaves the sockets of broken downloads to the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def files(monkeypatch, server):
    """Invented data sets in the place of the real ones, served from here, and an empty home."""
    monkeypatch.delenv("NEOCC_DATA", raising=False)
    files = fake_data.install(monkeypatch, server.url)
    server.content = {DOWNLOADS[folder]: files[folder][DOWNLOADS[folder]] for folder in files}
    return files


@pytest.fixture
def no_network(monkeypatch):
    def retrieve(*arguments, **options):
        raise AssertionError("the network was touched")

    monkeypatch.setattr(pooch, "retrieve", retrieve)


def files_in(folder):
    return sorted(path.name for path in Path(folder).rglob("*") if path.is_file())


# ------------------------------------------------------------------------------------ what is read


def check_ratings(data, n_genres):
    np.testing.assert_array_equal(data.data.toarray(), fake_data.MATRIX)
    assert data.data.format == "csr"
    assert data.data.has_canonical_format
    assert data.data.dtype == np.float64
    assert data.row_names == ["1", "2", "7"]
    assert data.column_names == [fake_data.TITLES[n] for n in (10, 30, 40)]
    assert data.column_ids.tolist() == [10, 30, 40]
    assert data.column_membership.dtype == np.bool_
    assert data.column_membership.shape == (3, n_genres)
    assert data.row_membership is None


@pytest.mark.parametrize("names", [["u.data", "u.item", "u.genre"], ["ml-100k.zip"]])
def test_movielens_100k(files, tmp_path, no_network, names):
    fake_data.write(
        tmp_path, "movielens-100k", {name: files["movielens-100k"][name] for name in names}
    )
    data = fetch_movielens_100k(data_home=tmp_path)
    check_ratings(data, 3)
    assert data.column_class_names == ["unknown", "Romance", "Adventure"]
    assert data.column_membership.tolist() == [[0, 1, 1], [0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    "names", [["ratings.dat", "movies.dat"], ["ratings.csv.gz", "movies.dat"], ["ml-1m.zip"]]
)
def test_movielens_1m(files, tmp_path, no_network, names):
    fake_data.write(tmp_path, "movielens-1m", {name: files["movielens-1m"][name] for name in names})
    data = fetch_movielens_1m(data_home=tmp_path)
    check_ratings(data, 4)
    assert data.column_class_names == ["Action", "Horror", "Romance", "War"]
    assert data.column_membership.tolist() == [[1, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize("name", ["yeast.arff", "yeast.csv.gz"])
def test_yeast(files, tmp_path, no_network, name):
    fake_data.write(tmp_path, "yeast", {name: files["yeast"][name]})
    data = fetch_yeast(data_home=tmp_path)
    table = fake_data.yeast_table()
    np.testing.assert_array_equal(data.data, table[:, :103])
    np.testing.assert_array_equal(data.row_membership, table[:, 103:] == 1)
    assert data.data.flags.c_contiguous
    assert data.row_names[-1] == "Gene5"
    assert data.column_membership is None


def test_a_subset_has_the_movies_of_its_genres_and_their_users(files, tmp_path):
    fake_data.write(tmp_path, "movielens-100k", files["movielens-100k"])
    data = load_movielens_subset("ml-d", data_home=tmp_path)
    assert data.data.toarray().tolist() == [[4, 2], [5, 0]]
    assert data.row_names == ["1", "7"]
    assert data.column_ids.tolist() == [10, 30]
    assert data.column_class_names == ["Adventure", "Romance"]
    assert data.column_membership.tolist() == [[1, 1], [1, 0]]
    assert "subset ml-d" in data.DESCR
    assert "3 ratings by 2 users" in data.DESCR


def test_unknown_subset():
    with pytest.raises(ValueError, match=r"name must be one of 'ml-a', .*; got 'ml-1'"):
        load_movielens_subset("ml-1")


# --------------------------------------------------------------------------------- where it is from


@each_data_set
def test_the_environment_names_a_folder(files, tmp_path, monkeypatch, no_network, folder):
    fake_data.write(tmp_path, folder, files[folder])
    monkeypatch.setenv("NEOCC_DATA", str(tmp_path))
    assert FETCHERS[folder]().data.shape[0] > 0


@each_data_set
def test_downloads_once_and_keeps_it(files, tmp_path, server, folder):
    first = FETCHERS[folder](data_home=tmp_path, download_if_missing=True)
    assert files_in(tmp_path) == [DOWNLOADS[folder]]
    second = FETCHERS[folder](data_home=str(tmp_path), download_if_missing=True)
    assert server.asked == 1
    assert first.data.shape == second.data.shape
    assert (first.data != second.data).sum() == 0


def test_the_default_is_the_cache_of_the_user(files, tmp_path, monkeypatch):
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / name)
    fetch_yeast()
    assert (tmp_path / "neocc" / "yeast" / "yeast.arff").exists()


def test_data_home_goes_before_the_environment(files, tmp_path, monkeypatch, no_network):
    monkeypatch.setenv("NEOCC_DATA", str(tmp_path / "elsewhere"))
    fake_data.write(tmp_path, "yeast", files["yeast"])
    assert fetch_yeast(data_home=tmp_path).data.shape == (5, 103)


def test_reading_a_copy_needs_no_pooch(files, tmp_path, monkeypatch):
    fake_data.write(tmp_path, "yeast", files["yeast"])
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert fetch_yeast(data_home=tmp_path).data.shape == (5, 103)


def test_importing_the_data_sets_loads_nothing_that_downloads():
    code = (
        "import sys; from neocc.datasets import fetch_yeast; "
        "print({'pooch', 'requests', 'sklearn'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


# -------------------------------------------------------------------------------- what may go wrong


def fails(fetch, *parts, **options):
    """Call a fetcher that must fail; return the message, which has all `parts`."""
    with pytest.raises(DatasetError) as caught:
        fetch(**options)
    message = str(caught.value)
    for part in parts:
        assert part in message
    assert isinstance(caught.value, OSError)
    return message


def both_ways_out(folder):
    return ("download http", "NEOCC_DATA (or data_home=)", f"{folder}/{DOWNLOADS[folder]}")


@each_data_set
def test_no_copy_and_downloads_forbidden(files, tmp_path, monkeypatch, no_network, folder):
    fails(
        FETCHERS[folder],
        *both_ways_out(folder),
        "download_if_missing=False",
        data_home=tmp_path,
        download_if_missing=False,
    )
    monkeypatch.setenv("NEOCC_DATA", str(tmp_path))
    fails(FETCHERS[folder], *both_ways_out(folder), f"NEOCC_DATA={tmp_path} forbids", str(tmp_path))
    assert not list(tmp_path.iterdir())


@each_data_set
def test_no_copy_and_no_network(files, tmp_path, server, folder):
    server.stop()
    message = fails(
        FETCHERS[folder],
        *both_ways_out(folder),
        "the download failed",
        data_home=tmp_path,
        download_if_missing=True,
    )
    assert str(tmp_path) in message
    assert not list(tmp_path.iterdir())
    server.start()


def test_no_copy_and_no_pooch(files, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    for options in ({}, {"data_home": tmp_path, "download_if_missing": True}):
        with pytest.raises(ImportError, match=r'pip install "neocc\[data\]".*NEOCC_DATA') as caught:
            fetch_yeast(**options)
        assert "yeast/yeast.arff" in str(caught.value)
    assert not list(tmp_path.iterdir())


SPOILT = {
    "truncated": lambda content: (content[:-40], len(content)),
    "shortened": lambda content: (content[:-40], len(content) - 40),
    "changed": lambda content: (content[:-1] + b"x", len(content)),
    "empty": lambda content: (b"", 0),
}


@each_data_set
@pytest.mark.parametrize("how", SPOILT)
def test_spoilt_downloads_are_refused_and_not_kept(files, tmp_path, server, folder, how):
    sound = server.spoil
    server.spoil = SPOILT[how]
    what = "the download failed" if how == "truncated" else "wrong checksum"
    fails(
        FETCHERS[folder],
        what,
        server.url,
        "NEOCC_DATA",
        data_home=tmp_path,
        download_if_missing=True,
    )
    assert not list(tmp_path.iterdir())
    server.spoil = sound
    assert FETCHERS[folder](data_home=tmp_path, download_if_missing=True).data.shape[0] > 0


def test_a_page_that_is_gone(files, tmp_path, server):
    server.content = {}
    fails(fetch_yeast, *both_ways_out("yeast"), "404", data_home=tmp_path, download_if_missing=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_download_that_breaks_off_leaves_nothing(files, tmp_path, monkeypatch, error):
    def break_off(self, url, output_file, pooch, check_only=False):
        Path(output_file).write_bytes(b"half of it")
        raise error

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", break_off)
    with pytest.raises((DatasetError, KeyboardInterrupt)) as caught:
        fetch_yeast(data_home=tmp_path, download_if_missing=True)
    assert not list(tmp_path.iterdir())
    if isinstance(error, OSError):
        assert "No space left" in str(caught.value)


def test_a_cache_that_is_a_file(files, tmp_path, no_network):
    (tmp_path / "file").write_text("")
    fails(
        fetch_yeast,
        "cannot write to the cache folder",
        str(tmp_path / "file" / "yeast"),
        "data_home=",
        "NEOCC_DATA",
        data_home=tmp_path / "file",
        download_if_missing=True,
    )
    assert files_in(tmp_path) == ["file"]


def test_a_cache_that_may_not_be_written_to(files, tmp_path, no_network, monkeypatch):
    if os.geteuid() == 0:  # nothing is forbidden to root
        monkeypatch.setattr(Path, "mkdir", refuse)
    tmp_path.chmod(0o555)
    try:
        fails(
            fetch_yeast,
            "cannot write to the cache folder",
            "Permission",
            data_home=tmp_path,
            download_if_missing=True,
        )
    finally:
        tmp_path.chmod(0o755)
    assert not list(tmp_path.iterdir())


def refuse(*arguments, **options):
    raise PermissionError(13, "Permission denied")


@each_data_set
def test_a_missing_file_is_named(files, tmp_path, no_network, folder):
    loose = {name: files[folder][name] for name in files[folder] if not name.endswith(".zip")}
    for name in loose:
        home = tmp_path / name
        left = {other: content for other, content in loose.items() if other != name}
        fake_data.write(home, folder, left)
        if folder == "yeast" or name.startswith("ratings"):  # the other form is there
            assert FETCHERS[folder](data_home=home).data.shape[0] > 0
        else:
            fails(FETCHERS[folder], name, "is missing in", str(home / folder), data_home=home)
        assert files_in(home) == sorted(left)


def test_all_forms_of_a_missing_file_are_named(files, tmp_path, no_network):
    movies = files["movielens-1m"]["movies.dat"]
    fake_data.write(tmp_path, "movielens-1m", {"movies.dat": movies})
    fails(fetch_movielens_1m, "ratings.dat or ratings.csv.gz is missing", data_home=tmp_path)


@each_data_set
@pytest.mark.parametrize("how", SPOILT)
def test_a_spoilt_copy_is_named(files, tmp_path, no_network, monkeypatch, folder, how):
    for name, content in files[folder].items():
        home = tmp_path / name
        fake_data.write(home, folder, {**files[folder], name: SPOILT[how](content)[0]})
        if name in ("ratings.csv.gz", "yeast.csv.gz"):  # only the original is read
            (home / folder / {"r": "ratings.dat", "y": "yeast.arff"}[name[0]]).unlink()
        elif name.endswith(".zip"):
            for other in files_in(home):
                if other != name:
                    (home / folder / other).unlink()
        monkeypatch.setenv("NEOCC_DATA", str(home))
        fails(FETCHERS[folder], str(home / folder / name), "is truncated, damaged or another")


def test_a_copy_that_cannot_be_read(files, tmp_path, no_network):
    (tmp_path / "yeast" / "yeast.arff").mkdir(parents=True)
    fails(fetch_yeast, "cannot read", str(tmp_path / "yeast" / "yeast.arff"), data_home=tmp_path)


@each_data_set
def test_a_home_that_was_named_is_not_downloaded_to(folder, tmp_path, no_network):
    message = fails(FETCHERS[folder], *both_ways_out(folder), data_home=tmp_path)
    assert "download_if_missing=True" in message
    assert not any(tmp_path.iterdir())
