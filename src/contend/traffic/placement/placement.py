"""A placement: which rank runs on which host, as a specification, a host file or an array says."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import Argument, ArgumentError, UsageError
from contend.base.names import expand, split_list
from contend.base.units import counted, nearest
from contend.fabric import Fabric
from contend.traffic.placement.host_names import HostNames, fill, read_host_file
from contend.traffic.placement.order import (
    FORMS_BY_PLACE,
    ORDERS,
    PlaceSpec,
    by_name,
    choose_by_place,
    leaf_by_leaf,
    seats_by_server,
)

HostChoice = str | int | Sequence[int] | Sequence[str] | NDArray[np.integer]
"""A specification, how many hosts (the first by name), or hosts by number or name."""

_SOURCE = Argument("hosts", None)
# The longest array that is written out in a name or a representation.
_SHOWN = 4


# A thousand on each host of the largest machines: their hosts take 256 MiB.
_MOST_RANKS = 1 << 26


@dataclass(frozen=True, eq=False, repr=False)
class Placement:
    """Which rank sits on which host: rank r on ``hosts[r // ranks_per_host]``."""

    name: str
    """Specification that it was made from, such as ``random`` or ``file:hosts.txt``."""
    hosts: NDArray[np.uint32]
    """Host of every slot, in rank order, shape [slots], uint32; a host may have several."""
    ranks_per_host: int = 1
    """Ranks that share a slot."""
    random: bool = False
    """Whether the slots are shuffled anew for every sample."""
    left_out: str = ""
    """A sentence on servers that it leaves out, and why; "" where there are none."""

    def __post_init__(self) -> None:
        if self.ranks_per_host < 1:
            raise UsageError(f"expected at least 1 rank per host, got {self.ranks_per_host}")
        if len(self.hosts) == 0:
            raise UsageError(f"placement {self.name}: no host is left to place ranks on")
        if len(self.hosts) * self.ranks_per_host > _MOST_RANKS:
            raise UsageError(
                f"expected at most {_MOST_RANKS:,} ranks, got {self.ranks_per_host:,} on each of "
                f"{counted(len(self.hosts), 'host')}"
            )
        hosts = np.array(self.hosts, dtype=np.uint32)
        hosts.flags.writeable = False
        object.__setattr__(self, "hosts", hosts)

    @classmethod
    def from_hosts(
        cls,
        fabric: Fabric,
        hosts: Sequence[int] | Sequence[str] | NDArray[np.integer],
        *,
        name: str = "given",
    ) -> Placement:
        """Places every rank on the host that an array names.

        Args:
            fabric: whose hosts.
            hosts: host of every rank, shape [ranks]: numbers as in `Fabric.host_name`, or names as
                in a host file. Where a name means several hosts, the rails of a server, the ranks
                that bear it are dealt to them in blocks.
            name: what the placement is called in results.

        Raises:
            UsageError: a number is no host's, or the array has another shape.
            InputError: a name is unknown or ambiguous.
        """
        return cls(name, _hosts_of_array(fabric, hosts, "placement"))

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.hosts[:_SHOWN].tolist()))
        more = ", ..." if len(self.hosts) > _SHOWN else ""
        each = f" with {self.ranks_per_host} ranks each" if self.ranks_per_host > 1 else ""
        how = "shuffled for every sample" if self.random else "in rank order"
        return f"<Placement {self.name}: hosts {shown}{more}{each}, {how}>"

    @property
    def ranks(self) -> int:
        """Number of ranks that have a place."""
        return len(self.hosts) * self.ranks_per_host

    @property
    def host_of_rank(self) -> NDArray[np.uint32]:
        """Host of every rank, shape [ranks], before any shuffling."""
        return np.repeat(self.hosts, self.ranks_per_host)


def parse(
    spec: str,
    fabric: Fabric,
    *,
    ranks_per_host: int = 1,
    hosts: HostChoice | None = None,
    ranks: int | None = None,
) -> Placement:
    """Places ranks on a fabric's hosts.

    Args:
        spec: ``random``, ``linear``, ``guid``, ``bfs``, ``round-robin``, ``servers``,
            ``rings`` or ``file:PATH``; ``given``, the order in which `hosts` names them, with the
            slots of a host file; or hosts by their place, ``same-leaf``, ``leaves:K``, ``spread``
            or ``port-group:K``.
        fabric: whose hosts.
        ranks_per_host: ranks that share a host; a host file may give each its own slots instead.
        hosts: a choice among the hosts, see `choose_hosts`; None is all.
        ranks: how many ranks there will be, for which hosts by their place are chosen; None takes
            as many hosts as the specification allows. The other placements have all hosts.

    Raises:
        UsageError: there is no such placement, the choice leaves no host, or the fabric has not
            enough hosts in such a place.
        InputError: a name is unknown or ambiguous, with the line of the host file.
    """
    if spec == "given":
        return replace(_as_given(fabric, hosts, ranks_per_host), name=spec)
    chosen, left_out = None, ""
    names = HostNames(fabric) if hosts is not None or spec.startswith("file:") else None
    if hosts is not None and names is not None:
        chosen = frozenset(choose_hosts(hosts, fabric, names))
    if names is not None and spec.startswith("file:"):
        slots = _slots_of_file(spec.removeprefix("file:"), names, ranks_per_host)
    elif spec == "random":
        slots = by_name(fabric).tolist()
    elif spec in ("servers", "rings"):
        listed = [host for host in by_name(fabric).tolist() if chosen is None or host in chosen]
        among = np.array(listed, dtype=np.uint32)
        if spec == "rings":
            among = leaf_by_leaf(fabric, among)
        seats, left_out = seats_by_server(fabric, among)
        slots = seats.ravel().tolist()
    elif spec in ORDERS:
        slots = ORDERS[spec](fabric).tolist()
    elif (place := PlaceSpec.parse(spec)) is not None:
        count = None if ranks is None else -(-ranks // max(ranks_per_host, 1))
        slots = choose_by_place(place, fabric, chosen, count)
    else:
        known = ("random", *ORDERS, "servers", "rings", "given", *FORMS_BY_PLACE, "file:PATH")
        family = spec.partition(":")[0]
        hint = nearest(family, [form.partition(":")[0] for form in known])
        raise ArgumentError("placement", f"expected one of {', '.join(known)}, got {spec!r}{hint}")
    if chosen is not None:
        slots = [host for host in slots if host in chosen]
    return Placement(
        name=spec,
        hosts=np.array(slots, dtype=np.uint32),
        ranks_per_host=ranks_per_host,
        random=spec == "random",
        left_out=left_out,
    )


def _as_given(fabric: Fabric, hosts: HostChoice | None, ranks_per_host: int) -> Placement:
    """Slots in the order in which a choice names hosts; of a host file those that it gives."""
    if hosts is None:
        return Placement("linear", by_name(fabric), ranks_per_host)
    names = HostNames(fabric)
    if isinstance(hosts, str) and (path := _path_of(hosts, names)) is not None:
        slots = _slots_of_file(path, names, ranks_per_host)
    else:
        slots = choose_hosts(hosts, fabric, names)
    return Placement("given", np.array(slots, dtype=np.uint32), ranks_per_host)


def _slots_of_file(path: str, names: HostNames, ranks_per_host: int) -> list[int]:
    lines = read_host_file(path, names)
    if ranks_per_host != 1 and any(line.slots is not None for line in lines):
        raise UsageError(f"{path} says how many ranks a host takes: leave ranks per host at 1")
    return fill(lines)


def choose_hosts(spec: HostChoice, fabric: Fabric, names: HostNames) -> list[int]:
    """The hosts that a choice means, each once, in the order in which it names them.

    Args:
        spec: a number N (the first N by name), a glob (``luna-01*``), a comma-separated list of
            names, ranges and globs, or a host file (its path, or ``file:`` and its path); or an
            array of numbers or names. Items of a list that begin with ``!`` exclude what they
            mean: from the others, or, where there are none, from all hosts.
        fabric: whose hosts.
        names: its names.

    Raises:
        UsageError: the fabric has no such number, or no host is left.
        InputError: a name is unknown or ambiguous.
    """
    if isinstance(spec, (int, np.integer)):
        spec = str(spec)
    if not isinstance(spec, str):
        return list(dict.fromkeys(_hosts_of_array(fabric, spec, "hosts").tolist()))
    if spec in names or "!" not in spec:
        return _chosen(spec, fabric, names, frozenset())
    items = split_list(spec)
    excluded = frozenset(
        host
        for item in items
        if item.startswith("!")
        for host in _chosen(item[1:].strip(), fabric, names, frozenset())
    )
    kept = ",".join(item for item in items if not item.startswith("!"))
    chosen = _chosen(kept or str(fabric.hosts), fabric, names, excluded)
    if not chosen:
        raise ArgumentError("hosts", f"{spec!r} leaves none of {counted(fabric.hosts, 'host')}")
    return chosen


def _chosen(spec: str, fabric: Fabric, names: HostNames, excluded: frozenset[int]) -> list[int]:
    """The hosts of a choice that excludes nothing itself; a number counts those that are left."""
    if spec.removeprefix("-").isdecimal():
        if not spec.isdecimal() or len(spec) > 9 or not 1 <= int(spec) <= fabric.hosts:
            raise ArgumentError(
                "hosts", f"expected 1 to {fabric.hosts} of {fabric.name}, got {spec}"
            )
        left = [host for host in names.first(fabric.hosts) if host not in excluded]
        return left[: int(spec)]
    if (path := _path_of(spec, names)) is not None:
        found = (host for line in read_host_file(path, names) for host in line.hosts)
    else:
        found = (host for item in split_list(spec) for host in _of_item(item, names))
    return [host for host in dict.fromkeys(found) if host not in excluded]


def _path_of(spec: str, names: HostNames) -> str | None:
    """The host file that a choice names; None where it is a list of hosts."""
    if spec.startswith("file:"):
        return spec.removeprefix("file:")
    return spec if spec not in names and os.path.isfile(spec) else None


def _of_item(item: str, names: HostNames) -> list[int]:
    if item in names:
        return names.find(item, _SOURCE)
    if "*" in item or "?" in item:
        return names.match(item, _SOURCE)
    return [host for name in expand(item, _SOURCE) for host in names.find(name, _SOURCE)]


def _hosts_of_array(
    fabric: Fabric, array: Sequence[int] | Sequence[str] | NDArray[np.integer], argument: str
) -> NDArray[np.uint32]:
    """Host numbers of an array of numbers or names, shape [ranks]."""
    values = np.asarray(array)
    if values.ndim != 1 or len(values) == 0:
        raise UsageError(f"{argument}: expected one host per rank, got shape {values.shape}")
    if values.dtype.kind == "U":
        return _deal_rails([str(name) for name in values], HostNames(fabric), argument)
    if values.dtype.kind not in "iu":
        raise UsageError(f"{argument}: expected numbers or names of hosts, got {values.dtype}")
    if not 0 <= int(values.min()) <= int(values.max()) < fabric.hosts:
        raise UsageError(
            f"{argument}: expected hosts 0 .. {fabric.hosts - 1} of {fabric.name}, "
            f"got {values.min()} .. {values.max()}"
        )
    return values.astype(np.uint32)


def _deal_rails(names: list[str], known: HostNames, argument: str) -> NDArray[np.uint32]:
    """Host of every name; rank i of n on a server with k rails sits on rail i * k // n."""
    ranks_of, hosts_of = Counter(names), {name: known.seats(name, argument) for name in set(names)}
    dealt: Counter[str] = Counter()
    hosts = []
    for name in names:
        rails = hosts_of[name]
        hosts.append(rails[dealt[name] * len(rails) // ranks_of[name]])
        dealt[name] += 1
    return np.array(hosts, dtype=np.uint32)
