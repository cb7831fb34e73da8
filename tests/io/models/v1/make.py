"""Writes the models beside it; run once, with the last neocc that wrote version 1.

PYTHONPATH=/path/to/that/src python make.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from neocc import NEOCC, NEOKMeans
from neocc.io import save_model

HERE = Path(__file__).parent
SIDES = {"row_overlap": 0.2, "row_outliers": 0.1, "column_overlap": 0.2, "random_state": 0}


def data():
    """Rows to fit, far from zero, and new ones; the same in sparse form around zero."""
    rng = np.random.default_rng(7)
    blocks = 4.0 * rng.normal(size=(3, 2))[np.arange(20) % 3][:, np.arange(9) % 2]
    X = blocks + rng.normal(size=(20, 9))
    far = X + 1e3 * rng.random((20, 1)) + 1e3
    few = np.where(rng.random(X.shape) < 0.5, X, 0.0)
    return {"dense": far, "sparse": sparse.csr_array(few)}


MODELS = {
    "mean": lambda: NEOCC(3, 2, n_init=2, **SIDES),
    "residue": lambda: NEOCC(3, 2, objective="residue", n_init=2, **SIDES),
    "kmeans": lambda: NEOKMeans(3, overlap=0.2, outliers=0.1, n_init=2, random_state=0),
    "partition": lambda: NEOCC(3, 2, n_init=2, refine=False, random_state=0),
}

if __name__ == "__main__":
    for container, X in data().items():
        for name, make in MODELS.items():
            model = make().fit(X[:15])
            save_model(model, HERE / f"{name}-{container}.neocc", force=True)
            np.savez(
                HERE / f"{name}-{container}.npz",
                membership=model.predict_membership(X),
                prediction=model.predict(X),
                distances=model.transform(X),
            )
