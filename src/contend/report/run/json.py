"""Runs as JSON: the keys that scripts rely on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from contend.congestion import HotSpot
from contend.emulation import Drops, drops_of
from contend.fabric import Fabric
from contend.measurement import are_beyond_wire, victim_operations
from contend.report.document import filled
from contend.report.pairwise.pairs import PairsJson
from contend.report.run.comparison import compared
from contend.report.run.findings import (
    CollapseJson,
    ConditionJson,
    Label,
    MeasuredEstimateJson,
    WinnerJson,
    collapse_json,
    condition_keys,
    winner_json,
)
from contend.report.run.verdict import run_verdict
from contend.runs import (
    COMPARED,
    CellRecord,
    CellSummary,
    Run,
    Warned,
)


class ModesJson(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of two kinds, such as those with and without a time-out."""

    fast_s: Annotated[float, "median seconds of the faster kind."]
    slow_s: Annotated[float, "median seconds of the slower kind."]
    slow_share: Annotated[float, "fraction of the samples that is of the slower kind."]


class CellJson(msgspec.Struct, frozen=True, kw_only=True):
    """A cell: one schedule at one size under one condition.

    Times are of one operation: half a round trip of a ping-pong, a message of a stream, anything
    else as a whole. Values that need samples are null without them.
    """

    algorithm: Annotated[str, "the name that the probe was given."]
    bytes: Annotated[int | None, "to each other rank; null where the probe has no sizes."]
    ranks: Annotated[int, "number of ranks."]
    hosts: Annotated[int, "number of hosts."]
    labels: Annotated[dict[str, Label], "everything else that the probe says about it."]
    schedule: Annotated[str, "what it is called in tables; tells cells of one algorithm apart."]
    n: Annotated[int, "number of timed samples; 0 where the cell was skipped or failed."] = 0
    used: Annotated[int, "number of samples that the figures rest on."] = 0
    late: Annotated[int, "number of samples in which a rank started late."] = 0
    launches: Annotated[int, "number of launches that measured it."] = 0
    median_s: Annotated[float | None, "median in seconds."] = None
    ci95_s: Annotated[
        tuple[float, float] | None,
        "both ends of its 95 % interval; null where too little was measured for one.",
    ] = None
    interval_s: Annotated[
        tuple[float, float] | None,
        "both ends of the interval that there is; null below six samples.",
    ] = None
    coverage: Annotated[
        float | None,
        "how probable it is that the interval holds the true median; null without one.",
    ] = None
    p99_s: Annotated[float | None, "99 % of the samples took at most this many seconds."] = None
    max_s: Annotated[float | None, "the longest sample in seconds."] = None
    mean_s: Annotated[float | None, "mean in seconds."] = None
    rate_Bps_per_rank: Annotated[
        float | None, "what a rank sends (p - 1 blocks, or one message) over the median."
    ] = None
    mean_rate_Bps_per_rank: Annotated[float | None, "all bytes that a rank sent over all time."] = (
        None
    )
    two_kinds: Annotated[ModesJson | None, "null where the samples are of one kind."] = None
    two_kinds_of_launches: Annotated[
        ModesJson | None,
        "launches that are wholly of the one or the other kind, with the share of slow "
        "launches; null where launches are alike. The median is of neither kind then.",
    ] = None
    beyond_wire: Annotated[
        bool,
        "whether ranks sent faster than ports and cables carry, as short messages do that go into "
        "buffers, or through a cable's burst, at once.",
    ] = False
    verified: Annotated[
        bool | None, "whether the received data were right; null if that was not checked."
    ]
    ended: Annotated[list[str], "why each launch stopped sampling."]
    said: Annotated[list[str], "what the probe said about it."]


class MeasuredLibraryJson(msgspec.Struct, frozen=True, kw_only=True):
    """The MPI library."""

    name: Annotated[str, "what it calls itself."]
    version: Annotated[str, "its version."]
    standard: Annotated[str, "version of the MPI standard that it follows."]
    wrapper: Annotated[str, "the compiler wrapper that the probe was built with."]


class HarnessJson(msgspec.Struct, frozen=True, kw_only=True):
    """How it was measured."""

    timer_s: Annotated[
        float | None, "seconds that reading the clock takes; null where it was not measured."
    ]
    clock_residual_s: Annotated[
        float | None, "seconds within which the ranks' clocks agree; null where not measured."
    ]
    launches: Annotated[int, "number of launches."]
    budget_s: Annotated[float | None, "seconds that the run had; null for no limit."]


class HotspotPairsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs of hosts whose messages share a channel."""

    channel: Annotated[str, "the channel that all pairs share."]
    victim: Annotated[tuple[str, str], "source and target of the pair that is measured."]
    rivals: Annotated[
        list[tuple[str, str]], "source and target of every pair that may load the channel."
    ]


class MeasurementJson(msgspec.Struct, frozen=True, kw_only=True):
    """A run; ``contend measure bisect`` and ``hotspot`` add what only they have."""

    verdict: Annotated[str, "one-sentence verdict."]
    probe: Annotated[str, "what measured."]
    mpi: Annotated[MeasuredLibraryJson, "the MPI library."]
    ranks: Annotated[int | list[int] | None, "number of ranks, or a list where launches differ."]
    hosts: Annotated[int | list[int] | None, "number of hosts, or a list where launches differ."]
    host_names: Annotated[list[str], "names of the hosts."]
    labels: Annotated[dict[str, str], "conditions that no program can see, as they were given."]
    cells: Annotated[list[CellJson], "what was measured, one by one."]
    winners: Annotated[
        list[WinnerJson] | UnsetType, "fastest schedules; there for all-to-alls and sorts."
    ] = UNSET
    collapses: Annotated[
        list[CollapseJson] | UnsetType, "where rates collapse; there for all-to-alls and sorts."
    ] = UNSET
    harness: Annotated[HarnessJson, "how it was measured."]
    drops_by_place: Annotated[
        Drops | None, "packets that emulated queues dropped; null where nobody counted."
    ]
    warnings: Annotated[list[Warned], "what a reader must know."]
    run: Annotated[str, "folder of the run."]
    pairs: Annotated[PairsJson | UnsetType, "of random pairs; there for bisect."] = UNSET
    hotspot: Annotated[
        HotspotPairsJson | UnsetType, "the pairs that shared a channel; there for hotspot."
    ] = UNSET


class ComparedCellJson(ConditionJson, frozen=True, kw_only=True):
    """A cell that two runs measured."""

    schedule: Annotated[str, "its name."]
    bytes: Annotated[int | None, "to each other rank."]
    ratio: Annotated[MeasuredEstimateJson, "median of the other run over that of the base."]
    differs: Annotated[
        bool | None, "whether the interval of the ratio leaves 1 out; null without an interval."
    ]


class ComparedRunJson(msgspec.Struct, frozen=True, kw_only=True):
    """A run beside the first."""

    base: Annotated[str, "name of the first run."]
    other: Annotated[str, "name of this run."]
    cells: Annotated[list[ComparedCellJson], "what both measured."]


class RunsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Several runs."""

    verdict: Annotated[str, "a one-sentence verdict for each."]
    results: Annotated[list[MeasurementJson], "the runs."]
    comparison: Annotated[
        list[ComparedRunJson], "every run that has cells in common with the first."
    ]


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
    return filled(
        MeasurementJson,
        record,
        verdict=run_verdict(run) if verdict is None else verdict,
        mpi=record.library,
        ranks=_one_or_all([cell.ranks for cell in record.cells]),
        hosts=_one_or_all([cell.hosts for cell in record.cells]),
        host_names=_host_names(run),
        cells=[
            _measured(summaries[cell.cell], beyond_wire=cell.cell in beyond)
            if cell.cell in summaries
            else _without(run, cell)
            for cell in record.cells
        ],
        winners=list(map(winner_json, run.findings.contests)) if judged else UNSET,
        collapses=list(map(collapse_json, run.findings.collapses)) if judged else UNSET,
        harness=filled(HarnessJson, run.findings, record, launches=len(record.launches)),
        drops_by_place=drops_of(record.counters),
        warnings=run.findings.remarks,
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
                filled(
                    ComparedCellJson,
                    pair,
                    **condition_keys(pair.base.condition),
                    schedule=pair.base.schedule,
                    bytes=pair.base.record.bytes,
                    ratio=pair.factor,
                )
                for pair in other.pairs
            ],
        )
        for other in compared(runs)
    ]


def _measured(cell: CellSummary, *, beyond_wire: bool) -> CellJson:
    rate = cell.rate
    return filled(
        CellJson,
        cell.record,
        cell,
        used=len(cell.used),
        launches=len(cell.launches),
        median_s=cell.median.value,
        ci95_s=cell.median.ci95,
        interval_s=cell.median.interval,
        coverage=cell.median.coverage,
        rate_Bps_per_rank=0.0 if cell.sent == 0 else None if rate is None else rate.value,
        mean_rate_Bps_per_rank=cell.mean_rate,
        two_kinds=cell.modes,
        two_kinds_of_launches=cell.apart,
        beyond_wire=beyond_wire,
        ended=cell.reasons,
    )


def _without(run: Run, cell: CellRecord) -> CellJson:
    """A cell without samples: skipped, or failed before the first."""
    ends = run.record.ends_of(cell.cell)
    return filled(
        CellJson,
        cell,
        schedule=cell.algorithm,
        verified=False if any(end.verified is False for end in ends) else None,
        ended=[end.reason for end in ends],
        said=list(dict.fromkeys(end.said for end in ends if end.said)),
    )


def _one_or_all(values: list[int]) -> int | list[int] | None:
    different = sorted(set(values))
    return different[0] if len(different) == 1 else different or None


def _host_names(run: Run) -> list[str]:
    hosts = (host for launch in run.record.measured for host in launch.hosts)
    return list(dict.fromkeys(host.name for host in hosts))
