"""Lists of hosts as MPI launchers and schedulers read them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from contend import fabric as fabrics
from contend.base.errors import ArgumentError, UsageError
from contend.base.names import natural, shorten
from contend.base.units import counted

if TYPE_CHECKING:
    from contend.fabric import Fabric
    from contend.traffic.placement.placement import Placement

_GUID = re.compile(r"0x[0-9a-f]{16}")
_FIRST_OF_ALL = "# Open MPI 4.1 fills the machine that runs mpirun first if it is in this list.\n"


class ListFormat(StrEnum):
    """How a list of hosts is written."""

    PLAIN = "plain"
    """A line for every server: its name."""
    OPENMPI = "openmpi"
    """``node01 slots=8``, for ``mpirun --hostfile``."""
    MPICH = "mpich"
    """``node01:8``, for ``mpiexec -f``."""
    SLURM = "slurm"
    """A line for every rank, for ``SLURM_HOSTFILE`` and ``srun --distribution=arbitrary``."""
    NODELIST = "nodelist"
    """``node[01-03,7]``, for ``--nodelist``."""
    RANKFILE = "rankfile"
    """``rank 0=node01 slot=0``, for ``mpirun --rankfile``."""
    CRAY = "cray"
    """``0,4,1,5``: ranks host by host in the order of names, for ``MPICH_RANK_ORDER``."""


@dataclass(frozen=True)
class HostEntry:
    """A host, its server's name, the ranks that it gets, and a name for launchers if it differs."""

    host: int
    name: str
    ranks: int
    launched: str = ""


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
        raise ArgumentError(
            "ranks", f"expected 1 to {placement.ranks}, which have a host, got {ranks}"
        )
    used = placement.host_of_rank[:ranks].tolist()
    # Imported here: help lists the formats, and needs no names.
    from contend.traffic.placement.host_names import launcher_names

    names, launched = fabrics.server_names(fabric), launcher_names(fabric)
    return [
        HostEntry(host, names[host], len(list(group)), launched[names[host]])
        for host, group in groupby(used)
    ]


def renamed(entries: Sequence[HostEntry], form: ListFormat) -> str:
    """A clause on names in a list that are not the fabric's; "" where there are none."""
    other = next((entry for entry in entries if entry.launched not in ("", entry.name)), None)
    if other is None or form is ListFormat.PLAIN:
        return ""
    return f'; launchers do not take the name "{other.name}", so it is {other.launched} there'


def write_list(entries: Sequence[HostEntry], form: ListFormat) -> str:
    """The text of a list.

    Raises:
        UsageError: nothing names a server, or one comes twice where that would change which rank
            sits where.
    """
    for name in (entry.name for entry in entries if fabrics.is_nobody(entry.name)):
        raise UsageError(
            f'every machine calls itself "{name}", so no launcher can start ranks there'
        )
    if form is ListFormat.PLAIN:
        return "".join(f"{name}\n" for name in dict.fromkeys(entry.name for entry in entries))
    for entry in entries:
        if _GUID.fullmatch(entry.name):
            raise UsageError(
                f"nothing in the fabric names the server of adapter {entry.name}, and launchers "
                "know servers by names; the format plain writes the GUID"
            )
    entries = [replace(entry, name=entry.launched or entry.name) for entry in entries]
    servers = [
        (name, sum(entry.ranks for entry in group))
        for name, group in groupby(entries, key=lambda entry: entry.name)
    ]
    if form is ListFormat.SLURM:
        return "".join(f"{name}\n" * ranks for name, ranks in servers)
    if form is ListFormat.NODELIST:
        return shorten([name for name, _ in servers]) + "\n"
    if form is ListFormat.RANKFILE:
        return _rankfile(servers)
    if form is ListFormat.CRAY:
        return _rank_order(servers)
    if form is ListFormat.OPENMPI and len({name for name, _ in servers}) < len(servers):
        raise UsageError(
            "a server comes more than once, and Open MPI would gather its ranks; "
            f"the formats {ListFormat.RANKFILE} and {ListFormat.SLURM} keep their order"
        )
    if form is ListFormat.OPENMPI:
        return _FIRST_OF_ALL + "".join(f"{name} slots={ranks}\n" for name, ranks in servers)
    return "".join(f"{name}:{ranks}\n" for name, ranks in servers)


def _rankfile(servers: Sequence[tuple[str, int]]) -> str:
    """A line for every rank; a server's ranks take its cores in turn."""
    taken: Counter[str] = Counter()
    lines: list[str] = []
    for name in (name for name, ranks in servers for _ in range(ranks)):
        lines.append(f"rank {len(lines)}={name} slot={taken[name]}\n")
        taken[name] += 1
    return "".join(lines)


def _rank_order(servers: Sequence[tuple[str, int]]) -> str:
    """A line of ranks for every server, in the natural order of names."""
    held: dict[str, list[str]] = {}
    for rank, name in enumerate(name for name, ranks in servers for _ in range(ranks)):
        held.setdefault(name, []).append(str(rank))
    names = sorted(held, key=natural)
    most = max(map(len, held.values()), default=0)
    for name in names[:-1]:
        if len(held[name]) < most:
            raise UsageError(
                f"a rank order fills every server but the last: {name} has "
                f"{counted(len(held[name]), 'rank')}, others {most}; the format "
                f"{ListFormat.SLURM} takes any number"
            )
    return "".join(",".join(held[name]) + "\n" for name in names)
