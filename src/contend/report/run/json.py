"""Runs as JSON: the keys that scripts rely on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from contend.congestion import HotSpot
from contend.fabric import Fabric
from contend.measurement import are_beyond_wire, victim_operations
from contend.report.pairs import PairsJson
from contend.report.run.comparison import compared
from contend.report.run.findings import (
    CollapseJson,
    ConditionJson,
    EstimateJson,
    Label,
    WinnerJson,
    collapse_json,
    condition_keys,
    coverage_of,
    estimate_json,
    winner_json,
)
from contend.report.run.verdict import run_verdict
from contend.runs import (
    COMPARED,
    CellRecord,
    CellSummary,
    Modes,
    Run,
    Warned,
)


class ModesJson(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of two kinds, such as those with and without a time-out.

    Attributes:
        fast_s: median seconds of the faster kind.
        slow_s: median seconds of the slower kind.
        slow_share: fraction of the samples that is of the slower kind.
    """

    fast_s: float
    slow_s: float
    slow_share: float


class CellJson(msgspec.Struct, frozen=True, kw_only=True):
    """A cell: one schedule at one size under one condition.

    Times are of one operation: half a round trip of a ping-pong, a message of a stream, anything
    else as a whole. Values that need samples are null without them.

    Attributes:
        algorithm: the name that the probe was given.
        bytes: to each other rank; null where the probe has no sizes.
        ranks: number of ranks.
        hosts: number of hosts.
        labels: everything else that the probe says about it.
        schedule: what it is called in tables; tells cells of one algorithm apart.
        n: number of timed samples; 0 where the cell was skipped or failed.
        used: number of samples that the figures rest on.
        late: number of samples in which a rank started late.
        launches: number of launches that measured it.
        median_s: median in seconds.
        ci95_s: both ends of its 95 % interval; null where too little was measured for one.
        interval_s: both ends of the interval that there is; null below six samples.
        coverage: how probable it is that the interval holds the true median; null without one.
        p99_s: 99 % of the samples took at most this many seconds.
        max_s: the longest sample in seconds.
        mean_s: mean in seconds.
        rate_Bps_per_rank: what a rank sends (p - 1 blocks, or one message) over the median.
        mean_rate_Bps_per_rank: all bytes that a rank sent over all time.
        two_kinds: null where the samples are of one kind.
        two_kinds_of_launches: launches that are wholly of the one or the other kind, with the share
            of slow launches; null where launches are alike. The median is of neither kind then.
        beyond_wire: whether ranks sent faster than hosts' ports carry, as short messages do that
            go into buffers, or through a cable's burst, at once.
        verified: whether the received data were right; null if that was not checked.
        ended: why each launch stopped sampling.
        said: what the probe said about it.
    """

    algorithm: str
    bytes: int | None
    ranks: int
    hosts: int
    labels: dict[str, Label]
    schedule: str
    n: int = 0
    used: int = 0
    late: int = 0
    launches: int = 0
    median_s: float | None = None
    ci95_s: tuple[float, float] | None = None
    interval_s: tuple[float, float] | None = None
    coverage: float | None = None
    p99_s: float | None = None
    max_s: float | None = None
    mean_s: float | None = None
    rate_Bps_per_rank: float | None = None  # noqa: N815
    mean_rate_Bps_per_rank: float | None = None  # noqa: N815
    two_kinds: ModesJson | None = None
    two_kinds_of_launches: ModesJson | None = None
    beyond_wire: bool = False
    verified: bool | None
    ended: list[str]
    said: list[str]


class LibraryJson(msgspec.Struct, frozen=True, kw_only=True):
    """The MPI library.

    Attributes:
        name: what it calls itself.
        version: its version.
        standard: version of the MPI standard that it follows.
        wrapper: the compiler wrapper that the probe was built with.
    """

    name: str
    version: str
    standard: str
    wrapper: str


class HarnessJson(msgspec.Struct, frozen=True, kw_only=True):
    """How it was measured.

    Attributes:
        timer_s: seconds that reading the clock takes; null where it was not measured.
        clock_residual_s: seconds within which the ranks' clocks agree; null where not measured.
        launches: number of launches.
        budget_s: seconds that the run had; null for no limit.
    """

    timer_s: float | None
    clock_residual_s: float | None
    launches: int
    budget_s: float | None


class HotspotPairsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs of hosts whose messages share a channel.

    Attributes:
        channel: the channel that all pairs share.
        victim: source and target of the pair that is measured.
        rivals: source and target of every pair that may load the channel.
    """

    channel: str
    victim: tuple[str, str]
    rivals: list[tuple[str, str]]


class MeasurementJson(msgspec.Struct, frozen=True, kw_only=True):
    """A run; ``contend measure bisect`` and ``hotspot`` add what only they have.

    Attributes:
        verdict: what it comes to, in a sentence.
        probe: what measured.
        mpi: the MPI library.
        ranks: number of ranks, or a list where launches differ.
        hosts: number of hosts, or a list where launches differ.
        host_names: names of the hosts.
        labels: conditions that no program can see, as they were given.
        cells: what was measured, one by one.
        winners: fastest schedules; there for all-to-alls and sorts.
        collapses: where rates collapse; there for all-to-alls and sorts.
        harness: how it was measured.
        warnings: what a reader must know.
        run: folder of the run.
        pairs: of random pairs; there for bisect.
        hotspot: the pairs that shared a channel; there for hotspot.
    """

    verdict: str
    probe: str
    mpi: LibraryJson
    ranks: int | list[int] | None
    hosts: int | list[int] | None
    host_names: list[str]
    labels: dict[str, str]
    cells: list[CellJson]
    winners: list[WinnerJson] | UnsetType = UNSET
    collapses: list[CollapseJson] | UnsetType = UNSET
    harness: HarnessJson
    warnings: list[Warned]
    run: str
    pairs: PairsJson | UnsetType = UNSET
    hotspot: HotspotPairsJson | UnsetType = UNSET


class ComparedCellJson(ConditionJson, frozen=True, kw_only=True):
    """A cell that two runs measured.

    Attributes:
        schedule: its name.
        bytes: to each other rank.
        ratio: median of the other run over that of the base.
        differs: whether the interval of the ratio leaves 1 out; null without an interval.
    """

    schedule: str
    bytes: int | None
    ratio: EstimateJson
    differs: bool | None


class ComparedRunJson(msgspec.Struct, frozen=True, kw_only=True):
    """A run beside the first.

    Attributes:
        base: name of the first run.
        other: name of this run.
        cells: what both measured.
    """

    base: str
    other: str
    cells: list[ComparedCellJson]


class RunsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Several runs.

    Attributes:
        verdict: what they come to, a line for each.
        results: the runs.
        comparison: every run that has cells in common with the first.
    """

    verdict: str
    results: list[MeasurementJson]
    comparison: list[ComparedRunJson]


def runs_json(runs: Sequence[Run]) -> MeasurementJson | RunsJson:
    """The result of ``contend measure --json`` and ``contend report --json``."""
    return results_json(runs, list(map(measure_json, runs)))


def results_json(runs: Sequence[Run], results: list[MeasurementJson]) -> MeasurementJson | RunsJson:
    """One run, or those of several libraries."""
    if len(results) == 1:
        return results[0]
    verdict = "\n".join(one.verdict for one in results)
    return RunsJson(verdict=verdict, results=results, comparison=comparison_json(runs))


def measure_json(
    run: Run,
    *,
    verdict: str | None = None,
    pairs: PairsJson | UnsetType = UNSET,
    hotspot: HotspotPairsJson | UnsetType = UNSET,
) -> MeasurementJson:
    """A run by itself.

    Args:
        run: the run.
        verdict: what it comes to, where more is known of that than the run tells.
        pairs: what pairs got, of a run of bisect.
        hotspot: which pairs shared a channel, of a run of hotspot.
    """
    record = run.record
    summaries = {cell.record.cell: cell for cell in run.summaries}
    judged = record.probe in COMPARED
    beyond = _beyond_wire(run)
    return MeasurementJson(
        verdict=run_verdict(run) if verdict is None else verdict,
        probe=record.probe,
        mpi=msgspec.convert(record.library, LibraryJson, from_attributes=True),
        ranks=_one_or_all([cell.ranks for cell in record.cells]),
        hosts=_one_or_all([cell.hosts for cell in record.cells]),
        host_names=_host_names(run),
        labels=record.labels,
        cells=[
            _measured(summaries[cell.cell], beyond_wire=cell.cell in beyond)
            if cell.cell in summaries
            else _without(run, cell)
            for cell in record.cells
        ],
        winners=[winner_json(contest) for contest in run.findings.contests] if judged else UNSET,
        collapses=[collapse_json(collapse) for collapse in run.findings.collapses]
        if judged
        else UNSET,
        harness=HarnessJson(
            timer_s=run.findings.timer_s,
            clock_residual_s=run.findings.clock_residual_s,
            launches=len(record.launches),
            budget_s=record.budget_s,
        ),
        warnings=list(run.findings.remarks),
        run=str(run.folder),
        pairs=pairs,
        hotspot=hotspot,
    )


def _beyond_wire(run: Run) -> set[int]:
    """Cells in which ranks sent faster than hosts' ports carry; of a hot spot, the victim did."""
    if run.record.probe == "hotspot" and not run.samples.is_empty():
        operations = victim_operations(run).partition_by("cell")
        return {part["cell"][0] for part in operations if are_beyond_wire(part)}
    return {cell.record.cell for cell in run.summaries if cell.beyond_wire}


def hotspot_json(spot: HotSpot, fabric: Fabric) -> HotspotPairsJson:
    """The channel, the victim and its rivals by name; rivals in their order."""

    def names(pair: tuple[int, int]) -> tuple[str, str]:
        source, target = pair
        return str(fabric.host_name[source]), str(fabric.host_name[target])

    return HotspotPairsJson(
        channel=fabric.channel_name(spot.channel),
        victim=names(spot.victim),
        rivals=[names(rival) for rival in spot.rivals],
    )


def comparison_json(runs: Sequence[Run]) -> list[ComparedRunJson]:
    """For every run with cells of the first, ratios of its medians to those of the first."""
    return [
        ComparedRunJson(
            base=other.base,
            other=other.name,
            cells=[
                ComparedCellJson(
                    **condition_keys(pair.base.condition),
                    schedule=pair.base.schedule,
                    bytes=pair.base.record.bytes,
                    ratio=estimate_json(pair.factor),
                    differs=pair.differs,
                )
                for pair in other.pairs
            ],
        )
        for other in compared(runs)
    ]


def _measured(cell: CellSummary, *, beyond_wire: bool) -> CellJson:
    rate = cell.rate
    return CellJson(
        **_labels(cell.record),
        schedule=cell.schedule,
        n=cell.n,
        used=len(cell.used),
        late=cell.late,
        launches=len(cell.launches),
        median_s=cell.median.value,
        ci95_s=cell.median.ci95,
        interval_s=cell.median.interval,
        coverage=coverage_of(cell.median),
        p99_s=cell.p99_s,
        max_s=cell.max_s,
        mean_s=cell.mean_s,
        rate_Bps_per_rank=0.0 if cell.sent == 0 else None if rate is None else rate.value,
        mean_rate_Bps_per_rank=cell.mean_rate,
        two_kinds=_modes(cell.modes),
        two_kinds_of_launches=_modes(cell.apart),
        beyond_wire=beyond_wire,
        verified=cell.verified,
        ended=list(cell.reasons),
        said=list(cell.said),
    )


def _modes(modes: Modes | None) -> ModesJson | None:
    return None if modes is None else msgspec.convert(modes, ModesJson, from_attributes=True)


def _without(run: Run, cell: CellRecord) -> CellJson:
    """A cell without samples: skipped, or failed before the first."""
    ends = run.record.ends_of(cell.cell)
    return CellJson(
        **_labels(cell),
        schedule=cell.algorithm,
        verified=False if any(end.verified is False for end in ends) else None,
        ended=[end.reason for end in ends],
        said=list(dict.fromkeys(end.said for end in ends if end.said)),
    )


def _labels(cell: CellRecord) -> dict[str, Any]:
    names = ("algorithm", "bytes", "ranks", "hosts", "labels")
    return {name: getattr(cell, name) for name in names}


def _one_or_all(values: list[int]) -> int | list[int] | None:
    different = sorted(set(values))
    return different[0] if len(different) == 1 else different or None


def _host_names(run: Run) -> list[str]:
    hosts = (host for launch in run.record.measured for host in launch.hosts)
    return list(dict.fromkeys(host.name for host in hosts))
