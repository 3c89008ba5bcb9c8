"""Whom the names mean that people and schedulers write, and host files of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain

import numpy as np

from contend.base.errors import Argument, InputError
from contend.base.files import read_bounded
from contend.base.names import expand, split_list
from contend.fabric import Fabric, machine_names, rails_of, server_names
from contend.traffic.placement.order import by_name

# What may follow a server's name within a host's: node1.cluster HCA-1, node1/P2, node1:mlx5_0.
_SEPARATORS = " .:/"
# What a launcher takes as a name: blanks, commas and colons mean something else to it, and a number
# passes for an address.
_LAUNCHED = re.compile(r"(?!\d+$)[A-Za-z0-9][A-Za-z0-9._-]*")


def launcher_names(fabric: Fabric) -> dict[str, str]:
    """What launchers may call each server: its name or, where they take none, an emulated host's.

    ``host 4`` is ``host-4``.
    """
    names = {name: name for name in server_names(fabric)}
    others = [name for name in names if not _LAUNCHED.fullmatch(name)]
    taken = {name.lower() for name in names}
    return names | dict(zip(others, machine_names(others, "host", taken), strict=True))


class HostNames:
    """Looks names up; the first of these rules that matches anything decides.

    1. ``fabric hosts`` calls a server so, which stands for all of its hosts (its rails).
    2. The name is a host's whole name, in quotes or not, the label that tells it from hosts that
       are called alike, or its port's GUID.
    3. It is the first word of hosts' names.
    4. Hosts' names start with it, followed by a blank, ``.``, ``:`` or ``/``.
    5. Its part before the first dot matches by the rules before: ``node1.cluster`` is ``node1``.
    6. It matches in other capitals: ``NODE1``.
    7. Lists for launchers call a server so.

    Hosts come in natural order. Two ports of one adapter may share a name, hosts of different
    adapters may not: such a name is ambiguous.
    """

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._order: list[int] = by_name(fabric).tolist()
        whole: dict[str, list[int]] = {}
        prefixes: dict[str, list[int]] = {}
        words: dict[str, list[int]] = {}
        for host in self._order:
            name = fabric.host_name[host].strip()
            whole.setdefault(name, []).append(host)
            words.setdefault(_first_word(name), []).append(host)
            for end, character in enumerate(name):
                if character in _SEPARATORS:
                    prefixes.setdefault(name[:end], []).append(host)
            if (label := fabric.host_label[host].strip()) != name:
                whole.setdefault(label, []).append(host)
        self._index: dict[str, list[int]] = {**prefixes, **words, **whole}

    def __contains__(self, name: str) -> bool:
        return self._lookup(name) is not None or name.strip() in self._servers

    @cached_property
    def _servers(self) -> dict[str, list[int]]:
        names = server_names(self._fabric)
        servers: dict[str, list[int]] = {}
        for host in self._order:
            servers.setdefault(names[host], []).append(host)
        if self._fabric.told is not None:
            # In the order that is told, which that of names need not be.
            rail = self._rail
            servers = {name: sorted(own, key=rail.__getitem__) for name, own in servers.items()}
        return servers

    @cached_property
    def _launched(self) -> dict[str, list[int]]:
        return {
            launched: self._servers[name]
            for name, launched in launcher_names(self._fabric).items()
            if launched != name
        }

    @cached_property
    def _rail(self) -> list[int]:
        rail: list[int] = rails_of(self._fabric).tolist()
        return rail

    def seats(self, name: str, source: str | Argument, line: int = 0) -> list[int]:
        """The hosts that a name means, without those on no rail: a server's for its ranks.

        Raises:
            InputError: as `find`.
        """
        hosts = self.find(name, source, line)
        if self._fabric.told is None:
            return hosts
        return [host for host in hosts if self._rail[host] >= 0] or hosts

    def find(self, name: str, source: str | Argument, line: int = 0) -> list[int]:
        """The hosts that a name means.

        Raises:
            InputError: it means no host or is ambiguous; the error names source and line.
        """
        if whole_server := self._servers.get(name.strip()):
            return whole_server
        hosts = self._lookup(name)
        if hosts is None:
            raise InputError(source, line, f"a host of {self._fabric.name}", f'"{name}"')
        adapter_of: dict[str, int] = {}
        for host in hosts:
            adapter = int(self._fabric.host_guid[host])
            full = self._fabric.host_name[host]
            if adapter_of.setdefault(full, adapter) != adapter:
                raise InputError(
                    source,
                    line,
                    f"the name of one host of {self._fabric.name}",
                    f'"{name}", which several adapters have ("{full}")',
                )
        return hosts

    def match(self, pattern: str, source: str | Argument) -> list[int]:
        """The hosts whose whole name or first word fits a glob (``*``, ``?``, ``[...]``).

        Raises:
            InputError: no host fits.
        """
        hosts = [
            host
            for host in self._order
            if fnmatchcase(name := self._fabric.host_name[host].strip(), pattern)
            or fnmatchcase(_first_word(name), pattern)
        ]
        if not hosts:
            raise InputError(source, 0, f"a glob that fits hosts of {self._fabric.name}", pattern)
        return hosts

    def first(self, count: int) -> list[int]:
        """The first hosts in natural order."""
        return self._order[:count]

    def _lookup(self, name: str) -> list[int] | None:
        name = name.strip()
        if quoted := re.fullmatch(r'(?:host )?"(.+)"', name, re.DOTALL):
            name = quoted[1].strip()
        if re.fullmatch("0x[0-9a-f]{1,16}", name, re.IGNORECASE):
            return np.flatnonzero(self._fabric.host_port_guid == int(name, 16)).tolist() or None
        if not name:
            return None
        names = name, name.split(".")[0]
        found = (self._index.get(each) for each in names)
        folded = (self._folded.get(each.casefold()) for each in names)
        launched = iter((self._launched.get(name),))
        return next((hosts for hosts in chain(found, folded, launched) if hosts), None)

    @cached_property
    def _folded(self) -> dict[str, list[int]]:
        folded: dict[str, dict[int, None]] = {}
        for name, hosts in (*self._index.items(), *self._servers.items()):
            folded.setdefault(name.casefold(), {}).update(dict.fromkeys(hosts))
        return {name: list(hosts) for name, hosts in folded.items()}


def _first_word(name: str) -> str:
    return name.split(maxsplit=1)[0] if name.strip() else ""


_SLOTS = re.compile(r"(?<=\s)slots\s*=\s*(\S*)")
# What else Open MPI takes behind a name, MPICH (binding=user:0,1) and Intel MPI.
_OTHER_OPTION = re.compile(
    r"(?<=\s)(?:max[-_]slots|sockets?(?:_per_board)?|cores?(?:_per_socket)?|boards|cpus?|count|topo"
    r"|port|user_?(?:name)?|binding|ifname|ifhn)\s*=\s*\S*"
)
# Grid Engine's PE_HOSTFILE has a queue and processors behind the slots, LSF's LSB_MCPU_HOSTS names
# and slots in turn, MVAPICH's files an adapter.
_COUNTED = re.compile(r"([^\s:,=]++)\s+(\d{1,9})(?!\S)(?:\s+\S+@\S+\s+\S+)?+")
_ALL_COUNTED = re.compile(rf"(?:{_COUNTED.pattern}\s*+)++")
_ADAPTER = re.compile(r"([^:]+):(\d{1,9}):[\w.]+")
_ORDER = re.compile(r"\d{1,9}(?:,\d{1,9})*")
_RANK = re.compile(r"rank\s+(\d{1,9})\s*=\s*(\S+)(?:\s+slots?\s*=\s*\S+)?", re.IGNORECASE)
_COMMENT = re.compile(r"(?:^|\s)#.*")
# Far above any server: more is a typing error, and would be memory asked for by a file.
_MOST_SLOTS = 100_000


@dataclass(frozen=True)
class HostLine:
    """The hosts that a name in a host file means, and its slots, None where none are given."""

    hosts: tuple[int, ...]
    slots: int | None


def fill(lines: Sequence[HostLine]) -> list[int]:
    """Hosts of all slots: slot i of n on k rails is on rail i*k // n, neighbours together.

    A server that several lines name gets its slots from all of them, one from each without a count.
    """
    times = Counter(line.hosts for line in lines)
    total: Counter[tuple[int, ...]] = Counter()
    for line in lines:
        total[line.hosts] += line.slots or 1
    taken: Counter[tuple[int, ...]] = Counter()
    found: list[int] = []
    for line in lines:
        own = line.hosts
        if line.slots is None and times[own] == 1:
            found += own
            continue
        for _ in range(line.slots or 1):
            found.append(own[taken[own] * len(own) // total[own]])
            taken[own] += 1
    return found


@dataclass(frozen=True)
class _Named:
    """A name in a host file, its slots (None: unsaid), and the line where it stands."""

    name: str
    slots: int | None
    line: int


def read_host_file(path: str, names: HostNames) -> list[HostLine]:
    """Reads a host file: a name a line, ``name slots=4``, ``name:4`` or ``name 4``, ``#`` comments.

    Several names on a line are separated by commas and may hold ranges, ``node[01-04]``. A
    rankfile, ``rank 0=name slot=0``, names the host of every rank, in any order.

    Raises:
        InputError: a name is unknown or ambiguous, a count is no number, or a rank is missing or
            comes twice, with the line.
    """
    lines = []
    for entry in _read(path, names):
        # Open MPI takes the name of an account before that of a host.
        name = entry.name if entry.name in names else entry.name.rpartition("@")[2]
        lines.append(HostLine(tuple(names.seats(name, path, entry.line)), entry.slots))
    return lines


def read_host_names(path: str) -> tuple[tuple[str, int | None], ...]:
    """Reads the names in a host file for a launcher, each with its slots or None without any.

    Raises:
        InputError: a count or a range cannot be read, with the line.
    """
    return tuple((entry.name, entry.slots) for entry in _read(path, ()))


def _read(path: str, known: HostNames | tuple[()]) -> list[_Named]:
    """All names of a file; one that is known stands for itself, whatever it looks like."""
    try:
        text = read_bounded(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, 0, "a host file in UTF-8", f"byte {error.start}") from None
    entries: list[_Named] = []
    ranks: dict[int, _Named] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        content = _COMMENT.sub("", line).strip()
        if (match := _RANK.fullmatch(content)) and content not in known and not entries:
            if int(match[1]) in ranks:
                raise InputError(path, number, "each rank once", f"rank {match[1]} again")
            ranks[int(match[1])] = _Named(match[2], 1, number)
        elif _ORDER.fullmatch(content) and not entries and content.split(",")[0] not in known:
            got = "ranks alone, as MPICH_RANK_ORDER has them"
            raise InputError(path, number, "names of hosts", got)
        elif content and ranks:
            raise InputError(path, number, "a rank with its host as before", repr(content[:60]))
        elif content:
            entries += _names_of(content, path, number, known)
    for rank in range(len(ranks)):
        if rank not in ranks:
            raise InputError(path, 0, f"a line for each of {len(ranks)} ranks", f"none of {rank}")
        entries.append(ranks[rank])
    if not entries:
        raise InputError(path, 0, "at least one host", "none")
    return entries


def _names_of(
    content: str, path: str, number: int, known: HostNames | tuple[()]
) -> Iterator[_Named]:
    slots = None
    if content not in known and _ALL_COUNTED.fullmatch(content):
        for name, count in _COUNTED.findall(content):
            yield _Named(name, _slots(count, path, number), number)
        return
    if match := _SLOTS.search(content):
        slots = _slots(match[1], path, number)
        content = content[: match.start()].rstrip() + content[match.end() :]
    content = _OTHER_OPTION.sub("", content)
    for item in split_list(content):
        name, count = item, slots
        before, _, after = (part.strip() for part in item.rpartition(":"))
        if item not in known and (match := _ADAPTER.fullmatch(item)):
            before, after = match[1], match[2]
        if item not in known and before and after.isdecimal() and len(after) < 10:
            name, count = before, _slots(after, path, number)
        for host in [name] if name in known else expand(name, path, number):
            yield _Named(host, count, number)


def _slots(text: str, path: str, number: int) -> int:
    if not text.isdecimal() or not 1 <= int(text[:10]) <= _MOST_SLOTS:
        raise InputError(path, number, f"1 to {_MOST_SLOTS} slots", f'"{text}"')
    return int(text)
