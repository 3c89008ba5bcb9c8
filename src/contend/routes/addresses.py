"""Addresses of hosts, switches and others, as tables need them, and the room that tables take."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import Argument, MissingError, UsageError
from contend.base.units import format_bytes
from contend.fabric import NO_SWITCH, Fabric


def with_addresses(fabric: Fabric) -> Fabric:
    """The fabric if every host has addresses of its own, else with new ones given out.

    New addresses are 1 .. hosts for hosts, those that follow for switches, then for others.
    """
    taken = np.sort(addresses_of(fabric))
    if (fabric.host_lid > 0).all() and (taken[1:] != taken[:-1]).all():
        return fabric
    return _numbered(fabric, 0)


def with_lmc(fabric: Fabric, text: str) -> Fabric:
    """The fabric with 2^lmc new addresses for every host; switches get those that follow.

    Raises:
        UsageError: lmc is not within 0 .. 7.
    """
    if not re.fullmatch(r"[0-7]", text):
        raise UsageError(f"lmc is a number from 0 to 7, not {text!r}")
    return _numbered(fabric, int(text))


def _numbered(fabric: Fabric, lmc: int) -> Fabric:
    """The fabric with new addresses, and without routes."""
    each = 1 << lmc
    numbered = fabric.replace(
        host_lid=each * np.arange(1, fabric.hosts + 1, dtype=np.uint32),
        host_lmc=np.full(fabric.hosts, lmc, dtype=np.uint8),
        switch_lid=each * (fabric.hosts + 1) + np.arange(fabric.switches, dtype=np.uint32),
        routes=None,
    )
    return with_other_lids(numbered, int(numbered.switch_lid[-1]) + 1)


def with_other_lids(fabric: Fabric, first: int) -> Fabric:
    """The fabric with new addresses for others, from the first on that is free."""
    return fabric.replace(
        other_lid=np.arange(first, first + len(fabric.other_lid), dtype=np.uint32)
    )


def others_of(fabric: Fabric) -> NDArray[np.int64]:
    """Numbers of the others that have an address, and one that is nobody else's."""
    first = np.zeros(len(fabric.other_lid), dtype=bool)
    first[np.unique(fabric.other_lid, return_index=True)[1]] = True
    taken = np.isin(fabric.other_lid, addresses_of(fabric))
    return np.flatnonzero(first & (fabric.other_lid > 0) & ~taken)


def addresses_of(fabric: Fabric) -> NDArray[np.int64]:
    """All addresses in use, those of switches without one left out."""
    of_switches = fabric.switch_lid[fabric.switch_lid > 0].astype(np.int64)
    return np.concatenate([addresses_of_hosts(fabric)[1], of_switches])


def addresses_of_hosts(fabric: Fabric) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every address of every host: the host, and the address."""
    count = np.left_shift(1, fabric.host_lmc.astype(np.int64))
    host = np.repeat(np.arange(fabric.hosts), count)
    nth = np.arange(len(host)) - np.repeat(np.cumsum(count) - count, count)
    return host, fabric.host_lid[host] + nth


def expect_addresses(fabric: Fabric, hosts: NDArray[np.uint32]) -> None:
    """Refuses hosts to which tables lead no route, naming the first of them."""
    without = hosts[fabric.host_lid[hosts] == 0]
    if len(without):
        name = fabric.host_name[int(without[0])]
        raise UsageError(
            f'host "{name}" has no address (LID) in the tables; leave it out with ',
            Argument("without"),
        )


def table_size(fabric: Fabric) -> int:
    """Columns of tables that hold all addresses, address 0 included."""
    others = fabric.other_lid[others_of(fabric)]
    return max(int(addresses_of(fabric).max(initial=0)), int(others.max(initial=0))) + 1


def targets_of(fabric: Fabric) -> _core.Targets:
    """What engines route to, and what mending leads to."""
    system = fabric.switch_system_guid
    others = others_of(fabric)
    others = others[fabric.other_switch[others] != NO_SWITCH]
    return _core.Targets(
        host_first=fabric.host_lid,
        host_lmc=fabric.host_lmc,
        switch_address=fabric.switch_lid,
        switch_guid=fabric.switch_guid,
        switch_system=np.where(system == 0, fabric.switch_guid, system),
        addresses=table_size(fabric),
        others=fabric.other_lid[others],
        other_switch=fabric.other_switch[others],
        other_port=fabric.other_port[others],
    )


def expect_room(
    fabric: Fabric, memory: int | None = None, *, instead: Callable[[], str] = str
) -> None:
    """Refuses tables that are larger than this machine's memory.

    Args:
        fabric: that they are for.
        memory: bytes; None asks the machine.
        instead: says what needs none, or "".

    Raises:
        MissingError: with what they need, and what there is.
    """
    size = 2 * fabric.switches * table_size(fabric)
    expect_memory(size, f"forwarding tables of {fabric.name} need", memory, instead)


def machine_memory() -> int:
    """Bytes that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def expect_memory(
    size: int, what: str, memory: int | None = None, instead: Callable[[], str] = str
) -> None:
    """Refuses what is larger than this machine's memory.

    Args:
        size: bytes.
        what: needs them, in words before the number: "tables need".
        memory: bytes; None asks the machine.
        instead: says what needs less, or "".

    Raises:
        MissingError: with what is needed, and what there is.
    """
    if memory is None:
        memory = machine_memory()
    if size > memory:
        other = instead()
        raise MissingError(
            f"{what} {format_bytes(size)}, and this machine has {format_bytes(memory)} of memory"
            f"{other and '; '}{other}"
        )
