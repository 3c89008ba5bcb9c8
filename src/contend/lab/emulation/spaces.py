"""The namespaces of an emulated fabric: built as a layout says, and taken down."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from contend.base.errors import MissingError
from contend.base.process import Instruction, load_classifier, make_counts
from contend.lab.emulation import kernel, messages
from contend.lab.emulation.claims import marked_address
from contend.lab.emulation.kernel import KernelRequest, Netlink, RefusedError
from contend.lab.emulation.layout import (
    FABRIC_INDEX,
    FABRIC_NETWORK,
    MANAGEMENT_ADDRESS,
    MANAGEMENT_INDEX,
    MANAGEMENT_INTERFACE,
    MANAGEMENT_NETWORK,
    Layout,
    Node,
    packets_at_once,
)
from contend.lab.emulation.messages import Interface
from contend.lab.emulation.settings import Settings
from contend.lab.emulation.traffic import Traffic

_Result = TypeVar("_Result")

_LOOPBACK = 1
_SPARE_FILES = 256

# Nothing but what is sent on purpose may cross a cable, and every route is allowed.
_QUIET = {
    "ipv6.conf.all.disable_ipv6": "1",
    "ipv6.conf.default.disable_ipv6": "1",
    "ipv4.conf.all.rp_filter": "0",
    "ipv4.conf.default.rp_filter": "0",
    "ipv4.conf.all.send_redirects": "0",
    "ipv4.conf.default.send_redirects": "0",
}
_OF_A_SWITCH = {**_QUIET, "ipv4.ip_forward": "1"}
# A switch hashes addresses and ports that it reads from the packet: what the kernel takes for the
# hash by default is a number of the sender's socket, alike at all switches and another after every
# time-out.
_ADDRESSES_PROTOCOL_PORTS = 0x01 | 0x02 | 0x04 | 0x10 | 0x20
_OF_A_HASHING_SWITCH = {
    **_OF_A_SWITCH,
    "ipv4.fib_multipath_hash_policy": "3",
    "ipv4.fib_multipath_hash_fields": str(_ADDRESSES_PROTOCOL_PORTS),
}
_HASH_SEED = "ipv4.fib_multipath_hash_seed"
# A switch that sprays takes the number that its program gave the packet.
_OF_A_SPRAYING_SWITCH = {**_OF_A_SWITCH, "ipv4.fib_multipath_hash_policy": "1"}
# The congestion control that every kernel allows in every namespace, so that results of machines
# compare; and what a connection learnt is not to change the next one.
# Connections of MPI are there for good: after a pause they go on as they were.
_OF_A_HOST = {
    **_QUIET,
    "ipv4.tcp_congestion_control": "reno",
    "ipv4.tcp_no_metrics_save": "1",
    "ipv4.tcp_slow_start_after_idle": "0",
}
# Packets that overtake each other are not lost. Who waits for fewer than this many before sending
# again gets two thirds of the wire.
_OF_A_SPRAYING_HOST = {
    **_OF_A_HOST,
    "ipv4.tcp_recovery": "0",
    "ipv4.tcp_reordering": "300",
}
_FEATURES = {
    "veth": "virtual Ethernet pairs (veth)",
    "tbf": "queues of limited rate (tbf)",
    "bridge": "bridges",
    "bpf": "classifiers of packets (CONFIG_NET_CLS_BPF)",
    "multipath": "routes over several interfaces (CONFIG_IP_ROUTE_MULTIPATH)",
}


@dataclass
class Space:
    """A namespace that is held by this process: its file descriptor and a socket within."""

    descriptor: int
    netlink: Netlink

    def close(self) -> None:
        """Lets go; a namespace that nobody holds ends, and its interfaces with it."""
        self.netlink.close()
        os.close(self.descriptor)


class Spaces:
    """The namespaces of an emulated fabric, without a name anywhere: they end with this process.

    Args:
        layout: what to build.
        mark: three bytes by which its namespaces are known.
    """

    def __init__(self, layout: Layout, mark: bytes) -> None:
        self.layout = layout
        self._mark = mark
        self.nodes: list[Space] = []
        self.management: Space | None = None
        # Sides and interfaces of the cables' ends at every node.
        self._ends: list[list[tuple[int, int]]] = [[] for _ in layout.nodes]
        for cable in layout.cables:
            for side, end in enumerate(cable):
                self._ends[end.node].append((side, end.index))

    def build(self, settings: Settings) -> None:
        """Makes all namespaces, cables, addresses and tables.

        Raises:
            MissingError: for rights or parts of the kernel that are not there.
        """
        _allow_files(2 * len(self.layout.nodes) + _SPARE_FILES)
        try:
            kernel.in_a_thread(lambda: self._build(settings))
        except RefusedError as error:
            raise MissingError(_lacking(error)) from error

    def limit(self, settings: Settings) -> None:
        """Gives all channels another rate, queue and burst.

        Raises:
            MissingError: when the kernel has no such queues.
        """
        try:
            for space, requests in zip(self.nodes, self._queues(settings), strict=True):
                space.netlink.apply(requests)
        except RefusedError as error:
            raise MissingError(_lacking(error)) from error

    def piece(self, settings: Settings) -> int:
        """Packets that cross cables as one piece at most."""
        # Each packet takes its own way, so none may be one of a piece.
        return 1 if self.layout.sprayed else packets_at_once(settings.burst, settings.buffer)

    def count(self) -> Traffic:
        """What all channels have sent since they were made or limited anew."""
        ends = self.layout.ends
        row = {(end.node, end.index): index for index, end in enumerate(ends)}
        columns = np.zeros((3, len(ends)), dtype=np.uint64)
        now = time.monotonic()
        for node, space in enumerate(self.nodes):
            for queue in messages.queue_counts(space.netlink):
                columns[:, row[node, queue.index]] = queue.bytes, queue.packets, queue.drops
        size, packets, drops = columns
        channel = np.array([end.channel for end in ends], dtype=np.uint32)
        return Traffic(channel, size, packets, drops, now)

    def within(self, node: int, work: Callable[[], _Result]) -> _Result:
        """Does work in the namespace of a node; sockets that it opens stay there."""

        def run() -> _Result:
            kernel.enter(self.nodes[node].descriptor)
            return work()

        return kernel.in_a_thread(run)

    def close(self) -> None:
        """Lets all namespaces go."""
        for space in (*self.nodes, *([self.management] if self.management else [])):
            space.close()
        self.nodes.clear()
        self.management = None

    def _build(self, settings: Settings) -> None:
        for node in self.layout.nodes:
            self.nodes.append(_new_space(self._settings(node)))
        self.management = _new_space(_QUIET)
        self.management.netlink.apply([*self._bridge(), *self._management_cables()])
        self.management.netlink.apply(list(self._cables(self.piece(settings))))
        for index, queues in enumerate(self._queues(settings)):
            requests = [*self._addresses(index), *queues, *self._routes(index, settings.rto_min)]
            self.nodes[index].netlink.apply(requests)
        if self.layout.sprayed:
            self._spray()

    def _settings(self, node: Node) -> Mapping[str, str]:
        layout = self.layout
        if node.is_host:
            return _OF_A_SPRAYING_HOST if layout.sprayed else _OF_A_HOST
        if layout.next_hops is None:
            return _OF_A_SWITCH
        if layout.sprayed:
            return _OF_A_SPRAYING_SWITCH
        # Each switch by itself, as independent choices; 0 would be the one seed of the machine.
        seed = node.number + 1 if layout.each_hashes else 1
        return {**_OF_A_HASHING_SWITCH, _HASH_SEED: str(seed)}

    def _spray(self) -> None:
        """Has every switch choose a way for each packet by itself."""
        hosts = len(self.layout.hosts)
        of_switches = zip(self.nodes[hosts:], self._ends[hosts:], strict=True)
        for number, (space, ends) in enumerate(of_switches):
            program = _load_program(hosts + 1, number)
            try:
                requests = (messages.classifier(at, program) for _, at in ends)
                space.netlink.apply([each for pair in requests for each in pair])
            finally:
                os.close(program)

    def _bridge(self) -> Iterator[KernelRequest]:
        assert self.management is not None
        yield from self._loopback()
        descriptor = self.management.descriptor
        yield messages.bridge(
            Interface(MANAGEMENT_INTERFACE, MANAGEMENT_INDEX, descriptor, self._managing(0xFFFF))
        )
        prefix = MANAGEMENT_NETWORK.prefixlen
        yield messages.address(MANAGEMENT_ADDRESS, prefix, MANAGEMENT_INDEX)
        for host, node in enumerate(self.layout.host_nodes):
            yield messages.neighbour(node.management, self._managing(host), MANAGEMENT_INDEX)

    def _management_cables(self) -> Iterator[KernelRequest]:
        assert self.management is not None
        for host in range(len(self.layout.hosts)):
            index = MANAGEMENT_INDEX + 1 + host
            near = Interface(
                f"host{host}", index, self.management.descriptor, self._managing(0x8000 + host)
            )
            far = Interface(
                MANAGEMENT_INTERFACE,
                MANAGEMENT_INDEX,
                self.nodes[host].descriptor,
                self._managing(host),
            )
            yield messages.cable(near, far, MANAGEMENT_INDEX)

    def _cables(self, at_once: int) -> Iterator[KernelRequest]:
        for cable in self.layout.cables:
            near, far = (
                Interface(
                    end.interface,
                    end.index,
                    self.nodes[end.node].descriptor,
                    self._hardware(side),
                    at_once,
                )
                for side, end in enumerate(cable)
            )
            yield messages.cable(near, far)

    def _addresses(self, node_index: int) -> Iterator[KernelRequest]:
        """Loopback, neighbours and addresses of a node."""
        node = self.layout.nodes[node_index]
        yield from self._loopback()
        for side, index in self._ends[node_index]:
            yield messages.up(index)
            yield messages.neighbour(messages.NEXT_HOP, self._hardware(1 - side), index)
        if not node.is_host:
            yield messages.address(node.address, 32, _LOOPBACK)
            return
        yield messages.up(MANAGEMENT_INDEX)
        yield messages.address(node.address, 32, FABRIC_INDEX)
        yield messages.address(node.management, MANAGEMENT_NETWORK.prefixlen, MANAGEMENT_INDEX)
        yield messages.neighbour(MANAGEMENT_ADDRESS, self._managing(0xFFFF), MANAGEMENT_INDEX)

    def _queues(self, settings: Settings) -> Iterator[list[KernelRequest]]:
        requests: list[list[KernelRequest]] = [[] for _ in self.layout.nodes]
        for end in self.layout.ends:
            of_cable = settings.of(float(self.layout.parts[end.channel]))
            of_host = end.node < len(self.layout.hosts)
            requests[end.node] += messages.queue(end.index, of_cable, of_host=of_host)
        yield from requests

    def _routes(self, node_index: int, rto_min: float) -> Iterator[KernelRequest]:
        node = self.layout.nodes[node_index]
        if node.is_host:
            network = FABRIC_NETWORK
            target = str(network.network_address)
            indices = [FABRIC_INDEX]
            yield messages.route(target, network.prefixlen, indices, node.address, rto_min)
            return
        for route in self.layout.routes[node_index - len(self.layout.hosts)]:
            yield messages.route(route.address, 32, route.indices)

    def _loopback(self) -> Iterator[KernelRequest]:
        yield messages.up(_LOOPBACK)
        yield messages.address(marked_address(self._mark), 32, _LOOPBACK)

    def _hardware(self, side: int) -> str:
        """The address of one side of a cable: nobody else hears it, so all cables have the same."""
        return _spelled(b"\x02" + self._mark + bytes([0, side]))

    def _managing(self, number: int) -> str:
        return _spelled(b"\x06" + self._mark + number.to_bytes(2, "big"))


def seeds_hashes() -> bool:
    """Whether this kernel lets every switch hash by itself (since Linux 6.11)."""
    return kernel.is_known(_HASH_SEED)


def _new_space(settings: Mapping[str, str]) -> Space:
    descriptor = kernel.new_namespace()
    try:
        kernel.configure(settings)
        return Space(descriptor, Netlink())
    except BaseException:
        os.close(descriptor)
        raise


def _spelled(hardware: bytes) -> str:
    return hardware.hex(":")


def _allow_files(needed: int) -> None:
    """Raises the number of files that this process may open, as far as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < enough:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (enough, hard))


def _lacking(error: RefusedError) -> str:
    """What the machine lacks when the kernel refused a request."""
    if error.number == errno.EPERM:
        return f"contend may not set up the network ({error.what}): run it as root"
    if error.number in (errno.EOPNOTSUPP, errno.ENOENT, errno.EINVAL):
        for word, feature in _FEATURES.items():
            if word in error.what:
                return f"this kernel has no {feature}, which emulating a fabric needs"
    return f"the kernel refused {error}"


_LOOK_UP, _SET_HASH = 1, 48
# Where a frame has the address that it is for: behind 14 bytes of Ethernet and 16 of IPv4.
_ADDRESS_AT = 30
# 2^32 times what the golden ratio and the root of 2 have behind the point, as signed numbers.
_GOLDEN = 0x9E3779B1 - (1 << 32)
_ROOT = 0x6A09E667


def _load_program(addresses: int, switch: int) -> int:
    """Loads the program by which a switch sends every packet its own way; its file descriptor.

    It sees each packet before it is routed, counts those for each host, and puts a number made of
    the count in place of the hash by which the kernel chooses among the equal ways of a route. The
    multiples of the golden ratio, modulo 1, fall into any number of equal parts in turn and alike
    (Weyl 1916), so that every way has its part of the packets for each host at any time. They begin
    elsewhere for each host and at each switch, so that first packets do not all take one way.

    Args:
        addresses: of hosts, all below this number in their last 16 bits.
        switch: its number.

    Raises:
        MissingError: without the right to, or in a kernel that has none.
    """
    try:
        counts = make_counts(addresses)
        try:
            return load_classifier(_instructions(counts, switch))
        finally:
            os.close(counts)
    except OSError as error:
        raise MissingError(
            f"the kernel refused a BPF program, which spray needs: {error.strerror}"
        ) from error


def _instructions(counts: int, switch: int) -> tuple[Instruction, ...]:
    """The program.

    Args:
        counts: file descriptor of an array of a 32-bit number for each address.
        switch: its number.
    """
    return (
        (0xBF, 0x16, 0, 0),  # r6 = the packet
        (0x20, 0x00, 0, _ADDRESS_AT),  # r0 = the address that it is for
        (0x54, 0x00, 0, 0xFFFF),  # ... of which the last 16 bits
        (0x63, 0x0A, -4, 0),  # lie on the stack
        (0xBC, 0x07, 0, 0),  # r7 = the same and the switch, times the root of 2
        (0x04, 0x07, 0, switch << 8),
        (0x24, 0x07, 0, _ROOT),
        (0x18, 0x11, 0, counts),  # r1 = the counts
        (0x00, 0x00, 0, 0),
        (0xBF, 0xA2, 0, 0),  # r2 = where the address lies
        (0x07, 0x02, 0, -4),
        (0x85, 0x00, 0, _LOOK_UP),  # r0 = where its count lies
        (0x15, 0x00, 6, 0),  # none: let it pass
        (0xB4, 0x02, 0, 1),  # r2 = the count, which grows by 1
        (0xC3, 0x20, 0, 0x01),
        (0x24, 0x02, 0, _GOLDEN),  # r2 = its multiple of the golden ratio, and r7
        (0x0C, 0x72, 0, 0),
        (0xBF, 0x61, 0, 0),  # r1 = the packet
        (0x85, 0x00, 0, _SET_HASH),
        (0xB7, 0x00, 0, 0),  # let it pass
        (0x95, 0x00, 0, 0),
    )
