"""Lists of hosts for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contend.fabric import Fabric
from contend.placement import HostEntry, Placement
from contend.units import counted


def host_list_summary(fabric: Fabric, entries: Sequence[HostEntry]) -> str:
    """``72 ranks on 9 hosts of 1 leaf switch``."""
    hosts = {entry.host for entry in entries}
    leaves = {int(fabric.host_switch[host]) for host in hosts}
    ranks = sum(entry.ranks for entry in entries)
    return (
        f"{counted(ranks, 'rank')} on {counted(len(hosts), 'host')} of "
        f"{counted(len(leaves), 'leaf switch')}"
    )


def host_list_json(
    fabric: Fabric, placement: Placement, entries: Sequence[HostEntry]
) -> dict[str, Any]:
    """The hosts in rank order, with the switch and port that each hangs on."""
    return {
        "fabric": fabric.name,
        "placement": placement.name,
        "ranks": sum(entry.ranks for entry in entries),
        "hosts": [
            {
                "name": entry.name,
                "host": fabric.host_name[entry.host],
                "ranks": entry.ranks,
                "switch": fabric.switch_name[int(fabric.host_switch[entry.host])],
                "port": int(fabric.host_port[entry.host]),
            }
            for entry in entries
        ],
    }
