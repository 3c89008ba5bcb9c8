"""The fabric: hosts, switches and the channels between them, immutable."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.base.progress import step
from contend.base.schema import PythonOnly
from contend.base.units import counted, nearest

if TYPE_CHECKING:
    from contend.fabric.told.told_rails import ToldRails
    from contend.routes import ForwardingTables, Routes


@dataclass(frozen=True, eq=False)
class NumberedNames(Sequence[str]):
    """Names counted from 1, such as ``host 1``, ``host 2``, made each time that one is asked for.

    They compare and hash as a tuple of the same names does.
    """

    what: str
    """What stands before the number."""
    size: int
    """Number of names."""

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[str, ...]: ...
    def __getitem__(self, key: int | slice) -> str | tuple[str, ...]:
        numbers = range(1, self.size + 1)[key]
        if isinstance(numbers, range):
            return tuple(f"{self.what} {number}" for number in numbers)
        return f"{self.what} {numbers}"

    def __iter__(self) -> Iterator[str]:
        return (f"{self.what} {number}" for number in range(1, self.size + 1))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberedNames):
            return (self.what, self.size) == (other.what, other.size)
        return isinstance(other, tuple) and tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))


NO_SWITCH = 0xFFFFFFFF
"""Stands for a switch that nobody knows."""


@dataclass(frozen=True)
class Finding:
    """Something in a fabric that a person should know."""

    kind: str
    """What it is, in one or two words; findings are counted by it."""
    message: str
    """Whole sentence, naming cables and hosts."""
    wrong: PythonOnly[bool] = True
    """Whether something is wrong; False when it only tells what was left out."""


@dataclass(frozen=True)
class FabricSize:
    """The size of a fabric."""

    name: str
    """Name of the fabric."""
    hosts: int
    """Number of end ports that carry traffic."""
    switches: int
    """Number of switches."""
    channels: int
    """Number of directions of cables, those of hosts included."""


CommandLine = tuple[tuple[str, ...], tuple[str, ...]]
"""The words by which commands load a fabric, and its routes; none for what they cannot."""


def made_of(value: Fabric | Routes) -> tuple[Callable[[], Any], tuple[()]]:
    """How pickle sends a dataclass: what it is made of, and nothing that was made of it since."""
    own = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
    return partial(type(value), **own), ()


@dataclass(frozen=True, eq=False)
class Fabric:
    """Hosts, switches and directed channels, as arrays.

    A host is an end port of an adapter that carries traffic, so a server with several rails has
    several. Every host hangs on one switch port. Cables join two switches. Channels are numbered:
    cable k carries channels 2k (from -> to) and 2k + 1 (to -> from), then one injection channel
    per host (host -> switch), then one ejection channel per host (switch -> host).

    Host columns have shape [hosts], switch columns [switches], cable columns [cables]. A rate is
    an index into `rates`, whose entry 0 is ``""``, unknown. An address (LID) of 0 means none.

    *Others* are addresses that no host has, nor a switch for its own: those of aggregation nodes,
    of routers, of owners that nobody knows. No traffic is counted to them, but tables lead there.
    Their columns have shape [others]: the owner's port GUID (0: unknown), what dumps call its kind
    and its name, and the switch and port where it hangs (`NO_SWITCH`: unknown).

    *Told* are the servers and rails that a file tells; where it is None, and for hosts of which it
    says nothing, they are found from names and GUIDs. *Before* is the fabric as it was before parts
    of it died that were taken out of it; None where none were. *Command line* tells commands that
    are printed how the fabric was loaded.
    """

    name: str

    host_name: tuple[str, ...] | NumberedNames
    host_guid: NDArray[np.uint64]
    host_port_guid: NDArray[np.uint64]
    host_adapter_port: NDArray[np.uint16]
    host_system_guid: NDArray[np.uint64]
    host_lid: NDArray[np.uint32]
    host_lmc: NDArray[np.uint8]
    host_switch: NDArray[np.uint32]
    host_port: NDArray[np.uint16]
    host_rate: NDArray[np.uint16]

    switch_name: tuple[str, ...]
    switch_guid: NDArray[np.uint64]
    switch_system_guid: NDArray[np.uint64]
    switch_ports: NDArray[np.uint16]
    switch_lid: NDArray[np.uint32]

    cable_from: NDArray[np.uint32]
    cable_from_port: NDArray[np.uint16]
    cable_to: NDArray[np.uint32]
    cable_to_port: NDArray[np.uint16]
    cable_rate: NDArray[np.uint16]

    other_lid: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    other_guid: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    other_kind: tuple[str, ...] = ()
    other_name: tuple[str, ...] = ()
    other_switch: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    other_port: NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, np.uint16))

    rates: tuple[str, ...] = ("",)
    findings: tuple[Finding, ...] = ()
    told: ToldRails | None = field(default=None, repr=False)
    routes: Routes | None = field(default=None, repr=False)
    before: Fabric | None = field(default=None, repr=False)
    command_line: CommandLine = field(default=((), ()), repr=False)

    def __post_init__(self) -> None:
        for column in fields(self):
            values = getattr(self, column.name)
            if isinstance(values, np.ndarray) and values.flags.writeable:
                # A copy, so that neither the caller's array freezes nor its changes come through.
                frozen = values.copy()
                frozen.flags.writeable = False
                object.__setattr__(self, column.name, frozen)

    def __reduce__(self) -> tuple[Any, ...]:
        return made_of(self)

    def __repr__(self) -> str:
        cables = f"{counted(self.cables, 'cable')} between them"
        parts = [counted(self.hosts, "host"), counted(self.switches, "switch"), cables]
        return f"<Fabric {self.name}: {', '.join((*parts, self._routes_in_words()))}>"

    def _routes_in_words(self) -> str:
        if self.routes is None:
            return "no routes"
        return f"routes by {self.routes.engine}" if self.routes.engine else "routes from a file"

    @property
    def hosts(self) -> int:
        """Number of hosts."""
        return len(self.host_name)

    @property
    def switches(self) -> int:
        """Number of switches."""
        return len(self.switch_name)

    @property
    def cables(self) -> int:
        """Number of cables between switches."""
        return len(self.cable_from)

    @property
    def tables(self) -> ForwardingTables | None:
        """The routes where they are forwarding tables."""
        return None if self.routes is None else self.routes.tables

    @property
    def draws_routes(self) -> bool:
        """Whether every sample draws its routes anew, so that no one drawing is the fabric's."""
        return self.routes is not None and self.routes.drawn

    @property
    def channels(self) -> int:
        """Number of channels, those of hosts included."""
        return 2 * (self.cables + self.hosts)

    @cached_property
    def core(self) -> _core.Fabric:
        """The core's graph of this fabric."""
        return _core.Fabric(
            host_switch=self.host_switch,
            host_port=self.host_port,
            switch_ports=self.switch_ports,
            cable_from=self.cable_from,
            cable_from_port=self.cable_from_port,
            cable_to=self.cable_to,
            cable_to_port=self.cable_to_port,
        )

    @cached_property
    def levels(self) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Level of every switch, and whether a shortest path between hosts needs it; [switches]."""
        with step(f"levels of {self.name}"):
            return _core.find_levels(self.core)

    @cached_property
    def switch_part(self) -> NDArray[np.int64]:
        """Number of the connected part of every switch, shape [switches]."""
        return connected_parts(self.switches, self.cable_from, self.cable_to)

    @cached_property
    def switch_label(self) -> tuple[str, ...]:
        """What tells every switch from all others: its name, with the GUID where that repeats."""
        return _told_apart(self.switch_name, self.switch_guid)

    @cached_property
    def host_label(self) -> tuple[str, ...]:
        """What tells every host from all others: its name, with the port's GUID likewise."""
        return _told_apart(self.host_name, self.host_port_guid)

    def replace(self, **changes: Any) -> Self:
        """The same fabric with some columns exchanged."""
        return replace(self, **changes)

    def host_number(self, host: int | str) -> int:
        """The number of a host, from 0, that is given by its number or its name.

        Raises:
            UsageError: when there is no such host, or several have this name.
        """
        if not isinstance(host, str):
            if not 0 <= (number := operator.index(host)) < self.hosts:
                raise UsageError(f"{self.name} has {counted(self.hosts, 'host')}, no host {host}")
            return number
        names = zip(self.host_name, self.host_label, strict=True)
        numbers = [number for number, each in enumerate(names) if host in each]
        if len(numbers) > 1:
            some = ", ".join(map(str, numbers[:4])) + (", ..." if len(numbers) > 4 else "")
            raise UsageError(f"{len(numbers)} hosts are called {host!r}; give a number: {some}")
        if not numbers:
            raise UsageError(f"{self.name} has no host {host!r}{nearest(host, self.host_name)}")
        return numbers[0]

    def cable_ends(self) -> Iterator[tuple[int, int, int, int]]:
        """Of every cable the switch and port of one end, then those of the other."""
        return zip(
            self.cable_from.tolist(),
            self.cable_from_port.tolist(),
            self.cable_to.tolist(),
            self.cable_to_port.tolist(),
            strict=True,
        )

    def channel_ends(self, channel: int) -> tuple[str, str]:
        """Names of where a channel starts and ends, with the port.

        Raises:
            UsageError: when there is no such channel.
        """
        if not 0 <= channel < self.channels:
            raise UsageError(f"channel {channel} of {self.channels}, counted from 0")
        if channel < 2 * self.cables:
            cable = channel // 2
            ends = (
                self.port_name(self.cable_from[cable], self.cable_from_port[cable]),
                self.port_name(self.cable_to[cable], self.cable_to_port[cable]),
            )
            return ends if channel % 2 == 0 else ends[::-1]
        host = (channel - 2 * self.cables) % self.hosts
        ends = (
            f'host "{self.host_label[host]}"',
            self.port_name(self.host_switch[host], self.host_port[host]),
        )
        return ends if channel < 2 * self.cables + self.hosts else ends[::-1]

    def as_told(self) -> FabricSize:
        """What results tell of the fabric."""
        return FabricSize(self.name, self.hosts, self.switches, self.channels)

    def channel_name(self, channel: int) -> str:
        """A channel for people: ``switch "x" port 12 -> switch "y" port 3``."""
        return " -> ".join(self.channel_ends(channel))

    def channel_rate(self, channel: int) -> str:
        """Label of the rate of a channel's cable, such as ``4xHDR``; "" where it is not known."""
        if channel < 2 * self.cables:
            return self.rates[int(self.cable_rate[channel // 2])]
        return self.rates[int(self.host_rate[(channel - 2 * self.cables) % self.hosts])]

    def port_name(self, switch: np.integer[Any] | int, port: np.integer[Any] | int) -> str:
        """A port of a switch for people: ``switch "x" port 12``."""
        return f'switch "{self.switch_label[int(switch)]}" port {int(port)}'


def connected_parts(size: int, near: NDArray[Any], far: NDArray[Any]) -> NDArray[np.int64]:
    """Number of the connected part of every node, shape [size], in the order of the least node.

    Args:
        size: nodes.
        near: one end of every edge, shape [edges].
        far: the other end.
    """
    least = np.arange(size)
    while True:
        joined = np.minimum(least[near], least[far])
        lower = least.copy()
        # The nodes themselves, and those that stood for their parts until now.
        for ends in (near, far, least[near], least[far]):
            np.minimum.at(lower, ends, joined)
        lower = lower[lower]
        if np.array_equal(lower, least):
            return np.unique(least, return_inverse=True)[1].reshape(-1).astype(np.int64)
        least = lower


def _told_apart(names: Sequence[str], guids: NDArray[np.uint64]) -> tuple[str, ...]:
    """Names; with the GUID those that repeat, with the number those whose GUID repeats too."""
    times = Counter(names)
    known = guids.tolist()
    both = Counter(zip(names, known, strict=True))
    labels = []
    for number, (name, guid) in enumerate(zip(names, known, strict=True)):
        if times[name] == 1:
            labels.append(name)
        elif guid and both[name, guid] == 1:
            labels.append(f"{name} 0x{guid:016x}".lstrip())
        else:
            labels.append(f"{name} number {number}".lstrip())
    return tuple(labels)


def build(
    name: str,
    *,
    host_name: Sequence[str],
    host_switch: NDArray[Any],
    host_port: NDArray[Any],
    switch_name: Sequence[str],
    switch_ports: NDArray[Any] | int,
    cables: NDArray[Any],
    rate: str = "4xHDR",
) -> Fabric:
    """A fabric that exists only on paper: GUIDs and LIDs are given out here.

    Args:
        name: what the fabric is called.
        host_name: shape [hosts].
        host_switch: switch of every host, shape [hosts].
        host_port: port on that switch, from 1, shape [hosts].
        switch_name: shape [switches].
        switch_ports: number of ports, shape [switches] or one number for all.
        cables: from, from_port, to, to_port, shape [cables, 4].
        rate: of every cable.

    Hosts get the LIDs 1 .. hosts, switches those that follow; switch s the GUID 0x2_0000_0000 + s,
    host h the node GUID 0x1_0000_0000 + 16 h and the port GUID next to it.
    """
    hosts, switches = len(host_name), len(switch_name)
    cables = np.asarray(cables, dtype=np.uint32).reshape(-1, 4)
    host_guid = np.uint64(0x1_0000_0000) + np.uint64(16) * np.arange(hosts, dtype=np.uint64)
    switch_guid = np.uint64(0x2_0000_0000) + np.arange(switches, dtype=np.uint64)
    return Fabric(
        name=name,
        host_name=host_name if isinstance(host_name, NumberedNames) else tuple(host_name),
        host_guid=host_guid,
        host_port_guid=host_guid + np.uint64(1),
        host_adapter_port=np.ones(hosts, dtype=np.uint16),
        host_system_guid=host_guid,
        host_lid=np.arange(1, hosts + 1, dtype=np.uint32),
        host_lmc=np.zeros(hosts, dtype=np.uint8),
        host_switch=np.asarray(host_switch, dtype=np.uint32),
        host_port=np.asarray(host_port, dtype=np.uint16),
        host_rate=np.ones(hosts, dtype=np.uint16),
        switch_name=tuple(switch_name),
        switch_guid=switch_guid,
        switch_system_guid=switch_guid,
        switch_ports=np.broadcast_to(np.asarray(switch_ports, dtype=np.uint16), switches).copy(),
        switch_lid=np.arange(hosts + 1, hosts + switches + 1, dtype=np.uint32),
        cable_from=cables[:, 0].astype(np.uint32),
        cable_from_port=cables[:, 1].astype(np.uint16),
        cable_to=cables[:, 2].astype(np.uint32),
        cable_to_port=cables[:, 3].astype(np.uint16),
        cable_rate=np.ones(len(cables), dtype=np.uint16),
        rates=("", rate),
    )
