"""Nothing stays: after the end, an error, an interruption, and the owner's sudden death."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from sample_fabrics import two_leaves

import contend
from contend.emulate import bring_up, leftovers, owner

pytestmark = pytest.mark.usefixtures("permitted")

_RATE = 12.5e6
_CONTEND = [sys.executable, "-c", "from contend.cli import main; main()", "emulate"]


def _everything() -> tuple[set[str], set[str], set[str]]:
    """Namespaces that processes are in or hold, links of this one, and folders."""
    namespaces = set()
    for place in Path("/proc").glob("[0-9]*/ns/net"):
        try:
            namespaces.add(str(place.readlink()))
        except OSError:
            continue
    for held in Path("/proc/self/fd").iterdir():
        if held.is_symlink() and "net:[" in os.readlink(held):
            namespaces.add(os.readlink(held))
    links = {name for _, name in socket.if_nameindex()}
    return namespaces, links, {folder.name for folder in owner.state_folder().iterdir()}


def test_64_hosts_and_20_switches_come_and_go() -> None:
    before = _everything()
    fabric = contend.Fabric.load("xgft:2;16,4;1,16", need_routes=True)
    assert (fabric.hosts, fabric.switches) == (64, 20)
    with bring_up(fabric, _RATE, check=False) as network:
        namespaces, links, folders = _everything()
        # One for each node, and the management side; none of their links is visible from here.
        assert len(namespaces - before[0]) == 85
        assert links == before[1]
        assert len(folders - before[2]) == 1
        assert len(network.counters().channel) == fabric.channels
    assert _everything() == before


def test_an_error_takes_it_down_and_all_that_runs_in_it() -> None:
    before = _everything()
    started = []
    with pytest.raises(RuntimeError, match="on purpose"), bring_up(  # noqa: PT012
        two_leaves(), _RATE, check=False
    ) as network:
        # In a session of its own, without its environment, and deaf to kind words.
        command = "trap '' TERM; echo; exec env -i setsid sleep 600"
        program = network.inside(["on", network.hosts[1], "sh", "-c", command])
        started.append(
            subprocess.Popen(program, env=network.environment(), stdout=subprocess.PIPE)
        )
        assert started[0].stdout is not None
        started[0].stdout.readline()
        raise RuntimeError("on purpose")
    assert started[0].wait(10) == -signal.SIGKILL
    started[0].stdout.close()
    assert _everything() == before


def _start(*command: str, settings: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Starts a command in an emulated fabric, and waits until it has written a line."""
    started = subprocess.Popen(
        [*_CONTEND, "crossbar:3", "--unchecked", *settings, "--", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert started.stdout is not None
    started.stdout.readline()
    return started


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_takes_it_down(number: signal.Signals) -> None:
    before = _everything()
    started = _start("sh", "-c", "echo; exec sleep 600")
    # As a terminal does: to all at once.
    os.killpg(started.pid, number)
    _, said = started.communicate(timeout=30)
    assert started.returncode in (128 + number, 128 + signal.SIGTERM)
    assert "Traceback" not in said
    assert _everything() == before


def test_after_a_sudden_death_the_next_start_removes_what_was_left_and_nothing_else() -> None:
    before = _everything()
    live = _start("sh", "-c", "echo; exec sleep 600")
    dead = _start("sh", "-c", "on host-2 setsid sh -c 'echo; exec sleep 600'")
    stranger = owner.state_folder() / "emulation-of-mine"
    stranger.mkdir()
    try:
        claims = {claim.process: claim for claim in owner.claims(owner.state_folder())}
        dead.kill()
        dead.wait()
        left = set(leftovers.processes(claims[dead.pid].mark))
        assert left, "a process that nothing told of the death stays"
        assert claims[dead.pid].folder.exists()
        with bring_up(two_leaves(), _RATE, check=False):
            pass
        assert not set(leftovers.processes(claims[dead.pid].mark))
        assert not claims[dead.pid].folder.exists()
        assert stranger.exists()
        assert claims[live.pid].folder.exists()
        assert set(leftovers.processes(claims[live.pid].mark))
        assert live.poll() is None
    finally:
        stranger.rmdir()
        live.terminate()
        for started in (live, dead):
            started.communicate(timeout=30)
    assert _everything() == before
