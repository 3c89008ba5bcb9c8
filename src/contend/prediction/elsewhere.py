"""How long a profiled program takes elsewhere: on another fabric, by other routes, at another rate.

The program is carried out again over time. Where it was recorded the model is carried out too: what
it is off by there is what predictions are corrected by.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from contend.base.schema import PythonOnly, Rate, Seconds, Share, Shown, Spread
from contend.base.units import format_seconds
from contend.congestion import heat, hottest
from contend.fabric import build
from contend.prediction.calls import LEAVES
from contend.prediction.conditions import PredictionConditions
from contend.prediction.correction import Recorded, carried_out
from contend.prediction.predicting import Piling, worst_piling
from contend.prediction.program import ProfiledProgram
from contend.profiling.routines import COLLECTIVES, EXCHANGES, PROBES, RECEIVES, SENDS
from contend.routes import compute
from contend.traffic.schedule import Course

if TYPE_CHECKING:
    from contend.report import Document

MOST_OPERATIONS = 5_000_000
"""Of a program whose cables are tried one by one."""
_CABLES = 5
_DRAWS = 5
_SMALL = 1024
_SIZED = COLLECTIVES | SENDS | RECEIVES | EXCHANGES | PROBES
"""Routines of which the bytes are known that they wait for."""
_MUCH = 0.25
_LAUNCHES = 0.02
"""Part of a run time by which launches differ, whatever they communicate."""
_MODEL = 0.08
"""Part of the time in MPI by which the model, once corrected, is off elsewhere."""


@dataclass(frozen=True, kw_only=True)
class CableCost:
    """What a cable costs a program."""

    channel: str
    """Direction over which more goes."""
    bytes: float
    """Bytes that cross it."""
    busy: Share
    """Part of the run time in which something is under way on it."""
    costs_s: Seconds
    """Seconds of run time that the program would save if this cable alone held nothing back."""


@dataclass(frozen=True, kw_only=True)
class PredictedCalls:
    """Calls of a routine on a communicator."""

    routine: str
    """Name of the routine; "" where the record had no room for it."""
    communicator: int
    """Number of the communicator in the profile."""
    calls: int
    """Number of calls of all ranks."""
    recorded_s: Seconds
    """Seconds in them as recorded, of the mean rank."""
    predicted_s: Seconds
    """The same by the model, not corrected."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Elsewhere(Shown):
    """A program's run time in one place."""

    recorded: PythonOnly[Recorded]
    """The program."""
    where: PythonOnly[PredictionConditions]
    """Fabric, hosts and costs."""
    name: str
    """What distinguishes the place from the others."""
    fabric: str
    """Name of the fabric."""
    rate_Bps: Rate
    """Bytes per second of every cable."""
    hosts: tuple[int, ...]
    """Number of each rank's host."""
    predicted_s: Seconds
    """Run time, from when all ranks have left MPI_Init until the last one calls MPI_Finalize,
    corrected by what the model is off by where it was recorded."""
    interval_s: tuple[Seconds, Seconds]
    """Both ends of what the calibration's intervals, the correction, and draws of when ranks begin
    leave possible, since which of two messages goes first may decide how long both take; wider by
    what launches differ and the model is off by, which 9 of 10 medians keep to."""
    communication: Share
    """Part of the run time in MPI, on the mean of ranks."""
    small: PythonOnly[float]
    """Part of the run time in collectives and messages of a kibibyte or less."""
    perfect_routes_s: Seconds
    """Run time if routes balanced what leaves every switch over all its cables, as if those of a
    switch with hosts were one: no routing takes less."""
    crossbar_s: Seconds
    """Run time if nothing but hosts' ports held messages back: no placement takes less."""
    collapses: bool
    """Whether drops and time-outs may rule, so that `predicted_s` is only a lower bound."""
    crowded: bool
    """Whether much of the run is small collectives and messages of more ranks than processors,
    which makes `predicted_s` doubtful: when each of them runs then decides more than the network
    does, and so does whatever else the machine does meanwhile."""
    piling: Piling | None
    """Where most can pile up; null where the buffers are not known, or nowhere."""
    cables: tuple[CableCost, ...]
    """What the hottest cables between switches cost, dearest first; none for programs of more than
    5 million operations."""
    calls: tuple[PredictedCalls, ...]
    """Calls by routine and communicator, those first that take longest."""

    def __repr__(self) -> str:
        low, high = map(format_seconds, self.interval_s)
        return f"<{format_seconds(self.predicted_s)} on {self.fabric}: {low} to {high}>"

    def document(self) -> Document:
        """Verdict, tables, picture and record, as of a `PredictedProgram` of one place."""
        return PredictedProgram(self.recorded, (self,)).document()


@dataclass(frozen=True, eq=False)
class PredictedProgram(Shown, told="program_document"):
    """A profiled program, predicted in one place or several."""

    recorded: Spread[Recorded]
    """The program."""
    cases: tuple[Elsewhere, ...]
    """What is predicted in every place."""

    @property
    def slowest(self) -> Elsewhere:
        """Where the program takes longest."""
        return max(self.cases, key=lambda case: case.predicted_s)


def run_time(recorded: Recorded, where: PredictionConditions) -> float:
    """Seconds that a program takes somewhere, without all that `predict_program` finds beside it.

    Raises:
        UsageError: as of `predict_program`.
    """
    here = recorded.corrections[0].of(where)
    return recorded.program.run_s(carried_out(recorded.program, here)) * recorded.factor


def predict_program(recorded: Recorded, where: PredictionConditions, name: str = "") -> Elsewhere:
    """Predicts the run time of a program somewhere.

    Args:
        recorded: the program.
        where: fabric, hosts and costs.
        name: of the place among others; "" for the fabric's.

    Raises:
        UsageError: hosts without routes, or a schedule that cannot end with these costs.
    """
    program = recorded.program
    best, *others = recorded.corrections
    factor = recorded.factor
    here = best.of(where)
    course = carried_out(program, here)

    def took(course: Course) -> float:
        return program.run_s(course) * factor

    seconds = took(course)
    ends = [
        carried_out(program, replace(here, calibration=calibration))
        for calibration in here.calibration.ends
    ]
    possible = [
        seconds,
        *map(took, ends),
        *(
            took(carried_out(program, other.of(where))) * other.factor / best.factor
            for other in others
        ),
    ]
    if here.calibration.scatter_per_rank_s.value:
        possible += [took(carried_out(program, here, draw=draw)) for draw in range(_DRAWS)]
    calls = _calls(program, course)
    communication = float(calls["predicted_s"].sum()) / (course.seconds or 1.0)
    apart = seconds * (_LAUNCHES + communication * (_MODEL + recorded.off))
    small = calls.filter(pl.col("bytes") <= _SMALL)["predicted_s"].sum()
    unhindered = where.rates.copy()
    unhindered[: 2 * where.fabric.cables] = where.calibration.peak
    # Order decides a little too: what holds messages back less may take a little longer.
    perfect_routes = min(took(_pooled(program, here)), seconds)
    crossbar = took(carried_out(program, here, unhindered))
    small_share = float(small) / (course.seconds or 1.0)
    piling = worst_piling(course.channel_crowd, course.channel_crowd_bytes, here)
    return Elsewhere(
        recorded=recorded,
        where=here,
        name=name or where.fabric.name,
        fabric=where.fabric.name,
        rate_Bps=here.rate,
        hosts=tuple(int(host) for host in here.hosts),
        predicted_s=seconds,
        interval_s=(max(min(possible) - apart, 0.0), max(possible) + apart),
        communication=communication,
        small=small_share,
        perfect_routes_s=perfect_routes,
        crossbar_s=min(crossbar, perfect_routes),
        collapses=piling is not None and piling.overflows,
        crowded=0 < here.calibration.processors < len(here.hosts) and small_share > _MUCH,
        piling=piling,
        cables=_cables(program, here, course, factor),
        calls=_by_routine(calls),
    )


def _calls(program: ProfiledProgram, course: Course) -> pl.DataFrame:
    """Time in MPI by routine, communicator and, where they are known, bytes; of the mean rank."""
    table = program.calls
    ends = course.operation_end[table["operation"].to_numpy()]
    table = table.with_columns(entered=pl.Series(ends)).with_columns(
        next_s=pl.col("entered").shift(-1).over("rank") - pl.col("pause").shift(-1).over("rank")
    )
    left = pl.Series(course.rank_end).gather(table["rank"])
    ranks = len(course.rank_end)
    sized = pl.col("routine").is_in(sorted(_SIZED))
    return (
        table.with_columns(
            predicted=pl.coalesce("next_s", left) - pl.col("entered"),
            bytes=pl.when(sized).then("bytes"),
        )
        .filter(pl.col("routine") != LEAVES)
        .group_by("routine", "communicator", "bytes")
        .agg(
            calls=pl.len(),
            recorded_s=pl.col("seconds").sum() / ranks,
            predicted_s=pl.col("predicted").sum() / ranks,
        )
    )


def _by_routine(calls: pl.DataFrame) -> tuple[PredictedCalls, ...]:
    by_routine = (
        calls.group_by("routine", "communicator")
        .agg(pl.col("calls", "recorded_s", "predicted_s").sum())
        .sort("predicted_s", "routine", "communicator", descending=[True, False, False])
    )
    named = pl.when(pl.col("routine") != "").then(pl.lit("MPI_") + pl.col("routine"))
    rows = by_routine.with_columns(routine=named.otherwise(pl.lit(""))).iter_rows(named=True)
    return tuple(PredictedCalls(**row) for row in rows)


def _pooled(program: ProfiledProgram, where: PredictionConditions) -> Course:
    """The program where every switch with hosts has all its cables as one.

    Whatever routes do, what leaves such a switch crosses them. A star of switches with one
    cable each, of the rate of all of them, therefore bounds every routing.
    """
    fabric = where.fabric
    leaves, leaf_of_host = np.unique(fabric.host_switch, return_inverse=True)
    ends = np.concatenate([fabric.cable_from, fabric.cable_to])
    each = np.tile(where.rates[: 2 * fabric.cables : 2] / where.rate, 2)
    out = np.bincount(ends, each, minlength=fabric.switches)[leaves]
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
    # A leaf without cables has nowhere to send to.
    trunks = where.rate * np.where(out > 0, out, 1.0).repeat(2)
    rates = np.concatenate([trunks, where.rates[2 * fabric.cables :]])
    return carried_out(program, replace(where, fabric=compute(star, "minhop")), rates)


def _cables(
    program: ProfiledProgram, where: PredictionConditions, course: Course, factor: float
) -> tuple[CableCost, ...]:
    """The hottest cables, each tried as if it held nothing back."""
    fabric = where.fabric
    if not fabric.cables or len(program.schedule.action) > MOST_OPERATIONS:
        return ()
    seconds = heat(course.channel_bytes[: 2 * fabric.cables], where.rates).reshape(-1, 2)
    costs = []
    for cable in hottest(seconds.max(axis=1), _CABLES):
        channel = 2 * cable + int(seconds[cable].argmax())
        rates = where.rates.copy()
        rates[2 * cable : 2 * cable + 2] = where.calibration.peak
        relieved = carried_out(program, where, rates).seconds
        costs.append(
            CableCost(
                channel=fabric.channel_name(channel),
                bytes=float(course.channel_bytes[channel]),
                busy=float(course.channel_busy[channel]) / course.seconds,
                costs_s=(course.seconds - relieved) * factor,
            )
        )
    return tuple(sorted(costs, key=lambda cost: -cost.costs_s))
