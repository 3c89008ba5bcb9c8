"""What iblinkinfo prints: node by node, or with -l one line for each port."""

from __future__ import annotations

import re
from collections.abc import Iterable

from contend import _core
from contend.fabric.formats.source import naming
from contend.fabric.subnet import Subnet

_PORT = re.compile(rb"^[ \t]*(?:0x|\d)[^\n]{0,600}\] ==\([^\n]{0,200}==>", re.MULTILINE)


def recognises(head: bytes) -> bool:
    """Whether a file that begins with `head` is iblinkinfo's."""
    return _PORT.search(head) is not None


def read(chunks: Iterable[bytes], source: str) -> Subnet:
    """Reads what iblinkinfo printed, whole or only the lines of ports.

    The GUIDs of adapters are those of their ports. Without ``-l`` a LID tells who is at the other
    end; with it no line says what is a switch, which is a GUID whose ports share a LID.

    Args:
        chunks: the file's bytes, cut anywhere.
        source: the file's name, for errors.

    Raises:
        InputError: a line begins as a port's and does not go on as one, a number is out of its
            range, lines with and without ``-l`` are mixed, or there is no port at all.
    """
    parser = _core.IblinkinfoParser()
    with naming(source):
        for chunk in chunks:
            parser.feed(chunk)
        return Subnet(**parser.finish())
