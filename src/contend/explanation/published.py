"""Evidence from numbers that others published, as plans of studies carry them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contend.base.errors import UsageError
from contend.base.units import counted, format_bytes, format_link_speed
from contend.explanation.evidence import (
    Bound,
    Evidence,
    FailedEvidence,
    Memory,
    PublishedEvidence,
)
from contend.explanation.measured import volume
from contend.explanation.network import port_bound
from contend.lab.measurement import MemoryPrediction
from contend.lab.studies import Known, MeasuredPlan


def published_evidence(
    plan: MeasuredPlan, wire: float | None = None, memory: int | None = None
) -> Iterator[Evidence]:
    """Evidence of every number that a plan has from elsewhere.

    Args:
        plan: with references.
        wire: bytes per second of a port; None for what references or the plan say.
        memory: bytes of a host; None for what the plan says of its sources' hosts.

    Raises:
        UsageError: the plan has no such numbers.
    """
    known = plan.known()
    if not known:
        raise UsageError(f"{plan.name} has no published figures to explain; give a run of it")
    wire = plan.wire if wire is None else wire
    said = plan.memory if plan.predict is None else plan.predict.memory
    memory = said if memory is None else memory
    for number in known:
        yield _evidence(number, wire, memory)


def _evidence(known: Known, wire: float | None, memory: int | None) -> Evidence:
    each = known.ranks_per_host
    ranks = known.ranks
    if ranks is None and known.hosts is not None and each is not None:
        ranks = known.hosts * each
    sort = _sort(known)
    size = known.bytes if sort is None else int(sort.block_bytes)
    schedule = known.said or known.algorithm or known.measure
    hosts = known.hosts
    if hosts is None and ranks is not None and each is not None:
        hosts = -(-ranks // each)
    wire = known.wire_Bps if known.wire_Bps is not None else wire
    phrases = _phrases(known, schedule, size, ranks, hosts)
    common: dict[str, Any] = {
        "cell": ", ".join(phrases),
        "phrases": phrases,
        "condition": (known.source, known.measure, known.conditions, ranks, each, known.vectors),
        "series": _series(known, schedule),
        "at": f"on {counted(hosts, 'host')}" if sort and hosts else f"at {format_bytes(size or 0)}",
        "schedule": schedule,
        "bytes": size,
        "ranks": ranks,
        "hosts": hosts or 0,
        "bounds": _port(ranks, each, size, wire),
        "memory": Memory(sort.host_arrays_bytes, memory) if sort and memory is not None else None,
    }
    if known.failed:
        return FailedEvidence(**common)
    return PublishedEvidence(
        **common,
        measured_s=_seconds(known, size, ranks),
        deviation_s=known.spread_s,
        volume=volume(known.algorithm or "", ranks or 1),
    )


def _sort(known: Known) -> MemoryPrediction | None:
    """The arrays of a sort; None for other measurements."""
    if known.vectors is None or known.length is None:
        return None
    if known.hosts is None or known.ranks_per_host is None:
        return None
    doubles = known.length.at(known.hosts)
    return MemoryPrediction(known.vectors, known.hosts, known.ranks_per_host, doubles)


def _seconds(known: Known, size: int | None, ranks: int | None) -> float | None:
    """Seconds of one operation; where ranks are not known those of the message to one of them.

    Rates are taken as p - 1 blocks over the time, as contend's are; sources need not say so.
    """
    if known.seconds is not None or known.rate_Bps is None or size is None:
        return known.seconds
    return (1 if ranks is None else ranks - 1) * size / known.rate_Bps


def _port(
    ranks: int | None, each: int | None, size: int | None, wire: float | None
) -> tuple[Bound, ...]:
    """What leaves a host of k of p ranks, k (p - k) messages, over what its port carries.

    Where the ranks of a host are not published it has one, which needs least; where none are, the
    bound is of the message to one destination.
    """
    if size is None or wire is None:
        return ()
    rate = format_link_speed(wire)
    if ranks is None:
        return (port_bound(size, wire, f"through a port at {rate}, for one destination"),)
    here = 1 if each is None else each
    if here >= ranks:
        return ()
    through = here * (ranks - here) * size
    return (port_bound(through, wire, f"out of the port of every host at {rate}"),)


def _series(known: Known, schedule: str) -> str:
    what = schedule if known.length is None else f"m = {known.length}"
    return f"{what} ({known.source})"


def _phrases(
    known: Known, schedule: str, size: int | None, ranks: int | None, hosts: int | None
) -> tuple[str, ...]:
    where = "" if ranks is None else counted(ranks, "rank")
    if where and hosts is not None:
        where += f" on {counted(hosts, 'host')}"
    if known.length is not None:
        return tuple(filter(None, (known.source, f"m = {known.length}", where)))
    shown = "" if size is None else format_bytes(size)
    return tuple(filter(None, (known.source, schedule, shown, where, known.conditions)))
