"""Real measurements under three libraries, and everything that may go wrong."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from contend.base.errors import MissingError, ShortfallError, UsageError
from contend.lab.measurement import (
    measure,
)
from contend.lab.runs import Run, Warned, read_samples
from contend.lab.session import Attempt, Observer, Step

LIBRARIES = ("openmpi-4", "openmpi-5", "mpich-4")
# So many samples that no launch ends before somebody ends it.
_ENDLESS = "1000000:1000000"


class _Notes(Observer):
    """Keeps what it is told; may do something when a launch has made its first samples."""

    def __init__(self, at_work: Callable[[Run], None] | None = None) -> None:
        self.at_work = at_work
        self.folder: Path | None = None
        self.ends: list[tuple[Step, Attempt]] = []
        self.warnings: list[Warned] = []
        self.seconds: list[float] = []

    def planned(self, title: str, steps: Sequence[Step], budget: float, folder: Path) -> None:
        self.folder = folder

    def launching(self, step: Step, seconds: float) -> None:
        self.seconds.append(seconds)

    def progressed(self, step: Step, done: int, whole: int) -> None:
        if self.at_work is None or self.folder is None:
            return
        run = Run.load(self.folder)
        if run.samples.height > 40:
            act, self.at_work = self.at_work, None
            act(run)

    def ended(self, step: Step, attempt: Attempt) -> None:
        self.ends.append((step, attempt))

    def warned(self, warning: Warned) -> None:
        self.warnings.append(warning)


@pytest.fixture(scope="module", autouse=True)
def _libraries(require_program: Callable[[str], str]) -> None:
    require_program("mpicc.openmpi")
    require_program("mpicc.mpich")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_run_has_every_sample_of_every_rank(library: str, tmp_path: Path) -> None:
    notes = _Notes()
    run = measure(
        "pingpong",
        ranks=2,
        mpi=library,
        budget=30,
        output=tmp_path / "run",
        labels={"flow control": "on"},
        progress=notes,
        bytes="1,1K",
        repetitions="6:10",
    )
    name, _, version = library.partition("-")
    record = run.record
    assert record.library.name.lower().replace(" ", "") == name
    assert record.library.version.startswith(version)
    assert record.labels == {"flow control": "on"}
    (launch,) = record.launches
    assert (launch.status, launch.why, launch.ranks) == ("done", "", 2)
    assert launch.command[-2:] == ("--seed", str(notes.ends[0][0].seed))
    assert record.question["options"]["bytes"] == "1,1K"
    assert launch.measured.done
    assert {end.verified for end in launch.measured.ends} == {True}
    # 2 sizes x (6 to 10 samples and a warm-up) x 2 ranks
    assert 2 * 7 * 2 <= run.samples.height <= 2 * 11 * 2
    assert sorted(set(run.samples["bytes"].to_list())) == [1, 1024]
    assert sorted(path.name for path in run.folder.iterdir()) == [
        *("run.json", "samples.parquet", "session.json")
    ]
    assert sum(notes.seconds) <= 30


def _kill_rank_1(run: Run) -> None:
    ranks = read_samples(run.raw_path(0)).ranks
    os.kill(ranks.pid[1], signal.SIGKILL)


def _kill_rank_1_then_rank_0(run: Run) -> None:
    ranks = read_samples(run.raw_path(0)).ranks
    first = os.pidfd_open(ranks.pid[1])
    os.kill(ranks.pid[1], signal.SIGKILL)
    # Readable once it has ended, which takes longer the more memory it had.
    select.select([first], [], [])
    os.close(first)
    with contextlib.suppress(ProcessLookupError):
        os.kill(ranks.pid[0], signal.SIGKILL)


@pytest.mark.parametrize(
    ("library", "kill"),
    list(zip(LIBRARIES, [_kill_rank_1] * 2 + [_kill_rank_1_then_rank_0], strict=True)),
)
def test_a_killed_rank_is_named_and_samples_stay(
    library: str, kill: Callable[[Run], None], tmp_path: Path
) -> None:
    """Also where the launcher names another: MPICH's the lowest rank of those that died."""
    notes = _Notes(kill)
    run = measure(
        "pingpong",
        ranks=2,
        mpi=library,
        launches=2,
        budget=60,
        output=tmp_path / "run",
        progress=notes,
        bytes="1K",
        repetitions=_ENDLESS,
    )
    # What failed is not tried again.
    (launch,) = run.record.launches
    assert launch.status == "killed"
    assert launch.why.startswith("rank 1 (")
    assert "was ended by SIGKILL" in launch.why
    assert run.samples.height > 20
    (error,) = run.findings.errors
    assert (error.cause, error.reason, error.bytes) == ("crash", launch.why, 1024)
    (ended,) = [attempt for _, attempt in notes.ends]
    assert (ended.failure.cause, ended.failure.reason) == ("crash", launch.why)


def test_the_budget_ends_what_does_not_end_itself(tmp_path: Path) -> None:
    """A single sample takes longer than everything may: 3 s, of which ranks get one."""
    with pytest.raises(ShortfallError) as raised:
        measure(
            "pingpong",
            ranks=2,
            mpi="openmpi-4",
            budget=3,
            output=tmp_path / "run",
            bytes="1M",
            inner=10**9,
        )
    told = r"nothing was measured: did not end within ([\d.]+) s and was ended"
    limit = re.fullmatch(told, str(raised.value))
    # What was left of the budget when the launch began.
    assert limit is not None, raised.value
    assert 0 < float(limit[1]) <= 3
    assert Run.load(tmp_path / "run").record.launches[0].status == "timeout"


def _fill_disk(run: Run) -> None:
    with contextlib.suppress(OSError), (run.folder / "filler").open("wb", buffering=0) as file:
        while file.write(bytes(1024)):
            pass


def test_a_full_disk_is_told_and_samples_stay(small_disk: Callable[[str], Path]) -> None:
    disk = small_disk("64k")
    with pytest.raises(MissingError, match=r"launch-000.samples: .*No space left on device"):
        measure(
            "pingpong",
            ranks=2,
            mpi="openmpi-4",
            budget=60,
            output=disk / "run",
            progress=_Notes(_fill_disk),
            bytes="1",
            repetitions=_ENDLESS,
        )
    assert Run.load(disk / "run").samples.height > 20


def test_a_launcher_of_another_library_is_told_before_anything_is_measured(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError, match=r"mpiexec.mpich .* and each is alone: it belongs to"):
        measure(
            "pingpong",
            ranks=2,
            mpi="openmpi-4",
            launcher="mpiexec.mpich",
            output=tmp_path / "run",
        )
    assert not (tmp_path / "run").exists()


def test_ranks_that_share_processors_are_told(tmp_path: Path) -> None:
    notes = _Notes()
    ranks = len(os.sched_getaffinity(0)) + 1
    run = measure(
        "pingpong",
        ranks=ranks,
        mpi="openmpi-4",
        budget=30,
        output=tmp_path / "run",
        progress=notes,
        bytes="1",
        repetitions="6:6",
    )
    assert notes.warnings[0].code == run.record.warnings[0].code == "oversubscribed"


def test_bad_arguments_are_the_probes_own_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--algorithm: .*'pingpongs'"):
        measure(
            "pingpong",
            ranks=2,
            mpi="openmpi-4",
            output=tmp_path / "run",
            algorithm="pingpongs",
        )
