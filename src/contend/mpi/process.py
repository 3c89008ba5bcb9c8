"""Other people's programs, run with a time limit and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# How long a program that was told to end may take to end its own children, in seconds.
_GRACE = 2.0
# Between two looks whether killed processes are gone.
_LOOK = 0.002


@dataclass(frozen=True)
class Finished:
    """How a program ended.

    Attributes:
        status: exit status; minus a signal's number when that ended it; None when it ran out of
            time; 127 when it could not be started.
        output: what it wrote to standard output.
        errors: what it wrote to standard error.
    """

    status: int | None
    output: bytes = b""
    errors: bytes = b""

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.output.decode(errors="replace")

    def why(self) -> str:
        """In one line why this is no success: the most telling thing it said, or how it ended."""
        if self.status is None:
            return "did not end in time"
        if self.status < 0:
            return self._ending()
        lines = [" ".join(line.split()) for line in self._said()]
        # Launchers frame their messages with rules of dashes, signs or stars.
        told = [line for line in lines if any(map(str.isalnum, line)) and "***" not in line]
        telling = next((line for line in told if "error" in line.lower()), told[0] if told else "")
        return telling or self._ending()

    def _said(self) -> list[str]:
        return self.errors.decode(errors="replace").splitlines() + self.text.splitlines()

    def _ending(self) -> str:
        status = self.status or 0
        if status < 0:
            with contextlib.suppress(ValueError):
                return f"ended by {signal.Signals(-status).name}"
        return f"exit status {status}"


Run = Callable[[Sequence[str], Mapping[str, str], float], Finished]
"""Runs a program to its end: command, whole environment, limit in seconds."""


def run_process(command: Sequence[str], environment: Mapping[str, str], limit: float) -> Finished:
    """Runs a program in a session of its own; when time is over all of the session ends."""
    try:
        process = subprocess.Popen(
            list(command),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Finished(127, errors=f"{command[0]}: {error.strerror or error}".encode())
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        _end_session(process)
        return Finished(None)
    except BaseException:
        _end_session(process)
        raise
    return Finished(process.returncode, output, errors)


def end_all(process: subprocess.Popen[bytes], mark: str) -> None:
    """Ends a program and what is left of all that it started.

    Args:
        process: the program, at the head of its session; it may have ended already.
        mark: a variable, ``NAME=value``, that it and all its children have in their environment, so
            that those which made a session of their own are found too.
    """
    if process.poll() is None:
        # First the kind way: a launcher then ends ranks that it runs elsewhere.
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_GRACE)
    _end(lambda: _session_members(process.pid) | _marked(mark))
    process.wait()


def _end_session(process: subprocess.Popen[bytes]) -> None:
    # First the kind way: a launcher then ends ranks that it runs elsewhere.
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=_GRACE)
    # Ranks may be in process groups of their own, and stay when their launcher is gone.
    _end(lambda: _session_members(process.pid))
    process.wait()
    # A daemon that left the session may hold the other ends of the pipes for good.
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _end(find: Callable[[], set[int]]) -> None:
    """Kills processes until none is found, and waits until they are gone.

    One that is about to start another may be killed too late, and a signal takes its time.
    """
    deadline = time.monotonic() + _GRACE
    killed: set[int] = set()
    while time.monotonic() < deadline:
        found = find()
        for member in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(member, signal.SIGKILL)
        killed |= found
        if not found and not any(map(_lives, killed)):
            return
        time.sleep(_LOOK)


def _lives(process: int) -> bool:
    """Whether a process is there and has not only to be asked for its exit status."""
    fields = _stat(Path(f"/proc/{process}"))
    return bool(fields) and fields[0] not in "ZX"


def _stat(folder: Path) -> list[str]:
    """What the kernel says of a process after its name: state, parent, group, session ...

    Empty for one that is gone: processes come and go while we look.
    """
    try:
        return (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _session_members(session: int) -> set[int]:
    members = set()
    for folder in Path("/proc").glob("[0-9]*"):
        fields = _stat(folder)
        if fields and fields[0] not in "ZX" and int(fields[3]) == session:
            members.add(int(folder.name))
    return members


def _marked(mark: str) -> set[int]:
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        # Those of other users cannot be read, and are not ours.
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.add(int(folder.name))
    return found
