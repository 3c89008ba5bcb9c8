"""Going on with a run: its folder is not trusted, and nothing differs from what was asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from contend.base.errors import InputError, MissingError, UsageError
from contend.lab.measurement import (
    RealHosts,
    measure,
    measure_each,
    resume,
)
from contend.lab.measurement.starts import Left, line_of
from contend.lab.runs import CellEnd, CellRecord, LaunchRecord, MeasuredLaunch, Run, RunRecord
from contend.lab.runs.frames import ProbeFrame
from contend.lab.session import Observer


@dataclass(frozen=True)
class _Emulated(RealHosts):
    """This machine in place of an emulated fabric."""

    rate: str = "100 Mbit/s"
    lowered: float = 12.5e6
    name: str = "emulated:pair"
    asked: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "asked", {"fabric": "pair", "rate": self.rate})
        object.__setattr__(self, "wire", self.lowered)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in an emulated fabric."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    measure_each(
        ("openmpi-4",),
        "pingpong",
        {"bytes": "1K", "repetitions": "6:6"},
        ranks=(2,),
        budget=60,
        place=_Emulated(),
        folder=folder,
    )
    return folder


@pytest.fixture(scope="module", autouse=True)
def _libraries(require_program: Callable[[str], str]) -> None:
    require_program("mpicc.openmpi")


def _changed(folder: Path, to: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of a run whose session was asked for otherwise."""
    to.mkdir()
    for path in folder.iterdir():
        (to / path.name).write_bytes(path.read_bytes())
    session = json.loads((to / "session.json").read_bytes())
    change(session["cells"][0]["question"])
    (to / "session.json").write_text(json.dumps(session))
    return to


def test_another_rate_does_not_join_the_run(measured: Path) -> None:
    with pytest.raises(UsageError, match="was measured with rate 100 Mbit/s, not 50 Mbit/s"):
        resume(measured, place=_Emulated(rate="50 Mbit/s"))
    with pytest.raises(UsageError, match="was measured with fabric pair, not none"):
        resume(measured)


def test_a_rate_that_the_machine_lowered_is_no_other_question(measured: Path) -> None:
    (run,) = resume(measured, place=_Emulated(lowered=8e6))
    assert run.record.wire_Bps == 12.5e6
    assert [launch.status for launch in run.record.launches] == ["done"]


def test_a_run_folder_runs_nothing(measured: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {trap}\n")
    program.chmod(0o755)

    def launcher(question: dict[str, Any]) -> None:
        question["launcher"] = str(program)

    folder = _changed(measured, tmp_path / "launcher", launcher)
    with pytest.raises(UsageError, match=r"was launched with '.*program': give the same launcher="):
        resume(folder, place=_Emulated())
    folder = _changed(measured, tmp_path / "wrapper", lambda _: None)
    record = json.loads((folder / "run.json").read_bytes())
    record["library"]["wrapper"] = str(program)
    (folder / "run.json").write_text(json.dumps(record))
    with pytest.raises(UsageError, match=r"was measured with .*program, and this machine finds"):
        resume(folder, place=_Emulated())
    assert not trap.exists()
    # Named by the user it is the library of that name and version, from this machine.
    assert len(resume(folder, mpi=("openmpi-4",), place=_Emulated())) == 1


def test_a_run_without_its_session_is_only_reported() -> None:
    old = Path(__file__).resolve().parents[2] / "data" / "run-1"
    with pytest.raises(UsageError, match="a run without any can only be reported"):
        resume(old)


def test_a_folder_of_the_librarys_name_is_not_taken_for_the_library(
    measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever passes on a run may pass on a compiler wrapper beside it."""
    trap = tmp_path / "trap"
    wrapper = tmp_path / "openmpi-9" / "bin" / "mpicc"
    wrapper.parent.mkdir(parents=True)
    wrapper.write_text(f"#!/bin/sh\ntouch {trap}\n")
    wrapper.chmod(0o755)
    folder = _changed(measured, tmp_path / "run", lambda _: None)
    record = json.loads((folder / "run.json").read_bytes())
    monkeypatch.chdir(tmp_path)
    for version in ("9", "9/../openmpi-9", "9/bin/mpicc"):
        record["library"]["version"] = version
        (folder / "run.json").write_text(json.dumps(record))
        with pytest.raises(MissingError, match="no MPI library openmpi-9"):
            resume(folder, place=_Emulated())
    assert not trap.exists()


def test_a_run_that_was_interrupted_before_it_began_is_begun(tmp_path: Path) -> None:
    class Impatient(Observer):
        def planned(self, *_: object) -> None:
            raise KeyboardInterrupt

    folder = tmp_path / "run"
    asked = {"bytes": "1K", "repetitions": "6:6"}
    with pytest.raises(KeyboardInterrupt):
        measure_each(
            ("openmpi-4",), "pingpong", asked, ranks=(2,), folder=folder, observer=Impatient()
        )
    assert [path.name for path in folder.iterdir()] == ["session.json"]
    session = json.loads((folder / "session.json").read_bytes())
    with pytest.raises(UsageError, match="was asked for with openmpi-4: name it with mpi="):
        resume(folder, mpi=("openmpi",))
    (run,) = resume(folder)
    assert [launch.status for launch in run.record.launches] == ["done"]
    assert json.loads((folder / "session.json").read_bytes())["cells"] == session["cells"]


@pytest.mark.parametrize("launches", [0, 10**9])
def test_numbers_that_a_session_cannot_have_are_refused(
    launches: int, measured: Path, tmp_path: Path
) -> None:
    folder = _changed(measured, tmp_path / "run", lambda _: None)
    session = json.loads((folder / "session.json").read_bytes())
    (folder / "session.json").write_text(json.dumps({**session, "launches": launches}))
    with pytest.raises(InputError, match=r"session.json: .*launches"):
        resume(folder, place=_Emulated())


@pytest.mark.parametrize(
    "change",
    [
        lambda question: question["options"].update(output="/etc/passwd"),
        lambda question: question["options"].update(cells="/etc/shadow"),
        lambda question: question.update(hosts=[["-oProxyCommand=x", 1]], place={}),
        lambda question: question.update(probe="no-such"),
        lambda question: question.update(ranks="many"),
    ],
)
def test_a_question_that_was_tampered_with_is_refused(
    measured: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    folder = _changed(measured, tmp_path / "run", change)
    with pytest.raises((InputError, UsageError)):
        resume(folder, place=_Emulated())


@pytest.mark.parametrize(
    ("few", "reason", "left"),
    [
        # Its samples suffice for an interval, or nothing but a budget ended it.
        (frozenset(), "budget", False),
        (frozenset({1}), "repetitions", False),
        (frozenset({1}), "budget", True),
    ],
)
def test_a_cell_that_a_budget_ended_with_too_few_samples_is_left(
    few: frozenset[int], reason: str, left: bool
) -> None:
    cells = tuple(CellRecord(at, "pingpong", 1 << at, 2, 1) for at in range(2))
    ends = (CellEnd(0, "precision"), CellEnd(1, reason))
    measured = MeasuredLaunch(ProbeFrame("pingpong", 2, cells=2), ends=ends)
    launch = LaunchRecord(0, 2, status="done", measured=measured)
    told = Left(RunRecord("pingpong", cells=cells, launches=(launch,)), 1, retry=False, few=few)
    assert told.is_left(0) == left
    assert told.settled(0) == [line_of(cell) for cell in cells[: 1 if left else 2]]
    assert told.is_settled(0) == (not left)


@pytest.mark.parametrize(
    ("few", "ends", "left"),
    [
        (frozenset({1}), [[(0, "budget"), (1, "skipped")], [(1, "budget")]], True),
        (frozenset(), [[(0, "budget"), (1, "skipped")], [(1, "budget")]], False),
        (frozenset(), [[(0, "precision"), (1, "skipped")]], True),
        (frozenset(), [[(0, "precision"), (1, "skipped")], [(1, "precision")]], False),
    ],
)
def test_what_all_starts_of_a_launch_have_left_open_is_left(
    few: frozenset[int], ends: list[list[tuple[int, str]]], left: bool
) -> None:
    """The first ended as it should; no time was left for what it skipped."""
    cells = tuple(CellRecord(at, "pingpong", 1 << at, 2, 1) for at in range(2))
    launches = tuple(
        LaunchRecord(at, 2, status="done", of=0, measured=MeasuredLaunch(probe, ends=told))
        for at, start in enumerate(ends)
        for probe in [ProbeFrame("pingpong", 2, cells=len(start))]
        for told in [tuple(CellEnd(*end, said="no time left") for end in start)]
    )
    told = Left(RunRecord("pingpong", cells=cells, launches=launches), 1, retry=False, few=few)
    assert told.is_left(0) == left


def test_patterns_of_an_occupied_folder_stay(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_text("{}")
    (folder / "patterns.txt").write_text("0 1\n")
    with pytest.raises(
        UsageError, match="already; give another folder, or go on with it by --resume"
    ):
        measure("bisect", ranks=2, patterns=2, output=folder)
    assert (folder / "patterns.txt").read_text() == "0 1\n"


def test_a_bisect_goes_on_with_the_same_patterns(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    asked = {"patterns": 3, "bytes": 1024, "packets": 2}
    run = measure("bisect", ranks=2, budget=60, mpi="openmpi-4", output=folder, **asked)
    patterns = (folder / "patterns.txt").read_bytes()
    (again,) = resume(folder)
    assert again.record.launches == run.record.launches
    assert (folder / "patterns.txt").read_bytes() == patterns
    assert Run.load(folder).samples.equals(run.samples)
