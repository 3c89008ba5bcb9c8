"""What each launcher is told, and what it tells of a rank that died."""

from __future__ import annotations

from pathlib import Path

import pytest

from contend.base.errors import MissingError, UsageError
from contend.lab.mpi import Death, HostRanks, HostResources, Launch, Library
from contend.lab.mpi.launcher_kinds import HYDRA, OPEN_MPI_4, OPEN_MPI_5, PREFIX, SRUN, filled
from contend.lab.mpi.starting import choose, prepare, split_command

LIBRARY = Library("test", "mpicc", True, name="Open MPI", environment={"SLURM_MPI_TYPE": "pmix"})
HOSTS = (HostRanks("node1", 2), HostRanks("node2", 1))
FILE = Path("hosts")
TWO = HostResources(cpus=4, cores=2)


def test_open_mpi_binds_where_there_are_cores_enough() -> None:
    words = OPEN_MPI_4.options(Launch(LIBRARY, 2, resources=TWO), None).words
    assert words == ("-n", "2", "--bind-to", "core")
    shared = OPEN_MPI_4.options(Launch(LIBRARY, 3, resources=TWO), None)
    assert (shared.words, shared.environment) == (("-n", "3", "--bind-to", "none"), {})
    crowded = OPEN_MPI_5.options(Launch(LIBRARY, 5, resources=TWO), None)
    assert crowded.environment == {"OMPI_MCA_mpi_yield_when_idle": "1"}


def test_open_mpi_takes_hosts_with_exactly_their_ranks() -> None:
    launch = Launch(LIBRARY, 3, hosts=HOSTS, environment={"A": "1", "OMPI_MCA_btl": "tcp,self"})
    assert OPEN_MPI_4.host_file(launch) == "node1 slots=2\nnode2 slots=1\n"
    assert OPEN_MPI_4.options(launch, FILE).words == (
        *("-n", "3", "--hostfile", "hosts", "--map-by", "slot"),
        *("--bind-to", "core:overload-allowed", "-x", "A"),
    )
    assert OPEN_MPI_5.options(launch, FILE).words[4:6] == ("--map-by", "slot:oversubscribe")


def test_open_mpi_passes_on_by_the_list_that_is_set() -> None:
    """Beside a list it refuses options -x: one is set where a library is preloaded into all."""
    listed = {"OMPI_MCA_mca_base_env_list": "LD_PRELOAD;CONTEND_TUNED", "LD_PRELOAD": "tuned.so"}
    launch = Launch(LIBRARY, 3, hosts=HOSTS, environment={"A": "1", **listed})
    for kind in (OPEN_MPI_4, OPEN_MPI_5):
        options = kind.options(launch, FILE)
        assert "-x" not in options.words
        passed = options.environment["OMPI_MCA_mca_base_env_list"]
        assert passed == "LD_PRELOAD;CONTEND_TUNED;A"


def test_ranks_per_host_within_a_job() -> None:
    launch = Launch(LIBRARY, 4, ranks_per_host=2, environment={"SLURM_JOB_ID": "7"})
    assert "ppr:2:node" in OPEN_MPI_4.options(launch, None).words
    assert "ppr:2:node:oversubscribe" in OPEN_MPI_5.options(launch, None).words
    assert HYDRA.options(launch, None).words == ("-n", "4", "-ppn", "2", "-bind-to", "core")
    assert "--ntasks-per-node=2" in SRUN.options(launch, None).words


def test_hydra_takes_hosts_in_its_own_form() -> None:
    launch = Launch(LIBRARY, 3, hosts=HOSTS, bind=False)
    assert HYDRA.host_file(launch) == "node1:2\nnode2:1\n"
    assert HYDRA.options(launch, FILE).words == ("-n", "3", "-f", "hosts", "-bind-to", "none")


def test_intel_binds_by_a_variable() -> None:
    launch = Launch(Library("test", "mpicc", True, name="Intel MPI"), 2, bind=True)
    assert HYDRA.options(launch, None).words == ("-n", "2")
    assert HYDRA.options(launch, None).environment == {"I_MPI_PIN": "1"}


def test_srun_takes_a_line_for_every_rank() -> None:
    launch = Launch(LIBRARY, 3, hosts=HOSTS, launcher="srun")
    assert SRUN.host_file(launch) == "node1\nnode1\nnode2\n"
    options = SRUN.options(launch, FILE)
    assert options.environment == {"SLURM_HOSTFILE": "hosts"}
    assert "--distribution=arbitrary" in options.words
    # The plugin is left to the user's setting.
    assert not any(word.startswith("--mpi") for word in options.words)


def test_places_in_a_command_line_are_filled() -> None:
    launch = Launch(LIBRARY, 3, hosts=HOSTS)
    words = split_command("aprun -n {ranks} -N{ranks_per_host} -L {hosts} -f '{hostfile}'")
    assert filled(words, launch, FILE) == split_command("aprun -n 3 -N2 -L node1,node2 -f hosts")
    with pytest.raises(UsageError, match=r"expected \{ranks\}.*got \{rank\}"):
        filled(["{rank}"], launch, FILE)
    with pytest.raises(UsageError, match=r"uses \{hosts\}, but no hosts are given"):
        filled(["{hosts}"], Launch(LIBRARY, 3), None)
    with pytest.raises(UsageError, match="No closing quotation"):
        split_command("aprun '")


def test_a_queue_starts_nothing_in_the_foreground(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the launcher sbatch -p fast: .* give srun, or submit"):
        prepare(Launch(LIBRARY, 2, launcher="sbatch -p fast"), tmp_path)


def test_an_unknown_launcher_takes_a_number_and_nothing_else() -> None:
    assert PREFIX.options(Launch(LIBRARY, 3, launcher="aprun"), None).words == ("-n", "3")
    with pytest.raises(UsageError, match=r"put \{hostfile\}, \{hosts\} or \{ranks_per_host\}"):
        PREFIX.options(Launch(LIBRARY, 3, hosts=HOSTS, launcher="aprun"), FILE)


def test_a_launcher_that_is_not_there() -> None:
    with pytest.raises(MissingError, match="the launcher no-such-launcher is not installed"):
        choose(Launch(LIBRARY, 3, launcher="no-such-launcher -x"))


def test_numbers_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(UsageError, match="expected hosts for 4 ranks, got hosts for 3"):
        Launch(LIBRARY, 4, hosts=HOSTS)
    with pytest.raises(UsageError, match="at least 1 rank per host"):
        Launch(LIBRARY, 4, ranks_per_host=0)


# What each really wrote when rank 1 was killed.
_ORTE = (
    "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).",
    Death(9, 1, 0, "vm"),
)
_PRRTE = (
    "prterun noticed that process rank 1 with PID 8175 on node vm exited on\nsignal 9 (Killed).",
    Death(9, 1, 8175, "vm"),
)
_HYDRA = (
    "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 8180 RUNNING AT vm\n"
    "=   EXIT CODE: 9\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)",
    Death(9, None, 8180, "vm", first=False),
)
_SRUN = (
    "srun: error: node1: task 1: Killed\nsrun: launch/slurm: _step_signal: Terminating\n"
    "srun: error: node2: task 2: Terminated\nsrun: error: node1: task 1: Exited with exit code 1",
    Death(9, 1, 0, "node1"),
)


@pytest.mark.parametrize(
    ("form", "told"),
    [(OPEN_MPI_4, _ORTE), (OPEN_MPI_5, _PRRTE), (HYDRA, _HYDRA), (SRUN, _SRUN)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_death_is_told(form: object, told: tuple[str, Death]) -> None:
    said, death = told
    assert form.death(said) == death  # type: ignore[attr-defined]
    assert form.death("srun: error: node1: task 1: Exited with exit code 1") is None  # type: ignore[attr-defined]


def test_a_death_in_words() -> None:
    assert str(Death(11, 3, 0, "node1")) == "rank 3 (on node1) was ended by SIGSEGV"
    assert str(Death(6)) == "a rank was ended by SIGABRT"
    assert str(Death(9, 1, 7, "vm")) == (
        "rank 1 (process 7 on vm) was ended by SIGKILL, which Linux also sends when memory runs out"
    )
