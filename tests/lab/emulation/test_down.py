"""Nothing stays: after the end, an error, an interruption, and the owner's sudden death."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import contend
from contend.lab.emulation import bring_up, claims
from processes import CONTEND
from sample_fabrics import two_leaves

pytestmark = pytest.mark.usefixtures("permitted")

_RATE = 12.5e6


@dataclass(frozen=True)
class _Claim:
    """The folder of an emulated fabric, and the mark of its namespaces."""

    folder: Path

    @property
    def mark(self) -> bytes:
        return bytes.fromhex(self.folder.name.rpartition("-")[2])


def _claim_of(process: int) -> _Claim:
    (folder,) = claims.state_folder().glob(f"emulation-{process}-*")
    return _Claim(folder)


def _assert_gone(claim: _Claim) -> None:
    """Nothing of this one is left; others on this machine may emulate something meanwhile."""
    assert not claim.folder.exists()
    assert list(claims.processes(claim.mark)) == []


def _held() -> list[str]:
    """The namespaces that this process holds."""
    links = [os.readlink(file) for file in Path("/proc/self/fd").iterdir() if file.is_symlink()]
    return sorted(link for link in links if link.startswith("net:"))


def test_64_hosts_and_20_switches_come_and_go() -> None:
    links = socket.if_nameindex()
    fabric = contend.load("xgft:2;16,4;1,16", need_routes=True)
    assert (fabric.hosts, fabric.switches) == (64, 20)
    with bring_up(fabric, _RATE, check=False) as network:
        # One for each node, and the management side; none of their links is visible from here.
        assert len(set(_held())) == 85
        assert socket.if_nameindex() == links
        assert len(network.counters().channel) == fabric.channels
        claim = _claim_of(os.getpid())
    assert _held() == []
    assert socket.if_nameindex() == links
    _assert_gone(claim)


def test_an_error_takes_it_down_and_all_that_runs_in_it() -> None:
    started: list[subprocess.Popen[bytes]] = []
    held: list[_Claim] = []

    def fail_inside() -> None:
        with bring_up(two_leaves(), _RATE, check=False) as network:
            # In a session of its own, without its environment, and deaf to kind words.
            command = "trap '' TERM; echo; exec env -i setsid sleep 600"
            program = network.inside(["on", network.hosts[1], "sh", "-c", command])
            started.append(
                subprocess.Popen(program, env=network.environment(), stdout=subprocess.PIPE)
            )
            assert started[0].stdout is not None
            started[0].stdout.readline()
            held.append(_claim_of(os.getpid()))
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        fail_inside()
    assert started[0].wait(10) == -signal.SIGKILL
    started[0].communicate()
    assert _held() == []
    _assert_gone(held[0])


def _start(*command: str, settings: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Starts a command in an emulated fabric, and waits until it has written a line."""
    started = subprocess.Popen(
        [*CONTEND, "emulate", "crossbar:3", "--unchecked", *settings, "--", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    started.stdout.readline()
    return started


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_takes_it_down(number: signal.Signals) -> None:
    started = _start("sh", "-c", "echo; exec sleep 600")
    claim = _claim_of(started.pid)
    # As a terminal does: to all at once.
    os.killpg(started.pid, number)
    _, errors = started.communicate(timeout=30)
    assert started.returncode == 128 + number
    assert "Traceback" not in errors
    assert errors.count("contend: ") == 1
    _assert_gone(claim)


def test_after_a_sudden_death_the_next_start_removes_what_was_left_and_nothing_else() -> None:
    live = _start("sh", "-c", "echo; exec sleep 600")
    dead = _start("sh", "-c", "on host-2 setsid sh -c 'echo; exec sleep 600'")
    stranger = claims.state_folder() / "emulation-of-mine"
    stranger.mkdir()
    try:
        living, left = _claim_of(live.pid), _claim_of(dead.pid)
        dead.kill()
        dead.wait()
        assert list(claims.processes(left.mark)), "a process that nobody told stays"
        assert left.folder.exists()
        with bring_up(two_leaves(), _RATE, check=False):
            pass
        _assert_gone(left)
        assert stranger.exists()
        assert living.folder.exists()
        assert list(claims.processes(living.mark))
        assert live.poll() is None
    finally:
        stranger.rmdir()
        live.terminate()
        for started in (live, dead):
            started.communicate(timeout=30)
    _assert_gone(living)


def test_another_container_that_shares_the_folder_leaves_a_live_one() -> None:
    """It numbers its processes anew, so that the owner of this one is not among them."""
    live = _start("sh", "-c", "echo; exec sleep 600")
    elsewhere = ["unshare", "--pid", "--fork", "--mount-proc", *CONTEND, "emulate", "crossbar:2"]
    try:
        living = _claim_of(live.pid)
        other = subprocess.run([*elsewhere, "--unchecked", "--", "true"], capture_output=True)
        assert other.returncode == 0
        assert living.folder.exists()
        assert list(claims.processes(living.mark))
        assert live.poll() is None
    finally:
        live.terminate()
        live.communicate(timeout=30)
    _assert_gone(living)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_ignores_signals_has_its_grace_and_is_ended(number: signal.Signals) -> None:
    started = _start("sh", "-c", "trap '' INT TERM; echo; while :; do sleep 0.1; done")
    claim = _claim_of(started.pid)
    os.killpg(started.pid, number)
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 128 + number
    assert errors.endswith(
        {2: "contend: interrupted\n", 15: "contend: ended by SIGTERM\n"}[int(number)]
    )
    _assert_gone(claim)
