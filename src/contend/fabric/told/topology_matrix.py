"""The matrix of a server's GPUs and adapters that ``nvidia-smi topo -m`` prints."""

from __future__ import annotations

import re
from collections.abc import Sequence

from contend.errors import InputError

# From near to far; SOC is what older drivers call SYS.
_LINKS = {"PIX": 0, "PXB": 1, "PHB": 2, "NODE": 3, "SYS": 4, "SOC": 4}
_FAR = _LINKS["SYS"]
_MOST = 256
_GPU, _NIC = re.compile(r"GPU\d{1,4}"), re.compile(r"NIC\d{1,4}")
# What follows the columns of devices: CPU Affinity, NUMA Affinity, GPU NUMA ID.
_BEHIND = ("CPU", "NUMA", "GPU")
_NAME = re.compile(r"\s*(NIC\d{1,4}):\s*(\S+)\s*")
# Headings are underlined on a terminal.
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_FIRST_LINES = 64
# A terminal that wraps lines may have eaten the blanks between these.
_CELL = re.compile(rf"(?:GPU|NIC|NV)\d{{1,4}}|{'|'.join(_LINKS)}|CPU|X")


def nearest_adapters(distances: Sequence[Sequence[int]], far: int) -> list[int]:
    """The nearest adapter of every GPU, each adapter once, in the order of GPUs.

    Where several are as near, a GPU takes the first that no GPU before it has, as pairs of GPUs and
    adapters below one switch are used; where there is none, it shares. A GPU that is far from all
    takes none: those that no GPU is near to, such as the adapters of storage, are no rail.

    Args:
        distances: from every GPU to every adapter.
        far: the distance from which on nothing is near.
    """
    taken: dict[int, None] = {}
    for row in distances:
        if min(row) >= far:
            continue
        near = [adapter for adapter, distance in enumerate(row) if distance == min(row)]
        free = [adapter for adapter in near if adapter not in taken]
        taken |= dict.fromkeys(free[:1])
    return list(taken)


def is_matrix(lines: Sequence[str]) -> bool:
    """Whether a heading of GPUs stands at the beginning."""
    return _heading(lines) is not None


def read_matrix(lines: Sequence[str], source: str) -> list[str]:
    """Names of the adapters of a server in the order of the GPUs that they are nearest to.

    Raises:
        InputError: there is no adapter, a row is cut off, or a link is unknown.
    """
    at = _heading(lines)
    assert at is not None
    columns = _columns(lines[at])
    adapters = [column for column in columns if not _GPU.fullmatch(column)]
    if not adapters:
        raise InputError(source, at + 1, "columns of adapters (NIC0) behind the GPUs", "none")
    if len(columns) > _MOST:
        raise InputError(source, at + 1, f"at most {_MOST} columns", f"{len(columns):,}")
    distances = []
    for number, line in enumerate(lines[at + 1 :], at + 2):
        label, *links = _words(line) or [""]
        if _GPU.fullmatch(label) and label in columns:
            distances.append(_distances(label, links, columns, source, number))
    if not distances:
        raise InputError(source, at + 1, "a row for every GPU", "none")
    matches = (_NAME.fullmatch(_plain(line)) for line in lines)
    names = {match[1]: match[2] for match in matches if match}
    found = []
    nearest = nearest_adapters(distances, _FAR)
    if not nearest:
        raise InputError(source, at + 1, "an adapter nearer than SYS to a GPU", "none")
    for adapter in (adapters[number] for number in nearest):
        if _NIC.fullmatch(adapter) and adapter not in names:
            raise InputError(source, 0, f"the name of {adapter} in the NIC legend", "none")
        found.append(names.get(adapter, adapter))
    return found


def _distances(
    gpu: str, links: Sequence[str], columns: Sequence[str], source: str, line: int
) -> list[int]:
    if len(links) < len(columns):
        raise InputError(source, line, f"{len(columns)} links of {gpu}", f"{len(links)}")
    distances = []
    for column, link in zip(columns, links, strict=False):
        if _GPU.fullmatch(column):
            continue
        if link not in _LINKS:
            known = "PIX, PXB, PHB, NODE or SYS"
            raise InputError(source, line, f"{known} between {gpu} and {column}", f'"{link}"')
        distances.append(_LINKS[link])
    return distances


def _heading(lines: Sequence[str]) -> int | None:
    """Number of the line that begins with two devices, the first a GPU; comments may come first."""
    for number, line in enumerate(lines[:_FIRST_LINES]):
        words = _words(line)
        if len(words) > 1 and _GPU.fullmatch(words[0]) and not set(words) & {"X", *_LINKS}:
            return number
    return None


def _columns(heading: str) -> list[str]:
    columns = []
    for word in _words(heading):
        if word in _BEHIND:
            break
        columns.append(word)
    return columns


def _words(line: str) -> list[str]:
    words: list[str] = []
    for word in _plain(line).split():
        cells = _CELL.findall(word)
        words += cells if "".join(cells) == word else [word]
    return words


def _plain(line: str) -> str:
    return _ESCAPES.sub("", line)
