"""Evidence from nccl-tests: what GPUs measured beside what ports and the network's routes allow.

Their times are means over calls and, unless `-a` says otherwise, over ranks; bounds are the least
time until the last rank has ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from shlex import quote
from statistics import median

import numpy as np
from numpy.typing import NDArray

from contend.congestion import GpuCollective, GpuCollectives, gpu_collectives, simulate
from contend.congestion.gpus import PORTS
from contend.errors import ContendError
from contend.explanation.advice import Remedy
from contend.explanation.cures import ENGINES
from contend.explanation.evidence import Bound, Evidence, Limit
from contend.explanation.judging import Verdict
from contend.explanation.nccl_tests import NcclTest
from contend.fabric import Fabric, rails_of
from contend.placement import HostNames
from contend.routes import compute
from contend.units import counted, format_bytes, format_seconds

# Of contend's collectives, by how their names begin.
_WAYS = {
    "all-reduce": "all-reduce",
    "all-gather": "all-gather or reduce-scatter",
    "reduce-scatter": "all-gather or reduce-scatter",
    "all-to-all": "all-to-all",
}
_PRECISION = 0.01
# Routes that allow it in no less than this share of the time are no remedy.
_BETTER = 0.9
# A pair that gets less than this share of the median pair is slow.
_SLOW = 0.8
_FEWEST_PAIRS = 4


class NcclSource:
    """Tests of GPUs with the network that they ran on, as far as it is known.

    Args:
        name: of the file or folder, for errors.
        tests: as they were read.
        fabric: with routes; None where it is not known.
        wire: bytes per second of all links; None for the fabric's own.
        remarks: what is to be told beside it is added.
    """

    def __init__(
        self,
        name: str,
        tests: Sequence[NcclTest],
        fabric: Fabric | None,
        wire: float | None,
        remarks: list[str],
    ) -> None:
        self._name = name
        self._tests = tests
        self._fabric = fabric
        self._remarks = remarks
        self._count = partial(simulate, rate=wire, precision=_PRECISION)
        self._seats: dict[tuple[str, ...], NDArray[np.uint32]] = {}
        if fabric is None:
            remarks.append("The network is not known: name it with --fabric, and its routes.")

    def evidence(self) -> Iterator[Evidence]:
        """Evidence of every size of every test.

        Raises:
            InputError: the fabric has no such host.
        """
        names = None if self._fabric is None else HostNames(self._fabric)
        known: dict[tuple[str, ...], GpuCollectives] = {}
        for test in self._tests:
            servers = test.servers
            if names is not None and servers not in self._seats and len(servers) > 1:
                self._seats[servers] = self._seated(test, names)
                if self._seats[servers].size:
                    known[servers] = self._allowed(self._fabric, servers)
            collective = test.collective or "collective"
            gpus, where = counted(len(test.hosts), "GPU"), counted(len(servers), "server")
            if len(self._tests) > 1 and len(servers) == 2:
                where = " and ".join(servers)
            for timed in test.sizes:
                yield Evidence(
                    cell=f"{collective}, {format_bytes(timed.bytes)}, {gpus} on {where}",
                    series=f"{collective} on {where}",
                    at=f"at {format_bytes(timed.bytes)}",
                    condition=(servers, len(test.hosts)),
                    schedule=collective,
                    bytes=timed.bytes,
                    ranks=len(test.hosts),
                    measured_s=timed.seconds,
                    bounds=tuple(_bounds(known.get(servers), test.collective, timed.bytes)),
                    hosts=len(servers),
                )
        self._remarks += slow_pairs(self._tests)

    def _seated(self, test: NcclTest, names: HostNames) -> NDArray[np.uint32]:
        """The hosts of a test by server and rail; none where bounds are not known."""
        assert self._fabric is not None
        rail = rails_of(self._fabric)
        found = [names.find(host, self._name) for host in test.servers]
        seats = [sorted(own[rail[own] >= 0], key=rail.__getitem__) for own in map(np.array, found)]
        adapters = {len(own) for own in seats}
        each = {test.hosts.count(host) for host in test.servers}
        if adapters == each and len(adapters) == 1:
            return np.array(seats, dtype=np.uint32)
        self._remarks.append(
            f"{self._name}: contend knows bounds where every GPU has an adapter of its own; here "
            f"servers have {_either(each)} GPUs and {_either(adapters)} adapters."
        )
        return np.zeros((0, 0), dtype=np.uint32)

    def _allowed(self, fabric: Fabric | None, servers: tuple[str, ...]) -> GpuCollectives:
        assert fabric is not None
        return gpu_collectives(fabric, self._seats[servers], count=self._count)

    def remedies(self, verdicts: Sequence[Verdict]) -> Iterator[Remedy]:
        """What helps against the limits that tests hit."""
        hit = {limit: verdict for verdict in reversed(verdicts) for limit in verdict.limits}
        if (verdict := hit.get(Limit.FABRIC)) is not None:
            yield self._other_routes(verdict)
        if Limit.PORT in hit:
            yield Remedy(
                Limit.PORT, "The ports are full: only faster or more adapters make this faster."
            )
        if (verdict := hit.get(Limit.OVERHEAD)) is not None:
            advice = "Latency decides at such sizes: send several buffers in one call"
            trees = ", or try trees (NCCL_ALGO=Tree)"
            more = trees if verdict.evidence.schedule == "all-reduce" else ""
            yield Remedy(Limit.OVERHEAD, f"{advice}{more}.")

    def _other_routes(self, verdict: Verdict) -> Remedy:
        """The engine whose routes allow most, or that none of them does better."""
        assert self._fabric is not None
        evidence = verdict.evidence
        servers, size = evidence.condition[0], evidence.bytes or 0
        assert isinstance(servers, tuple)
        now = evidence.bound(Limit.FABRIC)
        assert now is not None
        allowed: dict[str, float] = {}
        for engine in ENGINES:
            try:
                found = self._allowed(compute(self._fabric, engine), servers)
            except ContendError:
                continue
            way = _fastest(found, evidence.schedule)
            allowed[engine] = now.seconds if way is None else way.seconds(size) or now.seconds
        best = min(allowed, key=lambda engine: allowed[engine], default="")
        if not best or allowed[best] > _BETTER * now.seconds:
            advice = f"None of {', '.join(ENGINES)} routes this better; servers on fewer leaves"
            return Remedy(Limit.FABRIC, f"{advice}, or in another order, would share fewer cables.")
        return Remedy(
            Limit.FABRIC,
            f"Routes by {best} would allow {evidence.schedule} {evidence.at} in "
            f"{format_seconds(allowed[best])} instead of {format_seconds(now.seconds)}.",
            f"contend predict collectives {quote(self._fabric.name)} --route {best}",
            now.seconds - allowed[best],
        )


def _either(numbers: set[int]) -> str:
    return " or ".join(map(str, sorted(numbers)))


def _ways(known: GpuCollectives | None, collective: str) -> list[GpuCollective]:
    """The ways that a collective may take, where the rates of links are known."""
    if known is None or collective not in _WAYS:
        return []
    return [
        way
        for way in known.collectives
        if way.name.startswith(_WAYS[collective]) and way.bus_Bps is not None
    ]


def _fastest(known: GpuCollectives | None, collective: str) -> GpuCollective | None:
    ways = _ways(known, collective)
    return min(ways, key=lambda way: way.seconds(1) or 0.0, default=None)


def _bounds(known: GpuCollectives | None, collective: str, size: int) -> Iterator[Bound]:
    """The least that any known way takes, by ports alone and over the fabric's routes."""
    fastest = _fastest(known, collective)
    if fastest is None:
        return
    ports = {way.name: way.share * (way.seconds(size) or 0.0) for way in _ways(known, collective)}
    least = min(ports, key=lambda name: ports[name])
    yield Bound(Limit.PORT, ports[least], f"{least}, by what ports carry")
    if fastest.limit != PORTS:
        yield Bound(
            Limit.FABRIC,
            fastest.seconds(size) or 0.0,
            f"{fastest.name}, by what channels of the fabric carry",
            channels=(fastest.limit,),
            load=max(2, round(1 / fastest.share)),
        )


def slow_pairs(tests: Sequence[NcclTest]) -> list[str]:
    """What pairs of servers say of the slow among them, where a test measured each.

    A server that all slow pairs share, and no other pair, is named: then it is its adapters, its
    slots or its GPUs that are slow, and not the network. A pair's rate is that of its largest size.
    """
    rate: dict[tuple[str, str], float] = {}
    for test in tests:
        if len(test.servers) == 2 and test.sizes:
            largest = max(test.sizes, key=lambda timed: timed.bytes)
            first, second = sorted(test.servers)
            rate[first, second] = largest.bytes / largest.seconds
    if len(rate) < _FEWEST_PAIRS:
        return []
    usual = median(rate.values())
    slow = [pair for pair, each in rate.items() if each < _SLOW * usual]
    if not slow:
        return []
    times = Counter(server for pair in slow for server in pair)
    others = {server for pair in rate if pair not in slow for server in pair}
    shared = [server for server, n in times.items() if n == len(slow) and server not in others]
    loss = f"{100 * min(rate[pair] for pair in slow) / usual:.0f} % of the median pair's rate"
    pairs = counted(len(slow), "slow pair")
    if len(slow) > 1 and len(shared) == 1:
        return [
            f"{shared[0]} is in each of the {pairs} and in no other: look at its adapters, slots "
            f"and GPUs, not at the network. The slowest gets {loss}."
        ]
    listed = ", ".join(" - ".join(pair) for pair in slow[:3])
    more = f" and {len(slow) - 3:,} more" if len(slow) > 3 else ""
    return [
        f"{pairs[:1].upper()}{pairs[1:]} share no server of their own ({listed}{more}), so look at "
        f"the network between them. The slowest gets {loss}."
    ]
