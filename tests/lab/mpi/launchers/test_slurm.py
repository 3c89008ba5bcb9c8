"""srun and sbatch of a real Slurm of two nodes on this machine."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contend.base.errors import UsageError
from contend.lab.mpi import HostRanks, Launch, Library, launch
from contend.lab.mpi.launcher_kinds import plugins
from contend.profiling import ProgramProfile, load_profile
from processes import CONTEND, finished
from slurm_machine import CPUS, NODES
from tracer.hanging import left_records, place

Libraries = dict[str, tuple[Library, Path]]
RequestOf = Callable[..., Launch]

# Both nodes are this machine, so shared memory, which goes by the machine's name, must not be used.
_APART = {"OMPI_MCA_btl": "tcp,self"}
_TWO_NODES = (HostRanks("node1", 1), HostRanks("node2", 2))


def _environment(slurm: Path) -> dict[str, str]:
    return {"SLURM_CONF": str(slurm), **_APART}


@pytest.fixture
def request_of(slurm: Path, libraries: Libraries, tmp_path: Path) -> RequestOf:
    """`request_of(launcher, ranks)` is what is asked of Slurm for MPICH, or another library."""

    def request(launcher: str, ranks: int, name: str = "mpich", **more: Any) -> Launch:
        told = {"environment": _environment(slurm), "scratch": tmp_path}
        return Launch(libraries[name][0], ranks, launcher=launcher, **told, **more)

    return request


def _jobs(slurm: Path) -> str:
    told = finished(
        ["squeue", "--noheader"], env={**os.environ, "SLURM_CONF": str(slurm)}, check=True
    )
    return told.stdout


@pytest.mark.parametrize("launcher", ["srun", "sbatch"])
@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
def test_ranks_on_two_nodes_find_each_other(
    request_of: RequestOf, libraries: Libraries, tmp_path: Path, launcher: str, name: str
) -> None:
    request = request_of(launcher, 4, name, ranks_per_host=2)
    ended = launch(request, libraries[name][1], [], limit=30)
    assert (ended.status, ended.why) == (0, "")
    assert "contend met 4" in ended.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("launcher", ["srun", "sbatch"])
def test_every_rank_goes_to_its_host(request_of: RequestOf, launcher: str) -> None:
    request = request_of(launcher, 3, hosts=_TWO_NODES)
    words = ["-c", "echo rank $SLURM_PROCID of $SLURM_NTASKS on $SLURMD_NODENAME"]
    ended = launch(request, Path("/bin/sh"), words, limit=30)
    assert ended.status == 0
    said = sorted(re.findall(r"rank .*", ended.output))
    assert said == ["rank 0 of 3 on node1", "rank 1 of 3 on node2", "rank 2 of 3 on node2"]


@pytest.mark.parametrize("launcher", ["srun", "sbatch"])
def test_a_killed_rank_is_named(request_of: RequestOf, launcher: str) -> None:
    request = request_of(launcher, 3, hosts=_TWO_NODES)
    words = ["-c", "if [ $SLURM_PROCID = 2 ]; then kill -9 $$; fi; exec sleep 60"]
    ended = launch(request, Path("/bin/sh"), words, limit=30)
    assert ended.status not in (0, None)
    assert (ended.death.rank, ended.death.host, ended.death.signal) == (2, "node2", 9)
    assert ended.why.startswith("rank 2 (on node2) was ended by SIGKILL")


@pytest.mark.parametrize("launcher", ["srun", "sbatch"])
def test_interruption_and_time_end_the_job(
    slurm: Path, request_of: RequestOf, launcher: str
) -> None:
    request = request_of(launcher, 2)
    ended = launch(request, Path("/bin/sleep"), ["300"], limit=1)
    assert (ended.status, ended.why) == (None, "did not end in time")

    def interrupt() -> None:
        if "contend" in (said := _jobs(slurm)) or "sleep" in said:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        launch(request, Path("/bin/sleep"), ["300"], limit=60, watch=interrupt)
    _await_no_job(slurm)


@pytest.mark.parametrize("inside", [False, True], ids=["srun", "srun in a batch job"])
def test_programs_are_recorded(
    slurm: Path, libraries: Libraries, tmp_path: Path, inside: bool
) -> None:
    _, program = libraries["mpich"]
    start = [*CONTEND, "profile"]
    ranks = ["srun", "--mpi=pmi2", "-n", "2", str(program)]
    command = [*start, "--output", str(tmp_path / "profile"), "--", *ranks]
    if inside:
        words = shlex.join(command)
        command = ["sbatch", "-n", "2", f"--output={tmp_path}/said", f"--wrap={words}"]
    environment = {**os.environ, **_environment(slurm)}
    subprocess.run(command, env=environment, check=True, timeout=60)
    # With --wait, sbatch looks only every half minute.
    _await_no_job(slurm, 60)
    profile = ProgramProfile.load(tmp_path / "profile")
    assert (profile.size, profile.record.missing) == (2, ())


def test_a_job_that_is_ended_tells_where_it_hung(slurm: Path, tmp_path: Path) -> None:
    """As when its time is over: ranks, launcher and contend are killed, one with the other."""
    source, program = Path(__file__).parents[3] / "tracer/programs/hangs.c", tmp_path / "hangs"
    subprocess.run(["mpicc.mpich", "-g", "-w", str(source), "-o", str(program)], check=True)
    folder = tmp_path / "profile"
    command = [*CONTEND, "profile"]
    command += ["--output", str(folder), "--", "srun", "--mpi=pmi2", "-n", "2"]
    command += [str(program), "missing-send"]
    environment = {**os.environ, **_environment(slurm)}
    batch = ["sbatch", "--parsable", "-n", "2", f"--output={tmp_path}/said"]
    job = finished(
        [*batch, f"--wrap={shlex.join(command)}"], env=environment, check=True
    ).stdout.strip()
    while tuple(map(place, left_records(folder / "records"))) != ("Recv", "Barrier"):
        assert job in _jobs(slurm)
        time.sleep(0.05)
    subprocess.run(["scancel", job], env=environment, check=True)
    _await_no_job(slurm, 60)
    told = load_profile(folder).findings.verdict
    assert "rank 0 waits for rank 1 in MPI_Recv at hangs.c:16" in told
    assert "waits for rank 0 in MPI_Barrier" in told


def test_waiting_in_the_queue_does_not_count(slurm: Path, request_of: RequestOf) -> None:
    """All processors are taken for twice as long as the limit, then the ranks get theirs."""
    environment = {**os.environ, "SLURM_CONF": str(slurm)}
    all_of_them = str(len(NODES) * CPUS)
    with subprocess.Popen(["srun", "-n", all_of_them, "sleep", "2"], env=environment) as others:
        while " R " not in _jobs(slurm):
            time.sleep(0.05)
        ended = launch(request_of("srun", 4), Path("/bin/true"), [], limit=1)
        assert others.wait() == 0
    assert (ended.status, ended.why) == (0, "")
    assert ended.waited > 0.5


def test_a_refused_job_says_why(request_of: RequestOf) -> None:
    request = request_of("sbatch --partition=none", 2)
    with pytest.raises(UsageError, match=r"sbatch refuses the job: .*invalid partition"):
        launch(request, Path("/bin/true"), [], limit=10)


def test_plugins_of_this_slurm(slurm: Path) -> None:
    assert {"pmi2", "pmix"} <= set(plugins({**os.environ, "SLURM_CONF": str(slurm)}))


def _await_no_job(slurm: Path, limit_s: float = 20) -> None:
    ends = time.monotonic() + limit_s
    while (left := _jobs(slurm)) and time.monotonic() < ends:
        time.sleep(0.1)
    assert left == ""


def test_srun_keeps_an_arbitrary_distribution(slurm: Path, tmp_path: Path) -> None:
    """Seats as ``--format slurm`` writes them: a line with a host for every rank."""
    seats = ["node2", "node1", "node1", "node2", "node2"]
    (tmp_path / "seats").write_text("".join(f"{host}\n" for host in seats))
    told = finished(
        [
            "srun",
            "-n",
            "5",
            "--distribution=arbitrary",
            "printenv",
            "SLURM_PROCID",
            "SLURMD_NODENAME",
        ],
        env={**os.environ, "SLURM_CONF": str(slurm), "SLURM_HOSTFILE": str(tmp_path / "seats")},
        check=True,
    ).stdout.split()
    where = dict(zip(told[::2], told[1::2], strict=True))
    assert [where[str(rank)] for rank in range(5)] == seats
