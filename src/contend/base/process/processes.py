"""The processes of this machine: which are there, which ended first, and how they are ended."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

_PROC = Path("/proc")
# Seconds that processes get to be gone once they are killed, and between two looks.
_FORCE = 5.0
_LOOK = 0.002


def process_folders() -> Iterator[Path]:
    """What the kernel shows of every process, in a folder named by its number.

    Processes come and go meanwhile, and those of other users show little: any file in these folders
    may be missing or refused.
    """
    for name in os.listdir(_PROC):
        if name.isdecimal():
            yield _PROC / name


def session_members(session: int) -> set[int]:
    """The processes of a session that have not ended."""
    members = set()
    for folder in process_folders():
        fields = _stat(folder)
        if fields and fields[0] not in "ZX" and int(fields[3]) == session:
            members.add(int(folder.name))
    return members


def marked_processes(mark: str) -> set[int]:
    """The processes that were started with a variable, ``NAME=value``, in their environment."""
    marked = set()
    for folder in process_folders():
        # Those of other users cannot be read, and are not ours.
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                marked.add(int(folder.name))
    return marked


def is_in_use(file: Path) -> bool:
    """Whether a process of this user has a file open, or in its memory."""
    name = os.path.realpath(file)
    for folder in process_folders():
        if maps_file(int(folder.name), Path(name)):
            return True
        with contextlib.suppress(OSError):
            if any(os.readlink(link) == name for link in (folder / "fd").iterdir()):
                return True
    return False


def maps_file(process: int, file: Path) -> bool:
    """Whether a process of this machine has a file in its memory, as far as one may know."""
    try:
        maps = (_PROC / str(process) / "maps").read_text(errors="replace")
    except OSError:
        return False
    return f" {os.path.realpath(file)}\n" in maps


def is_gone(process: int) -> bool:
    """Whether no process of this machine has a number any more."""
    return process > 0 and not (_PROC / str(process)).exists()


def end_processes(find: Callable[[], set[int]], *, grace: float = 0.0) -> None:
    """Ends processes until none is found any more, and waits until they are gone.

    Args:
        find: looks for them anew: one that is about to start another may be ended too late.
        grace: seconds that they get to end by themselves once they were asked to.
    """
    asked: set[int] = set()
    deadline = time.monotonic() + grace
    while grace > 0 and (there := find()) and time.monotonic() < deadline:
        _send(signal.SIGTERM, there - asked)
        asked |= there
        time.sleep(10 * _LOOK)
    killed: set[int] = set()
    deadline = time.monotonic() + _FORCE
    while time.monotonic() < deadline:
        there = find()
        _send(signal.SIGKILL, there)
        killed |= there
        # A signal takes its time.
        if not there and not any(map(_lives, killed)):
            return
        time.sleep(_LOOK)


def _send(number: signal.Signals, processes: Iterable[int]) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _lives(process: int) -> bool:
    """Whether a process exists and is not merely a zombie."""
    fields = _stat(_PROC / str(process))
    return bool(fields) and fields[0] not in "ZX"


def _stat(folder: Path) -> list[str]:
    """What the kernel says of a process after its name: state, parent, group, session ...

    Empty for one that is gone.
    """
    try:
        return (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def ancestors(process: int) -> Iterator[int]:
    """The processes that a process of this machine descends from below this one, nearest first."""
    while (fields := _stat(_PROC / str(process))) and int(fields[1]) not in (0, 1, os.getpid()):
        process = int(fields[1])
        yield process


class FirstEnded:
    """Waits for the end of processes that need not be children, in a thread of its own.

    A launcher ends all ranks when one has died, and may then tell of one that it ended itself. The
    kernel queues the ends in their order, however late the thread gets to look.

    Args:
        pids: of processes of this machine; those that are gone are left out.
    """

    def __init__(self, pids: Iterable[int]) -> None:
        self._pid: int | None = None
        self.ended_unix: float | None = None
        """Seconds since 1970 when it was seen to end; None while all run."""
        self._open: dict[int, int] = {}
        for pid in pids:
            try:
                self._open[os.pidfd_open(pid)] = pid
            except (OSError, AttributeError):
                # Gone, somebody else's, or a kernel that cannot.
                continue
        self._ends = select.epoll()
        # Before the thread runs: what ends from now on is queued in its order.
        for descriptor in self._open:
            self._ends.register(descriptor, select.EPOLLIN)
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def pid(self, patience: float = 0.0) -> int | None:
        """The process that ended first; None while all run.

        Args:
            patience: seconds to wait for an end.
        """
        self._thread.join(patience)
        return self._pid

    def _wait(self) -> None:
        with self._ends:
            if not self._open:
                return
            ((first, _),) = self._ends.poll(maxevents=1)
        self.ended_unix = time.time()
        self._pid = self._open[first]
        for descriptor in self._open:
            os.close(descriptor)
