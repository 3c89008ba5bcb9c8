"""Requests to the kernel, one function for each kind; pyroute2 knows their layout."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from contend.lab.emulation.kernel import KernelRequest, Netlink
from contend.lab.emulation.layout import PACKET
from contend.lab.emulation.settings import HOST_PACKETS, Settings

_NEW_LINK, _NEW_ADDRESS, _NEW_ROUTE, _NEW_NEIGHBOUR, _NEW_QUEUE, _GET_QUEUE = 16, 20, 24, 28, 36, 38
_NEW_FILTER = 44
_ACKNOWLEDGED = 0x1 | 0x4
_CREATE = _ACKNOWLEDGED | 0x400 | 0x200
_REPLACE = _ACKNOWLEDGED | 0x400 | 0x100
_DUMP = 0x1 | 0x300
_IPV4 = 2
_UP = 1
_PERMANENT = 0x80
_ON_LINK = 4
_MAIN_TABLE, _STATIC, _UNICAST = 254, 4, 1
_RTO_MIN = 13
_ROOT, _HANDLE, _INNER = 0xFFFFFFFF, 0x10000, 0x10001
_ARRIVALS, _ARRIVALS_HANDLE, _ARRIVING = 0xFFFFFFF1, 0xFFFF0000, 0xFFFFFFF2
# The first of its interface, for packets of every protocol.
_FIRST_OF_ALL = (1 << 16) | socket.htons(0x0003)
_OPTIONS = 2
_BPF_FILE, _BPF_NAME, _BPF_FLAGS, _BPF_DIRECT = 6, 7, 8, 1

NEXT_HOP = "169.254.0.1"
"""What every interface calls the other end of its cable."""


@dataclass(frozen=True)
class Interface:
    """An interface to be made."""

    name: str
    """Name in its namespace."""
    index: int
    """Number there."""
    namespace: int
    """File descriptor of the namespace."""
    hardware: str
    """Hardware address."""
    at_once: int | None = None
    """Packets of a stream that it takes as one piece; None for the kernel's choice."""


@dataclass(frozen=True)
class QueueCount:
    """What the queue of an interface has sent so far."""

    index: int
    bytes: int
    packets: int
    drops: int


def cable(near: Interface, far: Interface, master: int | None = None) -> KernelRequest:
    """A pair of virtual Ethernet interfaces, each in its namespace; only the near one is up."""
    link: Mapping[str, Any] = {
        "attrs": [
            ("IFLA_INFO_KIND", "veth"),
            # The kernel brings nothing up whose other end is not there yet.
            ("IFLA_INFO_DATA", {"attrs": [("VETH_INFO_PEER", _interface(far, flags=0))]}),
        ]
    }
    value = _interface(near)
    value["attrs"].append(("IFLA_LINKINFO", link))
    if master is not None:
        value["attrs"].append(("IFLA_MASTER", master))
    what = f"a cable of virtual Ethernet (veth) for {near.name}"
    return _encoded("ifinfmsg", value, _NEW_LINK, _CREATE, what)


def bridge(interface: Interface) -> KernelRequest:
    """A bridge, up."""
    value = _interface(interface)
    value["attrs"].append(("IFLA_LINKINFO", {"attrs": [("IFLA_INFO_KIND", "bridge")]}))
    return _encoded("ifinfmsg", value, _NEW_LINK, _CREATE, "a bridge for the management network")


def up(index: int) -> KernelRequest:
    """Brings an interface up."""
    value = {"index": index, "flags": _UP, "change": _UP, "attrs": []}
    return _encoded("ifinfmsg", value, _NEW_LINK, _ACKNOWLEDGED, "bringing an interface up")


def address(own: str, prefix: int, index: int) -> KernelRequest:
    """Gives an interface an address."""
    attributes = [("IFA_LOCAL", own), ("IFA_ADDRESS", own)]
    value = {"family": _IPV4, "prefixlen": prefix, "index": index, "attrs": attributes}
    return _encoded("ifaddrmsg", value, _NEW_ADDRESS, _CREATE, f"the address {own}")


def neighbour(there: str, hardware: str, index: int) -> KernelRequest:
    """Tells an interface a hardware address for good, so that nobody asks for it."""
    attributes = [("NDA_DST", there), ("NDA_LLADDR", hardware)]
    value = {"family": _IPV4, "ifindex": index, "state": _PERMANENT, "attrs": attributes}
    return _encoded("ndmsg", value, _NEW_NEIGHBOUR, _REPLACE, f"the neighbour {there}")


def route(
    target: str, prefix: int, indices: Sequence[int], source: str = "", rto_min: float | None = None
) -> KernelRequest:
    """A route over an interface to whoever is at the other end of its cable.

    Of several interfaces the kernel takes one for each connection, by a hash. A shortest time-out
    is in seconds.
    """
    attributes: list[tuple[str, Any]] = [("RTA_DST", target)]
    what = f"the route to {target}"
    if len(indices) == 1:
        attributes += [("RTA_OIF", indices[0]), ("RTA_GATEWAY", NEXT_HOP)]
    else:
        gateway = [("RTA_GATEWAY", NEXT_HOP)]
        hops = [{"hops": 0, "oif": index, "flags": _ON_LINK, "attrs": gateway} for index in indices]
        attributes.append(("RTA_MULTIPATH", hops))
        what += f" over {len(indices)} cables (multipath)"
    if source:
        attributes.append(("RTA_PREFSRC", source))
    if rto_min is not None:
        # Only one that is locked counts.
        metrics = [("RTAX_LOCK", 1 << _RTO_MIN), ("RTAX_RTO_MIN", round(1000 * rto_min))]
        attributes.append(("RTA_METRICS", {"attrs": metrics}))
    value = {
        "family": _IPV4,
        "dst_len": prefix,
        "table": _MAIN_TABLE,
        "proto": _STATIC,
        "type": _UNICAST,
        "flags": _ON_LINK,
        "attrs": attributes,
    }
    return _encoded("rtmsg", value, _NEW_ROUTE, _CREATE, what)


def queue(index: int, settings: Settings, *, of_host: bool) -> Iterator[KernelRequest]:
    """A token bucket as the queue of an interface, in place of the one that it had.

    A switch's holds bytes. A host's holds packets, as the kernel's own queues do, unless somebody
    asked for bytes.
    """
    packets = HOST_PACKETS if of_host and settings.host_queue is None else None
    held = (settings.host_queue if of_host else None) or settings.buffer
    bucket = {
        "rate": round(settings.rate),
        "burst": settings.burst,
        # In the unit of the queue within: bytes, until that of packets takes its place.
        "limit": packets or held,
    }
    options = _module("tcmsg.sched_tbf").get_parameters(bucket)
    value = {
        "index": index,
        "handle": _HANDLE,
        "parent": _ROOT,
        "attrs": [("TCA_KIND", "tbf"), ("TCA_OPTIONS", options)],
    }
    yield _encoded("tcmsg", value, _NEW_QUEUE, _REPLACE, "a queue of limited rate (tbf)")
    if packets is not None:
        value = {"index": index, "handle": 0, "parent": _INNER, "attrs": [("TCA_KIND", "pfifo")]}
        request = _encoded("tcmsg", value, _NEW_QUEUE, _REPLACE, "a queue of packets (pfifo)")
        yield _with_options(request, struct.pack("=I", packets))


def classifier(index: int, program: int) -> Iterator[KernelRequest]:
    """Shows all packets that arrive at an interface to a BPF program, before they are routed.

    Args:
        index: of the interface.
        program: file descriptor of the program.
    """
    what = "a classifier of packets (bpf)"
    arrivals = {"index": index, "handle": _ARRIVALS_HANDLE, "parent": _ARRIVALS}
    value = {**arrivals, "attrs": [("TCA_KIND", "clsact")]}
    yield _encoded("tcmsg", value, _NEW_QUEUE, _CREATE, what)
    value = {
        "index": index,
        "handle": 0,
        "parent": _ARRIVING,
        "info": _FIRST_OF_ALL,
        "attrs": [("TCA_KIND", "bpf")],
    }
    request = _encoded("tcmsg", value, _NEW_FILTER, _CREATE, what)
    options = b"".join(
        (
            _attribute(_BPF_FILE, struct.pack("=I", program)),
            _attribute(_BPF_NAME, b"spray\0"),
            _attribute(_BPF_FLAGS, struct.pack("=I", _BPF_DIRECT)),
        )
    )
    yield _with_options(request, options)


def queue_counts(netlink: Netlink) -> Iterator[QueueCount]:
    """What all queues of a namespace have sent."""
    request = _encoded("tcmsg", {"attrs": []}, _GET_QUEUE, _DUMP, "the list of queues")
    for data in netlink.dump(request):
        message = _message("tcmsg", data)
        message.decode()
        if message.get_attr("TCA_KIND") != "tbf":
            continue
        statistics = message.get_attr("TCA_STATS2")
        basic, waiting = statistics.get_attr("TCA_STATS_BASIC"), message.get_attr("TCA_STATS")
        yield QueueCount(message["index"], basic["bytes"], basic["packets"], waiting["drop"])


def _with_options(request: KernelRequest, options: bytes) -> KernelRequest:
    """A request with options whose layout pyroute2 does not have."""
    data = request.data + _attribute(_OPTIONS, options)
    return KernelRequest(struct.pack("=I", len(data)) + data[4:], request.what)


def _attribute(kind: int, value: bytes) -> bytes:
    padding = bytes(-len(value) % 4)
    return struct.pack("=HH", 4 + len(value), kind) + value + padding


def _interface(interface: Interface, flags: int = _UP) -> dict[str, Any]:
    attributes: list[tuple[str, Any]] = [
        ("IFLA_IFNAME", interface.name),
        ("IFLA_NET_NS_FD", interface.namespace),
        ("IFLA_ADDRESS", interface.hardware),
    ]
    if interface.at_once is not None:
        attributes.append(("IFLA_GSO_MAX_SIZE", interface.at_once * PACKET))
        attributes.append(("IFLA_GSO_MAX_SEGS", interface.at_once))
    return {"index": interface.index, "flags": flags, "change": flags, "attrs": attributes}


def _encoded(
    kind: str, value: Mapping[str, Any], number: int, flags: int, what: str
) -> KernelRequest:
    message = _message(kind)
    message.setvalue({**value, "header": {"type": number, "flags": flags, "sequence_number": 0}})
    message.encode()
    return KernelRequest(bytes(message.data), what)


def _message(kind: str, *data: bytes) -> Any:
    return getattr(_module(kind), kind)(*data)


def _module(name: str) -> Any:
    # Late, since pyroute2 takes longer to load than the rest of contend.
    return import_module(f"pyroute2.netlink.rtnl.{name}")
