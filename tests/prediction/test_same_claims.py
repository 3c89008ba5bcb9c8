"""What explain, tune, report and predict say of one run of an all-to-all, side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

import contend
from contend.cure import learn
from contend.explanation import Explanation, Limit
from contend.explanation.evidence import IMPOSSIBLE
from contend.measurement import RealHosts, carried
from contend.prediction import Parameter, SizeClass, predict
from contend.prediction.calibration import Calibration
from contend.runs import Kind, LaunchRecord, LibraryRecord, Run, RunRecord
from measured_runs import alltoall_run
from sample_files import Launch

WIRE = 2.5e6
TREE = "xgft:2;2,2;1,1"
KIB = 1024


def collapsing(folder: Path) -> Run:
    return alltoall_run(folder)


def healthy(folder: Path) -> Run:
    return alltoall_run(folder, schedules=("library", "linear"), sizes=(64, 1024, 1 << 18, 1 << 20))


def faster_without_a_rule(folder: Path) -> Run:
    """Pairwise exchange, which rules do not have, avoids what the library's call suffers."""
    return alltoall_run(folder, schedules=("library", "linear", "pairwise"), sizes=(64, 16384))


def oversubscribed(folder: Path, at_16_kib: float = 1.1) -> Run:
    """Four messages a cable: 105 ms for 64 KiB. At 4 KiB shift goes into buffers, in a fifth."""
    fabric = contend.load(TREE, route="dmodk")
    library = LibraryRecord("Open MPI", "4.1.4")
    launches = (LaunchRecord(0, 4),)
    record = RunRecord("alltoall", wire_Bps=WIRE, launches=launches, library=library)
    run = Run.create(folder, record)
    launch = Launch(4, hosts=list(fabric.host_name))
    for name, times in (
        ("library", {1: 0.06, 4: 0.9, 16: at_16_kib, 64: 1.25, 256: 1.2}),
        ("shift", {1: 0.1, 4: 0.2, 16: 1.0, 64: 1.3, 256: 1.05}),
    ):
        for kib, share in times.items():
            launch.cell(
                share * 4 * kib * KIB / WIRE * np.linspace(0.99, 1.01, 12),
                algorithm=name,
                bytes=kib * KIB,
                counts="even",
                start="clock",
            )
    launch.write(run.raw_path(0))
    run = run.fold()
    most = carried(run, RealHosts(fabric=fabric))
    return replace(run, record=msgspec.structs.replace(run.record, carried_Bps=most))


def dropping(folder: Path) -> Run:
    """The same, but the library's call waits for a time-out with 16 KiB: 0.29 s instead of 0.03."""
    return oversubscribed(folder, 11)


def _explained(run: Run) -> Explanation:
    if run.record.carried_Bps:
        return contend.explain(run, fabric=contend.load(TREE, route="dmodk"))
    return contend.explain(run)


RUNS = [collapsing, healthy, faster_without_a_rule, oversubscribed, dropping]


@pytest.mark.parametrize("make", RUNS)
def test_report_and_explain_tell_the_same_collapses(
    make: Callable[[Path], Run], tmp_path: Path
) -> None:
    run = make(tmp_path / "run")
    reported = {
        (cell.schedule, cell.record.bytes)
        for collapse in run.findings.collapses
        if collapse.kind is Kind.FALLS
        for cell in collapse.cells
    }
    told = {
        (verdict.evidence.schedule, verdict.evidence.bytes)
        for verdict in _explained(run).verdicts
        if verdict.evidence.fall is not None
    }
    assert told == reported
    assert bool(reported) == (make not in (healthy, oversubscribed))


@pytest.mark.parametrize("make", RUNS)
def test_explain_bounds_no_rule_of_tune_and_promises_none_that_is_not_there(
    make: Callable[[Path], Run], tmp_path: Path
) -> None:
    run = make(tmp_path / "run")
    explained, lessons = _explained(run), learn([run]).lessons
    of_library = {
        v.evidence.bytes: v for v in explained.verdicts if v.evidence.schedule == "library"
    }
    winners = {contest.bytes: contest for contest in run.findings.contests}
    rules = [lesson for lesson in lessons if lesson.schedule != "library"]
    for lesson in rules:
        verdict, contest = of_library[lesson.bytes], winners[lesson.bytes]
        for reason in verdict.reasons:
            if reason.limit in (Limit.PORT, Limit.FABRIC):
                assert reason.ratio is not None
                assert reason.ratio >= IMPOSSIBLE * lesson.gain.value
        level = {rival.cell.schedule for rival in contest.level}
        assert lesson.schedule in {contest.winner.schedule, *level}
    promised = [remedy for remedy in explained.remedies if "makes that a rule" in remedy.advice]
    for remedy in promised:
        name = remedy.advice.partition(" ")[0].lower()
        assert name in {lesson.schedule for lesson in rules}
    assert bool(promised) == (make is dropping)


def test_predictions_are_not_faster_than_what_explain_says_is_the_least(tmp_path: Path) -> None:
    run = oversubscribed(tmp_path / "run")
    nothing = Parameter.exactly(0.0)
    costs = SizeClass(
        up_to=None,
        eager=True,
        latency_s=nothing,
        overhead_s=nothing,
        gap_s=nothing,
        gap_per_byte_s=Parameter.exactly(1 / WIRE),
    )
    calibration = Calibration(wire_Bps=WIRE, between=(costs,), within=(costs,))
    fabric = contend.load(TREE, route="dmodk")
    asked = {"algorithms": "shift", "bytes": "16K,64K,256K"}
    found = predict(fabric, calibration, **asked, measured=run)  # type: ignore[arg-type]
    assert found.comparison is not None
    least = {
        verdict.evidence.bytes: verdict.evidence.network_s
        for verdict in _explained(run).verdicts
        if verdict.evidence.schedule == "shift"
    }
    for cell in found.comparison.cells:
        assert cell.prediction.seconds >= (1 - 1e-6) * least[cell.prediction.size]
        reported = next(s for s in run.summaries if s.record == cell.measured.record)
        assert cell.measured.median == reported.median
