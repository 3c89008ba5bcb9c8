"""What a check of a fabric says, and the checks that GUIDs and LIDs name one device each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from contend.base.units import counted
from contend.fabric.fabric import Fabric
from contend.fabric.servers import repeated

MOST_DETAILS = 10


class Status(StrEnum):
    """Result of a check."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Fault:
    """Something that a check found."""

    words: str
    """What it is, as a clause."""
    places: Sequence[str] = ()
    """Places by name."""
    remedy: str = ""
    """What to do; "" where the words say it."""
    named: str = ""
    """What it is, as a clause that names the place; "" where there are too many."""


@dataclass(frozen=True)
class Check:
    """One thing that was checked."""

    name: str
    """What was checked, in a few words."""
    status: Status
    """``ok``, ``warning`` for what may be intended, ``wrong`` for what needs repair, or ``not
    checked`` for what the file does not tell."""
    summary: str
    """What was found, in one line."""
    details: tuple[str, ...] = ()
    """Places by name, at most ten."""
    remedy: str = ""
    """What to do; "" when all is well."""
    causes: tuple[str, ...] = ()
    """What is wrong, a clause each, with the place where it is one; none when all is well."""

    @classmethod
    def of(cls, name: str, sound: str, *faults: Fault, status: Status = Status.WARNING) -> Check:
        """A check by all that it found, in one line each for words and remedies.

        Args:
            name: what was checked.
            sound: what is said where nothing was found.
            faults: what matters most first.
            status: where there are any.
        """
        if not faults:
            return cls(name, Status.OK, sound)
        places = tuple(place for fault in faults for place in fault.places)
        remedies = [fault.remedy for fault in faults if fault.remedy]
        summary = "; ".join(fault.words for fault in faults)
        causes = tuple(fault.named or fault.words for fault in faults)
        return cls(name, status, summary, at_most_ten(places), "; ".join(remedies), causes)


def at_most_ten(places: Sequence[str]) -> tuple[str, ...]:
    """All places, or the first nine and how many more there are."""
    if len(places) <= MOST_DETAILS:
        return tuple(places)
    return (*places[: MOST_DETAILS - 1], f"and {len(places) - MOST_DETAILS + 1:,} more")


def placed_host(fabric: Fabric, host: int) -> str:
    """A host and where it hangs, for people."""
    where = fabric.port_name(fabric.host_switch[host], fabric.host_port[host])
    return f'host "{fabric.host_name[host]}" on {where}'


PORT_TWICE, DUPLICATE_GUID = "port twice", "duplicate GUID"
"""Kinds of findings of those who read fabrics."""


def check_guids(fabric: Fabric) -> Check:
    """Whether every GUID of a device, and of a port, is one device's or port's alone."""
    owners: dict[int, set[str]] = {}
    several = repeated(np.concatenate([fabric.host_guid, fabric.switch_guid]))
    for host in np.flatnonzero(several[: fabric.hosts]).tolist():
        # The ports of one adapter share its GUID, so an adapter's name counts once.
        label = f'host "{fabric.host_name[host]}"'
        owners.setdefault(int(fabric.host_guid[host]), set()).add(label)
    clashes = [f.message for f in fabric.findings if f.wrong and f.kind == DUPLICATE_GUID]
    for switch in np.flatnonzero(several[fabric.hosts :]).tolist():
        guid = int(fabric.switch_guid[switch])
        label = f'switch "{fabric.switch_name[switch]}"'
        if label in owners.setdefault(guid, set()):
            label += f" (switch {switch})"
        owners[guid].add(label)
    clashes += [_shared("GUID", g, names) for g, names in owners.items() if len(names) > 1]
    clashes += _same_ports(fabric)
    if not clashes:
        return _check_ports_used_twice(fabric)
    return Check(
        "GUIDs",
        Status.WRONG,
        f"{counted(len(clashes), 'GUID')} used by more than one device or port",
        at_most_ten(clashes),
        "give one of the devices another GUID; a subnet manager takes both for one device",
    )


def _check_ports_used_twice(fabric: Fabric) -> Check:
    """Ibnetdiscover takes devices with one GUID for a single device, with the cables of both."""
    twice = [f.message for f in fabric.findings if f.wrong and f.kind == PORT_TWICE]
    if not twice:
        if not _has_guids(fabric):
            return Check("GUIDs", Status.NOT_CHECKED, "the file gives none")
        return Check("GUIDs", Status.OK, "every GUID is used once")
    return Check(
        "GUIDs",
        Status.WARNING,
        "some ports have two cables, as when two devices share a GUID",
        at_most_ten(twice),
        "compare the GUIDs of the devices at the other ends of these cables",
    )


def _same_ports(fabric: Fabric) -> list[str]:
    """Hosts that claim the same adapter and port, or the same port GUID."""
    by_port: dict[tuple[int, int], list[str]] = {}
    by_guid: dict[int, list[str]] = {}
    for host in np.flatnonzero(repeated(fabric.host_guid)).tolist():
        place = int(fabric.host_guid[host]), int(fabric.host_adapter_port[host])
        by_port.setdefault(place, []).append(placed_host(fabric, host))
    for host in np.flatnonzero(repeated(fabric.host_port_guid)).tolist():
        guid = int(fabric.host_port_guid[host])
        by_guid.setdefault(guid, []).append(placed_host(fabric, host))
    clashes = [
        _shared(f"port {port} of GUID", guid, names)
        for (guid, port), names in by_port.items()
        if len(names) > 1
    ]
    return clashes + [
        _shared("port GUID", guid, names) for guid, names in by_guid.items() if len(names) > 1
    ]


def _shared(what: str, guid: int, names: set[str] | list[str]) -> str:
    return f"{what} 0x{guid:016x}: " + " and ".join(sorted(names))


def check_lids(fabric: Fabric) -> Check:
    """Whether every LID is one host's or switch's alone."""
    host_names = [f'host "{name}"' for name in fabric.host_name]
    names = host_names + [f'switch "{name}"' for name in fabric.switch_label]
    first = np.concatenate([fabric.host_lid, fabric.switch_lid]).astype(np.int64)
    lmc = np.concatenate([fabric.host_lmc, np.zeros(fabric.switches, dtype=np.uint8)])
    last = first + (1 << lmc.astype(np.int64)) - 1
    clashes = _overlaps(first, last, names)
    without = np.flatnonzero(fabric.host_lid == 0)
    if clashes:
        return Check(
            "LIDs",
            Status.WRONG,
            f"LIDs or ranges of LIDs with two owners: {len(clashes):,}",
            at_most_ten(clashes),
            "have the subnet manager reassign LIDs (opensm -r), or look for a second one running",
        )
    if len(without) == fabric.hosts and fabric.routes is None:
        return Check("LIDs", Status.NOT_CHECKED, "the file gives none")
    if len(without):
        return Check(
            "LIDs",
            Status.WARNING if fabric.routes is None else Status.WRONG,
            f"no route leads to {counted(len(without), 'host')} without a LID",
            at_most_ten([names[host] for host in without.tolist()]),
            "check that their ports are active and that a subnet manager has swept the fabric",
        )
    if not _has_guids(fabric):
        return Check("LIDs", Status.NOT_CHECKED, "the file gives none")
    return Check("LIDs", Status.OK, "every LID has one owner")


def _has_guids(fabric: Fabric) -> bool:
    """Whether devices have GUIDs: those made of names, and Ethernet addresses, are none."""
    if any(label and "GbE" not in label for label in fabric.rates):
        return True
    guids = np.concatenate([fabric.host_guid, fabric.switch_guid])
    return bool(((guids >> 63 == 0) & (guids >> 48 != 0)).any())


def _overlaps(first: NDArray[np.int64], last: NDArray[np.int64], names: list[str]) -> list[str]:
    """Neighbours by LID whose ranges overlap; 0 means no LID."""
    order = np.argsort(first, kind="stable")
    order = order[first[order] > 0]
    # The range that reaches furthest so far may not be the one just before.
    furthest = -1
    clashes = []
    for at in order.tolist():
        if furthest >= 0 and first[at] <= last[furthest]:
            clashes.append(f"LID {first[at]}: {names[furthest]} and {names[at]}")
        if furthest < 0 or last[at] > last[furthest]:
            furthest = at
    return clashes
