"""What is predicted of a profiled program: the verdict and tables."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from contend.prediction import Elsewhere, PredictedPlace, PredictedProgram, Recorded
from contend.profiling import ProgramProfile
from contend.report.prediction.tables import ASSUMED, doubt, remarks_words
from contend.report.table import ResultTable
from contend.report.words import percent
from contend.units import counted, format_bytes, format_link_speed, format_seconds

_SHOWN_CALLS = 8
_CROSSBAR = "any placement"
# What may be missing of a profile so that the program itself was another one.
_LACKING = ("no-record", "killed", "aborted", "exited")
# Names differ between a library's own words, "Open MPI v4.1.4, package: ...", and contend's.
_LIBRARY = re.compile(r"([A-Za-z][A-Za-z ()]*?)(?: Version)?:?\s+v?(\d+\.\d+)")


def program_verdict(predicted: PredictedProgram) -> str:
    """The first sentences: where the program is slowest, and what could help there at most."""
    profile, recorded, cases = predicted.profile, predicted.recorded, predicted.places
    slowest = predicted.slowest
    quickest = min(cases, key=lambda case: case.prediction.seconds)
    found = slowest.prediction
    parts = [
        f"{program_name(profile)} is predicted to take {_time(found)} on {slowest.name}, "
        f"{found.seconds / recorded.seconds:.2f} times the {format_seconds(recorded.seconds)} that "
        "it took when it was recorded"
    ]
    if quickest is not slowest:
        parts.append(f", and {_time(quickest.prediction)} on {quickest.name}")
    parts.append(
        f". There, perfect routes would save at most {_saving(found, found.perfect_routes)}, and "
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
            f"channel that holds {format_bytes(piling.buffer)}: packets may be dropped, and "
            "because of time-outs the prediction is only a lower bound."
        )
    if slowest.prediction.crowded:
        parts.append(
            f" {percent(slowest.prediction.small, 0)} of that are small collectives of more ranks "
            "than processors. The scheduler decides how long these take, and such runs vary "
            "widely."
        )
    if recorded.modelled is None:
        parts.append(
            " The fabric that it was recorded on is not known, so the model's error is not "
            "corrected: give --fabric."
        )
    lacking = [gap.text for gap in profile.record.missing if gap.code in _LACKING]
    if lacking:
        parts.append(f" The prediction lacks what the profile lacks: {lacking[0]}.")
    if found.where.calibration.assumed:
        parts.append(f" {ASSUMED}")
    measured = _version(found.where.calibration.library)
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
    low, high = format_seconds(found.low), format_seconds(found.high)
    return f"{format_seconds(found.seconds)} ({low} to {high})"


def _saving(found: Elsewhere, bound: float) -> str:
    return percent(max(0.0, 1 - bound / found.seconds), 0)


def program_tables(predicted: PredictedProgram) -> list[ResultTable]:
    """Run times of all cases; the cables and the calls of the slowest one."""
    slowest = predicted.slowest
    tables = [_times(predicted), _calls(slowest)]
    if slowest.prediction.cables:
        tables.insert(1, _cables(slowest))
    return tables


def _times(predicted: PredictedProgram) -> ResultTable:
    profile, recorded, cases = predicted.profile, predicted.recorded, predicted.places
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
                doubt(found),
            )
        )
    return ResultTable(
        title=f"{program_name(profile)}, predicted",
        columns=columns,
        rows=tuple(rows),
        numeric=frozenset(columns[1:-1]),
        note=" ".join([_conditions(profile, cases), *_notes(recorded)]),
    )


def _conditions(profile: ProgramProfile, cases: Sequence[PredictedPlace]) -> str:
    """What cables and seats are predicted for."""
    cables = {(case.prediction.where.rate, case.prediction.where.buffer) for case in cases}
    words = []
    for rate, buffer in sorted(cables, key=lambda cable: cable[0]):
        holds = "" if buffer is None else f" with buffers of {format_bytes(buffer)}"
        words.append(f"{format_link_speed(rate)}{holds}")
    wire = profile.record.wire_Bps
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
    if recorded.modelled is not None:
        notes.append(
            f"For the recorded run, the model predicts {format_seconds(recorded.modelled)} instead "
            f"of {format_seconds(recorded.kept)}."
        )
        look = recorded.corrections[0].look_every_s
        if look is not None:
            notes.append(f"It agrees if waiting ranks poll every {format_seconds(look)}.")
    if math.isfinite(recorded.program.until):
        share = percent(recorded.kept / recorded.seconds, 0)
        notes.append(f"Events were kept for {share} of the run; the rest is assumed to be like it.")
    return [*notes, remarks_words(recorded.program.remarks)]


def _cables(case: PredictedPlace) -> ResultTable:
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
        title=f"Hottest cables on {case.name}",
        columns=columns,
        rows=tuple(rows),
        numeric=frozenset(columns[1:]),
        note="Costs: what the run would save if this cable alone held nothing back.",
    )


def _calls(case: PredictedPlace) -> ResultTable:
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
