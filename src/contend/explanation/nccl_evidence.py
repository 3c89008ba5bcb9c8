"""Evidence from nccl-tests: what GPUs measured beside what ports and the network's routes allow.

Their times are means over calls and, unless `-a` says otherwise, over ranks; bounds are the least
time until the last rank has ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import InputError
from contend.base.units import counted, format_bytes, format_rate, format_seconds, rounded
from contend.congestion import GpuCollective, GpuCollectives, gpu_collectives, simulate
from contend.congestion.gpus import PORTS
from contend.explanation.evidence import Bound, Evidence, Limit, MeasuredEvidence
from contend.explanation.judging import Verdict
from contend.explanation.nccl_tests import NcclTest, TimedSize
from contend.explanation.remedies import Remedy, by_engines, named, none_better
from contend.fabric import Fabric, rails_of
from contend.lab.runs import IMPOSSIBLE
from contend.traffic.placement import HostNames

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
# Pairs that get less than this share of what the next faster one gets are slow.
_SLOW = 0.8
_FEWEST_PAIRS = 4
# So many findings that are alike have a line each.
_MOST_ALIKE = 3
# A size whose bandwidth is below this share of that of smaller ones has lost something.
_FALLEN = 2 / 3
_AS_FAST = 0.95
# So much longer than a larger size no size takes by chance.
_LONGER = 1.2
# The first size may have warmed up what the others use.
_WARM = 2


@dataclass(frozen=True)
class _Odd:
    """A size that falls out of line, the share of what it should get, and what to do."""

    share: float
    told: str
    advice: str


class NcclSource:
    """Tests of GPUs with the network that they ran on, as far as it is known.

    Args:
        name: of the file or folder, for errors.
        tests: as they were read.
        fabric: with routes; None where it is not known.
        wire: bytes per second of all links; None for the fabric's own.
        remarks: what could not be known is added.
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
        self._odd: list[_Odd] = []
        self._count = partial(simulate, rate=wire, precision=_PRECISION)
        self._seats: dict[tuple[str, ...], NDArray[np.uint32]] = {}
        if fabric is None and any(map(_crossed, tests)):
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
            gpus, where = counted(test.ranks, "GPU"), counted(len(servers), "server")
            if len(self._tests) > 1 and len(servers) == 2:
                where = " and ".join(servers)
            if servers:
                on = f"{gpus} on {where}"
            elif test.ranks:
                on = f"{gpus} of one process" if test.one_process else gpus
            else:
                on = "unknown GPUs"
            series = f"{collective} on {where if servers else on}"
            self._remarks += _untold(test, self._name, series)
            self._odd += _odd_sizes(test, series)
            for timed in test.sizes:
                yield MeasuredEvidence(
                    cell=f"{collective}, {format_bytes(timed.bytes)}, {on}",
                    phrases=(on,),
                    series=series,
                    at=f"at {format_bytes(timed.bytes)}",
                    condition=(servers, test.ranks),
                    schedule=collective,
                    bytes=timed.bytes,
                    ranks=test.ranks or None,
                    measured_s=timed.seconds,
                    bounds=tuple(_bounds(known.get(servers), test.collective, timed.bytes)),
                    hosts=len(servers),
                )

    def _seated(self, test: NcclTest, names: HostNames) -> NDArray[np.uint32]:
        """The hosts of a test by server and rail; none where bounds are not known."""
        assert self._fabric is not None
        rail = rails_of(self._fabric)
        for host in test.servers:
            if host not in names:
                got = f'"{host}": pods go by names of their own, so write those of their nodes'
                raise InputError(self._name, 0, f"a host of {self._fabric.name}", got)
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

    def odd_sizes(self) -> Iterator[str]:
        """Sizes that fall out of line, in words: the worst of many alike for all of them."""
        for advice in dict.fromkeys(one.advice for one in self._odd):
            alike = sorted(
                (one for one in self._odd if one.advice == advice), key=lambda one: one.share
            )
            if len(alike) <= _MOST_ALIKE:
                yield from (f"{one.told} {advice}" for one in alike)
            else:
                yield f"{alike[0].told} {advice} {len(alike) - 1:,} more do so, less than this one."

    def remedies(self, verdicts: Sequence[Verdict]) -> Iterator[Remedy]:
        """What helps against the limits that tests hit."""
        hit = {limit: verdict for verdict in reversed(verdicts) for limit in verdict.proven}
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
        now_s = now.seconds

        def least(routed: Fabric) -> float:
            way = _fastest(self._allowed(routed, servers), evidence.schedule)
            return now_s if way is None else way.seconds(size) or now_s

        allowed = by_engines(self._fabric, least)
        best = min(allowed, key=lambda engine: allowed[engine], default="")
        if not best or allowed[best] > _BETTER * now_s:
            more = "servers on fewer leaves, or in another order, would share fewer cables."
            advice = f"{none_better(self._fabric)}{more}"
            return Remedy(Limit.FABRIC, f"{advice[:1].upper()}{advice[1:]}")
        return Remedy(
            Limit.FABRIC,
            f"Routes by {best} would allow {evidence.schedule} {evidence.at} in "
            f"{format_seconds(allowed[best])} instead of {format_seconds(now_s)}.",
            f"contend predict collectives {named(self._fabric)} --route {best}",
            now_s - allowed[best],
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


def _crossed(test: NcclTest) -> bool:
    """Whether messages may have crossed the network."""
    return len(test.servers) != 1 != test.ranks and not test.one_process


def _untold(test: NcclTest, name: str, series: str) -> Iterator[str]:
    """Why a test says nothing about the network."""
    if test.ranks == 1:
        yield (
            f"{series}: a single GPU took part, so nothing was sent. If several were meant, build "
            "nccl-tests with MPI=1: without it every process that mpirun starts runs alone."
        )
    elif not _crossed(test):
        where = f"on {test.servers[0]}" if test.servers else "in one server"
        yield (
            f"{series}: all GPUs are {where}, so no message crossed the network, and the test says "
            "nothing about it."
        )
    elif not test.servers:
        yield (
            f"{name} does not say where the devices are, so contend does not know which servers "
            'took part: keep the lines that begin with "# Rank", whole.'
        )


def too_fast(cells: Sequence[Evidence]) -> dict[str, str]:
    """What to make of series that were faster than the network that was told allows.

    Bounds that one size beats prove nothing of the others either.
    """
    beaten: dict[str, tuple[float, Limit]] = {}
    for cell in cells:
        for bound in cell.bounds:
            pair = cell.ratio(bound), bound.limit
            if bound.limit in (Limit.PORT, Limit.FABRIC) and pair[0] < IMPOSSIBLE:
                beaten[cell.series] = min(pair, beaten.get(cell.series, pair))
    return {
        series: f"{series[0].upper()}{series[1:]} took {rounded(ratio)} times the least time that "
        f"{limit} allows, so the bounds are not those of this test: it did not run on this fabric, "
        "links have other rates, or messages went another way, such as NVLink between servers or "
        "sums in switches (SHARP)."
        for series, (ratio, limit) in beaten.items()
    }


def _odd_sizes(test: NcclTest, series: str) -> Iterator[_Odd]:
    """Sizes that take longer than larger ones, and the one from which on the bandwidth is lower."""
    series = f"{series[0].upper()}{series[1:]}"
    sizes = sorted({timed.bytes: timed for timed in test.sizes}.values(), key=lambda t: t.bytes)
    rates = [timed.bytes / timed.seconds for timed in sizes]
    # Of all sizes from a place on, the fastest.
    fastest: list[TimedSize | None] = [None]
    for timed in reversed(sizes):
        last = fastest[-1]
        fastest.append(timed if last is None or timed.seconds < last.seconds else last)
    fastest.reverse()
    best, low, top = 0, -1, 0.0
    for place, at in enumerate(sizes):
        if low < 0:
            top = max(top, rates[place])
            best = place if rates[place] > _AS_FAST * top else best
        fell = rates[place] < _FALLEN * top
        larger = fastest[place + 1]
        longer = _WARM if place == 0 else 1 if fell else _LONGER
        if larger is not None and at.seconds > longer * larger.seconds:
            yield _Odd(
                larger.seconds / at.seconds,
                f"{series}: {format_bytes(at.bytes)} took {format_seconds(at.seconds)}, longer "
                f"than {format_bytes(larger.bytes)} ({format_seconds(larger.seconds)}).",
                "No network does that by itself: repeat this size, and look for what else ran at "
                "that time.",
            )
        elif fell and (low < 0 or rates[place] < rates[low]):
            low = place
    if low >= 0:
        yield _Odd(
            rates[low] / rates[best],
            f"{series}: the bandwidth falls from {format_rate(rates[best])} at "
            f"{format_bytes(sizes[best].bytes)} to {format_rate(rates[low])} at "
            f"{format_bytes(sizes[low].bytes)}.",
            "Ports and cables carry both sizes alike: compare NCCL_PROTO and NCCL_ALGO, and "
            "look for lost packets and full buffers.",
        )


def stopped(tests: Sequence[NcclTest]) -> list[str]:
    """Tests that ended before their largest size, and values that arrived wrong."""
    found = []
    if early := [test for test in tests if test.next_bytes != 0 or test.failure]:
        named = [f"{test.collective or 'collective'} on {_where(test)}" for test in early]
        more = f" and {len(early) - 3:,} more" if len(early) > 3 else ""
        reason = "something failed or hung there, or the output was cut"
        if failures := Counter(test.failure for test in early if test.failure):
            reason = f"nccl-tests say {failures.most_common(1)[0][0]!r}"
        begun = early[0].next_bytes
        at = f" at {format_bytes(begun)}" if begun and len(early) == 1 else " before the end"
        found.append(
            f"{counted(len(early), 'test')} stopped{at} ({', '.join(named[:3])}{more}): {reason}."
        )
    for test in tests:
        wrong = [timed for timed in test.sizes if timed.wrong]
        if wrong:
            found.append(
                f"{counted(wrong[0].wrong, 'value')} arrived wrong in the {test.collective} of "
                f"{format_bytes(wrong[0].bytes)} on {_where(test)}: data is damaged on its way, by "
                "a GPU, an adapter, a slot or the library, so its times prove nothing."
            )
    return found


def _where(test: NcclTest) -> str:
    servers = test.servers
    named = servers if len(servers) == 2 else (counted(len(servers), "server"),)
    return " and ".join(named) if servers else counted(test.ranks, "GPU")


def slow_pairs(tests: Sequence[NcclTest]) -> list[str]:
    """What pairs of servers say of the slow among them, where a test measured each.

    Only tests of the same collective with as many GPUs are compared.
    """
    alike: dict[tuple[str, int], dict[tuple[str, str], NcclTest]] = {}
    for test in tests:
        if len(test.servers) == 2 and test.sizes:
            first, second = sorted(test.servers)
            alike.setdefault((test.collective, test.ranks), {})[first, second] = test
    found = {kind: _slow_among(_rates(pairs)) for kind, pairs in alike.items()}
    return [
        f"{collective[:1].upper()}{collective[1:]} of {counted(ranks, 'GPU')}: {told}"
        if len(alike) > 1
        else told
        for (collective, ranks), told in found.items()
        if told
    ]


def _rates(pairs: Mapping[tuple[str, str], NcclTest]) -> dict[tuple[str, str], float]:
    """The share that each pair gets of what the fastest gets, at its largest usual size.

    A usual size is one that half of the pairs have measured: some tests stop early.
    """
    seconds: dict[int, dict[tuple[str, str], float]] = {}
    for pair, test in pairs.items():
        for timed in test.sizes:
            seconds.setdefault(timed.bytes, {})[pair] = timed.seconds
    rate = {}
    for size in sorted(seconds, key=lambda size: (2 * len(seconds[size]) >= len(pairs), size)):
        least = min(seconds[size].values())
        if len(seconds[size]) > 1:
            rate.update({pair: least / each for pair, each in seconds[size].items()})
    return rate


def _slow_among(rate: Mapping[tuple[str, str], float]) -> str:
    """The slow pairs and their servers, in words; "" for none.

    Servers that are in slow pairs only, and without which none is slow, are named: then it is their
    adapters, slots or GPUs that are slow, and not the network. That holds however many pairs are
    slow, so each gap between rates is tried, the highest first.
    """
    if len(rate) < _FEWEST_PAIRS:
        return ""
    levels = sorted(rate.values(), reverse=True)
    gaps = [low for high, low in pairwise(levels) if low < _SLOW * high]
    for most in gaps:
        slow = [pair for pair, each in rate.items() if each <= most]
        times = Counter(server for pair in slow for server in pair)
        sound = {server for pair in rate if pair not in slow for server in pair}
        bad = [server for server, n in times.items() if n > 1 and server not in sound]
        if not bad or not all(set(bad) & set(pair) for pair in slow):
            continue
        advice = "adapters, slots and GPUs, not at the network. The slowest gets"
        if len(bad) == 1:
            return (
                f"{bad[0]} is in each of the {counted(len(slow), 'slow pair')} and in no other: "
                f"look at its {advice} {_loss(rate, slow)}."
            )
        # One fast pair clears only its own servers, and most servers are not slow.
        if len(slow) < len(rate) - 1 and 2 * len(bad) < len(sound | times.keys()):
            return (
                f"Each of the {counted(len(slow), 'slow pair')} has {' or '.join(bad)} in it, and "
                f"no other pair has: look at their {advice} {_loss(rate, slow)}."
            )
    slow = [pair for pair, each in rate.items() if each < _SLOW * median(levels)]
    if not slow:
        slow = [pair for pair, each in rate.items() if gaps and each <= gaps[0]]
    if not slow or len(slow) == len(rate) - 1 > 0:
        return ""
    pairs = counted(len(slow), "slow pair")
    names = ", ".join(" - ".join(pair) for pair in slow[:3])
    more = f" and {len(slow) - 3:,} more" if len(slow) > 3 else ""
    return (
        f"{pairs[:1].upper()}{pairs[1:]} share no server of their own ({names}{more}), so look at "
        f"the network between them. The slowest gets {_loss(rate, slow)}."
    )


def _loss(rate: Mapping[tuple[str, str], float], slow: Sequence[tuple[str, str]]) -> str:
    usual = median(each for pair, each in rate.items() if pair not in slow)
    return f"{100 * min(rate[pair] for pair in slow) / usual:.0f} % of what the others' median gets"
