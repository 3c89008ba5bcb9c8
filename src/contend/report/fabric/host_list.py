"""Hosts by their place in a fabric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

# What draws is imported when somebody looks.
from contend.fabric import Fabric
from contend.placement import HostEntry, Placement
from contend.report.document import Document
from contend.report.table import ResultTable
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


class PlacedHostJson(msgspec.Struct, frozen=True, kw_only=True):
    """A host of a list of hosts."""

    name: Annotated[str, "as launchers know it."]
    host: Annotated[str, "its name in the fabric."]
    ranks: Annotated[int, "number of ranks on it."]
    switch: Annotated[
        str, "the switch that it is attached to, with its GUID where others have its name."
    ]
    port: Annotated[int, "the switch's port."]


class HostListJson(msgspec.Struct, frozen=True, kw_only=True):
    """A list of hosts in rank order."""

    verdict: Annotated[str, "how many there are, in words."]
    fabric: Annotated[str, "name of the fabric."]
    placement: Annotated[str, "how the hosts were chosen."]
    ranks: Annotated[int, "number of ranks."]
    hosts: Annotated[list[PlacedHostJson], "the hosts in rank order."]


def host_list_document(
    fabric: Fabric,
    placement: Placement,
    entries: Sequence[HostEntry],
    *,
    text: str = "",
    file: str = "",
    renaming: str = "",
    rails: int = 0,
) -> Document:
    """A list of hosts.

    Args:
        fabric: where they are.
        placement: how they were chosen.
        entries: the hosts in rank order.
        text: the list for other programs, where a terminal shows that alone.
        file: where it was written; "" where it was not.
        renaming: what follows of names that are others in the file.
        rails: of the servers, where they are in an order for rings because of that; else 0.
    """
    hosts = [
        PlacedHostJson(
            name=entry.launched or entry.name,
            host=fabric.host_name[entry.host],
            ranks=entry.ranks,
            switch=fabric.switch_label[int(fabric.host_switch[entry.host])],
            port=int(fabric.host_port[entry.host]),
        )
        for entry in entries
    ]
    summary = host_list_summary(fabric, entries)
    verdict = f"{summary}, written to {file}{renaming}" if file else summary
    default = (
        f". {counted(rails, 'rail')}: whole servers leaf by leaf, in an order for rings within "
        "each rail, as GPU libraries send them; --placement linear for the order of names."
    )
    if rails:
        verdict, summary = verdict + default, summary + default
    columns = ("name", "host", "ranks", "switch", "port")
    table = ResultTable(
        title=f"Hosts of {fabric.name}, {placement.name}",
        columns=columns,
        rows=tuple(tuple(str(getattr(host, name)) for name in columns) for host in hosts),
        numeric=frozenset({"ranks", "port"}),
    )
    return Document(
        verdict=verdict,
        tables=[table],
        record=HostListJson(
            verdict=summary,
            fabric=fabric.name,
            placement=placement.name,
            ranks=sum(entry.ranks for entry in entries),
            hosts=hosts,
        ),
        plain=text or (f"{verdict}\n" if file else None),
    )
