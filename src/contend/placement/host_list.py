"""Lists of hosts as MPI launchers and schedulers read them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from contend.errors import UsageError
from contend.fabric import Fabric, servers_of
from contend.placement.placement import Placement
from contend.placement.ranges import shorten

# What a launcher takes as a name; blanks, commas and colons mean something else to it.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_END_OF_SERVER = re.compile(r"[\s/:]")


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
        UsageError: for a placement that is drawn anew for every sample, or too many ranks.
    """
    if placement.random:
        raise UsageError(
            "a placement that stays as it is, got random, which is drawn for every sample"
        )
    ranks = placement.ranks if ranks is None else ranks
    if not 1 <= ranks <= placement.ranks:
        raise UsageError(f"between 1 and {placement.ranks} ranks on these hosts, got {ranks}")
    used = placement.host_of_rank[:ranks].tolist()
    names = _server_names(fabric)
    return [HostEntry(host, names[host], len(list(group))) for host, group in groupby(used)]


def write_list(entries: Sequence[HostEntry], form: ListFormat) -> str:
    """The text of a list.

    Raises:
        UsageError: for a name that no launcher takes, or a server that comes twice where that
            would change which rank sits where.
    """
    if form is ListFormat.PLAIN:
        return "".join(f"{entry.name}\n" for entry in entries)
    for entry in entries:
        if not _NAME.fullmatch(entry.name):
            raise UsageError(
                f'a name that launchers take, got "{entry.name}"; --format plain writes it'
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
            "every server once, as launchers would gather its ranks; "
            f"--format {ListFormat.SLURM} keeps their order"
        )
    between = " slots=" if form is ListFormat.OPENMPI else ":"
    return "".join(f"{name}{between}{ranks}\n" for name, ranks in servers)


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
