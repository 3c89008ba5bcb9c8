"""Launchers of three real libraries, on this machine and on two that are made of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from contend.lab.mpi import HostRanks, HostResources, Launch, Library, launch
from processes import state_of

Libraries = dict[str, tuple[Library, Path]]

LIBRARIES = ("openmpi4", "openmpi5", "mpich")
TWO_HOSTS = (HostRanks("alpha", 2), HostRanks("beta", 1))
# A remote shell whose hosts are this machine under other names.
_AGENT = """\
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
exec unshare --uts sh -c 'hostname "$0"; exec sh -c "$*"' "$host" "$@"
"""
_TOLD = {
    "openmpi4": ({"OMPI_MCA_plm_rsh_agent": "{agent}"}, ()),
    "openmpi5": ({"PRTE_MCA_plm_ssh_agent": "{agent}"}, ()),
    "mpich": ({}, ("-launcher-exec", "{agent}")),
}
_KILL_RANK_1 = "rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; [ $rank = 1 ] && kill -9 $$; exec sleep 60"


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_rank_goes_to_its_host(
    libraries: Libraries, script: Callable[[str, str], Path], name: str
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give a process another host name")
    library, _ = libraries[name]
    agent = str(script("agent", _AGENT))
    environment, extra = _TOLD[name]
    request = Launch(
        library,
        3,
        hosts=TWO_HOSTS,
        environment={key: value.format(agent=agent) for key, value in environment.items()},
        extra=tuple(word.format(agent=agent) for word in extra),
    )
    words = ["-c", "echo rank ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} on $(hostname)"]
    ended = launch(request, Path("/bin/sh"), words, limit=60)
    assert (ended.status, ended.why) == (0, "")
    said = sorted(re.findall(r"rank \d on \w+", ended.output))
    assert said == ["rank 0 on alpha", "rank 1 on alpha", "rank 2 on beta"]


@pytest.mark.parametrize("name", LIBRARIES)
def test_ranks_are_bound_where_there_are_cores_enough(libraries: Libraries, name: str) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this machine has a single processor")
    library, _ = libraries[name]
    words = ["Cpus_allowed_list", "/proc/self/status"]
    bound = launch(Launch(library, 2, bind=True), Path("/bin/grep"), words, limit=60)
    places = re.findall(r"Cpus_allowed_list:\s*(\S+)", bound.output)
    assert len(places) == len(set(places)) == 2
    free = launch(Launch(library, 2, bind=False), Path("/bin/grep"), words, limit=60)
    assert len(set(re.findall(r"Cpus_allowed_list:\s*(\S+)", free.output))) == 1


def test_ranks_of_open_mpi_yield_where_they_share_processors(libraries: Libraries) -> None:
    words = ["-c", "echo yield=$OMPI_MCA_mpi_yield_when_idle"]
    for name in ("openmpi4", "openmpi5"):
        request = Launch(libraries[name][0], 3, resources=HostResources(2, 2))
        assert "yield=1" in launch(request, Path("/bin/sh"), words, limit=60).output


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_killed_rank_is_told(libraries: Libraries, name: str) -> None:
    library, _ = libraries[name]
    ended = launch(Launch(library, 2), Path("/bin/sh"), ["-c", _KILL_RANK_1], limit=60)
    assert ended.status not in (0, None)
    assert ended.death.signal == 9
    # Hydra tells the process only, and Open MPI 4 now and then just the signal.
    assert ended.death.rank in ((1,) if name == "openmpi5" else (None, 1))
    assert "was ended by SIGKILL" in ended.why


@pytest.mark.parametrize("name", LIBRARIES)
def test_nothing_is_left_after_time_or_interruption(
    libraries: Libraries, tmp_path: Path, name: str
) -> None:
    library, _ = libraries[name]
    words = ["-c", f"echo $$ >> {tmp_path}/pids; exec sleep 300"]
    ended = launch(Launch(library, 2), Path("/bin/sh"), words, limit=3)
    assert (ended.status, ended.why) == (None, "did not end in time")

    def interrupt() -> None:
        if len((tmp_path / "pids").read_text().split()) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        launch(Launch(library, 2), Path("/bin/sh"), words, limit=60, watch=interrupt)
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 4
    assert [pid for pid in pids if state_of(pid)] == []


def test_a_daemon_that_leaves_the_session_is_ended_too(
    libraries: Libraries, tmp_path: Path
) -> None:
    library, _ = libraries["mpich"]
    words = ["-c", f"setsid sleep 300 & echo $! > {tmp_path}/pid; sleep 300"]
    launch(Launch(library, 1), Path("/bin/sh"), words, limit=2)
    assert not state_of((tmp_path / "pid").read_text().strip())


@pytest.mark.parametrize("launcher", ["mpirun", "{0} -n {{ranks}}", "{0} --tag-output"])
def test_a_prefix_starts_ranks(libraries: Libraries, launcher: str) -> None:
    library, program = libraries["openmpi4"]
    request = Launch(library, 2, launcher=launcher.format(library.launcher))
    ended = launch(request, program, [], limit=60)
    assert ended.status == 0
    assert "contend met 2" in ended.output


def test_a_program_that_is_not_there(libraries: Libraries, tmp_path: Path) -> None:
    library, _ = libraries["mpich"]
    ended = launch(Launch(library, 1), tmp_path / "none", [], limit=60)
    assert ended.status not in (0, None)
    assert "No such file" in ended.why
