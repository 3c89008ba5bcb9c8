"""What goes wrong on the way: routes that do not arrive, each kind by switch, host and LID."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from contend import _core
from contend.fabric import MOST_DETAILS, TOPOLOGY_FAULTS, Check, Fabric, Status
from contend.routes.forwarding import NO_PORT
from contend.units import counted


class TraceEnd(IntEnum):
    """How a walk through the forwarding tables ends; numbered as in the core."""

    DELIVERED = 0
    NO_ENTRY = 1
    DEAD_END = 2
    WRONG_HOST = 3
    LOOP = 4


_NAMES = {
    TraceEnd.NO_ENTRY: (
        "missing entries",
        "no switch on a route lacks a port for it",
        "let the subnet manager route again; if the tables are a dump, look for failed reads in it",
    ),
    TraceEnd.DEAD_END: (
        "dead ends",
        "no route leaves by a port with nothing plugged in",
        "the tables are older or newer than the topology: write both again, one after the other",
    ),
    TraceEnd.WRONG_HOST: (
        "wrong hosts",
        "no route leaves the network at another host",
        "a host was moved or LIDs were given anew: write topology and tables again",
    ),
    TraceEnd.LOOP: (
        "loops",
        "no route returns to a switch",
        "the tables of the named switches contradict each other: let the subnet manager route anew",
    ),
}


def check_tables(fabric: Fabric) -> Check:
    """Whether the tables are those of this fabric's switches and hosts."""
    wrong = [f.message for f in fabric.findings if f.wrong and f.kind not in TOPOLOGY_FAULTS]
    if not wrong:
        return Check("tables", Status.OK, "they fit the switches and hosts")
    return Check(
        "tables",
        Status.WRONG,
        "they do not fit the switches and hosts",
        tuple(wrong[:MOST_DETAILS]),
        "a dump that was cut short, or is older than the topology, looks so: write both again",
    )


def check_faults(fabric: Fabric, seen: _core.RouteCheck) -> tuple[Check, ...]:
    """One check that all routes arrive, then one for every way in which they may not."""
    routes, faults = seen.routes.tolist(), seen.faults.tolist()
    lost, total = sum(routes[1:]), sum(routes)
    if lost == 0:
        arrival = Check("arrival", Status.OK, f"all {total:,} routes between hosts arrive")
    else:
        arrival = Check(
            "arrival",
            Status.WRONG,
            f"{lost:,} of {total:,} routes between hosts do not arrive",
            remedy="see below",
        )
    checks = [arrival]
    for end, (name, sound, remedy) in _NAMES.items():
        if faults[end] == 0:
            checks.append(Check(name, Status.OK, sound))
            continue
        details = tuple(
            _describe(fabric, *example) for example in seen.examples if example[0] == end
        )
        summary = f"met by {counted(routes[end], 'route')} in {counted(faults[end], 'place')}"
        checks.append(Check(name, Status.WRONG, summary, details, remedy))
    return tuple(checks)


def _describe(fabric: Fabric, end: int, at: int, source: int, to: int, address: int) -> str:
    """One fault by name; a host's routes meet it that start at switch `source`."""
    assert fabric.routes is not None
    target = f'host "{fabric.host_name[to]}" (LID {address})'
    switch = f'switch "{fabric.switch_name[at]}"'
    met = "" if source == at else f', met from switch "{fabric.switch_name[source]}"'
    if end == TraceEnd.LOOP:
        return f"{target} is sent in a circle: {_circle(fabric, at, address)}{met}"
    ports = fabric.routes.ports
    port = int(ports[at, address]) if address < ports.shape[1] else NO_PORT
    if end == TraceEnd.NO_ENTRY:
        return f"{switch} has no port for {target}{met}"
    if end == TraceEnd.WRONG_HOST:
        here = (fabric.host_switch == at) & (fabric.host_port == port)
        other = fabric.host_name[int(np.flatnonzero(here)[0])]
        return f'{switch} sends {target} to port {port}, where host "{other}" is{met}'
    where = "itself (port 0)" if port == 0 else f"port {port}, where nothing is plugged in"
    return f"{switch} sends {target} to {where}{met}"


def _circle(fabric: Fabric, start: int, address: int) -> str:
    """The switches of a loop from one of them back to it; of long ones both ends."""
    assert fabric.routes is not None
    names, at = [fabric.switch_name[start]], start
    while len(names) == 1 or at != start:
        channel = fabric.core.out(at, int(fabric.routes.ports[at, address]))
        cable, back = divmod(channel, 2)
        at = int((fabric.cable_from if back else fabric.cable_to)[cable])
        names.append(fabric.switch_name[at])
    if len(names) > 8:
        names[4:-3] = ["..."]
    return " -> ".join(name if name == "..." else f'switch "{name}"' for name in names)
