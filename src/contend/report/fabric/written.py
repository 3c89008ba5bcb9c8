"""What is written of fabrics: generated ones, and lists of hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contend.base.schema import PythonOnly, Shown, told
from contend.base.units import counted
from contend.fabric import Fabric, Family, Finding, catalogue
from contend.report.document import Document
from contend.report.table import table_of
from contend.traffic.placement import HostEntry, Placement


@dataclass(frozen=True)
class MadeSize:
    """The size of a generated fabric."""

    name: str
    """Its specification."""
    hosts: int
    """Number of hosts."""
    switches: int
    """Number of switches."""
    cables: int
    """Number of cables between switches."""
    channels: int
    """Number of directions of cables, including those of hosts."""


@dataclass(frozen=True, eq=False)
class Made(Shown, told="made_document"):
    """A generated fabric that was written to a file."""

    made: PythonOnly[Fabric]
    """The fabric."""
    spec: str
    """Generator with its parameters."""
    file: str
    """File that it was written to."""
    seed: int
    """Seed of the choice of what is left out."""
    with_routes: PythonOnly[bool]
    """Whether the file holds its routes."""

    @told
    def fabric(self) -> MadeSize:
        """Size of the fabric."""
        made = self.made
        return MadeSize(made.name, made.hosts, made.switches, made.cables, made.channels)

    @told
    def engine(self) -> str | None:
        """Routing engine; null if no routes were computed."""
        return None if self.made.routes is None else self.made.routes.engine

    @told
    def findings(self) -> tuple[Finding, ...]:
        """What was left out."""
        return self.made.findings


@dataclass(frozen=True)
class Generators:
    """The result of `--list`."""

    families: tuple[Family, ...]
    """All generators."""


def made_document(found: Made) -> Document:
    """A generated fabric, and which file has it, with its routes or without."""
    fabric, engine = found.made, found.engine
    routed = "" if engine is None else f", routes by {engine}"
    if engine is not None and not found.with_routes:
        routed = f", LIDs as {engine} gave them, but no routes, which such a file does not hold"
    verdict = (
        f"{fabric.name}: {counted(fabric.hosts, 'host')}, {counted(fabric.switches, 'switch')}, "
        f"{counted(fabric.cables, 'cable')} between them{routed}, written to {found.file}"
    )
    return Document(verdict=verdict, record=found)


def generators_document() -> Document:
    """All generators."""
    families = catalogue()
    columns = {"form": "form", "what it is": "summary", "example": "example"}
    return Document(
        tables=[table_of(counted(len(families), "generator"), families, columns)],
        record=Generators(families),
    )


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
