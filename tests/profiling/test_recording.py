"""What is seen of ranks while their program runs: which of them ended first."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from built_records import Rank, leave_records
from contend.profiling.folder import RECORDS, record_files
from contend.profiling.recording import RankEnds

# Has the record of a rank in its memory, as the recorder does, and waits.
RANK = "import mmap, sys; file = open(sys.argv[1]); record = mmap.mmap(file.fileno(), 0, prot=1); "
RANK += "print(flush=True); sys.stdin.read()"


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes with the records of ranks 0 to 2 in ``p``."""
    started = []
    folder = leave_records(tmp_path / "p", [Rank(rank, 3) for rank in range(3)])
    for path in record_files(folder):
        command = [sys.executable, "-c", RANK, str(path)]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, stdin=pipe, stdout=pipe))
    for rank, process in enumerate(started):
        process.stdout.readline()
        record = Rank(rank, 3, pid=process.pid - rank).content()
        with (folder / RECORDS / f"rank-{rank:06}.record").open("r+b") as file:
            file.write(record)
    yield started
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("first", range(3))
def test_the_rank_that_ended_first(
    processes: list[subprocess.Popen[bytes]], tmp_path: Path, first: int
) -> None:
    ends = RankEnds(tmp_path / "p")
    ends.look()
    for process in (processes[first], *processes):
        process.kill()
        process.wait()
    gone = ends.first()
    assert gone.record == f"rank-{first:06}.record"


@pytest.mark.parametrize(("gone", "host"), [((2,), ""), ((1, 2), ""), ((2,), "elsewhere")])
def test_a_rank_that_ended_before_anybody_looked(
    processes: list[subprocess.Popen[bytes]], tmp_path: Path, gone: tuple[int, ...], host: str
) -> None:
    """It was the first if all others were there; of two, and of other hosts, nobody knows."""
    for rank in gone:
        processes[rank].kill()
        processes[rank].wait()
    for rank, path in enumerate(record_files(tmp_path / "p")):
        with path.open("r+b") as file:
            here = host or platform.node()
            file.write(Rank(rank, 3, host=here, pid=processes[rank].pid - rank).content())
    ends = RankEnds(tmp_path / "p")
    ends.look()
    processes[0].kill()
    processes[0].wait()
    told = ends.first()
    assert (told and told.record) == ("rank-000002.record" if (gone, host) == ((2,), "") else None)
