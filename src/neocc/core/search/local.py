"""Local search: leave the basin that a start fell into, and never end higher than it began.

Three means, from cheap to strong. *Swaps* move single memberships by their exact gains. A *chain*
makes several best swaps in a row, even if they raise the objective at first, and keeps the best
prefix (Kernighan and Lin's idea, used for co-clustering by Cho and Dhillon). *Rounds* of iterated
local search perturb the solution and run the alternation again, keeping the result if it is lower:
they move a fraction of the memberships at random, or a whole cluster.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.core.engine import Engine
from neocc.core.objectives import Features, Side, Terms
from neocc.core.problem import Problem
from neocc.core.search.moves import Exchange, independent_swaps
from neocc.core.search.perturb import Bandit, perturb, replaced
from neocc.core.solve import Solution, continued, improved, solve
from neocc.core.steps import Pair, assigned, make_features, make_terms, score

__all__ = ["SAME_BASIN", "exchange", "least_gain", "local_search", "ping_pong", "rounds"]

_LEAST_GAIN = 1e-9
_CHAIN_LENGTH = 6
_PROBES = 4
# A round is abandoned when, loosely converged, it is still this far above the best, or would have
# to fall by more than so many times its last step.
_LOOSE_TOL = 1e-4
_HOPELESS = 5e-4
_STEPS_LEFT = 4.0
# At most so many times its patience a search goes on, however well it does.
_MOST_ROUNDS = 4

SAME_BASIN = 1e-5
"""Solutions that differ by less than this share lie in one basin."""


def least_gain(solution: Solution) -> float:
    """Return how much lower than a solution another must be to be better than rounding makes it."""
    return _LEAST_GAIN * solution.objective + solution.noise


def rounds(
    engine: Engine,
    problem: Problem,
    best: Solution,
    patience: int,
    rng: np.random.Generator,
    bandit: Bandit | None = None,
) -> Solution:
    """Perturb the best solution so far and solve again, until `patience` rounds brought little.

    A round in vain costs patience, one that reaches another basin restores it.
    """
    bandit = bandit or Bandit()
    loose = _loosely(problem)
    in_vain = 0
    for _ in range(_MOST_ROUNDS * patience):
        way = bandit.choose(problem, rng)
        found = solve(engine, loose, perturb(engine, problem, best, way, rng))
        if _promises(found, best):
            found = continued(engine, problem, found)
        gain = best.objective - found.objective
        success = gain > least_gain(best)
        bandit.learn(way, success=success)
        in_vain = 0 if gain > SAME_BASIN * best.objective else in_vain + 1
        if success:
            best = improved(best, found)
        if in_vain == patience:
            break
    return best


def _loosely(problem: Problem) -> Problem:
    return replace(problem, tol=max(problem.tol, _LOOSE_TOL))


def _promises(found: Solution, best: Solution) -> bool:
    """Tell whether a loosely converged run may end below the best if it is carried on."""
    last_step = found.history[-3] - found.history[-1] if found.n_iter > 1 else np.inf
    near = best.objective * (1.0 + _HOPELESS)
    return bool(found.objective < min(near, best.objective + _STEPS_LEFT * last_step))


def local_search(engine: Engine, problem: Problem, solution: Solution) -> Solution:
    """Alternate exact swaps and chains with the alternation until neither lowers the objective."""
    while True:
        found = solution
        for side in reversed(problem.sides):
            for move in (_swap, chain, _probe, _reassign_singletons):
                found = move(engine, problem, found, side)
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
    for _ in range(n_rounds):
        found = solution
        for side in problem.sides:
            found = chain(engine, problem, found, side, length)
        if found.objective >= solution.objective - least_gain(solution):
            break
        solution = found
    return solution


def _swap(engine: Engine, problem: Problem, solution: Solution, side: Side) -> Solution:
    """Make the best swaps that share no cluster, and run the alternation."""
    swaps = exchange(engine, problem, solution.pair, solution.features, side)
    if independent_swaps(swaps, least_gain(solution)) <= 0.0:
        return solution
    return _resolved(engine, problem, solution, side, swaps.members)


def chain(
    engine: Engine, problem: Problem, solution: Solution, side: Side, length: int = _CHAIN_LENGTH
) -> Solution:
    """Make the best swaps one after the other, each from exact gains, and keep the best prefix."""
    pair, features = solution.pair, solution.features
    gain = best_gain = 0.0
    best_members = None
    counts = problem.counts(side)
    open_items = np.ones(counts.n_items, dtype=bool)
    open_clusters = np.ones(counts.n_clusters, dtype=bool)
    for _ in range(length):
        swaps = exchange(engine, problem, pair, features, side)
        swap = swaps.best(open_items, open_clusters)
        if swap is None:
            break
        swaps.apply(swap)
        open_items[[swap.source[0], swap.target[0]]] = False
        gain += swap.gain
        if gain > best_gain:
            best_gain, best_members = gain, swaps.members.copy()
        pair = replaced(problem, pair, side, swaps.members)
        features = make_features(engine, problem, pair)
    if best_members is None or best_gain <= least_gain(solution):
        return solution
    return _resolved(engine, problem, solution, side, best_members)


def _resolved(
    engine: Engine, problem: Problem, solution: Solution, side: Side, members: BoolArray
) -> Solution:
    """Run the alternation from changed memberships; return the better solution."""
    pair = replaced(problem, solution.pair, side, members)
    found = solve(engine, problem, pair)
    return improved(solution, found) if found.objective < solution.objective else solution


def _probe(engine: Engine, problem: Problem, solution: Solution, side: Side) -> Solution:
    """Try what loses a little as the other side stands: it may make up for it.

    Items near the border of two clusters often want to go together: the moves of smallest loss are
    tried one by one and all at once.
    """
    swaps = exchange(engine, problem, solution.pair, solution.features, side)
    trials = [swaps.after([swap]) for swap in swaps.swaps_between(_PROBES)]
    moves = swaps.moves_within(_PROBES)
    trials += [swaps.after([move]) for move in moves]
    trials += [swaps.after(moves[:n]) for n in range(2, len(moves) + 1)]
    return _try(engine, problem, solution, side, trials)


def _reassign_singletons(
    engine: Engine, problem: Problem, solution: Solution, side: Side
) -> Solution:
    """Let another item be the only member of a cluster that has just one.

    Such clusters hold the item that costs most elsewhere, but which that is depends on all others.
    No sequence of small steps leads from one such item to the next.
    """
    swaps = exchange(engine, problem, solution.pair, solution.features, side)
    return _try(engine, problem, solution, side, swaps.other_singletons(_PROBES))


def _try(
    engine: Engine, problem: Problem, solution: Solution, side: Side, trials: list[BoolArray]
) -> Solution:
    """Run the alternation from each of some memberships; stop at the first that ends lower.

    The columns answer changed rows first: what loses a little would be taken back at once by its
    own side.
    """
    for members in trials:
        pair = replaced(problem, solution.pair, side, members)
        if side == "rows" and problem.columns is not None:
            pair = assigned(engine, problem, "columns", pair)
        found = solve(engine, _loosely(problem), pair)
        if _promises(found, solution):
            found = continued(engine, problem, found)
        if found.objective < solution.objective - least_gain(solution):
            return improved(solution, found)
    return solution


def exchange(
    engine: Engine, problem: Problem, pair: Pair, features: Features, side: Side
) -> Exchange:
    """Return the gains of all swaps on one side.

    Distances are comparable, so that dense and sparse data, which round differently, swap alike.
    """
    members, other = pair if side == "rows" else pair[::-1]
    assert members is not None
    if side == "columns" and problem.needs_products:
        features = make_features(engine, problem, pair)
    d = _comparable(engine, side, make_terms(problem, side, features, pair), pair, features)
    constant = np.zeros(len(d))
    if other is not None:
        unexplained = problem.objective.unexplained(other.sizes)
        if unexplained is not None:
            constant = _comparable(engine, side, unexplained, pair, features)[:, 0]
    return Exchange.of(members.dense.copy(), d, constant, problem.counts(side))


def _comparable(
    engine: Engine, side: Side, terms: Terms, pair: Pair, features: Features
) -> FloatArray:
    if side == "rows":
        scores = engine.row_scores(terms, pair[1])
    else:
        scores = score(engine.kernels, features, terms, None)
    assert scores.d is not None
    return scores.d
