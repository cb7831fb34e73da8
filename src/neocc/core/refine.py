"""Refinement: leave the basin that a start fell into, and never end higher than it began.

Three means, from cheap to strong. *Swaps* move single memberships by their exact gains. A *chain*
makes several best swaps in a row, even if they raise the objective at first, and keeps the best
prefix (Kernighan and Lin's idea, used for co-clustering by Cho and Dhillon). *Rounds* of iterated
local search disturb the solution and run the alternation again, keeping the result if it is lower:
they move a fraction of the memberships at random, or a whole cluster.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.core.disturb import Luck, disturbed
from neocc.core.engine import Engine
from neocc.core.incremental import sums_of
from neocc.core.initialise import joined
from neocc.core.moves import Exchange, independent_swaps
from neocc.core.objectives import Sums, Tables, distances, inverse
from neocc.core.problem import Problem, Side
from neocc.core.solve import Solution, continued, improved, solve
from neocc.core.tables import column_tables, row_tables
from neocc.kernels import Memberships

_LEAST_GAIN = 1e-9
_CHAIN_LENGTH = 6
_PROBES = 4
# A round is abandoned when, loosely converged, it is still this far above the best, or would have
# to fall by more than so many times its last step.
_LOOSE_TOL = 1e-4
_HOPELESS = 5e-4
_STEPS_LEFT = 4.0
# Solutions that differ by less than this share lie in one basin.
SAME_BASIN = 1e-5
# At most so many times its patience a search goes on, however well it does.
_MOST_ROUNDS = 4


def least_gain(solution: Solution) -> float:
    """Return how much lower than a solution another must be to be better than rounding makes it."""
    return _LEAST_GAIN * solution.objective + solution.noise


def rounds(
    engine: Engine,
    problem: Problem,
    best: Solution,
    patience: int,
    rng: np.random.Generator,
    luck: Luck | None = None,
) -> Solution:
    """Disturb the best solution so far and solve again, until `patience` rounds brought little.

    A round in vain costs patience, one that reaches another basin restores it.
    """
    luck = luck or Luck()
    loose = replace(problem, tol=max(problem.tol, _LOOSE_TOL))
    in_vain = 0
    for _ in range(_MOST_ROUNDS * patience):
        way = luck.choose(problem, rng)
        found = solve(engine, loose, *disturbed(engine, problem, best, way, rng), since=best)
        if _promises(found, best):
            found = continued(engine, problem, found)
        gain = best.objective - found.objective
        success = gain > least_gain(best)
        luck.learn(way, success=success)
        in_vain = 0 if gain > SAME_BASIN * best.objective else in_vain + 1
        if success:
            best = improved(best, found)
        if in_vain == patience:
            break
    return best


def _promises(found: Solution, best: Solution) -> bool:
    """Tell whether a loosely converged run may end below the best if it is carried on."""
    last_step = found.history[-3] - found.history[-1] if found.n_iter > 1 else np.inf
    near = best.objective * (1.0 + _HOPELESS)
    return bool(found.objective < min(near, best.objective + _STEPS_LEFT * last_step))


def settle(engine: Engine, problem: Problem, solution: Solution) -> Solution:
    """Alternate exact swaps and chains with the alternation until neither lowers the objective."""
    while True:
        found = solution
        for side in reversed(problem.sides):
            found = _swap(engine, problem, found, side)
            found = _chain(engine, problem, found, side)
            found = _probe(engine, problem, found, side)
            found = _recast(engine, problem, found, side)
        if found.objective >= solution.objective - least_gain(solution):
            return solution
        solution = found


def ping_pong(
    engine: Engine, problem: Problem, solution: Solution, length: int, n_rounds: int
) -> Solution:
    """Let a chain of the rows and one of the columns follow the alternation, while that helps.

    The local search of MSSR's authors: every chain that lowers the objective is followed by the
    alternation, and another round by at most `n_rounds`.
    """
    sides: tuple[Side, Side] = ("rows", "columns")
    for _ in range(n_rounds):
        found = solution
        for side in sides:
            found = _chain(engine, problem, found, side, length)
        if found.objective >= solution.objective - least_gain(solution):
            break
        solution = found
    return solution


def _swap(engine: Engine, problem: Problem, solution: Solution, side: Side) -> Solution:
    exchange = _exchange(engine, problem, solution.U, solution.V, solution.sums, side)
    if independent_swaps(exchange, least_gain(solution)) <= 0.0:
        return solution
    return _better(solution, _resolve(engine, problem, solution, side, exchange.members))


def _chain(
    engine: Engine, problem: Problem, solution: Solution, side: Side, length: int = _CHAIN_LENGTH
) -> Solution:
    """Make the best swaps one after the other, each from exact gains, and keep the best prefix."""
    U, V, sums = solution.U, solution.V, solution.sums
    gain = best_gain = 0.0
    best_members = None
    open_items = open_clusters = None
    for _ in range(length):
        exchange = _exchange(engine, problem, U, V, sums, side)
        if open_items is None or open_clusters is None:
            open_items = np.ones(len(exchange.members), dtype=bool)
            open_clusters = np.ones(exchange.members.shape[1], dtype=bool)
        swap = exchange.best(open_items, open_clusters)
        if swap is None:
            break
        exchange.apply(swap)
        open_items[[swap.source[0], swap.target[0]]] = False
        gain += swap.gain
        members = Memberships.from_dense(exchange.members)
        if gain > best_gain:
            best_gain, best_members = gain, members
        U, V = (members, V) if side == "rows" else (U, members)
        sums = sums_of(engine, problem, U, V)
    if best_members is None or best_gain <= least_gain(solution):
        return solution
    return _better(solution, _resolve(engine, problem, solution, side, best_members.dense))


def _probe(engine: Engine, problem: Problem, solution: Solution, side: Side) -> Solution:
    """Try what loses a little as the other side stands: it may make up for it.

    Items near the border of two clusters often want to go together: the moves of smallest loss are
    tried one by one and all at once.
    """
    exchange = _exchange(engine, problem, solution.U, solution.V, solution.sums, side)
    trials = [exchange.after([swap]) for swap in exchange.swaps_between(_PROBES)]
    moves = exchange.moves_within(_PROBES)
    trials += [exchange.after([move]) for move in moves]
    trials += [exchange.after(moves[:n]) for n in range(2, len(moves) + 1)]
    return _try(engine, problem, solution, side, trials)


def _recast(engine: Engine, problem: Problem, solution: Solution, side: Side) -> Solution:
    """Let another item be the only member of a cluster that has just one.

    Such clusters hold the item that costs most elsewhere, but which that is depends on all others.
    No sequence of small steps leads from one such item to the next.
    """
    exchange = _exchange(engine, problem, solution.U, solution.V, solution.sums, side)
    return _try(engine, problem, solution, side, exchange.recastings(_PROBES))


def _try(
    engine: Engine, problem: Problem, solution: Solution, side: Side, trials: list[BoolArray]
) -> Solution:
    """Run the alternation from each of some memberships; stop at the first that ends lower."""
    loose = replace(problem, tol=max(problem.tol, _LOOSE_TOL))
    for members in trials:
        found = _answered(engine, loose, solution, side, members)
        if _promises(found, solution):
            found = continued(engine, problem, found)
        if found.objective < solution.objective - least_gain(solution):
            return improved(solution, found)
    return solution


def _resolve(
    engine: Engine, problem: Problem, solution: Solution, side: Side, members: BoolArray
) -> Solution:
    changed = Memberships.from_dense(members)
    U, V = (changed, solution.V) if side == "rows" else (solution.U, changed)
    return solve(engine, problem, U, V, since=solution)


def _answered(
    engine: Engine, problem: Problem, solution: Solution, side: Side, members: BoolArray
) -> Solution:
    """Run the alternation from changed memberships, the other side first.

    Changes that lose a little would be taken back at once by their own side.
    """
    V = solution.V
    if side == "columns" or V is None or problem.columns is None:
        return _resolve(engine, problem, solution, side, members)
    U = Memberships.from_dense(members)
    sums = sums_of(engine, problem, U, V)
    V = joined(sums, column_tables(problem, sums, U, V), problem.columns)
    return solve(engine, problem, U, V, since=replace(solution, U=U, sums=sums, n_updates=0))


def _better(old: Solution, new: Solution) -> Solution:
    return improved(old, new) if new.objective < old.objective else old


def _exchange(
    engine: Engine,
    problem: Problem,
    U: Memberships | None,
    V: Memberships | None,
    sums: Sums,
    side: Side,
) -> Exchange:
    if side == "rows":
        assert U is not None and problem.rows is not None
        tables = row_tables(problem, sums, U, V)
        d = engine.row_distances(tables, V)
        constant = np.zeros(len(d))
        if problem.objective == "mean" and V is not None:
            constant = engine.row_distances(_unexplained(V.sizes), V)[:, 0]
        return Exchange.of(U.dense.copy(), d, constant, problem.rows)
    assert V is not None and problem.columns is not None
    if problem.objective != "mean":
        sums = sums_of(engine, problem, U, V)
    d = distances(sums, column_tables(problem, sums, U, V))
    constant = np.zeros(len(d))
    if problem.objective == "mean" and U is not None:
        constant = distances(sums, _unexplained(U.sizes))[:, 0]
    return Exchange.of(V.dense.copy(), d, constant, problem.columns)


def _unexplained(other_sizes: FloatArray) -> Tables:
    """Return tables whose one distance is c_p = base_p - sum_j S_pj^2 / m_j."""
    zero = np.zeros(1)
    return Tables(zero, np.zeros((1, len(other_sizes))), None, inverse(other_sizes), zero)
