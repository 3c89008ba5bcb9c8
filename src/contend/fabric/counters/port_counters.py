"""Reads port counters: of perfquery, ibqueryerrors, and exporters of metrics for Prometheus."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from contend.base.errors import InputError
from contend.fabric.streams.source import lines

# PortXmitData and PortRcvData count words of four bytes.
_WORD = 4
# Far above any network.
_MOST_PORTS = 1_000_000
_MOST_DIGITS = 20
# Where counters of 32 bits stop.
_FULL = 0xFFFFFFFF


@dataclass(frozen=True)
class PortCount:
    """What a port has counted.

    A port is named by the GUID of its node, or a LID of it, or a host's name and its device.
    """

    port: int
    """Number of the port on its switch or adapter."""
    guid: int = 0
    """GUID of the node or port; 0 where it is not said."""
    lid: int = 0
    """LID; 0 where it is not said."""
    host: str = ""
    """Name of the host; "" where it is not said."""
    device: str = ""
    """Device of the host, such as ``mlx5_0``."""
    sent: float | None = None
    """Bytes sent; None where it is not said, or where the counter is full."""
    received: float | None = None
    """Bytes received; None likewise."""
    waited: float | None = None
    """Ticks in which the port had something to send and could not."""
    faults: Mapping[tuple[str, str], float] = field(default_factory=dict, compare=False)
    """What went wrong, by the meaning in `FAULTS` and the counter's name."""
    time: float | None = None
    """Seconds since 1970 at which that was so; None where it is not said."""
    kind: str = field(default="", compare=False)
    """Kind of counters, which tells what `sent` and `received` were taken for: one of `UNITS`."""
    told: frozenset[str] = field(default=frozenset(), compare=False)
    """Names of all its counters, those of errors too."""
    full: frozenset[str] = field(default=frozenset(), compare=False)
    """Names of those that have reached the end of 32 bits, and say nothing."""

    @property
    def key(self) -> tuple[int, int, str, str, int]:
        """What tells it from other ports."""
        return self.guid, self.lid, self.host, self.device, self.port


_TOOLS = "PortXmitData"
UNITS = {
    _TOOLS: _WORD,
    # One exporter for the whole fabric calls ibqueryerrors, the other perfquery.
    "infiniband_portxmitdata": _WORD,
    "infiniband_switch_port_transmit_data_bytes": 1,
    "infiniband_hca_port_transmit_data_bytes": 1,
    # Prometheus' exporter on every host.
    "node_infiniband_port_data_transmitted_bytes": 1,
}
"""Bytes that one count of a kind stands for, by the counter of what a port sends.

An exporter that calls perfquery multiplies by four from its version 0.10 on, node_exporter from
0.15 on: older ones call words bytes.
"""
_COUNTERS = {
    **dict.fromkeys(("portxmitdata", "xmtdata"), "sent"),
    **dict.fromkeys(("portrcvdata", "rcvdata"), "received"),
    **dict.fromkeys(("portxmitwait", "xmtwait"), "waited"),
}
_METRICS = {
    "infiniband_portxmitdata": ("infiniband_portxmitdata", "sent"),
    "infiniband_portrcvdata": ("infiniband_portxmitdata", "received"),
    "infiniband_portxmitwait": ("infiniband_portxmitdata", "waited"),
    **{
        f"infiniband_{node}_port_{name}": (f"infiniband_{node}_port_transmit_data_bytes", meaning)
        for node in ("switch", "hca")
        for name, meaning in (
            ("transmit_data_bytes", "sent"),
            ("receive_data_bytes", "received"),
            ("transmit_wait", "waited"),
        )
    },
    **{
        f"node_infiniband_port_{name}": ("node_infiniband_port_data_transmitted_bytes", meaning)
        for name, meaning in (
            ("data_transmitted_bytes", "sent"),
            ("data_received_bytes", "received"),
            ("transmit_wait", "waited"),
        )
    },
}
FAULTS = ("discards", "errors", "downs")
"""What ports count of faults: packets that were dropped on the way out, errors of what came in, and
how often the link went down."""
_FAULTS = {
    **dict.fromkeys(("portxmitdiscards", "xmtdiscards"), "discards"),
    **dict.fromkeys(("linkdownedcounter", "linkdowned"), "downs"),
    **dict.fromkeys(
        (
            *("symbolerrorcounter", "symbolerrors", "portrcverrors", "rcverrors"),
            *("linkerrorrecoverycounter", "linkrecovers"),
            *("locallinkintegrityerrors", "linkintegrityerrors"),
        ),
        "errors",
    ),
}
# The same in the names of exporters' metrics, behind what says whose port it is.
_FAULT_METRICS = {
    **dict.fromkeys(("transmit_discards", "port_discards_transmitted"), "discards"),
    "link_downed": "downs",
    **dict.fromkeys(
        (
            *("symbol_error", "receive_errors", "port_errors_received"),
            *("link_error_recovery", "local_link_integrity_errors"),
        ),
        "errors",
    ),
}
_OF_PORTS = re.compile(r"(?:node_)?infiniband_(?:switch_port_|hca_port_)?(\w+?)(?:_total)?")
# Lines of a block of perfquery that count nothing.
_NO_COUNTERS = {"PortSelect", "CounterSelect", "CounterSelect2"}
_BLOCK = re.compile(r"# Port (?:extended )?counters: (?:Lid (\d+)|.*?) port (\d+)\b")
_IN_BLOCK = re.compile(r"(\w+):\.*(\S+)")
_ERRORS = re.compile(r"\s*GUID (0x[0-9a-fA-F]{1,16}) port (\w+):")
_IN_ERRORS = re.compile(r"\[(\w+) == (\d+)")
_METRIC = re.compile(r"\s*((?:node_)?infiniband_\w+)\{(.*)\}\s+(\S+)(?:\s+(-?\d{1,20}))?\s*")
_LABEL = re.compile(r'(?<!\w)(\w+)="((?:[^"\\]|\\.)*)"')
_HOST_LABELS = ("instance", "hostname", "nodename", "node", "host")


def read_counters(chunks: Iterable[bytes], source: str, host: str = "") -> list[PortCount]:
    """The counters in a text of any of these kinds; one that comes twice is the larger.

    Args:
        chunks: the text.
        source: what messages call it.
        host: where an exporter's metrics are from, if they do not say so.

    Raises:
        InputError: there are none, a number is none, or there are more ports than anybody has.

    Returns:
        One for every port and kind of counters.
    """
    found: dict[tuple[Any, str], PortCount] = {}
    first = ""
    for number, count in _counts(chunks, source, host):
        if isinstance(count, str):
            first = first or count
            continue
        known = found.get((count.key, count.kind))
        found[count.key, count.kind] = count if known is None else _joined(known, count)
        if len(found) > _MOST_PORTS:
            raise InputError(source, number, f"up to {_MOST_PORTS:,} ports", "more")
    if not found:
        expected = "counters as perfquery, ibqueryerrors --counters or an exporter prints them"
        raise InputError(source, 1, expected, repr(first[:60]) if first else "an empty file")
    return list(found.values())


def _joined(one: PortCount, other: PortCount) -> PortCount:
    larger: dict[str, Any] = {}
    for name in ("sent", "received", "waited", "time"):
        values = [v for v in (getattr(one, name), getattr(other, name)) if v is not None]
        larger[name] = max(values, default=None)
    larger["faults"] = dict(one.faults)
    for fault, happened in other.faults.items():
        larger["faults"][fault] = max(happened, one.faults.get(fault, 0.0))
    return replace(one, told=one.told | other.told, full=one.full | other.full, **larger)


def _counts(
    chunks: Iterable[bytes], source: str, host: str
) -> Iterator[tuple[int, PortCount | str]]:
    """Counters line by line, and lines that hold none."""
    block: PortCount | None = None
    names: set[str] = set()
    ports: dict[str, PortCount] = {}
    number = 0
    for number, line in lines(chunks, source):
        if match := _BLOCK.match(line):
            if block is not None:
                yield number, replace(block, told=frozenset(names))
            # A block of a port by its path, or of all ports, says of no channel what it carries.
            lid, port = match[1], _whole(match[2], source, number)
            block, names = None, set()
            if lid and port < 255:
                block = PortCount(port, lid=_whole(lid, source, number), kind=_TOOLS)
        elif match := _ERRORS.match(line):
            if match[2].isdecimal():
                pairs = _IN_ERRORS.findall(line)
                port = _whole(match[2], source, number)
                told = frozenset(sys.intern(name) for name, _ in pairs)
                count = PortCount(port, guid=int(match[1], 16), kind=_TOOLS, told=told)
                yield number, _with(count, pairs, source, number)
        elif match := _METRIC.fullmatch(line):
            count_of_metric = _metric(match, host, ports, source, number)
            yield number, line.strip() if count_of_metric is None else count_of_metric
        elif block is not None and (match := _IN_BLOCK.match(line)):
            if match[1] not in _NO_COUNTERS:
                names.add(sys.intern(match[1]))
            if match[1].lower() in _COUNTERS or match[1].lower() in _FAULTS:
                yield number, _with(block, [(match[1], match[2])], source, number)
        elif line.strip():
            yield number, line.strip()
    if block is not None:
        yield number, replace(block, told=frozenset(names))


def _with(count: PortCount, pairs: Iterable[tuple[str, str]], source: str, line: int) -> PortCount:
    """The same with those counters of the tools that tell what a port carries, or how it waits."""
    for name, text in pairs:
        if meaning := _COUNTERS.get(name.lower()):
            count = _told(count, name, meaning, float(_whole(text, source, line)))
        elif meaning := _FAULTS.get(name.lower()):
            count = _with_fault(count, name, meaning, float(_whole(text, source, line)))
    return count


def _with_fault(count: PortCount, name: str, meaning: str, value: float) -> PortCount:
    return replace(count, faults={**count.faults, (meaning, name.lower()): value})


def _told(count: PortCount, name: str, meaning: str, value: float) -> PortCount:
    """The same with one of its counters; one of 32 bits that is full says nothing."""
    unit = 1 if meaning == "waited" else UNITS[count.kind]
    # An exporter may have made bytes of it.
    if value == _FULL or (meaning != "waited" and value == _WORD * _FULL):
        return replace(count, full=count.full | {name})
    told: dict[str, Any] = {meaning: value * unit}
    return replace(count, **told)


def _metric(
    match: re.Match[str], host: str, ports: dict[str, PortCount], source: str, line: int
) -> PortCount | None:
    """A port's metric; None for what is of no port. Labels that were seen are in `ports`."""
    kind, meaning = _METRICS.get(match[1].removesuffix("_total"), ("", ""))
    port = ports.get(match[2])
    if port is None:
        port = _labelled(match[2], host, source, line)
        if port is None and not meaning:
            return None
        if port is None:
            raise InputError(source, line, 'a label port="..."', match[2][:60])
        if len(ports) < _MOST_PORTS:
            ports[match[2]] = port
    time = int(match[4]) / 1000 if match[4] else None
    count = replace(port, time=time, kind=kind, told=frozenset((match[1],)))
    of_port = _OF_PORTS.fullmatch(match[1])
    fault = _FAULT_METRICS.get(of_port[1], "") if of_port else ""
    if not (meaning or fault):
        return count
    try:
        value = float(match[3])
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise InputError(source, line, "a number from 0", match[3][:40])
    if fault:
        return _with_fault(count, match[1], fault, value)
    return _told(count, match[1], meaning, value)


def _labelled(text: str, host: str, source: str, line: int) -> PortCount | None:
    """The port that labels name; None where they name none."""
    labels: dict[str, str] = dict(_LABEL.findall(text))
    port = labels.get("local_port", labels.get("port", ""))
    if not port.isdecimal():
        return None
    number = _whole(port, source, line)
    if guid := labels.get("local_guid", labels.get("guid", "")):
        return PortCount(number, guid=_guid(guid, source, line))
    named = next((labels[name] for name in _HOST_LABELS if labels.get(name)), host)
    # An instance is an address with a port, and may have a domain.
    return PortCount(number, host=named.partition(":")[0], device=labels.get("device", ""))


def _guid(text: str, source: str, line: int) -> int:
    digits = text.lower().removeprefix("0x")
    if not re.fullmatch(r"[0-9a-f]{1,16}", digits):
        raise InputError(source, line, "a GUID such as 0x506b4b03005c2740", text[:40])
    return int(digits, 16)


def _whole(text: str, source: str, line: int) -> int:
    if not re.fullmatch(rf"[0-9]{{1,{_MOST_DIGITS}}}", text):
        raise InputError(source, line, "a whole number", text[:40])
    return int(text)
