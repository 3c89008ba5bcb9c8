"""What every verb of measure tells at its end, whatever its probe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from contend.cli.measure.measuring import judged
from contend.congestion import hotspot as choose
from contend.lab.runs import LaunchRecord, PointError, Run, RunRecord
from contend.report import Document, hotspot_document
from contend.routes import load
from typed_commands import Typed

KEPT = Path(__file__).resolve().parents[2] / "data" / "kept"


def _run(folder: Path, probe: str, *launches: LaunchRecord, **changes: object) -> Run:
    return Run.create(folder, RunRecord(probe, launches=launches, **changes))  # type: ignore[arg-type]


def _failures(runs: Sequence[Run]) -> str:
    return judged(Document(), runs).shortfall


@pytest.mark.parametrize("probe", ["alltoall", "hotspot", "bisect"])
def test_a_launch_that_failed_falls_short(probe: str, tmp_path: Path) -> None:
    good = Run.load(KEPT / probe)
    assert _failures([good]) == ""
    killed = LaunchRecord(0, 2, status="killed", why="rank 1 was ended by SIGKILL")
    bad = _run(tmp_path / "bad", probe, killed)
    assert "rank 1 was ended by SIGKILL" in _failures([good, bad])


LIBRARY = ("--mpi", "openmpi-4")
CROSSBAR, TREE = ("--on", "emulated:crossbar:4"), ("--on", "emulated:xgft:2;2,2;1,1")


@pytest.mark.parametrize(
    ("probe", "place", "more"),
    [
        ("pingpong", (), ("-n", "2", "--bytes", "1K")),
        ("alltoall", (), ("-n", "2", "--bytes", "1K")),
        ("sort", (), ("-n", "2")),
        ("bisect", CROSSBAR, ("-n", "4", "--bytes", "16K", "--patterns", "1")),
        ("hotspot", TREE, ("--rivals", "1", "--bytes", "16K")),
    ],
)
def test_what_a_budget_cut_goes_on_in_its_folder(
    probe: str,
    place: tuple[str, ...],
    more: tuple[str, ...],
    tmp_path: Path,
    typed: Typed,
    request: pytest.FixtureRequest,
    require_program: Callable[[str], str],
) -> None:
    """A millisecond is spent before anything starts, and says so; more of it ends the run well."""
    require_program("mpicc.openmpi")
    if place:
        request.getfixturevalue("permitted")
    folder, fewest = tmp_path / "run", ["--warmups", "2"]
    if probe != "bisect":
        fewest += "--repetitions", "6:6"
    command = (f"measure {probe}", *LIBRARY, *place)
    cut = typed(*command, *more, *fewest, "--output", folder, "--budget", "1ms", status=1)
    assert "the budget had already been spent" in cut.err
    assert "go on with it by --resume" in typed(*command, *more, "--output", folder, status=2).err
    typed(*command, "--resume", folder, "--budget", "10min")
    run = Run.load(folder)
    launch = run.record.launches[-1]
    assert launch.status == "done"
    assert launch.measured
    assert run.summaries
    # What the probe is told, too, where its command makes options of its own.
    asked = (1, 1) if probe == "bisect" else (6, 6)
    assert launch.measured.probe.repetitions == asked
    assert launch.measured.probe.warmups == 2


@pytest.mark.parametrize("option", [("--repetitions", "6:6"), ("--precision", "10%")])
def test_samples_of_patterns_are_counted_by_patterns(option: tuple[str, str], typed: Typed) -> None:
    told = typed("measure bisect", "-n", "4", *option, status=2).err
    assert f"{option[0]}: a bisect has samples of --patterns times --repeats" in told


def test_points_that_failed_are_named_and_those_that_make_no_sense_are_not(tmp_path: Path) -> None:
    unsuited = PointError("unsuited", "only for powers of two", 0, "bruck", 64)
    crashed = PointError("crash", "rank 3 was ended by SIGSEGV", 0, "linear", 1024)
    run = _run(tmp_path / "run", "alltoall", LaunchRecord(0, 2), errors=(unsuited, crashed))
    assert _failures([run]).endswith("linear of 1,024 bytes: rank 3 was ended by SIGSEGV")


def test_a_library_without_a_sample_leaves_the_others_their_report() -> None:
    run = Run.load(KEPT / "hotspot")
    record = msgspec.structs.replace(run.record, launches=(), cells=())
    failed = Run(run.folder, record, run.samples.clear())
    fabric = load("fig1", need_routes=True)
    spot = choose(fabric, 2)
    alone, both = (hotspot_document(runs, spot, fabric) for runs in ([run], [failed, run]))
    assert [table.title for table in both.tables] == [table.title for table in alone.tables]
    assert both.content() == alone.content()
