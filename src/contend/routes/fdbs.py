"""Forwarding tables as OpenSM (opensm.fdbs) and ibdiagnet (.fdbs) write them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from contend import _core
from contend.fabric import naming
from contend.routes.tables import TableColumns

_HEADER = re.compile(rb"^[ \t]*[a-z_]{0,32}dump_ucast_routes: Switch 0x", re.MULTILINE)


def recognises(head: bytes) -> bool:
    """Whether a file that begins with `head` is a dump of this kind."""
    return _HEADER.search(head) is not None


def read(chunks: Iterable[bytes], source: str) -> TableColumns:
    """Reads forwarding tables; of a switch's private tables (PLFT_NUM) the first counts.

    The format names no owners of LIDs, but the LID that leads to port 0 is the switch's own.

    Args:
        chunks: the file's bytes, cut anywhere.
        source: the file's name, for errors.

    Raises:
        InputError: a row or heading does not read as one, a LID is not unicast, a port is above
            255, two tables of a switch contradict each other, or there is no table at all.
    """
    parser = _core.FdbsParser()
    with naming(source):
        for chunk in chunks:
            parser.feed(chunk)
        return TableColumns(**parser.finish())
