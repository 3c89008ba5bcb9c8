"""From a specification such as ``round-robin`` or ``file:hosts.txt`` to a placement."""

from __future__ import annotations

import numpy as np

from contend.errors import UsageError
from contend.fabric import Fabric
from contend.placement.by_place import FORMS as BY_PLACE
from contend.placement.by_place import PlaceSpec, choose_by_place
from contend.placement.host_file import read_host_file
from contend.placement.names import HostNames
from contend.placement.order import ORDERS, by_name
from contend.placement.placement import Placement
from contend.placement.subset import choose


def parse(
    spec: str,
    fabric: Fabric,
    *,
    ranks_per_host: int = 1,
    hosts: str | None = None,
    ranks: int | None = None,
) -> Placement:
    """Places ranks on a fabric's hosts.

    Args:
        spec: ``random``, ``linear``, ``guid``, ``bfs``, ``round-robin`` or ``file:PATH``; or hosts
            by their place, ``same-leaf``, ``leaves:K``, ``spread`` or ``port-group:K``, see
            `contend.placement.by_place.choose_by_place`.
        fabric: whose hosts.
        ranks_per_host: ranks that share a host; a host file may give each its own slots instead.
        hosts: a choice among the hosts, see `contend.placement.subset.choose`; None is all.
        ranks: how many ranks there will be, for which hosts by their place are chosen; None takes
            as many hosts as the specification allows. The other placements have all hosts.

    Raises:
        UsageError: for a specification that is none, a choice that leaves no host, or a place that
            the fabric does not have.
        InputError: for names that are unknown or ambiguous, with the line of the host file.
    """
    chosen = None
    names = HostNames(fabric) if hosts is not None or spec.startswith("file:") else None
    if hosts is not None and names is not None:
        chosen = choose(hosts, fabric, names)
    if names is not None and spec.startswith("file:"):
        slots = _slots_of_file(spec.removeprefix("file:"), names, ranks_per_host)
    elif spec == "random":
        slots = by_name(fabric).tolist()
    elif spec in ORDERS:
        slots = ORDERS[spec](fabric).tolist()
    elif (place := PlaceSpec.parse(spec)) is not None:
        wanted = None if ranks is None else -(-ranks // max(ranks_per_host, 1))
        slots = choose_by_place(place, fabric, chosen, wanted)
    else:
        known = ", ".join(("random", *ORDERS, *BY_PLACE, "file:PATH"))
        raise UsageError(f"placement: expected one of {known}, got {spec!r}")
    if chosen is not None:
        slots = [host for host in slots if host in chosen]
    return Placement(
        name=spec,
        hosts=np.array(slots, dtype=np.uint32),
        ranks_per_host=ranks_per_host,
        random=spec == "random",
    )


def _slots_of_file(path: str, names: HostNames, ranks_per_host: int) -> list[int]:
    lines = read_host_file(path, names)
    if ranks_per_host != 1 and any(line.slots is not None for line in lines):
        raise UsageError(f"{path} says how many slots a host has: leave ranks per host at 1")
    return [host for line in lines for host in line.fill()]
