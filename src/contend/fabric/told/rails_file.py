"""Files that tell rails: lines of servers, GPUs' nearest adapters as nvidia-smi or NCCL know them.

docs/reference/formats.md describes them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from contend.errors import InputError
from contend.fabric.streams.source import open_chunks, source_name
from contend.fabric.told.nccl_topology import read_nccl_topology
from contend.fabric.told.topology_matrix import is_matrix, read_matrix
from contend.files import LARGEST

EVERY = "*"
"""Stands for every server that has the adapters."""
MOST_RAILS = 256
_WORD = re.compile(r'\s*(?:"([^"]*)"|([^\s"]+))(?=\s|$)')


@dataclass(frozen=True)
class RailLine:
    """The adapters of a server, or of all that are alike, in the order of rails.

    Attributes:
        server: its name, or `EVERY`.
        adapters: by name or GUID; `NONE` for one that it has not.
        line: where it stands; 0 where the file as a whole says so.
    """

    server: str
    adapters: tuple[str, ...]
    line: int


def read_rails(path: str) -> list[RailLine]:
    """The lines of a file that tells rails, whichever kind it is.

    Raises:
        UsageError: the file cannot be read.
        InputError: it is none, or larger than 64 MiB.
    """
    source = source_name(path)
    content = bytearray()
    for chunk in open_chunks(path):
        content += chunk
        if len(content) > LARGEST:
            raise InputError(source, 0, f"at most {LARGEST:,} bytes", "more")
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return [RailLine(EVERY, tuple(read_nccl_topology(bytes(content), source)), 0)]
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(source, line, "text in UTF-8", "other bytes") from None
    if is_matrix(lines):
        return [RailLine(EVERY, tuple(read_matrix(lines, source)), 0)]
    return _of_servers(lines, source)


def _of_servers(lines: Sequence[str], source: str) -> list[RailLine]:
    """A line for every server: its name, then its adapters."""
    found = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        server, *adapters = _words(text, source, number)
        if not server or not adapters:
            raise InputError(
                source, number, "a server and its adapters in the order of rails", f'"{text}"'
            )
        if len(adapters) > MOST_RAILS:
            got = f"{len(adapters):,}"
            raise InputError(source, number, f"at most {MOST_RAILS} adapters of a server", got)
        found.append(RailLine(server, tuple(adapters), number))
    if not found:
        raise InputError(source, 0, "servers with their adapters", "none")
    return found


def _words(text: str, source: str, line: int) -> list[str]:
    """Words between blanks; those in quotes may hold blanks."""
    words, at = list[str](), 0
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None:
            got = f'"{text[at:].strip()[:40]}"'
            raise InputError(source, line, 'names, those with blanks in "quotes"', got)
        words.append(match[2] if match[1] is None else match[1].strip())
        at = match.end()
    return words
