"""The networks on which routes are a formula, found by their cables."""

from __future__ import annotations

from contend import _core
from contend.fabric import Fabric

# Functions of the core cannot be pickled, and what finds a shape goes with the routes.


def complete_tree(core: _core.Fabric) -> _core.CompleteTree | None:
    """The complete tree that a fabric is; None elsewhere."""
    return _core.find_complete_tree(core)


def tree_of_own_parents(core: _core.Fabric) -> _core.CompleteTree | None:
    """The complete tree that a fabric is, where no two planes share parents; None elsewhere.

    Routes of dmodk come down there as they go up, which makes them a formula.
    """
    tree = _core.find_complete_tree(core)
    return None if tree is None or tree.shared else tree


def grid(core: _core.Fabric) -> _core.Grid | None:
    """The torus, mesh, hypercube or HyperX that a fabric is; None elsewhere."""
    return _core.find_grid(core)


# What finds networks on which some engines follow messages by a formula.
_FORMULAS = (
    (tree_of_own_parents, "minhop, dmodk, ecmp and spray need none on such a tree"),
    (complete_tree, "minhop, ecmp and spray need none on such a tree"),
    (_core.find_dragonfly, "ecmp and spray need none on such a dragonfly"),
    (grid, "dor, ecmp and spray need none on such a grid"),
)


def needing_none(fabric: Fabric) -> str:
    """The engines that keep neither tables nor next hops of a fabric, in words; "" for none."""
    # The further addresses of hosts have no formula.
    known = () if fabric.host_lmc.any() else _FORMULAS
    return next((words for find, words in known if find(fabric.core) is not None), "")
