"""What to do about a limit of a measurement, with the command for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from contend.base.errors import UsageError
from contend.base.units import format_bytes, rounded
from contend.congestion import link_rates, message_congestion
from contend.cure import LIBRARY, learn
from contend.explanation.evidence import NEAR_MEMORY, Evidence, Limit, MeasuredEvidence
from contend.explanation.judging import Verdict
from contend.explanation.measured import Source
from contend.explanation.remedies import (
    MOST_HOSTS,
    Remedy,
    by_engines,
    by_saving,
    emulation,
    fewer_leaves,
    longer_queue,
    none_better,
    routed_by,
)
from contend.fabric import Fabric
from contend.lab.runs import COMPARED

# A routing that lowers the load by less is no remedy.
_BETTER = 0.9
# A schedule that is faster by less is no remedy.
_WORTH_IT = 1.5


@dataclass(frozen=True)
class _Measured:
    """What was measured, as commands for it begin."""

    name: str
    """Name of the run or the study."""
    sources: tuple[Source, ...]
    """Runs; none where the figures are published."""

    @property
    def probe(self) -> str:
        """Of the first run; "" where there is none."""
        return self.sources[0].run.record.probe if self.sources else ""

    @property
    def emulated(self) -> str:
        """``emulated:FABRIC``, or "" for real hosts."""
        place = self.sources[0].run.record.placement if self.sources else ""
        return place if place.startswith("emulated:") else ""

    def has_rule(self, evidence: Evidence, schedule: str) -> bool:
        """Whether `contend.tune` takes a schedule in place of the library's call there."""
        try:
            lessons = learn([source.run for source in self.sources]).cells
        except UsageError:
            return False
        place = evidence.ranks, evidence.bytes, schedule
        taken = any((each.ranks, each.bytes, each.schedule) == place for each in lessons)
        return taken and evidence.schedule == LIBRARY

    def other(self, name: str, size: int | None = None) -> str:
        """The options that measure another schedule."""
        if self.probe == "sort":
            return f"--exchange {name.partition(',')[0]}"
        return f"--algorithm {name.partition(',')[0]}" + (f" --bytes {size}" if size else "")

    def again(
        self, options: str, verdict: Verdict | None = None, *, elsewhere: bool = False
    ) -> str:
        """The command that measures it again with other options, if need be on more hosts."""
        if not self.sources:
            return f"contend study {self.name} {options}"
        evidence = None if verdict is None else verdict.evidence
        words = ["contend measure", self.probe]
        if evidence is not None and evidence.ranks and self.probe != "hotspot":
            words.append(f"-n {evidence.ranks}")
        if self.emulated:
            source = self.sources[0]
            words += emulation(self.emulated, source.fabric, source.place, options)
        elif elsewhere or (evidence is not None and not evidence.alone):
            words.append("--on HOSTFILE")
        return " ".join((*words, options))


def remedies(
    name: str, verdicts: Sequence[Verdict], sources: tuple[Source, ...]
) -> tuple[Remedy, ...]:
    """What helps against every limit that some cell hit, what saves most first.

    Args:
        name: of the run or the study.
        verdicts: of all cells.
        sources: the runs; none where the figures are published.
    """
    measured = _Measured(name, sources)
    advised: list[Remedy] = []
    for limit in Limit:
        hit = [verdict for verdict in verdicts if limit in verdict.proven]
        if hit:
            advised += _OF_LIMITS[limit](hit, measured)
    return by_saving(advised)


def _memory(hit: Sequence[Verdict], measured: _Measured) -> Iterator[Remedy]:
    needed = [v.evidence.memory for v in hit if v.evidence.memory is not None]
    advice = "Use less data or fewer ranks per host"
    if needed:
        largest = max(needed, key=lambda memory: memory.share)
        if largest.share > NEAR_MEMORY:
            advice += (
                f": {format_bytes(NEAR_MEMORY * largest.available)} of data on a host leave "
                f"{100 * (1 - NEAR_MEMORY):.0f} % of its memory to the system and the library"
            )
    options = "--ranks-per-host N" if measured.sources else "--predict --length N"
    yield Remedy(Limit.MEMORY, f"{advice}.", measured.again(options, hit[0]))


def _time_outs(
    hit: Sequence[Verdict], measured: _Measured, limit: Limit = Limit.TIME_OUTS
) -> Iterator[Remedy]:
    yield from _faster_schedule(limit, hit, measured)
    advice, options = longer_queue(limit, measured.sources[0].place if measured.emulated else None)
    yield Remedy(limit, advice, measured.again(options, hit[0]))


def _fabric(hit: Sequence[Verdict], measured: _Measured) -> Iterator[Remedy]:
    yield from _faster_schedule(Limit.FABRIC, hit, measured)
    bounds = [reason.bound for verdict in hit for reason in verdict.limits]
    names = [name for bound in bounds if bound is not None for name in bound.channels]
    where = f" beside {names[0]}" if names else ""
    more = f"hosts under fewer leaves, or more cables{where}, would"
    source = next((s for s in measured.sources if s.fabric is not None), None)
    if source is None or source.fabric is None:
        yield Remedy(Limit.FABRIC, f"{_first(more)} share fewer channels.")
        return
    seats = [network.numbers for network in source.networks if network.numbers is not None]
    hosts = fewer_leaves(source.fabric, max(seats, key=len)) if seats else ""
    if measured.probe not in COMPARED:
        yield Remedy(Limit.FABRIC, f"Other routes, {more} share fewer channels.", hosts)
        return
    better = _better_engine(source, source.fabric)
    if better is None:
        advice = _first(f"{none_better(source.fabric)}{more} help.")
        yield Remedy(Limit.FABRIC, advice, hosts)
        return
    engine, load, now = better
    by_rates = ", counted by the rates of links" if link_rates(source.fabric).unit else ""
    yield Remedy(
        Limit.FABRIC,
        f"Routes by {engine} carry {_number(load)} messages of this all-to-all over their hottest "
        f"channel instead of {_number(now)}{by_rates}.",
        measured.again(f"--route {engine}", hit[0])
        if measured.emulated
        else routed_by(engine, source.fabric),
        max(_relieved(verdict, load / now) for verdict in hit),
    )


def _relieved(verdict: Verdict, left: float) -> float:
    """Seconds of an operation less if so much is left of what its hottest channel carries."""
    fabric, port = (verdict.evidence.bound(limit) for limit in (Limit.FABRIC, Limit.PORT))
    if fabric is None:
        return 0.0
    return fabric.seconds - max(left * fabric.seconds, 0.0 if port is None else port.seconds)


def _number(messages: float) -> str:
    return f"{messages:,.1f}".removesuffix(".0")


def _better_engine(source: Source, fabric: Fabric) -> tuple[str, float, float] | None:
    """The engine whose hottest channel needs least time, with its heat and the present one."""
    networks = [n for n in source.networks if n.numbers is not None]
    if not networks or fabric.hosts > MOST_HOSTS:
        return None
    network = max(networks, key=lambda n: len(n.hosts))
    assert network.numbers is not None
    senders, receivers = (network.numbers[end] for end in network.pairs)
    apart = senders != receivers

    rates = link_rates(fabric)

    def most(routed: Fabric) -> float:
        load = message_congestion(routed, senders[apart], receivers[apart]).channel_messages
        return float(rates.heat(load[: 2 * fabric.cables]).max(initial=0.0))

    loads = by_engines(fabric, most)
    now = most(fabric)
    best = min(loads, key=lambda engine: loads[engine], default=None)
    return None if best is None or loads[best] > _BETTER * now else (best, loads[best], now)


def _port(hit: Sequence[Verdict], measured: _Measured) -> Iterator[Remedy]:
    verdict = hit[0]
    yield from _faster_schedule(Limit.PORT, hit, measured)
    # Slow samples are what another schedule may save, whatever made them slow.
    ports = ((v.evidence.typical_s, v.evidence.bound(Limit.PORT)) for v in hit)
    most = max(typical / port.seconds for typical, port in ports if typical and port)
    advice = f"{_first(at_most(most))}: for more, send less data, or use faster ports"
    shared = any((v.evidence.ranks or 0) > v.evidence.hosts > 0 for v in hit)
    if shared:
        advice += ", or spread the ranks over more hosts, so that fewer share a port"
    command = measured.again("--ranks-per-host 1", verdict) if shared else ""
    yield Remedy(Limit.PORT, f"{advice}.", command)


def _overhead(hit: Sequence[Verdict], measured: _Measured) -> Iterator[Remedy]:
    verdict, gain, name = _faster(hit)
    if gain >= _WORTH_IT:
        yield Remedy(
            Limit.OVERHEAD,
            f"{_first(name)} spends less time on messages: it was {rounded(gain)} times faster "
            f"than {verdict.evidence.schedule} {verdict.evidence.at}.",
            measured.again(measured.other(name), verdict),
            _saved(verdict, gain),
        )
        return
    command = ""
    if measured.probe == "alltoall":
        command = measured.again("--algorithm library,bruck,hierarchical --bytes 1:4K", verdict)
    yield Remedy(
        Limit.OVERHEAD,
        "Send fewer and larger messages: collect blocks on the way (bruck, hierarchical), or "
        "several small operations in one.",
        command,
    )


def _imbalance(hit: Sequence[Verdict], measured: _Measured) -> Iterator[Remedy]:
    yield Remedy(
        Limit.IMBALANCE,
        "The network is not the cause: check what else runs on the late rank's host and "
        "processor, bind every rank to a core, and give all ranks the same work.",
    )


def _processors(hit: Sequence[Verdict], measured: _Measured) -> Iterator[Remedy]:
    crowded = max(v.evidence.crowded or 1.0 for v in hit)
    if measured.emulated:
        yield Remedy(
            Limit.PROCESSORS,
            f"{rounded(crowded)} ranks run on every processor of this one machine: measure larger "
            "messages on slower cables, where the network takes most of the time.",
            measured.again("--rate 20Mbit --bytes 256K", hit[0]),
        )
        return
    cpus = measured.sources[0].run.record.machine.get("cpus") if measured.sources else None
    yield Remedy(
        Limit.PROCESSORS,
        f"{rounded(crowded)} ranks share a processor: give every rank its own.",
        measured.again(f"--ranks-per-host {cpus or 'N'}", hit[0], elsewhere=True),
    )


_OF_LIMITS: Mapping[Limit, Callable[[Sequence[Verdict], _Measured], Iterator[Remedy]]] = {
    Limit.MEMORY: _memory,
    Limit.HOST_QUEUES: partial(_time_outs, limit=Limit.HOST_QUEUES),
    Limit.TIME_OUTS: _time_outs,
    Limit.FABRIC: _fabric,
    Limit.PORT: _port,
    Limit.OVERHEAD: _overhead,
    Limit.IMBALANCE: _imbalance,
    Limit.PROCESSORS: _processors,
}


def at_most(ratio: float) -> str:
    """What schedules and routes can gain on a time that is so many times the port's bound."""
    return f"schedules and routes make this at most {rounded(max(ratio, 1.0))} times faster"


def _faster_schedule(limit: Limit, hit: Sequence[Verdict], measured: _Measured) -> Iterator[Remedy]:
    """The schedule that was measured to be faster; none where none is, by much."""
    verdict, gain, name = _faster(hit)
    if gain >= _WORTH_IT:
        evidence = verdict.evidence
        options = measured.other(name, evidence.bytes)
        is_rule = measured.has_rule(evidence, name.partition(",")[0])
        rule = "; contend tune makes that a rule for programs" if is_rule else ""
        yield Remedy(
            limit,
            f"{_first(name)} was {rounded(gain)} times faster than "
            f"{evidence.schedule} {evidence.at}"
            f"{rule}.",
            measured.again(options, verdict) if measured.sources else "",
            _saved(verdict, gain),
        )


def _faster(hit: Sequence[Verdict]) -> tuple[Verdict, float, str]:
    """The cell that another schedule does most times faster, how many times, and that schedule."""
    gains = []
    for verdict in hit:
        evidence = verdict.evidence
        rival = evidence.rival if isinstance(evidence, MeasuredEvidence) else None
        if evidence.typical_s is not None and rival is not None:
            gains.append((verdict, evidence.typical_s / rival.seconds, rival.schedule))
    return max(gains, key=lambda gain: gain[1], default=(hit[0], 1.0, ""))


def _saved(verdict: Verdict, gain: float) -> float:
    """Seconds that a schedule saves which is so many times faster."""
    return (verdict.evidence.typical_s or 0.0) * (1 - 1 / gain)


def _first(text: str) -> str:
    return text[:1].upper() + text[1:]
