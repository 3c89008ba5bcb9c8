"""Small subnets made by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from contend.fabric.subnet import NodeKind, Subnet

KINDS = {"switch": NodeKind.SWITCH, "adapter": NodeKind.ADAPTER, "router": NodeKind.ROUTER}
RATES = ("", "4xHDR", "4xEDR")


def subnet_of(
    nodes: list[dict[str, Any]],
    ends: list[tuple[Any, ...]],
    *,
    both: bool = True,
    notes: tuple[str, ...] = (),
) -> Subnet:
    """A subnet from short notes.

    Args:
        nodes: ``name``, ``kind`` (switch unless said), and any other node column. GUIDs are
            0x100, 0x101, ... unless said.
        ends: (node name, port, peer name or None, peer port) and a dict of further columns if
            wanted; lines count from 1.
        both: declare the far end of every cable too, right after the near one.
        notes: the reader's notes.
    """
    rows = {node["name"]: row for row, node in enumerate(nodes)}
    declared = []
    for name, port, peer, peer_port, *more in ends:
        declared.append((name, port, peer, peer_port, *more))
        if both and peer is not None:
            declared.append((peer, peer_port, name, port, *more))

    def node_column(key: str, dtype: Any, default: Any = 0) -> Any:
        return np.array([node.get(key, default) for node in nodes], dtype=dtype)

    def end_column(key: str, dtype: Any) -> Any:
        return np.array([end[4].get(key, 0) if len(end) > 4 else 0 for end in declared], dtype)

    return Subnet(
        kind=np.array([KINDS[node.get("kind", "switch")] for node in nodes], dtype=np.uint8),
        guid=np.array([n.get("guid", 0x100 + r) for r, n in enumerate(nodes)], dtype=np.uint64),
        system_guid=node_column("system_guid", np.uint64),
        device_id=node_column("device_id", np.uint32),
        ports=node_column("ports", np.uint16),
        lid=node_column("lid", np.uint32),
        lmc=node_column("lmc", np.uint8),
        name=tuple(node["name"] for node in nodes),
        node_line=node_column("line", np.uint32, 1),
        node=np.array([rows[end[0]] for end in declared], dtype=np.int32),
        port=np.array([end[1] for end in declared], dtype=np.uint16),
        port_guid=end_column("port_guid", np.uint64),
        end_lid=end_column("lid", np.uint32),
        end_lmc=end_column("lmc", np.uint8),
        peer=np.array([-1 if e[2] is None else rows[e[2]] for e in declared], dtype=np.int32),
        peer_port=np.array([end[3] for end in declared], dtype=np.uint16),
        rate=end_column("rate", np.uint16),
        end_line=np.arange(1, len(declared) + 1, dtype=np.uint32),
        rates=RATES,
        notes=notes,
    )


@pytest.fixture(scope="session")
def make_subnet() -> Callable[..., Subnet]:
    """`make_subnet(nodes, ends, both=True, notes=())`, see `subnet_of`."""
    return subnet_of
