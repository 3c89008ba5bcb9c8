"""Lists of hosts as MPI launchers and schedulers read and write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from pathlib import Path

from contend.errors import InputError, UsageError
from contend.fabric import Fabric, servers_of
from contend.placement.names import HostNames, expand, split_list
from contend.placement.placement import Placement
from contend.units import counted

_SLOTS = re.compile(r"\s+slots\s*=\s*(\S*)")
_OTHER_OPTION = re.compile(r"\s+(?:max[-_]slots|sockets|port|user)\s*=\s*\S*")
_COUNT = re.compile(r"(.+?)\s*:\s*(\d{1,9})")
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
        text = Path(path).read_text(encoding="utf-8")
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
        content = content[: match.start()] + content[match.end() :]
    content = _OTHER_OPTION.sub("", content)
    for item in split_list(content):
        name, count = item, slots
        if item not in known and (match := _COUNT.fullmatch(item)):
            name, count = match[1], _slots(match[2], path, number)
        for host in [name] if name in known else expand(name, path, number):
            yield _Named(host, count, number)


def _slots(text: str, path: str, number: int) -> int:
    if not text.isdecimal() or not 1 <= int(text[:10]) <= _MOST_SLOTS:
        raise InputError(path, number, f"1 to {_MOST_SLOTS} slots", f'"{text}"')
    return int(text)


# What a launcher takes as a name; blanks, commas and colons mean something else to it.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_END_OF_SERVER = re.compile(r"[\s/:]")
_LAST_NUMBER = re.compile(r"(.*?)(\d{1,9})")


class ListFormat(StrEnum):
    """How a list of hosts is written."""

    PLAIN = "plain"
    """A line for every host: its name."""
    OPENMPI = "openmpi"
    """``node01 slots=8``, for ``mpirun --hostfile``."""
    MPICH = "mpich"
    """``node01:8``, for ``mpiexec -f``."""
    SLURM = "slurm"
    """A line for every rank, for ``SLURM_HOSTFILE`` and ``srun --distribution=arbitrary``."""
    NODELIST = "nodelist"
    """``node[01-03,7]``, for ``--nodelist``."""


@dataclass(frozen=True)
class HostEntry:
    """A host, the name of its server, and the ranks that it gets."""

    host: int
    name: str
    ranks: int


def list_hosts(fabric: Fabric, placement: Placement, ranks: int | None = None) -> list[HostEntry]:
    """The hosts that ranks fill, in rank order; hosts that follow themselves come once.

    Args:
        fabric: whose hosts.
        placement: which rank sits on which; not a random one.
        ranks: how many; None fills the placement.

    Raises:
        UsageError: the placement is drawn anew for every sample, or there are too many ranks.
    """
    if placement.random:
        raise UsageError("expected a fixed placement, but random is drawn anew for every sample")
    ranks = placement.ranks if ranks is None else ranks
    if not 1 <= ranks <= placement.ranks:
        raise UsageError(
            f"expected 1 to {counted(placement.ranks, 'rank')} on these hosts, got {ranks}"
        )
    used = placement.host_of_rank[:ranks].tolist()
    names = _server_names(fabric)
    return [HostEntry(host, names[host], len(list(group))) for host, group in groupby(used)]


def write_list(entries: Sequence[HostEntry], form: ListFormat) -> str:
    """The text of a list.

    Raises:
        UsageError: no launcher takes a name, or a server comes twice where that would change which
            rank sits where.
    """
    if form is ListFormat.PLAIN:
        return "".join(f"{entry.name}\n" for entry in entries)
    for entry in entries:
        if not _NAME.fullmatch(entry.name):
            raise UsageError(
                f'launchers do not take the name "{entry.name}"; the format plain writes it'
            )
    servers = [
        (name, sum(entry.ranks for entry in group))
        for name, group in groupby(entries, key=lambda entry: entry.name)
    ]
    if form is ListFormat.SLURM:
        return "".join(f"{name}\n" * ranks for name, ranks in servers)
    if form is ListFormat.NODELIST:
        return shorten([name for name, _ in servers]) + "\n"
    if len({name for name, _ in servers}) < len(servers):
        raise UsageError(
            "a server comes more than once, and launchers would gather its ranks; "
            f"the format {ListFormat.SLURM} keeps their order"
        )
    between = " slots=" if form is ListFormat.OPENMPI else ":"
    return "".join(f"{name}{between}{ranks}\n" for name, ranks in servers)


def shorten(names: Iterable[str]) -> str:
    """The list that a scheduler takes for these names: ``node[08-10,12],login1``.

    Names that differ in the number at their end, and write it with as many digits, share a bracket,
    which Slurm wants at the end too. Names come once, sorted within it.
    """
    numbers: dict[tuple[str, int], set[int]] = {}
    for name in names:
        match = _LAST_NUMBER.fullmatch(name)
        if match is None:
            numbers.setdefault((name, 0), set())
        else:
            numbers.setdefault((match[1], len(match[2])), set()).add(int(match[2]))
    return ",".join(_bracketed(*key, sorted(ends)) for key, ends in numbers.items())


def _bracketed(before: str, digits: int, numbers: list[int]) -> str:
    if not numbers:
        return before
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    ends = [dict.fromkeys(f"{end:0{digits}d}" for end in (run[0], run[-1])) for run in runs]
    inside = ",".join("-".join(run) for run in ends)
    return f"{before}{inside if len(numbers) == 1 else f'[{inside}]'}"


def _server_names(fabric: Fabric) -> list[str]:
    """For every host the name of its server, where its own begins with one, else its own."""
    server = servers_of(fabric).tolist()
    begins = [_END_OF_SERVER.split(name.strip(), maxsplit=1)[0] for name in fabric.host_name]
    owners: dict[str, set[int]] = {}
    for begin, owner in zip(begins, server, strict=True):
        owners.setdefault(begin, set()).add(owner)
    return [
        begin if begin and len(owners[begin]) == 1 else name.strip()
        for begin, name in zip(begins, fabric.host_name, strict=True)
    ]
