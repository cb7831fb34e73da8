"""The paper's formulas, word for word: slow, obvious, and independent of the code under test.

Letters are the paper's. U (n x k) and V (m x l) are 0/1 matrices; `u_hat` is a column divided by
the square root of its sum. Empty clusters have no mean: they add nothing to an objective and are
infinitely far.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

# ---------------------------------------------------------------------------------- counts


def matlab_round(value: float) -> int:
    """Halves go away from zero."""
    return math.floor(value + 0.5) if value >= 0 else -math.floor(-value + 0.5)


def counts(n: int, alpha: float, beta: float) -> tuple[int, int]:
    """(T, b): the total number of memberships and the largest number of outliers."""
    return n + matlab_round(alpha * n), matlab_round(beta * n)


# ------------------------------------------------------------------------------- objectives


def energy(X, U, V) -> float:
    """f'(X o X)w, the scale against which objectives are compared."""
    X, U, V = _floats(X, U, V)
    return float(U.sum(axis=1) @ (X * X) @ V.sum(axis=1))


def objective_mean(X, U, V) -> float:
    """J_M, one block and one entry at a time."""
    X, U, V = _floats(X, U, V)
    total = 0.0
    for rows, columns in _blocks(U, V):
        mean = sum(X[p, t] for p in rows for t in columns) / (len(rows) * len(columns))
        total += sum((X[p, t] - mean) ** 2 for p in rows for t in columns)
    return float(total)


def objective_residue(X, U, V) -> float:
    """J_RCM, one block and one entry at a time."""
    X, U, V = _floats(X, U, V)
    total = 0.0
    for rows, columns in _blocks(U, V):
        block = X[np.ix_(rows, columns)]
        of_column, of_row, of_block = block.mean(axis=0), block.mean(axis=1), block.mean()
        for a in range(len(rows)):
            for b in range(len(columns)):
                total += (block[a, b] - of_column[b] - of_row[a] + of_block) ** 2
    return float(total)


def objective(X, U, V, name: str) -> float:
    return {"mean": objective_mean, "residue": objective_residue}[name](X, U, V)


def objective_residue_matrix_form(X, U, V) -> float:
    """Sum of ||(D(u) - u_hat u_hat') X (D(v) - v_hat v_hat')||^2: the paper's form.

    Misprint corrected.
    """
    X, U, V = _floats(X, U, V)
    return float(
        sum(
            np.sum((_centre(u) @ X @ _centre(v)) ** 2)
            for u in U.T
            for v in V.T
            if u.any() and v.any()
        )
    )


def objective_neo_kmeans(X, U) -> float:
    X, U = _floats(X, U)
    total = 0.0
    for u in U.T:
        members = X[u > 0]
        if len(members):
            total += sum(np.sum((x - members.mean(axis=0)) ** 2) for x in members)
    return float(total)


def objective_weighted(X, A, B, name: str) -> float:
    """J_M or J_RCM where memberships weigh: A and B hold weights in place of ones."""
    X, A, B = _floats(X, A, B)
    total = 0.0
    for a in A.T:
        for b in B.T:
            if not (a.any() and b.any()):
                continue
            of_column, of_row = a @ X / a.sum(), X @ b / b.sum()
            of_block = a @ X @ b / (a.sum() * b.sum())
            residue = X - of_block
            if name == "residue":
                residue = X - of_column - of_row[:, None] + of_block
            total += sum(
                a[p] * b[t] * residue[p, t] ** 2 for p in range(len(a)) for t in range(len(b))
            )
    return float(total)


def residual_squares(X, means, U, V) -> float:
    """Sum of squared differences from given block means, one entry at a time."""
    X, means, U, V = _floats(X, means, U, V)
    total = 0.0
    for i, j in np.ndindex(means.shape):
        for p in np.flatnonzero(U[:, i]):
            for t in np.flatnonzero(V[:, j]):
                total += (X[p, t] - means[i, j]) ** 2
    return float(total)


def mssr1(A, row_labels, column_labels) -> float:
    """||A - RR'ACC'||^2."""
    R, C = _normalised(row_labels), _normalised(column_labels)
    return float(np.sum((A - R @ R.T @ A @ C @ C.T) ** 2))


def mssr2(A, row_labels, column_labels) -> float:
    """||A - RR'A - ACC' + RR'ACC'||^2."""
    R, C = _normalised(row_labels), _normalised(column_labels)
    return float(np.sum((A - R @ R.T @ A - A @ C @ C.T + R @ R.T @ A @ C @ C.T) ** 2))


# --------------------------------------------------------------------------- overlap models
#
# x_pt is explained by the clusters A_p of its row and B_t of its column. An item in no cluster
# costs nothing, whatever the model.

OVERLAP_MODELS = ("repeat", "share", "average", "sum")


_CELL_COSTS = {
    "repeat": lambda x, block: ((x - block) ** 2).sum(),
    "share": lambda x, block: ((x - block) ** 2).mean(),
    "average": lambda x, block: (x - block.mean()) ** 2,
    "sum": lambda x, block: (x - block.sum()) ** 2,
}
"""What an entry costs, given the part of the block table M for its sets A x B."""


def table_cost(X, U, V, M, model: str) -> float:
    """What all entries cost for a given block table."""
    X, M = _floats(X, M)
    rows, columns = ([np.flatnonzero(each) for each in members] for members in (U, V))
    total = 0.0
    for p, A in enumerate(rows):
        for t, B in enumerate(columns):
            if len(A) and len(B):
                total += _CELL_COSTS[model](X[p, t], M[A[:, None], B])
    return float(total)


# In the overlap model "either" a row follows one of its clusters in each column cluster; `followed`
# says which (-1 for a row in none), and columns have one cluster at most.


def followed_table(X, followed, V, k: int) -> np.ndarray:
    """Means of the entries of each block over the rows that follow it; nan where there are none."""
    M = np.full((k, np.shape(V)[1]), np.nan)
    for i, j, entries in _followed_blocks(X, followed, V, k):
        M[i, j] = entries.mean()
    return M


def followed_objective(X, followed, V, k: int) -> float:
    """J of rows that follow given clusters: squared differences from the means of blocks."""
    blocks = (entries for _, _, entries in _followed_blocks(X, followed, V, k))
    return float(sum(((entries - entries.mean()) ** 2).sum() for entries in blocks))


def _followed_blocks(X, followed, V, k: int):
    """The entries of each block that some row follows."""
    (X,) = _floats(X)
    rows = np.asarray(followed)[:, :, None] == np.arange(k)
    for j, columns in enumerate(np.asarray(V, dtype=bool).T):
        within = X[:, columns]
        for i in np.flatnonzero(rows[:, j].any(axis=0) & columns.any()):
            yield i, j, within[rows[:, j, i]]


def followed_cost(x, chosen, V, M) -> float:
    """What a row costs in a set of clusters, each column cluster by itself."""
    columns = [np.flatnonzero(inside) for inside in np.asarray(V).T]
    return float(
        sum(min(((x[at] - M[i, j]) ** 2).sum() for i in chosen) for j, at in enumerate(columns))
    )


def lowest_followed(X, U, V) -> float:
    """The least J over all that rows can follow."""
    U, l = np.asarray(U, dtype=bool), np.shape(V)[1]  # noqa: E741
    ways = [
        itertools.product(np.flatnonzero(has), repeat=l) if has.any() else [(-1,) * l] for has in U
    ]
    return min(
        followed_objective(X, np.array(followed), V, U.shape[1])
        for followed in itertools.product(*map(list, ways))
    )


def membership_weights(U, model: str) -> np.ndarray:
    """Each item divided over its memberships, for the models that do so."""
    (U,) = _floats(U)
    if model in ("repeat", "sum"):
        return U
    return U / np.maximum(U.sum(axis=1, keepdims=True), 1.0)


def block_table(X, U, V, model: str) -> np.ndarray:
    """The M of least cost: weighted means; or least squares over all entries that are covered, one
    equation each (the shortest solution where there are several)."""
    (X,) = _floats(X)
    A, B = membership_weights(U, model), membership_weights(V, model)
    k, n_columns = A.shape[1], B.shape[1]
    M = np.zeros((k, n_columns))
    if model in ("repeat", "share"):
        for i, j in np.ndindex(M.shape):
            weight = A[:, i].sum() * B[:, j].sum()
            if weight > 0:
                M[i, j] = A[:, i] @ X @ B[:, j] / weight
        return M
    cells = [(p, t) for p in np.flatnonzero(A.any(axis=1)) for t in np.flatnonzero(B.any(axis=1))]
    if not cells:
        return M
    design = np.array([np.kron(A[p], B[t]) for p, t in cells])
    values = np.array([X[p, t] for p, t in cells])
    return np.linalg.lstsq(design, values, rcond=1e-10)[0].reshape(M.shape)


def prototypes(X, U, model: str) -> np.ndarray:
    """The lines C, one per row cluster, that explain rows best."""
    return block_table(X, U, np.eye(np.shape(X)[1]), model)


def overlap_objective(X, U, V, name: str, model: str) -> float:
    """J of any objective ("mean", "residue", or "kmeans" with V = None) and overlap model."""
    if name == "kmeans":
        return table_cost(X, U, np.eye(np.shape(X)[1]), prototypes(X, U, model), model)
    if name == "mean":
        return table_cost(X, U, V, block_table(X, U, V, model), model)
    A, B = membership_weights(U, model), membership_weights(V, model)
    if model in ("repeat", "share"):
        return objective_weighted(X, A, B, "residue")
    (X,) = _floats(X)
    A, B, X = A[A.any(axis=1)], B[B.any(axis=1)], X[np.ix_(A.any(axis=1), B.any(axis=1))]
    return float(np.sum((_beside(A) @ X @ _beside(B)) ** 2))


def set_pricer(X, U, V, name: str, model: str):
    """A function of a row and a set of clusters: what the row would cost in them, all prototypes
    staying as they are."""
    (X,) = _floats(X)
    U, n_columns = np.asarray(U, dtype=bool), X.shape[1]
    V = np.eye(n_columns, dtype=bool) if name == "kmeans" else np.asarray(V, dtype=bool)
    M = block_table(X, U, V, model) if name != "residue" else None
    C = prototypes(X, U, model) if name == "residue" else None
    B = membership_weights(V, model)
    inside = B.any(axis=1)

    def residue(rest) -> float:
        """What column clusters leave of a line: its deviations from its means over them."""
        if model == "average":
            return float(np.sum((rest[inside] @ _beside(B[inside])) ** 2))
        return float(sum(b @ (rest - rest @ b / b.sum()) ** 2 for b in B.T if b.any()))

    def price(row: int, chosen) -> float:
        chosen = list(chosen)
        if not U[:, chosen].any(axis=0).all():
            return np.inf  # an empty cluster has no prototype
        if name != "residue":
            alone = np.isin(np.arange(U.shape[1]), chosen)[None]
            return table_cost(X[[row]], alone, V, M, model)
        if model == "average":
            return residue(X[row] - C[chosen].mean(axis=0))
        costs = [residue(X[row] - C[i]) for i in chosen]
        return sum(costs) if model == "repeat" else sum(costs) / len(costs)

    return price


def set_costs(X, U, V, name: str, model: str, most: int) -> list[dict[tuple[int, ...], float]]:
    """The cost of every set of at most `most` clusters, for each row."""
    n, k = np.shape(U)
    price = set_pricer(X, U, V, name, model)
    sets = [
        chosen for size in range(1, most + 1) for chosen in itertools.combinations(range(k), size)
    ]
    return [{chosen: price(row, chosen) for chosen in sets} for row in range(n)]


def lowest_total(costs, n_memberships: int, max_outliers: int) -> float:
    """The least sum of the costs of one set (or none) per item, with exact counts.

    All numbers of memberships of all items are tried; of the sets of one size an item takes the
    cheapest.
    """
    by_size = _cheapest_by_size(costs)
    least = np.inf
    for sizes in itertools.product(*by_size):
        if sum(sizes) == n_memberships and sizes.count(0) <= max_outliers:
            least = min(least, sum(each[s] for each, s in zip(by_size, sizes, strict=True)))
    return least


def lowest_total_of_many(costs, n_memberships: int, max_outliers: int) -> float:
    """The same for many items, one after the other: the least cost of every pair of counts."""
    least = {(0, 0): 0.0}
    for each in _cheapest_by_size(costs):
        new: dict[tuple[int, int], float] = {}
        for (total, outliers), so_far in least.items():
            for size, cost in each.items():
                at = total + size, outliers + (size == 0)
                if at[0] <= n_memberships and at[1] <= max_outliers:
                    new[at] = min(so_far + cost, new.get(at, np.inf))
        least = new
    return min(cost for (total, _), cost in least.items() if total == n_memberships)


def _cheapest_by_size(costs) -> list[dict[int, float]]:
    by_size = [{0: 0.0} for _ in costs]
    for cheapest, each in zip(by_size, costs, strict=True):
        for chosen, cost in each.items():
            cheapest[len(chosen)] = min(cost, cheapest.get(len(chosen), np.inf))
    return by_size


def _beside(A) -> np.ndarray:
    """I - P: what is left of a vector when its projection on the columns of A is subtracted."""
    return np.eye(len(A)) - A @ np.linalg.pinv(A, rcond=1e-10)


# -------------------------------------------------------------------------------- distances


def distances_rows(X, U, V, name: str) -> np.ndarray:
    """Eqs. dpq (mean) and dpq2 (residue)."""
    X, U, V = _floats(X, U, V)
    n, k = U.shape
    d = np.full((n, k), np.inf)
    for q in range(k):
        if not U[:, q].any():
            continue
        u_hat = _hat(U[:, q])
        for p in range(n):
            d[p, q] = 0.0
            for v in V.T:
                if not v.any():
                    continue
                D, v_hat = np.diag(v), _hat(v)
                outer = np.outer(v_hat, v_hat)
                if name == "mean":
                    part = X[p] @ D - u_hat @ X @ outer / math.sqrt(U[:, q].sum())
                else:
                    part = X[p] @ (D - outer) - u_hat @ X @ (D - outer) / math.sqrt(U[:, q].sum())
                d[p, q] += part @ part
    return d


def distances_columns(X, U, V, name: str) -> np.ndarray:
    """Eqs. dpq3 (mean) and dpq4 (residue)."""
    X, U, V = _floats(X, U, V)
    m, n_clusters = V.shape
    d = np.full((m, n_clusters), np.inf)
    for q in range(n_clusters):
        if not V[:, q].any():
            continue
        v_hat = _hat(V[:, q])
        for p in range(m):
            d[p, q] = 0.0
            for u in U.T:
                if not u.any():
                    continue
                D, u_hat = np.diag(u), _hat(u)
                outer = np.outer(u_hat, u_hat)
                if name == "mean":
                    part = D @ X[:, p] - outer @ X @ v_hat / math.sqrt(V[:, q].sum())
                else:
                    part = (D - outer) @ X[:, p] - (D - outer) @ X @ v_hat / math.sqrt(
                        V[:, q].sum()
                    )
                d[p, q] += part @ part
    return d


def distances_neo_kmeans(X, U) -> np.ndarray:
    """Squared Euclidean distances to the cluster means."""
    X, U = _floats(X, U)
    d = np.full(U.shape, np.inf)
    for q, u in enumerate(U.T):
        if u.any():
            d[:, q] = ((X - X[u > 0].mean(axis=0)) ** 2).sum(axis=1)
    return d


# ------------------------------------------------------------------------------- assignment


def two_stage(d, n_memberships: int, n_covered: int) -> np.ndarray:
    """The while loop of Algorithm 1; ties go to the lowest item, then to the lowest cluster."""
    n, k = d.shape
    U = np.zeros((n, k), dtype=bool)
    covered: set[int] = set()
    for w in range(n_memberships):
        free = [
            (d[i, j], i, j)
            for i in range(n)
            for j in range(k)
            if not U[i, j] and (w >= n_covered or i not in covered)
        ]
        _, i, j = min(free)
        U[i, j] = True
        covered.add(i)
    return U


def feasible_memberships(n: int, k: int, n_memberships: int, max_outliers: int):
    """Every feasible U, for tiny sizes."""
    pairs = list(itertools.product(range(n), range(k)))
    for chosen in itertools.combinations(pairs, n_memberships):
        if n - len({i for i, _ in chosen}) <= max_outliers:
            U = np.zeros((n, k), dtype=bool)
            U[tuple(np.transpose(chosen))] = True
            yield U


def lowest_cost(d, n_memberships: int, max_outliers: int) -> float:
    """The smallest sum of u * d over every feasible U."""
    n, k = d.shape
    return min(float(d[U].sum()) for U in feasible_memberships(n, k, n_memberships, max_outliers))


# ------------------------------------------------------------------------------------ moves


def swaps(U, max_outliers: int):
    """Every swap of memberships ((p, q), (r, s)) that leaves no cluster empty: (p, q) goes, (r, s)
    comes.

    An item may move on; or two different items change two different clusters, where p may lose its
    only membership if fewer than `max_outliers` items have none, or if r had none.
    """
    spare = max_outliers - np.count_nonzero(~U.any(axis=1))
    for p, q in np.argwhere(U).tolist():
        if U[:, q].sum() == 1:
            continue
        for r, s in np.argwhere(~U).tolist():
            dispensable = U[p].sum() > 1 or spare > 0 or not U[r].any()
            if p == r or (q != s and dispensable):
                yield (p, q), (r, s)


def swapped(U, source, target) -> np.ndarray:
    U = U.copy()
    U[source], U[target] = False, True
    return U


# ---------------------------------------------------------------------------------- helpers


def _floats(*arrays):
    return [np.asarray(a, dtype=np.float64) for a in arrays]


def _blocks(U, V):
    for u in U.T:
        for v in V.T:
            if u.any() and v.any():
                yield np.flatnonzero(u), np.flatnonzero(v)


def _hat(u):
    return u / math.sqrt(u.sum())


def _centre(u):
    u_hat = _hat(u)
    return np.diag(u) - np.outer(u_hat, u_hat)


def _normalised(labels):
    labels = np.asarray(labels)
    one_hot = (labels[:, None] == np.unique(labels)).astype(np.float64)
    return one_hot / np.sqrt(one_hot.sum(axis=0))
