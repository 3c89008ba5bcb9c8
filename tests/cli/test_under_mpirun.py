"""Commands under mpirun: the same bytes as from one process, said once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from processes import CONTEND, finished

TIMINGS = {"elapsed_s", "drawing_s", "counting_s", "patterns_per_s"}
SIMULATE = (*CONTEND, "simulate")

Launch = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def launch() -> Launch:
    """`launch(processes, *command)` runs it under the mpirun that mpi4py belongs to."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    beside = str(Path(sys.executable).parent)
    mpirun = shutil.which("mpirun", path=os.pathsep.join((beside, os.environ.get("PATH", ""))))
    if mpirun is None:
        pytest.skip("the program mpirun is not installed")
    # Root, or fewer cores than processes, are no reason to refuse; nor is any network needed.
    settings = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_btl": "self,sm,tcp",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMP_NUM_THREADS": "1",
    }

    def run(processes: int, *command: str) -> subprocess.CompletedProcess[str]:
        return finished([mpirun, "-n", str(processes), *command], env={**os.environ, **settings})

    return run


COMMANDS = (
    "simulate fig1 --samples 5000 --seed 3",
    "simulate fig1 --pattern tree --precision 1%",
    "simulate crossbar:6 --exhaustive",
    # One sample for three processes.
    "simulate fig1 --pattern shifts --placement linear",
    "fabric failures fattree2:4 --route minhop --samples 50",
    # Failures that cost alike are counted once.
    "fabric failures rails:2,4,4,2 --route spray --samples 20",
    "fabric improve torus:3x3;4 --ports 10 --cables 2 --samples 500",
)
# One start does for all of them: each writes the file of its number.
SEVERAL = """
import sys
from contend.cli.app import run
for number, words in enumerate(sys.argv[2:]):
    assert run([*words.split(), "--json", f"{sys.argv[1]}/{number}"]) == 0
"""


def test_three_processes_find_what_one_finds(launch: Launch, tmp_path: Path) -> None:
    results = []
    for processes in (1, 3):
        folder = tmp_path / str(processes)
        folder.mkdir()
        started = launch(processes, sys.executable, "-c", SEVERAL, str(folder), *COMMANDS)
        assert started.returncode == 0, started.stderr
        told = (json.loads((folder / str(number)).read_text()) for number in range(len(COMMANDS)))
        results.append([{key: one[key] for key in one.keys() - TIMINGS} for one in told])
    for command, alone, shared in zip(COMMANDS, *results, strict=True):
        assert alone == shared, command


def test_tables_and_files_are_written_once(launch: Launch, tmp_path: Path) -> None:
    figure = tmp_path / "figure.svg"
    process = launch(3, *SIMULATE, "fig1", "--samples", "100", "--plot", str(figure))
    assert process.returncode == 0, process.stderr
    assert process.stdout.count("Hottest channels") == 1
    assert list(tmp_path.iterdir()) == [figure]


def test_an_error_of_all_ends_all_and_is_told_once(launch: Launch) -> None:
    process = launch(3, *SIMULATE, "fig1", "--pattern", "nothing")
    assert process.returncode == 2
    assert process.stderr.count("contend: pattern nothing: expected one of") == 1
    assert "Traceback" not in process.stderr


def test_one_process_that_fails_alone_ends_all(launch: Launch) -> None:
    """Process 1 lacks the file; the others must not wait for it, and it is told once."""
    script = (
        'f=fig1; [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && f=absent.file; '
        'exec "$@" "$f" --samples 100'
    )
    process = launch(3, "sh", "-c", script, "sh", *SIMULATE)
    assert process.returncode == 2
    told = [line for line in process.stderr.splitlines() if line.startswith("contend: ")]
    assert len(told) == 1
    assert told[0].startswith("contend: MPI process 1 failed: ")
    assert "absent.file" in told[0]
    assert "Hottest channels" not in process.stdout
