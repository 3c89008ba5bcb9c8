"""Starts programs, watches them, and ends them with all that they have started."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Any, TypeAlias

from contend.base.errors import MissingError
from contend.base.process.agent import end_with_parent
from contend.base.process.processes import end_processes, marked_processes, session_members

# Seconds that a program which was asked to end may take to end its own children, so that contend
# ends within two. One that has the terminal gets two, and five once it heard an interruption.
_GRACE, _FOREGROUND_GRACE, _INTERRUPTED_GRACE = 1.6, 2.0, 5.0
# Seconds between two looks at a program that is watched.
_BEAT = 0.1
_FIRST_BEAT, _FOREGROUND_BEAT = 0.05, 1.0
# How much of a watched program's output is kept: the beginning, for the first error, and the end.
_KEPT = 64 * 1024
# What all children inherit, those in sessions of their own too.
_MARK = "CONTEND_LAUNCH"
_NOT_STARTED = 127
_BY_SIGNAL = 128


class Program(subprocess.Popen[bytes]):
    """A program under way. It can be waited for again after a signal interrupted waiting.

    What a signal's handler raises between two steps of Popen's waiting leaves its lock held for
    good, and whoever waits next, to end the program, would wait for ever. A lock that lets the same
    thread in again does not stop it; signals are handled in the main thread alone.
    """

    def __init__(self, command: Sequence[str], **settings: Any) -> None:
        """Starts it; see `subprocess.Popen`."""
        super().__init__(list(command), **settings)
        self._waitpid_lock = threading.RLock()


@dataclass(frozen=True)
class Finished:
    """How a program ended."""

    status: int | None
    """Exit status; minus a signal's number when that ended it; None when it ran out of time; 127
    when it could not be started."""
    output: bytes = b""
    """What it wrote to standard output."""
    errors: bytes = b""
    """What it wrote to standard error."""

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.output.decode(errors="replace")

    @property
    def error_text(self) -> str:
        """Standard error as text."""
        return self.errors.decode(errors="replace")

    @property
    def all_text(self) -> str:
        """Standard output and error together: versions of a program differ in which they use."""
        return f"{self.error_text}\n{self.text}"

    def why(self) -> str:
        """One line that says why the program failed: its most telling line, or how it ended."""
        if self.status is None:
            return "did not end in time"
        if self.status < 0:
            return self._ending()
        lines = [" ".join(line.split()) for line in self.all_text.splitlines()]
        # Launchers frame their messages with rules of dashes, signs or stars.
        words = [line for line in lines if any(map(str.isalnum, line)) and "***" not in line]
        errors = (line for line in words if "error" in line.lower())
        return next(errors, words[0] if words else "") or self._ending()

    def _ending(self) -> str:
        status = self.status or 0
        if status < 0:
            with contextlib.suppress(ValueError):
                return f"ended by {signal.Signals(-status).name}"
        return f"exit status {status}"


Run: TypeAlias = Callable[[Sequence[str], Mapping[str, str], float], Finished]
"""Runs a program to its end: command, whole environment, limit in seconds."""


def run_process(command: Sequence[str], environment: Mapping[str, str], limit: float) -> Finished:
    """Runs a program in a session of its own; when time is over all of the session ends."""
    try:
        with _started(
            _end_session,
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as program:
            output, errors = program.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return Finished(None)
    except _NotStartedError as error:
        return error.finished
    return Finished(program.returncode, output, errors)


def run_watched(
    command: Sequence[str],
    environment: Mapping[str, str],
    limit: float,
    watch: Callable[[], None],
    *,
    waits: Callable[[str], bool] = lambda _: False,
) -> tuple[Finished, float]:
    """Runs a program to its end, and nothing of it stays behind.

    Args:
        command: program and arguments.
        environment: whole.
        limit: seconds that it may take, once it no longer waits.
        watch: called several times a second; what it raises ends the program.
        waits: whether a batch system keeps the program waiting, by what it has written.

    Returns:
        How it ended (status None when it ran out of time) and the seconds that it waited.
    """
    mark = secrets.token_hex(8)

    def end(program: Program) -> None:
        _end_marked(program, f"{_MARK}={mark}")

    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        settings = {
            "env": {**environment, _MARK: mark},
            "stdin": subprocess.DEVNULL,
            # Files rather than pipes: nothing stops a program that writes much.
            "stdout": output,
            "stderr": errors,
            "start_new_session": True,
        }
        try:
            with _started(end, command, **settings) as program:
                status, waited = _watch(
                    program, limit, watch, lambda: waits(_kept(errors).decode(errors="replace"))
                )
        except _NotStartedError as error:
            return error.finished, 0.0
        return Finished(status, _kept(output), _kept(errors)), waited


def _watch(
    program: Program, limit: float, watch: Callable[[], None], waits: Callable[[], bool]
) -> tuple[int | None, float]:
    """The status of a program, None when it ran out of time, and the seconds that it waited."""
    started = time.monotonic()
    waited = 0.0
    status: int | None = None
    while status is None:
        status = wait_for(program, _BEAT)
        watch()
        elapsed = time.monotonic() - started
        if waits():
            waited = elapsed
        if status is None and elapsed - waited > limit:
            break
    return status, waited


def run_foreground(
    command: Sequence[str],
    environment: Mapping[str, str],
    output: IO[str] | None = None,
    *,
    watch: Callable[[], None] = lambda: None,
) -> int:
    """Runs a command that has the terminal, and waits for its end.

    When contend is interrupted, the command has heard of that too, and has a few seconds to end.

    Args:
        command: program and arguments.
        environment: whole.
        output: where its standard output goes; None for this process's own.
        watch: called while it runs, often at first and then once a second.

    Returns:
        Its exit status; 128 and a signal's number when that ended it, as shells say.

    Raises:
        MissingError: when it cannot be started.
    """
    try:
        with _started(end_kindly, command, env=dict(environment), stdout=output) as program:
            try:
                status = _wait_watching(program, watch)
            except KeyboardInterrupt:
                wait_for(program, _INTERRUPTED_GRACE)
                raise
    except _NotStartedError as error:
        raise MissingError(error.finished.why()) from None
    return status if status >= 0 else _BY_SIGNAL - status


def _wait_watching(program: Program, watch: Callable[[], None]) -> int:
    """The exit status of a program; its end is noticed at once, and nothing is asked meanwhile."""
    try:
        ended = os.pidfd_open(program.pid)
    except (OSError, AttributeError):
        # A kernel that cannot: then the program is asked.
        while (status := wait_for(program, _FOREGROUND_BEAT)) is None:
            watch()
        return status
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    beat = _FIRST_BEAT
    try:
        while not poll.poll(1000 * beat):
            watch()
            beat = min(1.2 * beat, _FOREGROUND_BEAT)
    finally:
        os.close(ended)
    return program.wait()


def start_program(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], output: IO[bytes]
) -> Program:
    """Starts a program in a session of its own, so that Ctrl-C reaches only contend.

    On Linux it ends with contend even where contend has no say in that, killed for memory say.

    Args:
        command: program and arguments.
        folder: its working folder.
        environment: whole.
        output: where all that it writes goes.
    """
    return Program(
        command,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=end_with_parent if sys.platform == "linux" else None,
    )


def wait_for(program: Program, seconds: float) -> int | None:
    """The exit status of a program, minus a signal's number; None when it still runs then."""
    try:
        return program.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def end_kindly(program: Program, grace: float = _FOREGROUND_GRACE) -> None:
    """Asks a program to end, and kills it when it has not after so many seconds."""
    if program.poll() is None:
        program.terminate()
        if wait_for(program, grace) is None:
            program.kill()
            program.wait()


class _NotStartedError(Exception):
    """A program could not be started."""

    def __init__(self, command: Sequence[str], error: OSError) -> None:
        super().__init__(command[0])
        reason = f"{command[0]}: {error.strerror or error}"
        self.finished = Finished(_NOT_STARTED, errors=reason.encode())


@contextmanager
def _started(
    end: Callable[[Program], None], command: Sequence[str], **settings: Any
) -> Iterator[Program]:
    """A program that is ended when the block is left, however it is left.

    Raises:
        _NotStartedError: when it cannot be started.
    """
    program: Program | None = None
    # Killed itself, contend takes nothing down; then a launcher is told to end its ranks.
    follow = _end_with_contend if sys.platform == "linux" else None
    try:
        # A signal in between would leave a program that nobody knows of.
        with _signals_wait():
            try:
                program = Program(command, preexec_fn=follow, **settings)
            except OSError as error:
                raise _NotStartedError(command, error) from error
        yield program
    finally:
        if program is not None:
            end(program)


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Signals that Python handles are handled when the block is left."""
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread gets them.
        yield
        return
    arrived: list[tuple[int, FrameType | None]] = []
    handlers = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if callable(handler := signal.getsignal(number))
    }
    for number in handlers:
        signal.signal(number, lambda number, frame: arrived.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for arrival, frame in arrived:
            handlers[signal.Signals(arrival)](arrival, frame)


def _end_with_contend() -> None:
    end_with_parent(signal.SIGTERM)


def _end_session(program: Program) -> None:
    if program.poll() is not None:
        return
    # First the kind way: a launcher then ends ranks that it runs elsewhere.
    program.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.communicate(timeout=_GRACE)
    # Ranks may be in process groups of their own, and stay when their launcher is gone.
    end_processes(lambda: session_members(program.pid))
    program.wait()
    # A daemon that left the session may hold the other ends of the pipes for good.
    for pipe in (program.stdout, program.stderr):
        if pipe is not None:
            pipe.close()


def _end_marked(program: Program, mark: str) -> None:
    """Ends a program and what is left of all that it started, in sessions of their own too.

    Args:
        program: at the head of its session; it may have ended already.
        mark: a variable, ``NAME=value``, that it and all its children have in their environment.
    """
    if program.poll() is None:
        program.terminate()
        wait_for(program, _GRACE)
    end_processes(lambda: session_members(program.pid) | marked_processes(mark))
    program.wait()


def _kept(file: IO[bytes]) -> bytes:
    """The content of a file; of a long one only the beginning and the end."""
    # The program shares the place in the file, so it must not be moved.
    size = os.fstat(file.fileno()).st_size
    if size <= 2 * _KEPT:
        return os.pread(file.fileno(), size, 0)
    first = os.pread(file.fileno(), _KEPT, 0)
    return first + b"\n...\n" + os.pread(file.fileno(), _KEPT, size - _KEPT)
