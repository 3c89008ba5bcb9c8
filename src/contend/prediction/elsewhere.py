"""How long a profiled program takes elsewhere: on another fabric, by other routes, at another rate.

The program is carried out again over time. Where it was recorded the model is carried out too: what
it is off by there is what predictions are corrected by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.emulate import emulated_fabric
from contend.errors import UsageError
from contend.fabric import Fabric, build
from contend.loading import load
from contend.placement import HostNames, parse
from contend.prediction.calibration import Calibration, Parameter, SizeClass
from contend.prediction.predicting import Conditions, Piling
from contend.prediction.program import Program
from contend.profiling import Profile
from contend.profiling.routines import COLLECTIVES
from contend.routes import compute
from contend.schedule import Course, carry_out
from contend.units import format_seconds, parse_rate, parse_size

MOST_OPERATIONS = 5_000_000
"""Of a program whose cables are tried one by one."""
_CABLES = 5
_SMALL = 1024
_MUCH = 0.25
_LONGEST_LOOK_S = 0.02
_HALVINGS = 12


@dataclass(frozen=True)
class CableCost:
    """What a cable costs a program.

    Attributes:
        channel: the direction over which more goes; its number in the fabric.
        bytes: that cross it.
        busy: part of the run time in which something is under way on it.
        seconds: of run time that the program would save if this cable held nothing back.
    """

    channel: int
    bytes: float
    busy: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """A program's run time somewhere.

    Attributes:
        where: fabric, hosts and costs.
        seconds: of the whole run, corrected by what the model is off by where it was recorded.
        low: the least that the calibration's intervals and the correction leave possible.
        high: likewise the most.
        communication: part of the run time in MPI, on the mean of ranks.
        small: part of the run time in collectives of a kibibyte or less.
        calls: a row for every routine and communicator: ``routine``, ``communicator``, ``calls``
            of all ranks, and ``recorded_s`` and ``predicted_s`` of the mean rank, not corrected.
        perfect_routes: seconds if routes balanced what leaves every switch over all its cables: no
            routing takes less.
        crossbar: seconds if nothing but hosts' ports held messages back: no placement takes less.
        cables: what the busiest cables between switches cost, dearest first; empty for programs
            of more than `MOST_OPERATIONS`.
        piling: where most can pile up; None where buffers are not known.
    """

    where: Conditions
    seconds: float
    low: float
    high: float
    communication: float
    small: float
    calls: pl.DataFrame
    perfect_routes: float
    crossbar: float
    cables: tuple[CableCost, ...]
    piling: Piling | None

    def __repr__(self) -> str:
        words = f"{format_seconds(self.seconds)} on {self.where.fabric.name}"
        return f"<{words}: {format_seconds(self.low)} to {format_seconds(self.high)}>"

    @property
    def collapses(self) -> bool:
        """Whether drops and time-outs may rule, so that the prediction is only a lower bound."""
        return self.piling is not None and self.piling.overflows

    @property
    def crowded(self) -> bool:
        """Whether much of the time is in small collectives of more ranks than processors.

        When each of them runs then decides more than the network does.
        """
        shared = 0 < self.where.calibration.processors < len(self.where.hosts)
        return shared and self.small > _MUCH


@dataclass(frozen=True)
class Correction:
    """What makes the model take the recorded time where the program was recorded.

    Attributes:
        look_every_s: how often a rank that waits looks; None for what the calibration says.
        factor: of all times.
    """

    look_every_s: float | None = None
    factor: float = 1.0

    def calibration(self, calibration: Calibration) -> Calibration:
        """A calibration under which ranks look so often."""
        if self.look_every_s is None:
            return calibration
        return msgspec.structs.replace(
            calibration, look_every_s=Parameter.exactly(self.look_every_s)
        )


@dataclass(frozen=True, eq=False)
class Recorded:
    """A program as it was recorded, and what the model is off by there.

    Attributes:
        program: its schedule.
        seconds: of the run, as recorded.
        modelled: seconds that the model gives the part of it that events were kept of, where it
            was recorded; None where that is not known.
        corrections: the first is taken, and how far the others are from it is part of the
            uncertainty.
    """

    program: Program
    seconds: float
    modelled: float | None = None
    corrections: tuple[Correction, ...] = (Correction(),)

    @property
    def kept(self) -> float:
        """Seconds of the run that events were kept of."""
        return min(self.seconds, self.program.until)


@dataclass(frozen=True)
class Case:
    """A place and what is predicted there.

    Attributes:
        name: what tells the place from the others.
        prediction: what is predicted.
    """

    name: str
    prediction: Elsewhere


def where_recorded(
    profile: Profile, calibration: Calibration, fabric: str | None = None
) -> Conditions | None:
    """Where a profile was recorded, as far as that is known.

    Args:
        profile: what was recorded.
        calibration: what messages cost.
        fabric: where it was, as it is given to `contend.load`; None for what the profile says of
            an emulated one.

    Raises:
        UsageError: the hosts of the fabric are not those of the profile.
    """
    asked = profile.record.asked
    if fabric is not None:
        network = load(fabric, need_routes=True)
        hosts = recorded_hosts(profile, network)
        if hosts is None:
            hosts = _in_order(profile, network)
        return Conditions(network, hosts, calibration, calibration.wire_Bps, calibration.buffer)
    known = emulated_fabric(asked)
    if known is None:
        return None
    order = [int(host) for host in asked.get("placement", "").split(",") if host]
    return Conditions(
        known,
        _in_order(profile, known, order or None),
        calibration,
        parse_rate(asked["rate"]),
        parse_size(asked["buffer"].removesuffix(" B")),
    )


def recorded_hosts(profile: Profile, fabric: Fabric) -> list[int] | None:
    """The hosts in a fabric that the ranks of a profile had, by name; None if it lacks any."""
    names = HostNames(fabric)
    record = profile.record
    if None in record.rank_hosts or not all(host.name in names for host in record.hosts):
        return None
    numbers = [names.find(host.name, record.place or "profile")[0] for host in record.hosts]
    return [numbers[host] for host in record.rank_hosts if host is not None]


def seat(
    profile: Profile,
    fabric: Fabric,
    placement: str | None = None,
    ranks_per_host: int | None = None,
) -> list[int]:
    """The host of every rank of a profiled program somewhere.

    Args:
        profile: of the program.
        fabric: where it is to run.
        placement: as `contend.placement.parse` reads it; None for the hosts that the profile names
            if the fabric has them all, and otherwise for ``linear``.
        ranks_per_host: that share a host; None for as many as were recorded.

    Raises:
        UsageError: no such placement, one that is drawn, or not enough places.
    """
    hosts = recorded_hosts(profile, fabric) if placement is None else None
    if hosts is not None:
        return hosts
    most = max((host.ranks for host in profile.record.hosts), default=1)
    placed = parse(placement or "linear", fabric, ranks_per_host=ranks_per_host or most)
    if placed.random:
        raise UsageError("--placement random: ranks need one placement here; give file:PATH")
    if placed.ranks < profile.size:
        raise UsageError(
            f"{fabric.name}: expected places for {profile.size} ranks, got {placed.ranks}; "
            "--ranks-per-host puts more on each host"
        )
    return [int(host) for host in placed.host_of_rank[: profile.size]]


def _in_order(profile: Profile, fabric: Fabric, order: Sequence[int] | None = None) -> list[int]:
    """Hosts of all ranks where the profile's hosts are the fabric's, in that order."""
    record = profile.record
    order = order or range(fabric.hosts)
    if len(record.hosts) > len(order) or None in record.rank_hosts:
        raise UsageError(
            f"{profile.folder}: recorded on {len(record.hosts)} hosts, and {fabric.name} has "
            f"{len(order)}"
        )
    return [order[host] for host in record.rank_hosts if host is not None]


def record_of(program: Program, seconds: float, where: Conditions | None) -> Recorded:
    """A program and what the model is off by in its own recording.

    Where ranks share processors, how soon one that waits gets its turn depends on what the others
    do meanwhile: how often it looks is then taken from the recording.

    Args:
        program: its schedule.
        seconds: of the run, as recorded.
        where: it was recorded; None where that is not known.
    """
    if where is None:
        return Recorded(program, seconds)
    kept = min(seconds, program.until)
    modelled = _carried_out(program, where).seconds
    corrections = [Correction(factor=kept / modelled)]
    if where.calibration.processors:
        corrections.insert(0, _fitted(program, where, kept))
    return Recorded(program, seconds, modelled, tuple(corrections))


def _fitted(program: Program, where: Conditions, seconds: float) -> Correction:
    """How often ranks look for the program to take so long; a factor for what that leaves."""
    low, high = 0.0, _LONGEST_LOOK_S
    modelled = 0.0
    for _ in range(_HALVINGS):
        look = (low + high) / 2
        modelled = _corrected(program, where, Correction(look)).seconds
        low, high = (look, high) if modelled < seconds else (low, look)
    return Correction(look, seconds / modelled)


def predict_program(recorded: Recorded, where: Conditions) -> Elsewhere:
    """Predicts the run time of a program somewhere.

    Raises:
        UsageError: hosts without routes, or a schedule that cannot end with these costs.
    """
    program = recorded.program
    # What no events were kept of is taken to be as much slower or faster.
    whole = recorded.seconds / recorded.kept
    best, *others = recorded.corrections
    factor = whole * best.factor
    here = replace(where, calibration=best.calibration(where.calibration))
    course = _carried_out(program, here)
    seconds = course.seconds * factor
    ends = [
        _carried_out(program, replace(here, calibration=_at_the_end(here.calibration, end)))
        for end in ("low", "high")
    ]
    possible = [
        seconds,
        *(end.seconds * factor for end in ends),
        *(_corrected(program, where, other).seconds * other.factor * whole for other in others),
    ]
    calls = _calls(program, course)
    small = calls.filter(pl.col("bytes") <= _SMALL)["predicted_s"].sum()
    unhindered = np.full(where.fabric.channels, where.rate)
    unhindered[: 2 * where.fabric.cables] = where.calibration.peak
    # Order decides a little too: what holds messages back less may take a little longer.
    perfect_routes = min(_pooled(program, here).seconds * factor, seconds)
    crossbar = _carried_out(program, here, unhindered).seconds * factor
    return Elsewhere(
        where=here,
        seconds=seconds,
        low=min(possible),
        high=max(possible),
        communication=float(calls["predicted_s"].sum()) / course.seconds,
        small=float(small) / course.seconds,
        calls=_by_routine(calls),
        perfect_routes=perfect_routes,
        crossbar=min(crossbar, perfect_routes),
        cables=_cables(program, here, course, factor),
        piling=_piling(course, here),
    )


def _corrected(program: Program, where: Conditions, correction: Correction) -> Course:
    calibration = correction.calibration(where.calibration)
    return _carried_out(program, replace(where, calibration=calibration))


def _carried_out(
    program: Program, where: Conditions, rates: NDArray[np.float64] | None = None
) -> Course:
    calibration = where.calibration
    cables = calibration.cables(where.rate)
    if rates is not None:
        cables = replace(cables, rate=rates, peak=max(cables.peak, float(rates.max())))
    return carry_out(
        where.fabric,
        program.schedule,
        where.hosts,
        cables,
        calibration.costs(),
        start=program.start,
    )


def _at_the_end(calibration: Calibration, end: str) -> Calibration:
    """A calibration whose parameters are all at one end of their intervals."""

    def at(parameter: Parameter) -> Parameter:
        return Parameter.exactly(getattr(parameter, end))

    def of_class(one: SizeClass) -> SizeClass:
        return msgspec.structs.replace(
            one,
            latency_s=at(one.latency_s),
            overhead_s=at(one.overhead_s),
            gap_s=at(one.gap_s),
            gap_per_byte_s=at(one.gap_per_byte_s),
        )

    return msgspec.structs.replace(
        calibration,
        between=tuple(map(of_class, calibration.between)),
        within=tuple(map(of_class, calibration.within)),
        queue_at_host=at(calibration.queue_at_host),
        look_every_s=at(calibration.look_every_s),
    )


def _calls(program: Program, course: Course) -> pl.DataFrame:
    """Time in MPI by routine, communicator and, of collectives, bytes; of the mean rank."""
    table = program.calls
    ends = course.operation_end[table["operation"].to_numpy()]
    table = table.with_columns(entered=pl.Series(ends)).with_columns(
        next_s=pl.col("entered").shift(-1).over("rank") - pl.col("pause").shift(-1).over("rank")
    )
    left = pl.Series(course.rank_end).gather(table["rank"])
    ranks = len(course.rank_end)
    collective = pl.col("routine").is_in(sorted(COLLECTIVES))
    return (
        table.with_columns(
            predicted=pl.coalesce("next_s", left) - pl.col("entered"),
            bytes=pl.when(collective).then("bytes"),
        )
        .group_by("routine", "communicator", "bytes")
        .agg(
            calls=pl.len(),
            recorded_s=pl.col("seconds").sum() / ranks,
            predicted_s=pl.col("predicted").sum() / ranks,
        )
    )


def _by_routine(calls: pl.DataFrame) -> pl.DataFrame:
    return (
        calls.group_by("routine", "communicator")
        .agg(pl.col("calls", "recorded_s", "predicted_s").sum())
        .sort("predicted_s", "routine", "communicator", descending=[True, False, False])
    )


def _pooled(program: Program, where: Conditions) -> Course:
    """The program where every switch with hosts has all its cables as one.

    Whatever routes do, what leaves such a switch crosses them. A star of switches with one
    cable each, of the rate of all of them, therefore bounds every routing.
    """
    fabric = where.fabric
    leaves, leaf_of_host = np.unique(fabric.host_switch, return_inverse=True)
    ends = np.concatenate([fabric.cable_from, fabric.cable_to])
    cables = np.bincount(ends, minlength=fabric.switches)[leaves]
    place = np.empty(fabric.hosts, dtype=np.int64)
    place[np.argsort(leaf_of_host, kind="stable")] = np.concatenate(
        [np.arange(count) for count in np.bincount(leaf_of_host)]
    )
    middle = len(leaves)
    star = build(
        fabric.name,
        host_name=fabric.host_name,
        host_switch=leaf_of_host,
        host_port=place + 2,
        switch_name=[*(fabric.switch_name[leaf] for leaf in leaves), "all others"],
        switch_ports=max(int(place.max()) + 2, middle),
        cables=np.array([[leaf, 1, middle, leaf + 1] for leaf in range(middle)]),
    )
    rates = np.full(star.channels, where.rate)
    rates[: 2 * middle] *= np.maximum(cables, 1).repeat(2)
    return _carried_out(program, replace(where, fabric=compute(star, "minhop")), rates)


def _cables(
    program: Program, where: Conditions, course: Course, factor: float
) -> tuple[CableCost, ...]:
    """The cables that most bytes cross, each tried as if it held nothing back."""
    fabric = where.fabric
    if not fabric.cables or len(program.schedule.action) > MOST_OPERATIONS:
        return ()
    crossing = course.channel_bytes[: 2 * fabric.cables].reshape(-1, 2)
    busiest = np.argsort(-crossing.max(axis=1), kind="stable")[:_CABLES]
    costs = []
    for cable in busiest.tolist():
        channel = 2 * cable + int(crossing[cable].argmax())
        if crossing[cable].max() <= 0:
            continue
        rates = np.full(fabric.channels, where.rate)
        rates[2 * cable : 2 * cable + 2] = where.calibration.peak
        relieved = _carried_out(program, where, rates).seconds
        costs.append(
            CableCost(
                channel=channel,
                bytes=float(course.channel_bytes[channel]),
                busy=float(course.channel_busy[channel]) / course.seconds,
                seconds=(course.seconds - relieved) * factor,
            )
        )
    return tuple(sorted(costs, key=lambda cost: -cost.seconds))


def _piling(course: Course, where: Conditions) -> Piling | None:
    """Where most bytes are under way at once in front of a switch's channel."""
    if where.buffer is None:
        return None
    fabric = where.fabric
    piled = course.channel_crowd_bytes.copy()
    piled[2 * fabric.cables : 2 * fabric.cables + fabric.hosts] = 0
    channel = int(np.argmax(piled))
    crowd = int(course.channel_crowd[channel])
    return Piling(channel, crowd, float(piled[channel]), where.buffer) if crowd > 1 else None
