"""GUIDs for the nodes of files that tell none, by which no two are taken for one."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from contend.fabric.subnet import NodeKind, Subnet

# Neither an Ethernet address nor a vendor's GUID has it.
_MADE = 1 << 63


def made_guid(text: str) -> int:
    """A GUID of a name, the same wherever else that name is read."""
    digest = hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).digest()
    return _MADE | int.from_bytes(digest, "big")


def _following(number: int) -> int:
    return _MADE | (number + 1) % _MADE


def with_guids(subnet: Subnet) -> Subnet:
    """The subnet with a GUID for every node that has none, and for the ports of such adapters.

    They are made of names alone, so that they stay the same when other nodes come and go. An
    adapter's first port has the GUID of its node.
    """
    made = subnet.guid == 0
    if not made.any():
        return subnet
    guid, port_guid = subnet.guid.copy(), subnet.port_guid.copy()
    taken = {*guid.tolist(), *port_guid.tolist()}
    # Where the next node of a name goes on: thousands may share one.
    following: dict[str, int] = {}

    def free(text: str) -> int:
        number = following.get(text) or made_guid(text)
        while number in taken:
            number = _following(number)
        taken.add(number)
        following[text] = _following(number)
        return number

    for row in np.flatnonzero(made).tolist():
        guid[row] = free(subnet.name[row])
    of_adapter = (made & (subnet.kind != NodeKind.SWITCH))[subnet.node]
    of_port: dict[tuple[int, int], int] = {}
    for end in np.flatnonzero(of_adapter & (port_guid == 0)).tolist():
        key = row, port = int(subnet.node[end]), int(subnet.port[end])
        if key not in of_port:
            of_port[key] = int(guid[row]) if port == 1 else free(f"{subnet.name[row]}\n{port}")
        port_guid[end] = of_port[key]
    system_guid = np.where(made & (subnet.system_guid == 0), guid, subnet.system_guid)
    return replace(subnet, guid=guid, port_guid=port_guid, system_guid=system_guid)
