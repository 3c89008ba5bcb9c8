"""Host files as MPI launchers and schedulers write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contend.errors import InputError
from contend.files import read_bounded
from contend.names import expand, split_list
from contend.placement.names import HostNames

_SLOTS = re.compile(r"(?<=\s)slots\s*=\s*(\S*)")
_OTHER_OPTION = re.compile(r"(?<=\s)(?:max[-_]slots|sockets|port|user)\s*=\s*\S*")
_COMMENT = re.compile(r"(?:^|\s)#.*")
# Far above any server: more is a typing error, and would be memory asked for by a file.
_MOST_SLOTS = 100_000


@dataclass(frozen=True)
class HostLine:
    """The hosts that a name in a host file means, and its slots, None where none are given."""

    hosts: tuple[int, ...]
    slots: int | None

    def fill(self) -> list[int]:
        """Hosts of the slots: slot i of n on k rails is on rail i*k // n, neighbours together."""
        if self.slots is None:
            return list(self.hosts)
        return [self.hosts[i * len(self.hosts) // self.slots] for i in range(self.slots)]


@dataclass(frozen=True)
class _Named:
    """A name in a host file, its slots (None: unsaid), and the line where it stands."""

    name: str
    slots: int | None
    line: int


def read_host_file(path: str, names: HostNames) -> list[HostLine]:
    """Reads a host file: one name a line, ``name slots=4`` or ``name:4``, ``#`` comments.

    Several names on a line are separated by commas and may hold ranges, ``node[01-04]``.

    Raises:
        InputError: a name is unknown or ambiguous, or a count is no number, with the line.
    """
    return [
        HostLine(tuple(names.find(entry.name, path, entry.line)), entry.slots)
        for entry in _read(path, names)
    ]


def read_host_names(path: str) -> tuple[tuple[str, int | None], ...]:
    """Reads the names in a host file for a launcher, each with its slots or None without any.

    Raises:
        InputError: a count or a range cannot be read, with the line.
    """
    return tuple((entry.name, entry.slots) for entry in _read(path, ()))


def _read(path: str, known: HostNames | tuple[()]) -> list[_Named]:
    """All names of a file; one that is known stands for itself, whatever it looks like."""
    try:
        text = read_bounded(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(path, 0, "a host file in UTF-8", f"byte {error.start}") from None
    entries: list[_Named] = []
    for number, line in enumerate(text.splitlines(), start=1):
        content = _COMMENT.sub("", line).strip()
        if content:
            entries += _names_of(content, path, number, known)
    if not entries:
        raise InputError(path, 0, "at least one host", "none")
    return entries


def _names_of(
    content: str, path: str, number: int, known: HostNames | tuple[()]
) -> Iterator[_Named]:
    slots = None
    if match := _SLOTS.search(content):
        slots = _slots(match[1], path, number)
        content = content[: match.start()].rstrip() + content[match.end() :]
    content = _OTHER_OPTION.sub("", content)
    for item in split_list(content):
        name, count = item, slots
        before, _, after = (part.strip() for part in item.rpartition(":"))
        if item not in known and before and after.isdecimal() and len(after) < 10:
            name, count = before, _slots(after, path, number)
        for host in [name] if name in known else expand(name, path, number):
            yield _Named(host, count, number)


def _slots(text: str, path: str, number: int) -> int:
    if not text.isdecimal() or not 1 <= int(text[:10]) <= _MOST_SLOTS:
        raise InputError(path, number, f"1 to {_MOST_SLOTS} slots", f'"{text}"')
    return int(text)
