"""Orders in which sets are contiguous: PQ-trees, after Booth and Lueker (1976).

A tree stands for a set of orders of its leaves: the children of a free node may be permuted in any
way, those of a fixed node only reversed. Each set that must be contiguous narrows the tree down.
This is the plain recursive form, quadratic at worst, for the few hundred leaves of a picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["contiguous_order"]


@dataclass(frozen=True)
class _Node:
    children: tuple[_Tree, ...]
    is_fixed: bool


_Tree: TypeAlias = int | _Node
_EMPTY, _PARTIAL, _FULL = 0, 1, 2


def contiguous_order(n_items: int, sets: Iterable[frozenset[int]]) -> tuple[list[int], list[bool]]:
    """Order items so that sets are contiguous, each one that still can be after those before it.

    Parameters
    ----------
    n_items : int
        The items are 0 to `n_items - 1`.
    sets : iterable of frozenset of int
        Sets of items, the most important first.

    Returns
    -------
    order : list of int
        The items.
    kept : list of bool
        For each set, whether it is contiguous by construction. If an order exists in which all sets
        are, this is one, and all are kept.

    Examples
    --------
    >>> from neocc.plot._pqtree import contiguous_order
    >>> contiguous_order(4, [frozenset({0, 2}), frozenset({2, 3}), frozenset({0, 3})])
    ([1, 0, 2, 3], [True, True, False])
    """
    tree: _Tree = _free(range(n_items))
    kept = []
    for wanted in sets:
        try:
            tree = _gather(tree, wanted) if wanted else tree
            kept.append(True)
        except _ImpossibleError:
            kept.append(False)
    return list(_leaves(tree)), kept


class _ImpossibleError(Exception):
    """No order that a tree stands for keeps the wanted leaves together."""


def _leaves(tree: _Tree) -> Iterator[int]:
    if isinstance(tree, int):
        yield tree
    else:
        for child in tree.children:
            yield from _leaves(child)


def _free(children: Iterable[_Tree]) -> _Tree:
    """Join trees in any order; one alone stays as it is."""
    joined = tuple(children)
    return joined[0] if len(joined) == 1 else _Node(joined, is_fixed=False)


def _fill(tree: _Tree, wanted: frozenset[int]) -> int:
    """Say whether no leaf, some leaves or all leaves of a tree are wanted."""
    inside = [leaf in wanted for leaf in _leaves(tree)]
    return _FULL if all(inside) else _PARTIAL if any(inside) else _EMPTY


def _gather(tree: _Tree, wanted: frozenset[int]) -> _Tree:
    """Narrow a tree that holds all wanted leaves to the orders in which they are contiguous."""
    if isinstance(tree, int):
        return tree
    fills = [_fill(child, wanted) for child in tree.children]
    touched = [place for place, fill in enumerate(fills) if fill != _EMPTY]
    first, last = touched[0], touched[-1]
    if first == last:
        inner = _gather(tree.children[first], wanted)
        children = (*tree.children[:first], inner, *tree.children[first + 1 :])
        return _Node(children, tree.is_fixed)
    if not tree.is_fixed:
        return _gather_free(tree.children, fills, wanted)
    if any(fill != _FULL for fill in fills[first + 1 : last]):
        raise _ImpossibleError
    left, right = (_split(tree.children[place], wanted) for place in (first, last))
    middle = (*left, *tree.children[first + 1 : last], *reversed(right))
    return _Node((*tree.children[:first], *middle, *tree.children[last + 1 :]), is_fixed=True)


def _gather_free(children: Sequence[_Tree], fills: Sequence[int], wanted: frozenset[int]) -> _Tree:
    """Join the full children, and put those that are full in part to either side of them."""
    empty, partial, full = _by_fill(children, fills)
    if len(partial) > 2:
        raise _ImpossibleError
    together = [_free(full)] if full else []
    if not partial:
        return _free([*empty, *together])
    sides = [_split(child, wanted) for child in partial]
    right = reversed(sides[1]) if len(sides) == 2 else ()
    return _free([*empty, _Node((*sides[0], *together, *right), is_fixed=True)])


def _split(tree: _Tree, wanted: frozenset[int]) -> list[_Tree]:
    """Cut a tree into a sequence of trees, first those without, then those of wanted leaves."""
    if isinstance(tree, int) or _fill(tree, wanted) != _PARTIAL:
        return [tree]
    children = tree.children
    fills = [_fill(child, wanted) for child in children]
    if fills.count(_PARTIAL) > 1:
        raise _ImpossibleError
    if not tree.is_fixed:
        empty, partial, full = _by_fill(children, fills)
        children = tuple(_free(group) for group in (empty, partial, full) if group)
    else:
        if fills[0] > fills[-1]:
            children, fills = children[::-1], fills[::-1]
        if fills != sorted(fills):
            raise _ImpossibleError
    return [part for child in children for part in _split(child, wanted)]


def _by_fill(
    children: Sequence[_Tree], fills: Sequence[int]
) -> tuple[list[_Tree], list[_Tree], list[_Tree]]:
    groups: tuple[list[_Tree], list[_Tree], list[_Tree]] = ([], [], [])
    for child, fill in zip(children, fills, strict=True):
        groups[fill].append(child)
    return groups
