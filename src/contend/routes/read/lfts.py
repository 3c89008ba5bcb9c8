"""Forwarding tables as OpenSM (opensm-lfts.dump), dump_fts, dump_lfts.sh and ibroute print them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from contend import _core
from contend.fabric import naming
from contend.routes.read.columns import TableColumns

_HEADER = re.compile(rb"^[ \t]*Unicast lids \[", re.MULTILINE)


def recognises(head: bytes) -> bool:
    """Whether a file that begins with `head` is a dump of this kind."""
    return _HEADER.search(head) is not None


def read(chunks: Iterable[bytes], source: str) -> TableColumns:
    """Reads a dump of forwarding tables; multicast tables in it are passed over.

    Two faults of dumping tools are told in the notes: the highest LID is missing where it is a
    multiple of 64, and after a failed read the block before is printed again. Such blocks are left
    out where an error message in the file or the table itself gives them away.

    Args:
        chunks: the file's bytes, cut anywhere.
        source: the file's name, for errors.

    Raises:
        InputError: a row or header does not read as one, a LID is not unicast, a port is above 255,
            two tables of a switch contradict each other, or there is no table at all.
    """
    parser = _core.LftsParser()
    with naming(source):
        for chunk in chunks:
            parser.feed(chunk)
        return TableColumns(**parser.finish())
