"""The two processes behind a run of OpenSM: ibsim plays the fabric, opensm manages it."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from contend.errors import MissingError, ShortfallError
from contend.fabric import LARGEST_LID, Fabric, host_id
from contend.process import Program, wait_for

_PACKAGES = "opensm ibsim-utils infiniband-diags"
# Debian keeps daemons where an ordinary user's PATH does not look.
_MORE_FOLDERS = ("/usr/sbin", "/usr/local/sbin")
_LIBRARY = "umad2sim/libumad2sim.so"
# Log levels: errors, information and the dumps of tables.
_DUMP_ROUTES = "0x43"
_READY = b"simulator ready"
_PATIENCE = 0.02
_LOOK_AGAIN = 0.2
_GRACE = 5.0

Start = Callable[[Sequence[str], Path, Mapping[str, str], IO[bytes]], Program]
"""Starts a program: command, folder to run in, environment, where its output goes."""


def run(
    fabric: Fabric, engine: str, arguments: Sequence[str], folder: Path, limit: float, start: Start
) -> None:
    """Runs OpenSM once on the folder's ``fabric.net``; leaves its log and dumps in the folder.

    Neither process outlives the call. Instances are told apart by the folder's name, so that any
    number can run side by side.

    Raises:
        MissingError: when a program is not installed.
        ShortfallError: when one of them ends early or the limit, in seconds, is over.
    """
    simulator, manager = _program("ibsim"), _program("opensm")
    library = _simulated_device()
    deadline = time.monotonic() + limit
    # A remote simulator that the user's environment names must not take the place of ours.
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("IBSIM_")}
    environment = {
        **inherited,
        "IBSIM_SOCKNAME": folder.name,
        "SIM_HOST": host_id(0),
        "OSM_TMP_DIR": str(folder),
        "OSM_CACHE_DIR": str(folder),
    }
    with _running(start, _simulate(simulator, fabric), folder, environment, "ibsim") as simulation:
        _await_ready(simulation, folder / "ibsim.out", deadline, limit)
        # An empty configuration, so that the machine's own in /etc is not read.
        (folder / "opensm.conf").touch()
        command = [manager, "-F", "opensm.conf", "-R", engine, "-o"]
        command += ["-D", _DUMP_ROUTES, "-f", "opensm.log", *arguments]
        with_device = {**environment, "LD_PRELOAD": library}
        with _running(start, command, folder, with_device, "opensm") as management:
            _await_end(management, simulation, engine, deadline, limit)


def _program(name: str) -> str:
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_MORE_FOLDERS])
    program = shutil.which(name, path=path)
    if program is None:
        raise MissingError(f"no program {name}; on Debian: apt install {_PACKAGES}")
    return program


def _simulated_device() -> str:
    """The library that stands in for the kernel's InfiniBand device."""
    for root in (Path("/usr/lib"), Path("/usr/lib64"), Path("/usr/local/lib")):
        for pattern in (_LIBRARY, f"*/{_LIBRARY}"):
            if libraries := sorted(root.glob(pattern)):
                return str(libraries[0])
    raise MissingError(f"no library {_LIBRARY}; on Debian: apt install {_PACKAGES}")


def _simulate(program: str, fabric: Fabric) -> list[str]:
    """The command that plays the fabric: no console, and room for this one."""
    ports = int(fabric.switch_ports.sum()) + fabric.switches + 2 * fabric.hosts
    room = {
        "-N": fabric.hosts + fabric.switches + 1,
        "-S": fabric.switches + 1,
        "-P": ports + 1,
        "-L": LARGEST_LID + 1,
    }
    sizes = [text for flag, size in room.items() for text in (flag, str(size))]
    return [program, "-s", "-n", *sizes, "fabric.net"]


@contextmanager
def _running(
    start: Start, command: Sequence[str], folder: Path, environment: Mapping[str, str], name: str
) -> Iterator[Program]:
    """A program that is ended, at the latest, when the block is left, however it is left."""
    with (folder / f"{name}.out").open("wb") as output:
        process = start(command, folder, environment, output)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                if wait_for(process, _GRACE) is None:
                    process.kill()
                    process.wait()


def _await_ready(process: Program, output: Path, deadline: float, limit: float) -> None:
    while True:
        # In this order: the last output is in the file once the process has ended.
        ended = process.poll() is not None
        if _READY in (text := output.read_bytes()) and time.monotonic() <= deadline:
            return
        if ended:
            lines = text.decode(errors="replace").split("\n")
            last = next(
                (line.strip() for line in reversed(lines) if line.strip()), "without a message"
            )
            raise ShortfallError(f"ibsim ended before the fabric was up: {last}")
        if time.monotonic() > deadline:
            raise ShortfallError(f"ibsim did not bring the fabric up within {limit:g} s")
        time.sleep(_PATIENCE)


def _await_end(
    process: Program,
    simulation: Program,
    engine: str,
    deadline: float,
    limit: float,
) -> None:
    while True:
        status = wait_for(process, _LOOK_AGAIN)
        if status is not None:
            if status < 0:
                raise ShortfallError(f"OpenSM {_end_of(process)} before its tables were done")
            return
        # Without the fabric OpenSM would wait on, and retry, for hours.
        if simulation.poll() is not None:
            raise ShortfallError(f"ibsim {_end_of(simulation)} while OpenSM ran")
        if time.monotonic() > deadline:
            raise ShortfallError(
                f"OpenSM's engine {engine} was not done within {limit:g} s; "
                f"opensm:{engine},limit=SECONDS gives it more"
            )


def _end_of(process: Program) -> str:
    """How a process that is no more ended."""
    status = process.returncode
    return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
