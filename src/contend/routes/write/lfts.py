"""Writes forwarding tables as OpenSM dumps them, to be loaded by ``opensm -R file -U FILE``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from contend.errors import UsageError
from contend.fabric import LARGEST_LID, Fabric, check_lids, one_line
from contend.routes.forwarding import NO_PORT

_LARGEST_PORT = 254


def write(fabric: Fabric) -> Iterator[str]:
    """One block per switch, each entry with the owner of its LID.

    By the owner's GUID OpenSM, which gives out LIDs of its own, finds whose entry it is.

    Raises:
        UsageError: the fabric has no routes, addresses that are no LIDs, or ports above 254.
    """
    if fabric.routes is None:
        raise UsageError("this fabric has no tables: give --routes FILE or --route ENGINE")
    check_lids(fabric, "a table dump")
    tables = fabric.routes.ports[:, : LARGEST_LID + 1]
    comments = _comments(fabric, tables.shape[1])
    for switch, row in enumerate(tables):
        yield _block(fabric, switch, row, comments)


def _comments(fabric: Fabric, addresses: int) -> list[str]:
    """What stands behind an entry: the owner of every LID, "" where nobody has it."""
    comments = [""] * addresses
    for lid, guid, name in zip(
        fabric.switch_lid.tolist(), fabric.switch_guid.tolist(), fabric.switch_name, strict=True
    ):
        if 0 < lid < addresses:
            comments[lid] = f" # Switch portguid 0x{guid:016x}: '{one_line(name)}'"
    rows = zip(
        fabric.host_lid.tolist(),
        fabric.host_lmc.tolist(),
        _port_guids(fabric).tolist(),
        fabric.host_name,
        strict=True,
    )
    for lid, lmc, guid, name in rows:
        comment = f" # Channel Adapter portguid 0x{guid:016x}: '{one_line(name)}'"
        for own in range(lid, min(lid + (1 << lmc), addresses)) if lid else ():
            comments[own] = comment
    return comments


def _port_guids(fabric: Fabric) -> NDArray[np.uint64]:
    """Port GUIDs, the node's where a file did not tell the port's."""
    guids: NDArray[np.uint64] = np.where(
        fabric.host_port_guid != 0, fabric.host_port_guid, fabric.host_guid
    )
    return guids


def _block(fabric: Fabric, switch: int, row: NDArray[np.uint16], comments: list[str]) -> str:
    lids = np.flatnonzero(row != NO_PORT)
    ports = row[lids]
    if len(ports) and int(ports.max()) > _LARGEST_PORT:
        name = fabric.switch_name[switch]
        raise UsageError(
            f'a table dump has ports up to {_LARGEST_PORT}, but switch "{name}" sends through '
            f"port {int(ports.max())}"
        )
    entries = zip(lids.tolist(), ports.tolist(), strict=True)
    lines = [f"0x{lid:04x} {port:03d}{comments[lid]}\n" for lid, port in entries if lid]
    return (
        f"Unicast lids [0-{len(row) - 1}] of switch Lid {fabric.switch_lid[switch]} "
        f"guid 0x{int(fabric.switch_guid[switch]):016x} "
        f"('{one_line(fabric.switch_name[switch])}'):\n"
        f"{''.join(lines)}{len(lines)} lids dumped\n"
    )
