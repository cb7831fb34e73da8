"""Peak memory of a fit beyond its input, as the operating system sees it."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import data
from benchmarks.measure import Row, in_fresh_process

_CODE = """
import numpy as np
from pathlib import Path
from scipy import sparse
from neocc import NEOCC

def status(key):
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.split(key + ":")[1].split()[0])

def fit(X, kernel):
    NEOCC(20, 20, objective={objective!r}, n_init=1, refine=False, random_state=0, max_iter=5,
          kernel=kernel).fit(X)

# Code and caches are loaded by a small fit first: they do not grow with the data.
fit(sparse.random(2000, 500, 0.05, format="csr", dtype=np.float32, random_state=0), "numba")
# The matrix is read, not made, here: what making it had freed would hide what the fit takes.
parts = [np.load(Path({folder!r}) / f"{{name}}.npy") for name in ("data", "indices", "indptr")]
X = sparse.csr_array(tuple(parts), shape={shape!r})
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
fit(X, "auto")
print(status("VmHWM") - before, sum(part.nbytes for part in parts))
"""


def memory_rows() -> Iterator[Row]:
    """Measure both objectives on the matrix of 10 million entries, each in a fresh process."""
    if not (sys.platform == "linux" and os.access("/proc/self/clear_refs", os.W_OK)):
        return
    X = data.planted()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("data", "indices", "indptr"):
            np.save(Path(folder) / f"{name}.npy", getattr(X, name))
        for objective, label in (("mean", "NEO-CC-M"), ("residue", "NEO-CC-RCM")):
            code = _CODE.format(objective=objective, folder=folder, shape=X.shape)
            peak, size = map(int, in_fresh_process(code).split())
            name = f"peak memory of a {label} fit beyond its input, 10 million"
            yield Row(name, "the input", peak / 2**20, size / 2**20, 0.6, "MiB")
