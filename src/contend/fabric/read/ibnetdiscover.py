"""What ibnetdiscover prints: plain, full (-f), grouped (-g), or a port listing (-p)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from contend import _core
from contend.fabric.read.source import naming
from contend.fabric.subnet import Subnet

_SHAPES = re.compile(
    rb"^[ \t]*(?:"
    rb"# Topology file: generated on |"
    rb'(?:Switch|Ca|Hca|Rt)[ \t]*\d{1,3}[ \t]*"[SHR]-[0-9A-Fa-f]{1,16}"|'
    rb"(?:SW|CA|RT)[ \t]{1,9}\d{1,5}[ \t]{1,9}\d{1,3} 0x[0-9A-Fa-f]{16} )",
    re.MULTILINE,
)


def recognises(head: bytes) -> bool:
    """Whether a file that begins with `head` is ibnetdiscover's."""
    return _SHAPES.search(head) is not None


def read(chunks: Iterable[bytes], source: str) -> Subnet:
    """Reads what ibnetdiscover printed.

    Lines that are not ibnetdiscover's, such as error messages that were redirected into the same
    file, are passed over and counted in the notes. A port listing names no adapters, so there every
    adapter port makes an adapter, with the port's GUID.

    Args:
        chunks: the file's bytes, cut anywhere.
        source: the file's name, for errors.

    Raises:
        InputError: a line begins as one of ibnetdiscover's and does not go on as one, a number is
            out of its range, or there is no node at all.
    """
    parser = _core.IbnetdiscoverParser()
    with naming(source):
        for chunk in chunks:
            parser.feed(chunk)
        return Subnet(**parser.finish())
