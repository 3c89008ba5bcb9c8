"""Where a study measures: hosts of a cluster, an emulated fabric, or this machine alone."""

from __future__ import annotations

from dataclasses import dataclass

from contend.study.measured.cell import Cell
from contend.units import counted


@dataclass(frozen=True)
class Site:
    """The hosts that nodes of a plan become.

    On one machine N nodes of a plan are N groups of ranks that share it: no message crosses a
    network, and all groups together must fit its processors and its memory.

    Attributes:
        on: as ``--on`` takes it: a host file or ``emulated:FABRIC``; "" is this machine, or what
            the launcher knows.
        hosts: how many hosts there are; None where only the launcher knows.
        shared: whether all nodes are on this machine, also those of an emulated fabric.
        memory: bytes of a host; None where it is not known.
    """

    on: str = ""
    hosts: int | None = 1
    shared: bool = True
    memory: int | None = None

    @property
    def alone(self) -> bool:
        """Whether nodes are only groups of ranks on this machine, without a network."""
        return self.shared and not self.on

    def host(self) -> str:
        """What memory is compared with."""
        return "this machine" if self.shared else "a node"

    def words(self) -> str:
        """Where it measures, for people."""
        if self.alone:
            return "on one host: N nodes are N groups of ranks there"
        if not self.on:
            return "on the hosts of the launcher"
        return f"on {self.on}" + ("" if self.hosts is None else f", {counted(self.hosts, 'host')}")

    def seats(self, cell: Cell) -> str:
        """Nodes and ranks of a cell for people."""
        per = counted(cell.ranks_per_node, "rank")
        if not self.alone:
            return f"{counted(cell.nodes, 'node')} of {per}"
        return f"{counted(cell.nodes, 'group')} of {per} on one host"

    def lacks(self, cell: Cell) -> str:
        """Why there are not enough hosts for a cell, "" where there are."""
        if self.alone or self.hosts is None or cell.nodes <= self.hosts:
            return ""
        return (
            f"{counted(cell.nodes, 'node')} asked for, {self.on} has {counted(self.hosts, 'host')}"
        )

    def limits(self, cell: Cell) -> tuple[str, ...]:
        """What a reader must know of figures that a cell gives here."""
        said = []
        if self.alone and cell.ranks > 1:
            said.append(
                "all ranks are on one host: no network is measured, times are those of memory "
                "and processors"
            )
        return tuple(said)
