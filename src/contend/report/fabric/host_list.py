"""Hosts by their place in a fabric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contend.base.schema import PythonOnly
from contend.base.shown import Shown
from contend.base.units import counted
from contend.fabric import Fabric
from contend.report.document import Document
from contend.report.table import table_of
from contend.traffic.placement import HostEntry, Placement


@dataclass(frozen=True, kw_only=True)
class PlacedHost:
    """A host of a list of hosts."""

    name: str
    """Name by which launchers know it."""
    host: str
    """Its name in the fabric."""
    ranks: int
    """Number of ranks on it."""
    switch: str
    """Switch that it is attached to, with its GUID where others have its name."""
    port: int
    """Port of that switch."""


@dataclass(frozen=True, kw_only=True)
class HostList(Shown, told="host_list_document"):
    """A list of hosts in rank order."""

    fabric: str
    """Name of the fabric."""
    placement: str
    """How the hosts were chosen."""
    ranks: int
    """Number of ranks."""
    leaves: PythonOnly[int]
    """Number of switches that the hosts are attached to."""
    hosts: tuple[PlacedHost, ...]
    """Hosts in rank order."""
    rails: PythonOnly[int]
    """Rails of the servers if they are in an order for rings because of that, else 0."""
    text: PythonOnly[str] = ""
    """List for other programs, where a terminal shows that alone."""
    file: PythonOnly[str] = ""
    """File that it was written to; "" for none."""
    renaming: PythonOnly[str] = ""
    """What follows of names that are others in the file."""


def list_of_hosts(
    fabric: Fabric,
    placement: Placement,
    entries: Sequence[HostEntry],
    *,
    rails: int = 0,
    **written: str,
) -> HostList:
    """A list of hosts, in rank order, and what was written of it; see `HostList`."""
    switches = [int(fabric.host_switch[entry.host]) for entry in entries]
    return HostList(
        fabric=fabric.name,
        placement=placement.name,
        ranks=sum(entry.ranks for entry in entries),
        leaves=len(set(switches)),
        hosts=tuple(
            PlacedHost(
                name=entry.launched or entry.name,
                host=fabric.host_name[entry.host],
                ranks=entry.ranks,
                switch=fabric.switch_label[switch],
                port=int(fabric.host_port[entry.host]),
            )
            for entry, switch in zip(entries, switches, strict=True)
        ),
        rails=rails,
        **written,
    )


def host_list_document(found: HostList) -> Document:
    """A list of hosts: ``72 ranks on 9 hosts of 1 leaf switch``."""
    hosts = {host.host for host in found.hosts}
    verdict = (
        f"{counted(found.ranks, 'rank')} on {counted(len(hosts), 'host')} of "
        f"{counted(found.leaves, 'leaf switch')}"
    )
    if found.file:
        verdict += f", written to {found.file}{found.renaming}"
    if found.rails:
        verdict += (
            f". {counted(found.rails, 'rail')}: whole servers leaf by leaf, in an order for rings "
            "within each rail, as GPU libraries send them; --placement linear for the order of "
            "names."
        )
    heads = ("name", "host", "ranks", "switch", "port")
    title = f"Hosts of {found.fabric}, {found.placement}"
    return Document(
        verdict=verdict,
        tables=[table_of(title, found.hosts, {head: head for head in heads})],
        record=found,
        plain=found.text or (f"{verdict}\n" if found.file else None),
    )
