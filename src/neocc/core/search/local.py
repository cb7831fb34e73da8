"""Local search: leave the basin that a start fell into, and never end higher than it began.

Three means, from cheap to strong. *Swaps* move single memberships by their exact gains. A *chain*
makes several best swaps in a row, even if they raise the objective at first, and keeps the best
prefix (Kernighan and Lin's idea, used for co-clustering by Cho and Dhillon). *Rounds* of iterated
local search perturb the solution and run the alternation again, keeping the result if it is lower:
they move a fraction of the memberships at random, or a whole cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from typing import NamedTuple

import numpy as np

from neocc._typing import BoolArray
from neocc.core.engine import Engine
from neocc.core.objectives import Features, Side, Terms
from neocc.core.overlap import Scores
from neocc.core.problem import Problem
from neocc.core.search.gains import single_gains
from neocc.core.search.moves import Exchange, independent_swaps
from neocc.core.search.perturb import Bandit, perturb, replaced
from neocc.core.solve import Solution, continued, improved, solve
from neocc.core.steps import Pair, assigned, make_features, make_terms, score

__all__ = [
    "SAME_BASIN",
    "Loose",
    "OneSide",
    "attempt",
    "carried_on",
    "least_gain",
    "local_search",
    "ping_pong",
    "rounds",
    "swapped",
]

_LEAST_GAIN = 1e-9
_CHAIN_LENGTH = 6
_PROBES = 4
_STEPS_LEFT = 4.0
# Rounds end after this multiple of their patience, however successful they are.
_MOST_ROUNDS = 4

SAME_BASIN = 1e-5
"""Solutions whose objectives differ by less than this fraction count as one basin."""

Move = Callable[[Solution], Solution]


class Loose(NamedTuple):
    """When a trial is abandoned.

    That is if, converged within `tol`, it is still a share `hopeless` above the best, or would have
    to fall by more than a few times its last step.
    """

    tol: float
    hopeless: float


LOOSE = Loose(1e-4, 5e-4)


def least_gain(solution: Solution) -> float:
    """Return how much lower another solution must be to count as better."""
    return _LEAST_GAIN * abs(solution.objective) + solution.noise


def rounds(
    engine: Engine,
    problem: Problem,
    best: Solution,
    patience: int,
    rng: np.random.Generator,
    bandit: Bandit | None = None,
) -> Solution:
    """Perturb the best solution so far and solve again: iterated local search.

    It ends after `patience` rounds in a row that reached no lower basin.
    """
    bandit = bandit or Bandit()
    in_vain = 0
    for _ in range(_MOST_ROUNDS * patience):
        way = bandit.choose(problem, rng)
        found = attempt(engine, problem, perturb(engine, problem, best, way, rng), best)
        gain = best.objective - found.objective
        success = gain > least_gain(best)
        bandit.learn(way, success=success)
        in_vain = 0 if gain > SAME_BASIN * abs(best.objective) else in_vain + 1
        if success:
            best = improved(best, found)
        if in_vain == patience:
            break
    return best


def attempt(
    engine: Engine, problem: Problem, pair: Pair, best: Solution, loose: Loose = LOOSE
) -> Solution:
    """Run the alternation loosely, then to convergence if it may end below the best solution."""
    found = solve(engine, problem.loosened(loose.tol), pair)
    return carried_on(engine, problem, found, best, loose)


def carried_on(
    engine: Engine, problem: Problem, found: Solution, best: Solution, loose: Loose = LOOSE
) -> Solution:
    """Run a trial to convergence if it may end below the best solution."""
    last_step = found.history[-3] - found.history[-1] if found.n_iter > 1 else np.inf
    near = best.objective + loose.hopeless * abs(best.objective)
    # A trial that has led back to the best solution ends here, however its sums are rounded.
    if found.objective < min(near, best.objective + _STEPS_LEFT * last_step) - least_gain(best):
        found = continued(engine, problem, found)
    return found


def local_search(engine: Engine, problem: Problem, solution: Solution) -> Solution:
    """Alternate exact moves with the alternation until neither lowers the objective.

    Where sets of clusters have costs of their own, there is hardly an end to small improvements:
    turns that stay in the same basin end the search.
    """
    sides = [OneSide(engine, problem, side) for side in reversed(problem.sides)]
    moves = [(one.swap, one.chain, one.probe, one.reassign_singletons) for one in sides]
    least = SAME_BASIN if problem.overlap_model.prices_first else 0.0
    return _while_lower(solution, [*chain.from_iterable(moves)], count(), least)


def swapped(engine: Engine, problem: Problem, best: Solution, limit: float) -> Solution:
    """Make exact swaps while they lower the objective, and a limit of work allows."""
    sides = [OneSide(engine, problem, side) for side in reversed(problem.sides)]
    begun, gain = engine.reads.work, np.inf
    while gain > least_gain(best) and engine.reads.work - begun < limit:
        found = best
        for side in sides:
            found = side.swap(found)
        gain, best = best.objective - found.objective, found
    return best


def ping_pong(
    engine: Engine, problem: Problem, solution: Solution, length: int, n_rounds: int
) -> Solution:
    """Let a chain of the rows and one of the columns follow the alternation, while that helps.

    The local search of MSSR's authors: every chain that lowers the objective is followed by the
    alternation, and another round by at most `n_rounds`.
    """
    sides = [OneSide(engine, problem, side) for side in problem.sides]
    chains = [partial(one.chain, length=length) for one in sides]
    return _while_lower(solution, chains, range(n_rounds))


def _while_lower(
    solution: Solution, moves: Sequence[Move], turns: Iterable[int], least: float = 0.0
) -> Solution:
    """Make all moves in each turn, while that lowers the objective by more than a share of it."""
    for _ in turns:
        found = solution
        for move in moves:
            found = move(found)
        gain = solution.objective - found.objective
        if gain <= least_gain(solution):
            break
        small, solution = gain <= least * abs(solution.objective), found
        if small:
            break
    return solution


@dataclass(frozen=True)
class OneSide:
    """Moves of memberships of one side, each to a solution that is no higher."""

    engine: Engine
    problem: Problem
    side: Side

    def swap(self, solution: Solution) -> Solution:
        """Make the best swaps that share no cluster, and run the alternation."""
        swaps = self.exchange(solution.pair, solution.features)
        members, gain = independent_swaps(swaps, least_gain(solution))
        return self._resolved(solution, members) if gain > 0.0 else solution

    def chain(self, solution: Solution, length: int = _CHAIN_LENGTH) -> Solution:
        """Make the best swaps in a row, each from exact gains, and keep the best prefix."""
        pair, features = solution.pair, solution.features
        gain = best_gain = 0.0
        best_members = None
        moved: list[int] = []
        for _ in range(length):
            swaps = self.exchange(pair, features).without(moved)
            swap = swaps.best()
            if swap is None:
                break
            members = swaps.after([swap])
            moved += [swap.source[0], swap.target[0]]
            gain += swap.gain
            if gain > best_gain:
                best_gain, best_members = gain, members
            pair = replaced(self.problem, pair, self.side, members)
            features = make_features(self.engine, self.problem, pair)
        if best_members is None or best_gain <= least_gain(solution):
            return solution
        return self._resolved(solution, best_members)

    def probe(self, solution: Solution) -> Solution:
        """Try moves of small loss: the other side may more than make up for it.

        Items near the border of two clusters often have to move together, so the best moves are
        tried one by one and several at once.
        """
        swaps = self.exchange(solution.pair, solution.features)
        moves = swaps.moves_within(_PROBES)
        trials = [[swap] for swap in (*swaps.swaps_between(_PROBES), *moves)]
        trials += [moves[:n] for n in range(2, len(moves) + 1)]
        return self._first_lower(solution, map(swaps.after, trials))

    def reassign_singletons(self, solution: Solution) -> Solution:
        """Let another item be the only member of a cluster that has just one.

        Such a cluster holds the item that costs most elsewhere, and which one that is depends on
        all others: no sequence of small steps leads from one such item to the next.
        """
        swaps = self.exchange(solution.pair, solution.features)
        return self._first_lower(solution, swaps.other_singletons(_PROBES))

    def _resolved(self, solution: Solution, members: BoolArray) -> Solution:
        """Run the alternation from changed memberships; return the better solution."""
        pair = replaced(self.problem, solution.pair, self.side, members)
        found = solve(self.engine, self.problem, pair)
        return improved(solution, found) if found.objective < solution.objective else solution

    def _first_lower(self, solution: Solution, trials: Iterable[BoolArray]) -> Solution:
        """Run the alternation from each of some memberships, up to the first that ends lower.

        The columns answer changed rows first: what loses a little would be taken back at once by
        its own side.
        """
        engine, problem = self.engine, self.problem
        for members in trials:
            pair = replaced(problem, solution.pair, self.side, members)
            if self.side == "rows" and problem.columns is not None:
                pair = assigned(engine, problem, "columns", pair)
            found = attempt(engine, problem, pair, solution)
            if found.objective < solution.objective - least_gain(solution):
                return improved(solution, found)
        return solution

    def exchange(self, pair: Pair, features: Features) -> Exchange:
        """Return the gains of all swaps.

        Distances are comparable, so that dense and sparse data, which round differently, swap
        alike.
        """
        members, other = pair if self.side == "rows" else pair[::-1]
        assert members is not None
        if self.side == "columns" and self.problem.needs_products:
            features = make_features(self.engine, self.problem, pair)

        counts, model = self.problem.counts(self.side), self.problem.overlap_model

        def comparable(terms: Terms, *, sums: bool = False) -> Scores:
            if self.side == "rows":
                return self.engine.row_scores(terms, other, sums=sums)
            return score(self.engine.kernels, features, terms, None)

        terms = make_terms(self.problem, self.side, features, pair)
        scores = comparable(terms, sums=model.needs_sums)
        objective = self.problem.objective
        unexplained = None if other is None else objective.unexplained(other)
        constant, rise = scores.unexplained(), None
        if unexplained is not None:
            constant = comparable(unexplained).minima
        if not model.blends and scores.parts is None:
            rise = objective.rise(self.engine, self.side, features, pair)
        given = (members, scores, constant, model, counts.min_size)
        gains = single_gains(*given, rise, objective.shrinkage)
        if members.item_weights is not None:
            constant = constant * members.item_weights
        return Exchange(members.dense, *gains, constant, counts.max_outliers)
