"""What is predicted of a profiled program: the verdict, tables, a figure and JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import msgspec
import polars as pl
from matplotlib.figure import Figure

from contend.prediction import Case, Elsewhere, Recorded
from contend.profiling import Profile
from contend.report.prediction.json import PilingJson
from contend.report.style import COLOURS, COLUMN_WIDTH, new_figure, styled, title
from contend.report.table import ResultTable
from contend.report.words import percent
from contend.units import counted, format_bandwidth, format_bytes, format_seconds

_SHOWN_CALLS = 8
_CROSSBAR = "any placement"
# What may be missing of a profile so that the program itself was another one.
_LACKING = ("no-record", "killed", "aborted", "exited", "another-program")
# Names differ between a library's own words, "Open MPI v4.1.4, package: ...", and contend's.
_LIBRARY = re.compile(r"([A-Za-z][A-Za-z ()]*?)(?: Version)?:?\s+v?(\d+\.\d+)")


def program_verdict(profile: Profile, recorded: Recorded, cases: Sequence[Case]) -> str:
    """The first sentences: where the program is slowest, and what could help there at most."""
    slowest = max(cases, key=lambda case: case.prediction.seconds)
    quickest = min(cases, key=lambda case: case.prediction.seconds)
    found = slowest.prediction
    parts = [
        f"{_program(profile)} is predicted to take {_time(found)} on {slowest.name}, "
        f"{found.seconds / recorded.seconds:.2f} times the {format_seconds(recorded.seconds)} that "
        "it took when it was recorded"
    ]
    if quickest is not slowest:
        parts.append(f", and {_time(quickest.prediction)} on {quickest.name}")
    parts.append(
        f". There perfect routes would save at most {_saving(found, found.perfect_routes)}, and "
        f"{_CROSSBAR} at most {_saving(found, found.crossbar)}."
    )
    doubtful = [case for case in cases if case.prediction.collapses]
    if doubtful:
        piling = doubtful[0].prediction.piling
        assert piling is not None
        parts.append(
            f" On {doubtful[0].name}"
            + (f" and {counted(len(doubtful) - 1, 'other')}" if len(doubtful) > 1 else "")
            + f" {piling.messages} messages of {format_bytes(piling.bytes)} meet in front of a "
            f"channel that holds {format_bytes(piling.buffer)}: packets may be dropped, time-outs "
            "may rule, and the prediction is only a lower bound."
        )
    if slowest.prediction.crowded:
        parts.append(
            f" {percent(slowest.prediction.small, 0)} of that are small collectives of more ranks "
            "than processors: when each of them runs decides, and such runs scatter by a factor."
        )
    if recorded.modelled is None:
        parts.append(
            " Where it was recorded is not known, so that nothing corrects the model: "
            "give --fabric."
        )
    lacking = [gap.text for gap in profile.record.missing if gap.code in _LACKING]
    if lacking:
        parts.append(f" The prediction lacks what the profile does: {lacking[0]}.")
    measured, ran = (_version(name) for name in (_calibrated(cases), profile.record.library))
    if measured and ran and measured != ran:
        parts.append(f" The calibration is of {measured}, and the program ran under {ran}.")
    return "".join(parts)


def _calibrated(cases: Sequence[Case]) -> str:
    return cases[0].prediction.where.calibration.library


def _version(library: str) -> str:
    """``Open MPI 4.1`` of what a library or a calibration says; "" where it has no number."""
    match = _LIBRARY.match(library)
    return f"{match[1]} {match[2]}" if match else ""


def _program(profile: Profile) -> str:
    names = [path.rsplit("/", 1)[-1] for path in profile.record.programs]
    return f"{', '.join(names) or 'The program'} ({counted(profile.size, 'rank')})"


def _time(found: Elsewhere) -> str:
    low, high = format_seconds(found.low), format_seconds(found.high)
    return f"{format_seconds(found.seconds)} ({low} to {high})"


def _saving(found: Elsewhere, bound: float) -> str:
    return percent(max(0.0, 1 - bound / found.seconds), 0)


def program_tables(
    profile: Profile, recorded: Recorded, cases: Sequence[Case]
) -> list[ResultTable]:
    """Run times of all cases; the cables and the calls of the slowest one."""
    slowest = max(cases, key=lambda case: case.prediction.seconds)
    tables = [_times(profile, recorded, cases), _calls(slowest)]
    if slowest.prediction.cables:
        tables.insert(1, _cables(slowest))
    return tables


def _times(profile: Profile, recorded: Recorded, cases: Sequence[Case]) -> ResultTable:
    columns = (
        "on",
        "run time",
        "interval",
        "times recorded",
        "in MPI",
        "perfect routes",
        _CROSSBAR,
        "",
    )
    rows = [("as recorded", format_seconds(recorded.seconds), "", "1.00", "", "", "", "")]
    for case in cases:
        found = case.prediction
        rows.append(
            (
                case.name,
                format_seconds(found.seconds),
                f"{format_seconds(found.low)} to {format_seconds(found.high)}",
                f"{found.seconds / recorded.seconds:.2f}",
                percent(found.communication, 0),
                format_seconds(found.perfect_routes),
                format_seconds(found.crossbar),
                _doubt(found),
            )
        )
    return ResultTable(
        title=f"{_program(profile)}, predicted",
        columns=columns,
        rows=tuple(rows),
        numeric=frozenset(columns[1:-1]),
        note=" ".join([_conditions(profile, cases), *_notes(recorded)]),
    )


def _doubt(found: Elsewhere) -> str:
    if found.collapses:
        return "at least: drops"
    return "doubtful: small and crowded" if found.crowded else ""


def _conditions(profile: Profile, cases: Sequence[Case]) -> str:
    """What cables and seats are predicted for."""
    cables = {(case.prediction.where.rate, case.prediction.where.buffer) for case in cases}
    words = []
    for rate, buffer in sorted(cables, key=lambda cable: cable[0]):
        holds = "" if buffer is None else f" with buffers of {format_bytes(buffer)}"
        words.append(f"{format_bandwidth(rate)}{holds}")
    wire = profile.record.wire_Bps
    if wire and any(not math.isclose(wire, rate, rel_tol=1e-3) for rate, _ in cables):
        words.append(f"recorded at {format_bandwidth(wire)}")
    return (
        f"Cables: {', '.join(words)}. Ranks sit on the profile's hosts if the fabric has them all "
        "by name, else on hosts in their order, unless --placement says otherwise."
    )


def _notes(recorded: Recorded) -> list[str]:
    notes = [
        "Run times: from the first MPI_Init to the last end. "
        "Perfect routes: all cables of a switch with hosts as one. "
        f"{_CROSSBAR[:1].upper()}{_CROSSBAR[1:]}: nothing but hosts' ports."
    ]
    if recorded.modelled is not None:
        notes.append(
            f"Where it was recorded, the model has {format_seconds(recorded.modelled)} for "
            f"{format_seconds(recorded.kept)}."
        )
        look = recorded.corrections[0].look_every_s
        if look is not None:
            notes.append(f"It is right if ranks that wait look every {format_seconds(look)}.")
    if math.isfinite(recorded.program.until):
        share = percent(recorded.kept / recorded.seconds, 0)
        notes.append(f"Events were kept of {share} of the run; the rest is taken to be like it.")
    notes += [f"{remark[:1].upper()}{remark[1:]}." for remark in recorded.program.remarks]
    return notes


def _cables(case: Case) -> ResultTable:
    columns = ("cable", "bytes", "busy", "costs")
    found = case.prediction
    rows = [
        (
            found.where.fabric.channel_name(cable.channel),
            format_bytes(cable.bytes),
            percent(cable.busy, 0),
            format_seconds(cable.seconds) if cable.seconds > 0 else "nothing alone",
        )
        for cable in found.cables
    ]
    return ResultTable(
        title=f"Busiest cables on {case.name}",
        columns=columns,
        rows=tuple(rows),
        numeric=frozenset(columns[1:]),
        note="Costs: what the run would save if this cable alone held nothing back.",
    )


def _calls(case: Case) -> ResultTable:
    columns = ("routine", "communicator", "calls", "recorded", "predicted")
    rows = [
        (
            f"MPI_{row['routine']}" if row["routine"] else "others",
            "world" if row["communicator"] == 0 else str(row["communicator"]),
            f"{row['calls']:,}",
            format_seconds(row["recorded_s"]),
            format_seconds(row["predicted_s"]),
        )
        for row in case.prediction.calls.head(_SHOWN_CALLS).iter_rows(named=True)
    ]
    return ResultTable(
        title=f"Time in MPI of the mean rank on {case.name}",
        columns=columns,
        rows=tuple(rows),
        numeric=frozenset(columns[2:]),
        note="Predicted times are the model's own, before the run time is corrected.",
    )


def program_figure(profile: Profile, recorded: Recorded, cases: Sequence[Case]) -> Figure:
    """A bar for every case with its interval; a line for what was recorded.

    A bar's parts are what it would take on a crossbar, what too few cables add whatever the routes,
    and what the routes add.
    """
    with styled():
        figure = new_figure(height=1.1 + 0.36 * len(cases), width=1.5 * COLUMN_WIDTH)
        axes = figure.subplots()
        found = [case.prediction for case in cases]
        begin = [0.0] * len(cases)
        for label, colour, ends in (
            ("on a crossbar", COLOURS[0], [one.crossbar for one in found]),
            ("too few cables", COLOURS[5], [one.perfect_routes for one in found]),
            ("routes", COLOURS[4], [one.seconds for one in found]),
        ):
            widths = [end - start for end, start in zip(ends, begin, strict=True)]
            axes.barh(range(len(cases)), widths, left=begin, height=0.6, color=colour, label=label)
            begin = ends
        axes.errorbar(
            [one.seconds for one in found],
            range(len(cases)),
            xerr=[
                [one.seconds - one.low for one in found],
                [one.high - one.seconds for one in found],
            ],
            fmt="none",
            color="0.15",
            linewidth=1.0,
            capsize=2.5,
        )
        axes.axvline(recorded.seconds, color=COLOURS[1], linewidth=1.2, label="as recorded")
        axes.set_yticks(range(len(cases)), [case.name for case in cases])
        axes.invert_yaxis()
        axes.set_xlabel("predicted run time [s]")
        axes.legend(
            frameon=False, fontsize=6.5, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4
        )
        slowest = max(cases, key=lambda case: case.prediction.seconds)
        title(
            figure,
            f"{_program(profile)}: {slowest.prediction.seconds / recorded.seconds:.2f} times as "
            f"long on {slowest.name}",
        )
    return figure


class CableCostJson(msgspec.Struct, frozen=True, kw_only=True):
    """What a cable costs a program.

    Attributes:
        channel: the direction over which more goes.
        bytes: that cross it.
        busy: part of the run time in which something is under way on it.
        costs_s: run time that the program would save if this cable alone held nothing back.
    """

    channel: str
    bytes: float
    busy: float
    costs_s: float


class PredictedCallsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of a routine on a communicator.

    Attributes:
        routine: its name.
        communicator: number in the profile.
        calls: of all ranks.
        recorded_s: time in them, of the mean rank.
        predicted_s: the same by the model, not corrected.
    """

    routine: str
    communicator: int
    calls: int
    recorded_s: float
    predicted_s: float


class PredictedCaseJson(msgspec.Struct, frozen=True, kw_only=True):
    """A program's run time in one place.

    Attributes:
        name: what tells the place from the others.
        fabric: its name.
        rate_Bps: of every cable.
        hosts: number of each rank's host.
        predicted_s: the run time.
        interval_s: both ends.
        communication: part of the run time in MPI.
        perfect_routes_s: run time if all cables of a switch with hosts were one.
        crossbar_s: run time if nothing but hosts' ports held messages back.
        collapses: whether time-outs may rule, so that predicted_s is only a lower bound.
        crowded: whether much of the run is small collectives of more ranks than processors, which
            makes predicted_s doubtful.
        piling: where most can pile up; null where the buffers are not known, or nowhere.
        cables: what the busiest ones cost.
        calls: by routine and communicator.
    """

    name: str
    fabric: str
    rate_Bps: float  # noqa: N815 - bytes per second, as in the JSON of all results
    hosts: list[int]
    predicted_s: float
    interval_s: tuple[float, float]
    communication: float
    perfect_routes_s: float
    crossbar_s: float
    collapses: bool
    crowded: bool
    piling: PilingJson | None
    cables: list[CableCostJson]
    calls: list[PredictedCallsJson]


class PredictedProgramJson(msgspec.Struct, frozen=True, kw_only=True):
    """A profiled program, predicted.

    Attributes:
        profile: its folder.
        command: what was recorded.
        ranks: how many.
        recorded_s: run time as recorded.
        kept_s: the part of it that events were kept of.
        modelled_s: what the model has for that part, where it was recorded; null where that is not
            known.
        look_every_s: how often ranks that wait look, taken from the recording; null where the
            calibration's is used.
        remarks: what a reader must know.
        verdict: what it comes to, in words.
        cases: one for every place.
    """

    profile: str
    command: list[str]
    ranks: int
    recorded_s: float
    kept_s: float
    modelled_s: float | None
    look_every_s: float | None
    remarks: list[str]
    verdict: str
    cases: list[PredictedCaseJson]


def program_json(
    profile: Profile, recorded: Recorded, cases: Sequence[Case], *, verdict: str
) -> PredictedProgramJson:
    """All cases."""
    return PredictedProgramJson(
        profile=str(profile.folder),
        command=list(profile.record.command),
        ranks=profile.size,
        recorded_s=recorded.seconds,
        kept_s=recorded.kept,
        modelled_s=recorded.modelled,
        look_every_s=recorded.corrections[0].look_every_s,
        remarks=list(recorded.program.remarks),
        verdict=verdict,
        cases=[_case_json(case) for case in cases],
    )


def _case_json(case: Case) -> PredictedCaseJson:
    found = case.prediction
    fabric, piling = found.where.fabric, found.piling
    return PredictedCaseJson(
        name=case.name,
        fabric=fabric.name,
        rate_Bps=found.where.rate,
        hosts=[int(host) for host in found.where.hosts],
        predicted_s=found.seconds,
        interval_s=(found.low, found.high),
        communication=found.communication,
        perfect_routes_s=found.perfect_routes,
        crossbar_s=found.crossbar,
        collapses=found.collapses,
        crowded=found.crowded,
        piling=None if piling is None else PilingJson.of(piling, fabric),
        cables=[
            CableCostJson(
                channel=fabric.channel_name(cable.channel),
                bytes=cable.bytes,
                busy=cable.busy,
                costs_s=cable.seconds,
            )
            for cable in found.cables
        ],
        calls=[
            PredictedCallsJson(**row)
            for row in found.calls.with_columns(
                routine=pl.concat_str(pl.lit("MPI_"), "routine")
            ).iter_rows(named=True)
        ],
    )
