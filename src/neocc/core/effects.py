"""What is subtracted from a matrix for accuracy, and how it comes back into results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neocc._typing import FloatArray
from neocc.core.objectives import inverse
from neocc.kernels import Memberships

__all__ = ["NO_EFFECTS", "Effects"]


@dataclass(frozen=True)
class Effects:
    """Numbers subtracted from all entries of each row, and of each column; None for none."""

    rows: FloatArray | None
    columns: FloatArray | None

    def of_columns(self, n_columns: int) -> FloatArray:
        """Return a number for each column, zero for nothing."""
        return np.zeros(n_columns) if self.columns is None else self.columns

    def restore_vectors(self, vectors: FloatArray, U: Memberships) -> FloatArray:
        """Turn mean rows of centred data into mean rows of the data as given."""
        if self.columns is not None:
            vectors = vectors + self.columns
        if self.rows is not None:
            vectors = vectors + _cluster_means(self.rows, U)[:, None]
        return vectors

    def restore_means(self, means: FloatArray, U: Memberships, V: Memberships) -> FloatArray:
        """Turn block means of centred data into block means of the data as given."""
        if self.columns is not None:
            means = means + _cluster_means(self.columns, V)
        if self.rows is not None:
            means = means + _cluster_means(self.rows, U)[:, None]
        return means


NO_EFFECTS = Effects(None, None)


def _cluster_means(values: FloatArray, members: Memberships) -> FloatArray:
    """Return the mean of a number per item over each cluster, without a table of both."""
    firsts = np.bincount(members.first + 1, values, minlength=members.n_clusters + 1)[1:]
    extras = np.bincount(
        members.extra_clusters, values[members.extra_items], minlength=members.n_clusters
    )
    means: FloatArray = (firsts + extras) * inverse(members.sizes)
    return means
