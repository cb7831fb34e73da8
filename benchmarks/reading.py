"""`python -m benchmarks.reading` times ways from a file of triplets to a sparse matrix.

It is how pyarrow was chosen over polars. Every run is a process of its own, the runs take turns,
and the best of each is shown: seconds, and peak memory beyond that of an empty program with the
same imports. All ways end with a CSR matrix without duplicates and with the names of both sides.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.measure import in_fresh_process

# The high-water mark of a process begins with that of the one that started it, so it is reset.
_MEASURE = """
import time
from pathlib import Path
def memory(key):
    return int(Path("/proc/self/status").read_text().split(key + ":")[1].split()[0]) / 1024
Path("/proc/self/clear_refs").write_text("5")
before, start = memory("VmRSS"), time.perf_counter()
X = read({path!r})
print(time.perf_counter() - start, memory("VmHWM") - before, X.nnz)
"""

_NEOCC = """
import pyarrow.csv, pyarrow.compute
from neocc.io import read_matrix
def read(path):
    return read_matrix(path, layout="triplets").data
"""

_PYARROW = """
import numpy as np, pyarrow as pa
from pyarrow import csv
from scipy import sparse
def codes(column):
    column = column.unify_dictionaries()
    return np.concatenate([part.indices.to_numpy() for part in column.chunks]), column.chunk(0)
def read(path):
    ids = pa.dictionary(pa.int32(), pa.string())
    types = {"user": ids, "item": ids, "rating": pa.float64()}
    table = csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=types))
    rows, row_names = codes(table["user"])
    columns, column_names = codes(table["item"])
    shape = (len(row_names.dictionary), len(column_names.dictionary))
    X = sparse.coo_array((table["rating"].to_numpy(), (rows, columns)), shape=shape).tocsr()
    X.sum_duplicates()
    return X
"""

_POLARS = """
import numpy as np, polars as pl
from scipy import sparse
def codes(column):
    kinds = column.unique()
    place, numbers = kinds.to_physical().to_numpy(), column.to_physical().to_numpy()
    names = np.empty(int(place.max()) + 1, dtype=object)
    names[place] = kinds.cast(pl.String).to_list()
    return numbers.astype(np.int32), names
def read(path):
    ids = {name: pl.Categorical(pl.Categories.random()) for name in ("user", "item")}
    table = pl.read_csv(path, schema={**ids, "rating": pl.Float64})
    rows, row_names = codes(table["user"])
    columns, column_names = codes(table["item"])
    shape = (len(row_names), len(column_names))
    X = sparse.coo_array((table["rating"].to_numpy(), (rows, columns)), shape=shape).tocsr()
    X.sum_duplicates()
    return X
"""

_POLARS_WHOLE_NUMBERS = """
import numpy as np, polars as pl
from scipy import sparse
def codes(column):
    return column.rank("dense").to_numpy().astype(np.int32) - 1, column.unique().sort()
def read(path):
    table = pl.read_csv(path, schema={"user": pl.Int64, "item": pl.Int64, "rating": pl.Float64})
    rows, row_names = codes(table["user"])
    columns, column_names = codes(table["item"])
    shape = (len(row_names), len(column_names))
    X = sparse.coo_array((table["rating"].to_numpy(), (rows, columns)), shape=shape).tocsr()
    X.sum_duplicates()
    return X
"""

_WAYS = {
    "neocc.io.read_matrix (pyarrow, in batches, all checks)": _NEOCC,
    "pyarrow alone, the whole table at once": _PYARROW,
    "polars alone, ids as categories": _POLARS,
    "polars alone, ids as whole numbers": _POLARS_WHOLE_NUMBERS,
}


def write_files(folder: Path, n_entries: int) -> Iterator[tuple[str, Path]]:
    """Write the same random ratings with short and long ids, the short ones also compressed."""
    import pyarrow as pa
    from pyarrow import csv

    rng = np.random.default_rng(0)
    users, items = rng.integers(1, 100_001, n_entries), rng.integers(1, 10_001, n_entries)
    ratings = rng.integers(1, 11, n_entries) / 2
    numbers = folder / "numbers.csv"
    csv.write_csv(pa.table({"user": users, "item": items, "rating": ratings}), numbers)
    yield "whole numbers as ids", numbers
    texts = []
    for ids, form in ((users, "user-{:06d}"), (items, "item {}")):
        names = pa.array([form.format(i) for i in range(int(ids.max()) + 1)])
        texts.append(pa.DictionaryArray.from_arrays(ids.astype(np.int32), names).cast(pa.string()))
    path = folder / "texts.csv"
    csv.write_csv(pa.table({"user": texts[0], "item": texts[1], "rating": ratings}), path)
    yield "texts as ids", path
    packed = folder / "numbers.csv.gz"
    with numbers.open("rb") as source, gzip.open(packed, "wb", 4) as target:
        shutil.copyfileobj(source, target, 1 << 20)
    yield "whole numbers, gzip", packed


def measure(path: Path, repeats: int) -> dict[str, tuple[float, float]]:
    """Return the best seconds and the lowest peak (MiB) of every way, taken in turns."""
    best: dict[str, tuple[float, float]] = {}
    entries = set()
    for _ in range(repeats):
        for way, code in _WAYS.items():
            if "whole numbers" in way and path.name.startswith("texts"):
                continue
            words = in_fresh_process(code + _MEASURE.format(path=str(path))).split()
            seconds, peak = float(words[0]), float(words[1])
            entries.add(words[2])
            known = best.get(way, (np.inf, np.inf))
            best[way] = (min(known[0], seconds), min(known[1], peak))
    assert len(entries) == 1, "the ways do not agree"
    return best


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading", description=__doc__)
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    console = Console()
    if not os.access("/proc/self/clear_refs", os.W_OK):
        console.print("Peak memory is measured on Linux only, where a process may reset its own.")
        return
    console.print(
        f"{options.entries} triplets, {os.cpu_count()} cores, pyarrow {version('pyarrow')}, "
        f"polars {version('polars')}; best of {options.repeats}, in turns."
    )
    table = Table("file", "MB", "way", "seconds", "peak MiB", "time / ours")
    with tempfile.TemporaryDirectory() as folder:
        for name, path in write_files(Path(folder), options.entries):
            found = measure(path, options.repeats)
            ours = next(iter(found.values()))[0]
            for way, (seconds, peak) in found.items():
                size = f"{path.stat().st_size / 1e6:.0f}"
                table.add_row(
                    name, size, way, f"{seconds:.2f}", f"{peak:.0f}", f"{seconds / ours:.2f}"
                )
    console.print(table)


if __name__ == "__main__":
    main()
