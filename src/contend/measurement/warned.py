"""What the places of ranks mean for a measurement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from contend.measurement.shape import Shape
from contend.runs import RanksFrame, Warned
from contend.units import counted


def warnings_about(ranks: RanksFrame, shape: Shape) -> Iterator[Warned]:
    """Warnings for ranks that share processors, move between them, or are not where they should be.

    Args:
        ranks: where the ranks say that they are.
        shape: where they were to be.
    """
    on_host = Counter(ranks.host)
    cpus = dict(zip(ranks.host, ranks.host_cpus, strict=False))
    if ranks.oversubscribed:
        yield _oversubscribed(ranks, on_host, cpus)
    elif unbound := _unbound(ranks):
        yield Warned(
            "unbound",
            f"{unbound} of {counted(len(ranks.host), 'rank')} may move between processors while "
            "they are timed: bind each to a core (mpirun --bind-to core, srun --cpu-bind=cores)",
        )
    if misplaced := _misplaced(on_host, shape):
        yield Warned("placement", misplaced)


def _oversubscribed(ranks: RanksFrame, on_host: Counter[str], cpus: dict[str, int]) -> Warned:
    crowded = [host for host, count in on_host.items() if count > cpus.get(host, count)]
    if not crowded and _bound(ranks):
        said = "several ranks are bound to the same processor"
        return Warned("oversubscribed", f"{said}: bind each rank to a core of its own")
    if not crowded:
        # Every host by itself has processors enough: they are the same ones.
        return Warned(
            "oversubscribed",
            f"{len(on_host)} hosts are one machine of {counted(max(cpus.values()), 'processor')}: "
            "times of less than about a millisecond are those of taking turns more than of the "
            "network",
        )
    host = max(crowded, key=lambda name: on_host[name] / cpus[name])
    return Warned(
        "oversubscribed",
        f"{counted(on_host[host], 'rank')} share {counted(cpus[host], 'processor')} on {host}, so "
        "times are those of taking turns more than of the network: use at most "
        f"{counted(cpus[host], 'rank')} a host, or more hosts",
    )


def _unbound(ranks: RanksFrame) -> int:
    """Ranks that may run wherever their host has a processor, and so be moved."""
    return sum(
        count > 1 and len(_processors(allowed)) >= count
        for allowed, count in zip(ranks.cpus, ranks.host_cpus, strict=False)
    )


def _bound(ranks: RanksFrame) -> bool:
    """Whether a rank may not run on all processors of its host."""
    return any(
        0 < len(_processors(allowed)) < count
        for allowed, count in zip(ranks.cpus, ranks.host_cpus, strict=False)
    )


def _misplaced(on_host: Counter[str], shape: Shape) -> str:
    """How the ranks' hosts differ from those asked for; "" when they do not."""
    asked = len(shape.hosts)
    if not asked and shape.ranks_per_host is not None:
        asked = -(-shape.ranks // shape.ranks_per_host)
    if not asked or asked == len(on_host):
        return ""
    return (
        f"{counted(shape.ranks, 'rank')} were to be on {counted(asked, 'host')} and are on "
        f"{len(on_host)} ({', '.join(list(on_host)[:4])})"
    )


def _processors(allowed: str) -> set[int]:
    """The numbers in a list of the kernel, such as ``0-3,8``."""
    found: set[int] = set()
    for part in allowed.split(","):
        first, dash, last = part.partition("-")
        if first.isdecimal() and (not dash or last.isdecimal()):
            found.update(range(int(first), int(last or first) + 1))
    return found
