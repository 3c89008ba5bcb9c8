"""`contend emulate` from outside: the command's status and output, contend's own words apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import contend
from contend.lab.mpi import launch_environment
from probe_programs import Mpi
from processes import CONTEND, finished


def _emulate(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return finished(
        [*CONTEND, "emulate", *arguments],
        env={**launch_environment(os.environ), **variables},
    )


@pytest.mark.usefixtures("permitted")
def test_status_and_output_are_the_commands() -> None:
    ended = _emulate(
        "crossbar:2", "--unchecked", "--", "sh", "-c", "hostname; on host-2 hostname; exit 7"
    )
    assert (ended.returncode, ended.stdout) == (7, "management\nhost-2\n")
    first, *_ = ended.stderr.splitlines()
    assert first.startswith("crossbar:2: 2 hosts and 1 switch up in ")
    assert "0 of 4 channels carried traffic" in ended.stderr


@pytest.mark.usefixtures("permitted")
def test_json_has_hosts_settings_and_every_channel(tmp_path: Path) -> None:
    # One packet of 100 B from host 1 to host 2: 142 B with headers, on two channels.
    send = "import socket; s = socket.socket(type=socket.SOCK_DGRAM); "
    send += "s.sendto(bytes(100), ('host-2', 9))"
    ended = _emulate(
        "crossbar:3", "--unchecked", "--rate", "20Mbit", "--json", "-",
        "--plot", str(tmp_path / "it.svg"), "--", "on", "host-1", sys.executable, "-c", send,
    )  # fmt: skip
    assert ended.returncode == 0
    result = json.loads(ended.stdout)
    assert [host["label"] for host in result["hosts"]] == ["host-1", "host-2", "host-3"]
    assert result["settings"] == {
        "rate": 2.5e6,
        "buffer": 200_000,
        "burst": 16_384,
        "rto_min": 0.2,
        "host_queue": None,
    }
    assert result["traffic"]["drops_by_place"] == {
        "in_hosts": 0,
        "between_switches": 0,
        "before_hosts": 0,
    }
    channels = result["traffic"]["channels"]
    assert [channel["channel"] for channel in channels] == list(range(6))
    # Injection of host 1 and ejection of host 2.
    assert channels[0]["source"] == 'host "host 1"'
    assert channels[4]["target"] == 'host "host 2"'
    assert [(channels[at]["bytes"], channels[at]["packets"]) for at in (0, 4)] == [(142, 1)] * 2
    assert result["verdict"].startswith("The fullest channel, ")
    assert "The fullest channel, " in (tmp_path / "it.svg").read_text()


@pytest.mark.usefixtures("permitted")
def test_python_has_what_the_command_has() -> None:
    ended = _emulate("crossbar:2", "--unchecked", "--rate", "20Mbit", "--json", "-", "--", "false")
    fabric = contend.load("crossbar:2", route="minhop")
    emulation = contend.emulate(fabric, "false", rate="20Mbit", unchecked=True)
    assert emulation.status == ended.returncode == 1
    told, same = (json.loads(text) for text in (ended.stdout, emulation.document().json()))
    for record in (told, same):
        del record["traffic"]["elapsed_s"], record["engine"]
    assert same == told


@pytest.mark.usefixtures("permitted")
def test_python_s_ranks_with_what_is_preloaded_into_them(any_mpi: Mpi, tmp_path: Path) -> None:
    """Under MPICH contend preloads a library of its own into ranks; the user's come first.

    mpi4py loads MPI by dlopen, and MPICH loads UCX, which naps in a library loaded before.
    """
    program = "import os; from mpi4py import MPI; "
    program += "print(MPI.COMM_WORLD.allreduce(1), os.environ['LD_PRELOAD'].split(':')[0])"
    ended = _emulate(
        "crossbar:2", "--unchecked", "-n", "2", "--mpi", any_mpi.wrapper,
        "--", sys.executable, "-c", program,
        **any_mpi.variables(tmp_path), LD_PRELOAD="libm.so.6",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    # Ranks may write into each other's lines.
    assert sorted("".join(ended.stdout.split())) == sorted(2 * "2libm.so.6")
