"""What ends a session, and how it goes on: one set of tests for all that run over the engine.

A subject is a command that makes a session of some seconds, the command that goes on with it, and a
count of what its folder keeps. Whoever runs over the engine adds its own to `SUBJECTS`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from contend.lab.runs import Run, find_runs
from contend.lab.session import read_session
from lab.session import quick
from processes import CONTEND, complaints, finished

_LIMIT = 240.0


@dataclass(frozen=True)
class Subject:
    """Something that runs over the engine."""

    name: str
    """Name of the subject."""
    begin: Callable[[Path], Sequence[str]]
    """Command that makes a session in a folder: some launches of a second or so each."""
    again: Callable[[Path], Sequence[str]]
    """Command that goes on with it."""
    count: Callable[[Path], int]
    """What the folder keeps, from its files alone."""
    program: str = ""
    """What the machine must have; "" for nothing."""
    launches: int = 2
    """Number of launches that it asks for of every cell."""
    emulates: bool = False
    """Whether it needs the right to emulate a fabric."""


def _quick(folder: Path) -> list[str]:
    program = str(Path(quick.__file__))
    return [sys.executable, program, str(folder), "0.15", "2"]


def _measure(folder: Path) -> list[str]:
    options = ["-n", "2", "--mpi", "openmpi-4", "--bytes", "1K,1M", "--launches", "2"]
    options += ["--repetitions", "2000:2000", "--budget", "1min"]
    return [*CONTEND, "measure", "pingpong", *options, "--output", str(folder)]


def _resume(folder: Path) -> list[str]:
    return [*CONTEND, "measure", "pingpong", "--resume", str(folder), "--budget", "1min"]


def _samples(folder: Path) -> int:
    """Rows of samples in a folder, in tables or still in the files of launches."""
    if not (folder / "session.json").exists():
        return 0
    try:
        return sum(Run.load(run).samples.height for run in find_runs(folder))
    except Exception:
        return 0


_SIMULATED = """
name = "ended"
[[fabric]]
name = "tree"
source = "xgft:2;18,36;1,18"
engines = ["dmodk", "minhop"]
""" + "".join(
    f'[[pattern]]\nname = "{count}"\npattern = "neighbour:6"\nsamples = {count}\n'
    for count in (4000, 4001, 4002)
)

_MEASURED = """
name = "ended"
budget_s = 60
mpi = ["openmpi-4"]
launches = 2
repetitions = [2000, 2000]
[[measure]]
name = "latency"
probe = "pingpong"
hosts = [1]
ranks_per_host = [2]
algorithm = ["pingpong"]
bytes = ["1K", "1M"]
"""

_VERIFICATION = """
name = "ended"
mpi = "openmpi-4"
patterns = 30
[[case]]
name = "star"
source = "crossbar:4"
engine = "minhop"
"""


def _study(plan: str) -> Callable[[Path], list[str]]:
    def command(folder: Path) -> list[str]:
        file = folder.parent / "plan.toml"
        if not file.exists():
            file.write_text(plan)
        return [*CONTEND, "study", str(file), "--output", str(folder)]

    return command


def _simulations(folder: Path) -> int:
    """Simulations that are kept whole."""
    records = [json.loads(path.read_bytes()) for path in folder.glob("runs/*/run.json")]
    return sum(record["status"] == "done" for record in records)


SUBJECTS = (
    Subject("quick", _quick, _quick, quick.count),
    Subject("simulated", _study(_SIMULATED), _study(_SIMULATED), _simulations, launches=1),
)

# These take minutes: `make evidence` has them too.
_LONG = (
    Subject("measure", _measure, _resume, _samples, program="mpicc.openmpi"),
    Subject("measured", _study(_MEASURED), _study(_MEASURED), _samples, program="mpicc.openmpi"),
    Subject(
        "verification",
        _study(_VERIFICATION),
        _study(_VERIFICATION),
        _samples,
        program="mpicc.openmpi",
        launches=1,
        emulates=True,
    ),
)

if os.environ.get("CONTEND_EVIDENCE"):
    SUBJECTS += _LONG


@pytest.fixture(params=SUBJECTS, ids=lambda subject: subject.name)
def subject(request: pytest.FixtureRequest, require_program: Callable[[str], str]) -> Subject:
    chosen: Subject = request.param
    if chosen.program:
        require_program(chosen.program)
    if chosen.emulates and os.geteuid() != 0:
        pytest.skip("only root may emulate a fabric")
    return chosen


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _start(command: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(),
        start_new_session=True,
    )


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return finished(command, env=_environment())


def _await_more(
    subject: Subject, folder: Path, before: int, process: subprocess.Popen[str]
) -> None:
    """Waits until a command has made something more."""
    ends = time.monotonic() + _LIMIT
    while subject.count(folder) <= before and time.monotonic() < ends:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def _end_at_work(
    subject: Subject, command: Sequence[str], folder: Path, with_signal: signal.Signals
) -> tuple[int, int]:
    """Ends a command once it has made something more; its exit status, and what is kept then."""
    before = subject.count(folder)
    with _start(command) as process:
        _await_more(subject, folder, before, process)
        process.send_signal(with_signal)
        status = process.wait(_LIMIT)
    return status, subject.count(folder)


_STATUS = {signal.SIGKILL: -signal.SIGKILL, signal.SIGTERM: 143, signal.SIGINT: 130}


# What begins and what goes on are one engine, so that not each needs to get every signal. SIGKILL
# comes last: ranks that it orphans write on for a moment, which the next command has not done.
@pytest.mark.parametrize(
    "signals",
    [(signal.SIGTERM, signal.SIGINT), (signal.SIGINT, signal.SIGKILL)],
    ids=["asked twice", "killed then"],
)
def test_what_was_made_survives_every_interruption(
    subject: Subject, signals: Sequence[signal.Signals], tmp_path: Path
) -> None:
    """Interrupted twice and gone on with: what is kept never falls, and in the end all is there."""
    folder = tmp_path / "session"
    kept = 0
    for number, with_signal in enumerate(signals):
        command = subject.again(folder) if number else subject.begin(folder)
        before = kept
        status, kept = _end_at_work(subject, command, folder, with_signal)
        assert (status, kept > before) == (_STATUS[with_signal], True)
    ended = _run(subject.again(folder))
    assert (ended.returncode, complaints(ended.stderr)) == (0, "")
    whole = subject.count(folder)
    assert whole >= kept
    # All is there now, so there is nothing more to do, and no half file is left.
    ended = _run(subject.again(folder))
    assert (ended.returncode, subject.count(folder)) == (0, whole)
    assert [path for path in folder.rglob("*") if path.name.endswith((".samples", ".lock"))] == []
    assert list(folder.rglob(".*")) == []


def test_a_second_writer_is_told_who_has_the_folder(subject: Subject, tmp_path: Path) -> None:
    """And what was asked for is kept there from the beginning."""
    folder = tmp_path / "session"
    _end_at_work(subject, subject.begin(folder), folder, signal.SIGTERM)
    asked = read_session(folder)
    assert asked.launches == subject.launches
    assert any((folder / cell.folder / "run.json").is_file() for cell in asked.cells)
    assert all(cell.key and cell.question for cell in asked.cells)
    before = subject.count(folder)
    with _start(subject.again(folder)) as first:
        _await_more(subject, folder, before, first)
        # It stands still, so that it has not ended before the second has begun.
        first.send_signal(signal.SIGSTOP)
        second = _run(subject.again(folder))
        first.send_signal(signal.SIGCONT)
        output, errors = first.communicate(timeout=_LIMIT)
    assert (second.returncode, second.stderr.count("\n")) == (2, 1)
    assert f"{folder}: process {first.pid} on " in second.stderr
    assert (first.returncode, complaints(errors)) == (0, ""), output


def test_a_full_disk_ends_it_and_it_goes_on_when_there_is_room(
    subject: Subject, small_disk: Callable[[str], Path]
) -> None:
    disk = small_disk("1m")
    folder = disk / "session"
    _end_at_work(subject, subject.begin(folder), folder, signal.SIGTERM)
    kept = subject.count(folder)
    with (disk / "filler").open("wb", buffering=0) as filler:
        try:
            while filler.write(bytes(512)):
                pass
        except OSError:
            pass
    full = _run(subject.again(folder))
    assert full.returncode == 3, full.stderr
    assert full.stderr.count("\n") == 1
    assert "No space left on device" in full.stderr
    assert subject.count(folder) >= kept
    (disk / "filler").unlink()
    subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
    ended = _run(subject.again(folder))
    assert (ended.returncode, complaints(ended.stderr)) == (0, "")
    assert subject.count(folder) > kept
