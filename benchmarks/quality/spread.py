"""How far apart seeds end: both searches of this checkout, and the default of an earlier commit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from scipy import sparse

from benchmarks.pages import Line
from benchmarks.quality.search import cases

# The last commit before a search had a sense of time.
BEFORE = "bc8c7aa"
_ROOT = Path(__file__).parents[2]
# A spread below this, in percent, prints as none: no ratio to it is told.
_NONE = 5e-4
_RUN = """
import json, sys, time, warnings
import numpy as np
from scipy import sparse
from neocc import NEOCC
warnings.simplefilter("ignore")
options, n_seeds, path = json.loads(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
X = np.load(path) if path.endswith("npy") else sparse.csr_array(sparse.load_npz(path))
NEOCC(**{**options, "refine": False}, n_init=1, kernel="numba", n_jobs=1).fit(X)
J, begin = [], time.process_time()
for seed in range(n_seeds):
    model = NEOCC(**options, kernel="numba", random_state=seed, n_jobs=1)
    J.append(float(model.fit(X).objective_))
print(json.dumps([J, time.process_time() - begin]))
"""


def lines(n_seeds: int, console: Console) -> Iterator[Line]:
    """Tell the spread of J over seeds, in percent of the lowest J of all, now and before."""
    names = ("default", "thorough", f"at {BEFORE}")
    yield [
        "data",
        *(f"spread, {name}" for name in names),
        *(f"ratio, {name}" for name in names[:2]),
        *(f"mean above the lowest J, {name}" for name in names),
        *(f"time against that commit, {name}" for name in names[:2]),
    ]
    with tempfile.TemporaryDirectory() as folder:
        archive = ["git", "-C", str(_ROOT), "archive", BEFORE, "src/neocc"]
        packed = subprocess.run(archive, stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
        for case in cases():
            path = Path(folder) / ("X.npz" if sparse.issparse(case.X) else "X.npy")
            if sparse.issparse(case.X):
                sparse.save_npz(path, case.X)
            else:
                np.save(path, case.X)
            runs = [
                _fits(root / "src", [json.dumps({**case.options, **more}), str(n_seeds), str(path)])
                for root, more in (
                    (_ROOT, {}),
                    (_ROOT, {"refine": "thorough"}),
                    (Path(folder), {}),
                )
            ]
            lowest = min(min(found) for found, _ in runs)
            above = [100 * (np.array(found) / lowest - 1) for found, _ in runs]
            *spreads, before = [float(np.ptp(each)) for each in above]
            ratios = [f"{each / before:.2f}" if before > _NONE else "" for each in spreads]
            line = [case.name, *(f"{each:.3f} %" for each in (*spreads, before)), *ratios]
            line += [f"{each.mean():.3f} %" for each in above]
            line += [f"{took / runs[-1][1]:.2f}" for _, took in runs[:-1]]
            console.print(" | ".join(line))
            yield line


def _fits(source: Path, given: list[str]) -> tuple[list[float], float]:
    """Return the objectives of all seeds, and how long they took, with the package in a folder."""
    command = [sys.executable, "-c", _RUN, *given]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    J, seconds = json.loads(found.stdout.splitlines()[-1])
    return J, seconds
