"""What is predicted of a profiled program: verdict, tables, times by place."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from contend.base.units import counted, format_bytes, format_link_speed, format_seconds
from contend.prediction import CableCost, Elsewhere, PredictedProgram, Recorded
from contend.profiling import ProgramProfile
from contend.report.charts import Bars, Stack, charted
from contend.report.document import Document
from contend.report.prediction.tables import ASSUMED, doubt, remarks_words
from contend.report.series import Axis, BoundLine, Series
from contend.report.style import COLOURS, COLUMN_WIDTH
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN_CALLS = 8
_CROSSBAR = "any placement"
# What may be missing of a profile so that the program itself was another one.
_LACKING = ("no-record", "killed", "aborted", "exited")
# Names differ between a library's own words, "Open MPI v4.1.4, package: ...", and contend's.
_LIBRARY = re.compile(r"([A-Za-z][A-Za-z ()]*?)(?: Version)?:?\s+v?(\d+\.\d+)")

_Case: TypeAlias = Elsewhere | None
"""A place, or None for the recording."""


def _verdict(predicted: PredictedProgram) -> str:
    """The first sentences: where the program is slowest, and what could help there at most."""
    recorded, slowest = predicted.recorded, predicted.slowest
    profile = recorded.recording
    quickest = min(predicted.cases, key=lambda case: case.predicted_s)
    parts = [
        f"{program_name(profile)} is predicted to take {_time(slowest)} on {slowest.name}, "
        f"{slowest.predicted_s / recorded.recorded_s:.2f} times the "
        f"{format_seconds(recorded.recorded_s)} that it took when it was recorded"
    ]
    if quickest is not slowest:
        parts.append(f", and {_time(quickest)} on {quickest.name}")
    parts.append(
        f". There, perfect routes would save at most {_saving(slowest, slowest.perfect_routes_s)}, "
        f"and {_CROSSBAR} at most {_saving(slowest, slowest.crossbar_s)}."
    )
    doubtful = [case for case in predicted.cases if case.collapses]
    if doubtful:
        piling = doubtful[0].piling
        assert piling is not None
        parts.append(
            f" On {doubtful[0].name}"
            + (f" and {counted(len(doubtful) - 1, 'other')}" if len(doubtful) > 1 else "")
            + f" {piling.messages} messages of {format_bytes(piling.bytes)} meet in front of a "
            f"channel that holds {format_bytes(piling.buffer)}: packets may be dropped, and "
            "because of time-outs the prediction is only a lower bound."
        )
    if slowest.crowded:
        parts.append(
            f" {percent(slowest.small, 0)} of that are small messages and collectives of "
            "more ranks than processors. The scheduler decides how long these take, and so does "
            "what else the machine does: such runs vary widely, and the interval lacks that."
        )
    if recorded.modelled_s is None:
        parts.append(
            " The fabric that it was recorded on is not known, so the model's error is not "
            "corrected: give --fabric."
        )
    lacking = [gap.text for gap in profile.record.missing if gap.code in _LACKING]
    if lacking:
        parts.append(f" The prediction lacks what the profile lacks: {lacking[0]}.")
    if slowest.where.calibration.assumed:
        parts.append(f" {ASSUMED}")
    measured = _version(slowest.where.calibration.library)
    ran = _version(profile.record.library)
    if measured and ran and measured != ran:
        parts.append(
            f" The calibration was made under {measured}, but the program ran under {ran}."
        )
    return "".join(parts)


def _version(library: str) -> str:
    """``Open MPI 4.1`` of what a library or a calibration says; "" where it has no number."""
    match = _LIBRARY.match(library)
    return f"{match[1]} {match[2]}" if match else ""


def program_name(profile: ProgramProfile) -> str:
    """What ran, and on how many ranks."""
    names = [path.rsplit("/", 1)[-1] for path in profile.record.programs]
    return f"{', '.join(names) or 'The program'} ({counted(profile.size, 'rank')})"


def _time(found: Elsewhere) -> str:
    return f"{format_seconds(found.predicted_s)} ({_interval(found)})"


def _interval(found: Elsewhere) -> str:
    low, high = map(format_seconds, found.interval_s)
    return f"{low} to {high}"


def _saving(found: Elsewhere, bound: float) -> str:
    return percent(max(0.0, 1 - bound / found.predicted_s), 0)


def _tables(predicted: PredictedProgram) -> list[ResultTable]:
    """Run times of all cases; the cables and the calls of the slowest one."""
    slowest = predicted.slowest
    tables = [_times(predicted), _calls(slowest)]
    if slowest.cables:
        tables.insert(1, _cables(slowest))
    return tables


def _times(predicted: PredictedProgram) -> ResultTable:
    recorded = predicted.recorded

    def of_case(words: Callable[[Elsewhere], str], as_recorded: str = "") -> Number[_Case]:
        return Number(lambda case: as_recorded if case is None else words(case))

    as_recorded: list[_Case] = [None]
    return table_of(
        f"{program_name(recorded.recording)}, predicted",
        [*as_recorded, *predicted.cases],
        {
            "on": lambda case: "as recorded" if case is None else case.name,
            "run time": of_case(
                lambda case: format_seconds(case.predicted_s), format_seconds(recorded.recorded_s)
            ),
            "interval": of_case(_interval),
            "times recorded": of_case(
                lambda case: f"{case.predicted_s / recorded.recorded_s:.2f}", "1.00"
            ),
            "in MPI": of_case(lambda case: percent(case.communication, 0)),
            "perfect routes": of_case(lambda case: format_seconds(case.perfect_routes_s)),
            _CROSSBAR: of_case(lambda case: format_seconds(case.crossbar_s)),
            "": lambda case: "" if case is None else doubt(case),
        },
        note=" ".join([_conditions(predicted), *_notes(recorded)]),
    )


def _conditions(predicted: PredictedProgram) -> str:
    """What cables and seats are predicted for."""
    cables = {(case.rate_Bps, case.where.buffer) for case in predicted.cases}
    words = []
    for rate, buffer in sorted(cables, key=lambda cable: cable[0]):
        holds = "" if buffer is None else f" with buffers of {format_bytes(buffer)}"
        words.append(f"{format_link_speed(rate)}{holds}")
    wire = predicted.recorded.recording.record.wire_Bps
    if wire and any(not math.isclose(wire, rate, rel_tol=1e-3) for rate, _ in cables):
        words.append(f"recorded at {format_link_speed(wire)}")
    return (
        f"Cables: {', '.join(words)}. Ranks sit on the profile's hosts if the fabric has them all "
        "by name, else on hosts in their order, unless --placement says otherwise."
    )


def _notes(recorded: Recorded) -> list[str]:
    notes = [
        "Run times: from the end of MPI_Init to the beginning of MPI_Finalize, without what these "
        "two take. "
        "Perfect routes: all cables of a switch with hosts as one. "
        f"{_CROSSBAR[:1].upper()}{_CROSSBAR[1:]}: nothing but hosts' ports."
    ]
    if recorded.modelled_s is not None:
        notes.append(
            f"For the recorded run, the model predicts {format_seconds(recorded.modelled_s)} "
            f"instead of {format_seconds(recorded.kept_s)}."
        )
        if recorded.look_every_s is not None:
            look = format_seconds(recorded.look_every_s)
            notes.append(f"It agrees if waiting ranks poll every {look}.")
    if math.isfinite(recorded.program.until):
        share = percent(recorded.kept_s / recorded.recorded_s, 0)
        notes.append(f"Events were kept for {share} of the run; the rest is assumed to be like it.")
    return [*notes, remarks_words(recorded.remarks)]


def _cables(case: Elsewhere) -> ResultTable:
    return table_of(
        f"Hottest cables on {case.name}",
        case.cables,
        {
            "cable": "channel",
            "bytes": Number(lambda cable: format_bytes(cable.bytes)),
            "busy": Number(lambda cable: percent(cable.busy, 0)),
            "costs": Number(_cost),
        },
        note="Costs: what the run would save if this cable alone held nothing back.",
    )


def _cost(cable: CableCost) -> str:
    return format_seconds(cable.costs_s) if cable.costs_s > 0 else "nothing alone"


def _calls(case: Elsewhere) -> ResultTable:
    return table_of(
        f"Time in MPI of the mean rank on {case.name}",
        case.calls[:_SHOWN_CALLS],
        {
            "routine": lambda calls: calls.routine or "others",
            "communicator": lambda calls: str(calls.communicator or "world"),
            "calls": "calls",
            "recorded": "recorded_s",
            "predicted": "predicted_s",
        },
        note="Predicted times are the model's own, before the run time is corrected.",
    )


def program_document(predicted: PredictedProgram) -> Document:
    """A program's run time in every place, and what holds it back where it is slowest."""
    return Document(
        verdict=_verdict(predicted),
        tables=_tables(predicted),
        record=predicted,
        pictures={"times": lambda: program_figure(predicted)},
    )


def program_figure(predicted: PredictedProgram) -> Figure:
    """A bar for every case with its interval; a line for what was recorded.

    A bar's parts are what it would take on a crossbar, what too few cables add whatever the routes,
    and what the routes add.
    """
    cases, recorded = predicted.cases, predicted.recorded
    stacks, begin = [], np.zeros(len(cases))
    for name, colour, ends in (
        ("on a crossbar", COLOURS[0], [case.crossbar_s for case in cases]),
        ("too few cables", COLOURS[5], [case.perfect_routes_s for case in cases]),
        ("routes", COLOURS[4], [case.predicted_s for case in cases]),
    ):
        stacks.append(Stack(np.array(ends) - begin, name, colour))
        begin = np.array(ends)
    interval = Series(
        [case.predicted_s for case in cases],
        range(len(cases)),
        low=[case.interval_s[0] for case in cases],
        high=[case.interval_s[1] for case in cases],
        colour="0.15",
    )
    look = {"color": COLOURS[1], "linewidth": 1.2, "linestyle": "-", "zorder": 2}
    doubts = [doubt(case) for case in cases]
    chart = Bars(
        names=[
            f"{case.name}\n{words}" if words else case.name
            for case, words in zip(cases, doubts, strict=True)
        ],
        stacks=stacks,
        series=[interval],
        bounds=[BoundLine(recorded.recorded_s, across="x", name="as recorded", look=look)],
        x=Axis("predicted run time [s]"),
    )
    slowest = predicted.slowest
    times = f"{slowest.predicted_s / recorded.recorded_s:.2f}"
    return charted(
        f"{program_name(recorded.recording)}: {times} times as long on {slowest.name}",
        chart,
        height=1.3 + 0.36 * len(cases),
        width=1.5 * COLUMN_WIDTH,
        legend=4,
    )
