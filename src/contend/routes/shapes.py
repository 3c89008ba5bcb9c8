"""The networks on which routes are a formula, found by their cables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from contend import _core
from contend.fabric import Fabric

Shape: TypeAlias = _core.CompleteTree | _core.Dragonfly | _core.Grid
Finder: TypeAlias = Callable[[_core.Fabric], Shape | None]

# Functions of the core cannot be pickled, and what finds a shape goes with the routes.


def find_complete_tree(core: _core.Fabric) -> _core.CompleteTree | None:
    """The complete tree that a fabric is; None elsewhere."""
    return _core.find_complete_tree(core)


def tree_of_own_parents(core: _core.Fabric) -> _core.CompleteTree | None:
    """The complete tree that a fabric is, where no two planes share parents; None elsewhere.

    Routes of dmodk come down there as they go up, which makes them a formula.
    """
    tree = _core.find_complete_tree(core)
    return None if tree is None or tree.shared else tree


def find_grid(core: _core.Fabric) -> _core.Grid | None:
    """The torus, mesh, hypercube or HyperX that a fabric is; None elsewhere."""
    return _core.find_grid(core)


find_dragonfly = _core.find_dragonfly


def first_shape(core: _core.Fabric, finders: Iterable[Finder]) -> Shape | None:
    """What the first of some finders finds that finds anything; None where none does."""
    return next((found for find in finders if (found := find(core)) is not None), None)


# What finds networks on which some engines follow messages by a formula.
_FORMULAS: tuple[tuple[Finder, str], ...] = (
    (tree_of_own_parents, "minhop, dmodk, ecmp and spray need none on such a tree"),
    (find_complete_tree, "minhop, ecmp and spray need none on such a tree"),
    (find_dragonfly, "ecmp and spray need none on such a dragonfly"),
    (find_grid, "dor, ecmp and spray need none on such a grid"),
)


def needing_none(fabric: Fabric) -> str:
    """The engines that keep neither tables nor next hops of a fabric, in words; "" for none."""
    # The further addresses of hosts have no formula.
    known = () if fabric.host_lmc.any() else _FORMULAS
    return next((words for find, words in known if find(fabric.core) is not None), "")
