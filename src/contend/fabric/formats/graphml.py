"""Writes a topology as GraphML, which graph tools read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from contend.fabric.fabric import Fabric

# Attributes of nodes and edges: name, of what, type.
_KEYS = (
    ("kind", "node", "string"),
    ("name", "node", "string"),
    ("guid", "node", "string"),
    ("lid", "node", "long"),
    ("ports", "node", "int"),
    ("source_port", "edge", "int"),
    ("target_port", "edge", "int"),
    ("rate", "edge", "string"),
)
# Characters that XML 1.0 cannot hold, even escaped.
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


def write(fabric: Fabric) -> Iterator[str]:
    """An undirected graph: hosts ``h0``.., switches ``s0``.., an edge for each cable.

    Routes are not part of it. Characters that XML forbids become U+FFFD.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for name, what, kind in _KEYS:
        yield f'<key id="{name}" for="{what}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '<graph id="fabric" edgedefault="undirected">\n'
    yield f"<desc>{escape(_legal(fabric.name), quote=False)}</desc>\n"
    yield from _nodes(fabric)
    yield from _edges(fabric)
    yield "</graph>\n</graphml>\n"


def _legal(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)


def _nodes(fabric: Fabric) -> Iterator[str]:
    for switch, name in enumerate(fabric.switch_name):
        yield _element(
            f'node id="s{switch}"',
            kind="switch",
            name=name,
            guid=f"0x{int(fabric.switch_guid[switch]):016x}",
            lid=int(fabric.switch_lid[switch]),
            ports=int(fabric.switch_ports[switch]),
        )
    for host, name in enumerate(fabric.host_name):
        yield _element(
            f'node id="h{host}"',
            kind="host",
            name=name,
            guid=f"0x{int(fabric.host_guid[host]):016x}",
            lid=int(fabric.host_lid[host]),
        )


def _edges(fabric: Fabric) -> Iterator[str]:
    for host in range(fabric.hosts):
        yield _element(
            f'edge source="h{host}" target="s{fabric.host_switch[host]}"',
            source_port=int(fabric.host_adapter_port[host]),
            target_port=int(fabric.host_port[host]),
            rate=fabric.rates[int(fabric.host_rate[host])],
        )
    for cable in range(fabric.cables):
        yield _element(
            f'edge source="s{fabric.cable_from[cable]}" target="s{fabric.cable_to[cable]}"',
            source_port=int(fabric.cable_from_port[cable]),
            target_port=int(fabric.cable_to_port[cable]),
            rate=fabric.rates[int(fabric.cable_rate[cable])],
        )


def _element(opening: str, **data: str | int) -> str:
    inner = "".join(
        f'<data key="{key}">{escape(_legal(str(value)), quote=False)}</data>'
        for key, value in data.items()
        if value != ""
    )
    return f"<{opening}>{inner}</{opening.split()[0]}>\n"
