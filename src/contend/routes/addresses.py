"""Addresses of hosts and switches, as engines need them: all given out, and none twice."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import UsageError
from contend.fabric import Fabric


def with_addresses(fabric: Fabric) -> Fabric:
    """The fabric if every host has addresses of its own, else with new ones given out.

    New addresses are 1 .. hosts for hosts, those that follow for switches.
    """
    taken = addresses_of(fabric)
    if (fabric.host_lid > 0).all() and len(np.unique(taken)) == len(taken):
        return fabric
    numbers = np.arange(1, fabric.hosts + fabric.switches + 1, dtype=np.uint32)
    return fabric.replace(
        host_lid=numbers[: fabric.hosts],
        host_lmc=np.zeros(fabric.hosts, dtype=np.uint8),
        switch_lid=numbers[fabric.hosts :],
        routes=None,
    )


def with_lmc(fabric: Fabric, text: str) -> Fabric:
    """The fabric with 2^lmc new addresses for every host; switches get those that follow.

    Raises:
        UsageError: lmc is not within 0 .. 7.
    """
    if not re.fullmatch(r"[0-7]", text):
        raise UsageError(f"lmc is a number from 0 to 7, not {text!r}")
    each = 1 << int(text)
    first = each * np.arange(1, fabric.hosts + 1, dtype=np.uint32)
    return fabric.replace(
        host_lid=first,
        host_lmc=np.full(fabric.hosts, int(text), dtype=np.uint8),
        switch_lid=each * (fabric.hosts + 1) + np.arange(fabric.switches, dtype=np.uint32),
        routes=None,
    )


def addresses_of(fabric: Fabric) -> NDArray[np.int64]:
    """All addresses in use, those of switches without one left out."""
    count = np.left_shift(1, fabric.host_lmc.astype(np.int64))
    first = np.repeat(fabric.host_lid.astype(np.int64), count)
    nth = np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)
    return np.concatenate([first + nth, fabric.switch_lid[fabric.switch_lid > 0].astype(np.int64)])


def table_size(fabric: Fabric) -> int:
    """Columns of tables that hold all addresses, address 0 included."""
    return int(addresses_of(fabric).max(initial=0)) + 1


def targets_of(fabric: Fabric) -> _core.Targets:
    """What engines route to."""
    system = fabric.switch_system_guid
    return _core.Targets(
        host_first=fabric.host_lid,
        host_lmc=fabric.host_lmc,
        switch_address=fabric.switch_lid,
        switch_guid=fabric.switch_guid,
        switch_system=np.where(system == 0, fabric.switch_guid, system),
        addresses=table_size(fabric),
    )
