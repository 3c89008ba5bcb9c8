"""Switches, cables, hosts and channels by what people call them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from contend.errors import UsageError
from contend.fabric.fabric import Fabric
from contend.units import nearest


def part_named(fabric: Fabric, text: str) -> tuple[str, int] | None:
    """What a text names, and its number.

    Args:
        fabric: that it is a part of.
        text: a switch by name or GUID (``0x...``), a host likewise, or what hangs on a port of a
            switch (``spine 3:12``).

    Returns:
        ``switch``, ``cable`` or ``host`` with its number; None where nothing is called so.

    Raises:
        UsageError: several bear the name, or nothing hangs on the port.
    """
    for what, names, guids in (
        ("switch", fabric.switch_name, fabric.switch_guid),
        ("host", fabric.host_name, fabric.host_port_guid),
    ):
        if (number := _number(text, names, guids)) is not None:
            return what, number
    name, _, port = text.rpartition(":")
    switch = _number(name, fabric.switch_name, fabric.switch_guid)
    return None if switch is None or not port.isdecimal() else _plugged(fabric, switch, int(port))


def channels_named(fabric: Fabric, text: str) -> tuple[int, int]:
    """Both directions of what a text names, that out of the port first.

    Args:
        fabric: whose channels.
        text: a port of a switch, as in `part_named`, or a host.

    Raises:
        UsageError: there is no such cable or host, or several.
    """
    part = part_named(fabric, text)
    if part is None:
        raise no_such_part(fabric, text)
    what, number = part
    if what == "switch":
        raise UsageError(f"{text}: a channel needs a port of this switch: {text}:PORT")
    if what == "host":
        injection = 2 * fabric.cables + number
        return injection, injection + fabric.hosts
    name, _, port = text.rpartition(":")
    switch = _number(name, fabric.switch_name, fabric.switch_guid)
    starts = fabric.cable_from[number] == switch and fabric.cable_from_port[number] == int(port)
    return (2 * number, 2 * number + 1) if starts else (2 * number + 1, 2 * number)


def no_such_part(fabric: Fabric, text: str) -> UsageError:
    """The error where nothing is called so, with what may have been meant."""
    known = (*fabric.switch_name, *fabric.host_name)
    name = text.rpartition(":")[0] or text
    return UsageError(
        f"{text}: {fabric.name} has no such switch, cable (SWITCH:PORT) or host"
        f"{nearest(name, known)}"
    )


def _plugged(fabric: Fabric, switch: int, port: int) -> tuple[str, int]:
    """What hangs on a port: a cable to another switch, or a host."""
    for ends, ports in (
        (fabric.cable_from, fabric.cable_from_port),
        (fabric.cable_to, fabric.cable_to_port),
    ):
        if len(found := np.flatnonzero((ends == switch) & (ports == port))):
            return "cable", int(found[0])
    found = np.flatnonzero((fabric.host_switch == switch) & (fabric.host_port == port))
    if len(found) == 0:
        name = fabric.switch_name[switch]
        raise UsageError(f'{name}:{port}: nothing hangs on port {port} of "{name}"')
    return "host", int(found[0])


def _number(text: str, names: Sequence[str], guids: NDArray[np.uint64]) -> int | None:
    """The number of what has a name or GUID; None where nothing has."""
    if text.lower().startswith("0x"):
        try:
            found = np.flatnonzero(guids == int(text, 16))
        except (ValueError, OverflowError):
            return None
    else:
        found = np.flatnonzero([name == text for name in names])
    if len(found) > 1:
        raise UsageError(
            f"{text}: {len(found)} bear this name; give a GUID, such as "
            f"0x{int(guids[found[0]]):016x}"
        )
    return int(found[0]) if len(found) else None
