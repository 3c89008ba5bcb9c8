"""A Slurm of some nodes on this machine: munged, slurmctld and a slurmd each in a folder."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from processes import finished

NODES = ("node1", "node2")
# Enough that the next job need not wait for the last one to be put away.
CPUS = 8
_PATIENCE = 20.0

_CONFIGURATION = """\
ClusterName=contend
SlurmctldHost={machine}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
# The nodes share a machine, so each needs its own place for what it keeps in /tmp.
TmpFS={folder}/tmp-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1
KillWait=2
SlurmdParameters=config_overrides
"""
_NODE = "NodeName={name} NodeHostname={machine} NodeAddr=127.0.0.1 Port={port} CPUs={cpus}\n"
_PARTITION = "PartitionName=test Nodes={nodes} Default=YES State=UP\n"


@contextmanager
def running(
    folder: Path,
    munged: str,
    slurmctld: str,
    slurmd: str,
    nodes: Sequence[str] = NODES,
    settings: str = "",
) -> Iterator[Path]:
    """The configuration of a Slurm that runs until the context ends, with more lines of it.

    Without nodes it is the controller of those that the lines name.
    """
    configuration = _write_configuration(folder, nodes, settings)
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        daemons.append(
            _start(
                folder / "munged.log",
                [munged, "--foreground", "--force", f"--key-file={folder}/munge.key"],
                [f"--{kind}-file={folder}/munge.{kind}" for kind in ("pid", "log", "seed")],
                [f"--socket={folder}/munge.socket"],
            )
        )
        _await(folder, "munged's socket", (folder / "munge.socket").exists)
        daemons.append(_start(folder / "slurmctld.log", [slurmctld, "-D", "-f", configuration]))
        _await(folder, "answer of slurmctld", lambda: ask(configuration, "scontrol", "ping") != "")
        for node in nodes:
            command = [slurmd, "-D", "-N", node, "-f", configuration]
            daemons.append(_start(folder / f"{node}.log", command))
        _await(folder, "idle nodes", lambda: _idle(configuration) == len(nodes))
        yield configuration
    finally:
        for daemon in reversed(daemons):
            _end(daemon)


def _write_configuration(folder: Path, nodes: Sequence[str], settings: str) -> Path:
    for name in ("state", *(f"tmp-{node}" for node in nodes)):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o600)
    configuration = folder / "slurm.conf"
    machine = socket.gethostname().split(".")[0]
    ports = _free_ports(1 + len(nodes))
    text = _CONFIGURATION.format(
        machine=machine, ports=ports, folder=folder, user=os.environ.get("USER") or "root"
    )
    for name, port in zip(nodes, ports[1:], strict=True):
        text += _NODE.format(name=name, machine=machine, port=port, cpus=CPUS)
    text += _PARTITION.format(nodes=",".join(nodes) or "ALL")
    configuration.write_text(text + settings, encoding="utf-8")
    return configuration


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _start(log: Path, *words: Sequence[object]) -> subprocess.Popen[bytes]:
    command = [str(word) for part in words for word in part]
    with log.open("wb") as said:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
        )


def ask(configuration: Path, *command: str) -> str:
    """What a command of Slurm prints; nothing where it fails."""
    told = finished(command, env={**os.environ, "SLURM_CONF": str(configuration)})
    return told.stdout if told.returncode == 0 else ""


def _idle(configuration: Path) -> int:
    return ask(configuration, "sinfo", "--noheader", "--Node", "--format=%T").split().count("idle")


def _await(folder: Path, what: str, there: Callable[[], bool]) -> None:
    ends = time.monotonic() + _PATIENCE
    while not there():
        if time.monotonic() > ends:
            said = "".join(log.read_text(errors="replace")[-800:] for log in folder.glob("*.log"))
            pytest.fail(f"no {what} after {_PATIENCE:g} s: {said}")
        time.sleep(0.05)


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.send_signal(signal.SIGTERM)
    try:
        daemon.wait(10)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
