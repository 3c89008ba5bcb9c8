"""One trial of the campaign of kills: what it starts, strikes, and expects of every end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import walled

CONTEND = (sys.executable, "-c", "from contend.cli import main; main()")
LIMIT = 120.0
"""Seconds in which everything that is tried ends by itself."""


@dataclass
class Trial:
    """One thing that is tried."""

    name: str
    """Name of the kind, with the signal and whom it strikes."""
    folder: Path
    """Folder of its own, gone afterwards."""
    random: random.Random
    """Source of chance of its own."""
    faults: list[str] = field(default_factory=list)
    """What did not hold."""
    kills: Counter[str] = field(default_factory=Counter)
    """Signals sent to something that ran."""
    seconds: list[tuple[str, float]] = field(default_factory=list)
    """Seconds from a signal to contend to its end."""

    @property
    def scratch(self) -> Path:
        """Where temporary files of what is tried go."""
        return self.folder / "tmp"

    def start(self, words: Sequence[str], **settings: object) -> subprocess.Popen[bytes]:
        """Starts contend, as its own session's head, with signals as a shell leaves them."""
        environment = {**os.environ, "TMPDIR": str(self.scratch)}
        return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
            [*CONTEND, *words],
            env=environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=settings.get("stdout", (self.folder / "out").open("wb")),
            stderr=(self.folder / "err").open("wb"),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def errors(self) -> str:
        """What contend has written to standard error."""
        return (self.folder / "err").read_text(errors="replace")

    def expect(self, holds: bool, what: str) -> None:
        """Notes a fault where something does not hold."""
        if not holds:
            self.faults.append(f"{what}; it said: {self.errors()[-400:]!r}")

    def ended(self, process: subprocess.Popen[bytes]) -> int:
        """The status of contend, with all that holds for every end."""
        try:
            status = process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
            self.expect(False, f"did not end within {LIMIT:g} s")
        said = self.errors()
        lines = [
            line
            for line in said.splitlines()
            if line.startswith("contend: ") and not line.startswith("contend: warning: ")
        ]
        killed = status == -signal.SIGKILL
        self.expect("Traceback" not in said and "panicked" not in said, "a traceback")
        self.expect(status != 70, "a fault of contend")
        self.expect(killed or status >= 0, f"ended by a signal: {status}")
        self.expect(killed or len(lines) == (status != 0), f"{len(lines)} lines, status {status}")
        self.expect(all(len(line) <= 509 for line in lines), "a line of more than 500 characters")
        return status

    def nothing_is_left(self) -> None:
        """Looks for what is left by a command that could clear it away."""
        there = walled.settled()
        self.expect(not there, f"left processes: {list(there.values())[:3]}")
        found = walled.left(self.scratch)
        self.expect(not found, f"left: {found[:5]}")
        for name in found:
            walled.remove(Path(name))

    def nothing_of_its_own_is_left(self, process: subprocess.Popen[bytes]) -> None:
        """Looks for what a command leaves that need not clear up after others.

        One that was killed by SIGKILL may leave folders, but no processes.
        """
        there = walled.settled()
        self.expect(not there, f"left processes: {list(there.values())[:3]}")
        found = [name for name in walled.left(self.scratch) if f"-{process.pid}-" in name]
        killed = process.returncode == -signal.SIGKILL
        self.expect(killed or not found, f"left: {found[:5]}")

    def strike(
        self, process: subprocess.Popen[bytes], number: signal.Signals, whom: str, after: float
    ) -> bool:
        """Sends a signal after a while; False where there was nobody any more to get it."""
        ends = time.monotonic() + LIMIT
        while whom != "contend" and process.poll() is None and time.monotonic() < ends:
            if victims := _victims(whom, process.pid):
                break
            time.sleep(0.01)
        while process.poll() is None and not walled.handles(process.pid, signal.SIGTERM):
            # Until Python runs contend's first line, signals are Python's and the kernel's.
            time.sleep(0.001)
        _wait(process, after)
        victims = [process.pid] if whom == "contend" else _victims(whom, process.pid)
        if process.poll() is not None or not victims:
            return False
        try:
            os.kill(self.random.choice(victims), number)
        except ProcessLookupError:
            return False
        self.kills[f"{number.name} to {whom}"] += 1
        return True


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _victims(whom: str, contend: int) -> list[int]:
    """Launchers, or ranks of probes."""
    found = []
    for process, command in walled.processes().items():
        program = command.split(" ")[0]
        launcher = Path(program).name.startswith(("mpirun", "mpiexec", "prterun"))
        rank = "/probes/" in program and "/version-" not in program and not launcher
        if process != contend and (launcher if whom == "mpirun" else rank):
            found.append(process)
    return found
