"""A place where nothing else runs: what is left there was left by what was tried.

Namespaces of processes, mounts and shared memory of its own, with ``/dev/shm``, ``/run`` and the
folder of temporary files empty at first.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

_INSIDE = "CONTEND_CAMPAIGN_INSIDE"
SHARED_MEMORY, RUN = Path("/dev/shm"), Path("/run")
_PROC = Path("/proc")
_C = ctypes.CDLL(None, use_errno=True)
_DETACH = 2
# Seconds that launchers get to end their ranks once contend was killed.
PATIENCE = 20.0


def enter(words: Sequence[str]) -> int | None:
    """Runs this program again within such a place; its status, or None where this is within.

    Raises:
        SystemExit: without the right to.
    """
    if os.environ.get(_INSIDE):
        for folder in (SHARED_MEMORY, RUN):
            mount(folder, "1g")
        return None
    if os.geteuid() != 0:
        raise SystemExit("the campaign of kills needs root, for namespaces of its own")
    command = ["unshare", "--mount", "--pid", "--fork", "--ipc", "--mount-proc", "--kill-child"]
    again = [*command, sys.executable, *words]
    return subprocess.run(again, env={**os.environ, _INSIDE: "1"}).returncode


def mount(folder: Path, size: str) -> None:
    """An empty file system of some size, in memory."""
    if _C.mount(b"none", os.fsencode(folder), b"tmpfs", 0, f"size={size},mode=1777".encode()):
        raise OSError(ctypes.get_errno(), "mounting", str(folder))


def enlarge(folder: Path, size: str) -> None:
    """The same file system with another size."""
    if _C.mount(b"none", os.fsencode(folder), b"tmpfs", 32, f"size={size}".encode()):
        raise OSError(ctypes.get_errno(), "mounting", str(folder))


def unmount(folder: Path) -> None:
    """Takes it away with all that is in it."""
    _C.umount2(os.fsencode(folder), _DETACH)


def processes() -> dict[int, str]:
    """The commands of all other processes here; those that have ended are reaped."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    there = {}
    for folder in _PROC.iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
                state = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
                if state not in "ZX":
                    there[int(folder.name)] = " ".join(words).strip()
    return there


def settled() -> dict[int, str]:
    """What still runs once everything had time to end; it is ended then."""
    ends = time.monotonic() + PATIENCE
    while (there := processes()) and time.monotonic() < ends:
        time.sleep(0.05)
    for process in there:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return there


def handles(process: int, number: signal.Signals) -> bool:
    """Whether a process handles a signal by now."""
    with contextlib.suppress(OSError):
        for line in (_PROC / str(process) / "status").read_text(errors="replace").splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return True


def remove(path: Path) -> None:
    """Removes what was found, so that it is found once."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def left(*folders: Path) -> list[str]:
    """What is in folders, but for the empty folder of all emulations."""
    found = []
    for folder in (SHARED_MEMORY, RUN, *folders):
        found += [str(path) for path in sorted(folder.rglob("*")) if path != RUN / "contend"]
    return found
