"""How the command line begins and ends: signals, readers that go away, closed streams.

This module is loaded first, and loads nothing of contend by itself: from here on a signal ends
contend with one line, also while the rest is being imported.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import IO, Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Its default is to be ignored, so that a child which inherits nothing of ours is not disturbed.
_NUDGE = signal.SIGURG
# Seconds between two nudges, and after a signal in which contend tidies up and hears no other.
_BEAT, _TIDYING = 0.05, 5.0
# Seconds that an import under way may take to come to its end; and how its frames are known.
_IMPORT, _IMPORTING = 1.0, "<frozen importlib"
_BY_SIGNAL = 128
# Libraries start a thread for each processor when they are loaded, some of them two.
_THREADS_A_PROCESSOR = 3
_SINGLE = ("OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")


class EndedBySignal(SystemExit):
    """SIGTERM or SIGHUP asks contend to end; everything is taken down on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(_BY_SIGNAL + number)
        self.number = number
        """Number of the signal."""


def main() -> None:
    """Runs the command line; see the page on exit statuses."""
    signals = Signals()
    signals.end_at_once()
    # Registered first, so called last.
    atexit.register(signals.ignore)
    open_standard_streams()
    outlive_readers()
    make_do_with_few_threads()
    # Only now: whatever is imported takes longer than a user waits before pressing Ctrl-C.
    run: Callable[[list[str]], int] = import_module("contend.cli.app").run_reporting_faults
    try:
        signals.unwind()
        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        status = _announced(signal.SIGINT)
    except EndedBySignal as ended:
        status = _announced(ended.number)
    finally:
        signals.end_at_once()
    raise SystemExit(status)


class Signals:
    """What SIGINT, SIGTERM and SIGHUP do; where they are ignored, as under nohup, they stay so.

    Libraries change how signals act: importing polars makes the kernel begin a wait anew that
    SIGINT has interrupted, so that Python never gets to see the signal. So a thread listens too,
    which the kernel cannot keep waiting: it takes that setting back, and nudges the main thread
    with another signal until that has ended what it does.

    An import that is torn off leaves half a module, which then is a fault of contend's, so it comes
    to its end first. And what is raised while Python tidies up behind an object is lost, and so
    raised again.
    """

    def __init__(self) -> None:
        self._heard = [number for number in _SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
        # No Event: a signal may come in the midst of setting it, and then it waits for itself.
        self._seen = False
        self._first: float | None = None
        self._pending: int | None = None
        self._listens = False

    def end_at_once(self) -> None:
        """From here on a signal ends the process where it stands: there is nothing to tidy up."""
        for number in self._heard:
            signal.signal(number, _leave)

    def ignore(self) -> None:
        """From here on a signal changes nothing: the work is done, and Python handles no more."""
        for number in self._heard:
            signal.signal(number, signal.SIG_IGN)

    def unwind(self) -> None:
        """From here on a signal ends contend as an error does, so that everything is taken down."""
        for number in self._heard:
            signal.signal(number, self._raise)
        if not self._listens:
            self._listen()

    def _raise(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._first is None or now - self._first >= _TIDYING:
            self._first, self._pending = now, number
        self._deliver(number, frame)

    def _deliver(self, _number: int, frame: FrameType | None) -> None:
        """Raises what is pending, unless that would tear off an import that soon ends."""
        number = self._pending
        if number is None or self._first is None:
            self._seen = True
            return
        if self._listens and time.monotonic() - self._first < _IMPORT and _is_importing(frame):
            return
        self._pending = None
        self._seen = True
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise EndedBySignal(number)

    def _listen(self) -> None:
        signal.signal(_NUDGE, self._deliver)
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        thread = threading.Thread(target=self._nudge, args=(reading,), daemon=True)
        # Where no thread can be started, libraries change nothing about signals either.
        with contextlib.suppress(RuntimeError):
            thread.start()
            signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
            self._listens = True
            sys.unraisablehook = self._raise_again(sys.unraisablehook, writing)

    def _raise_again(self, others: Callable[[Any], object], writing: int) -> Callable[[Any], None]:
        """What becomes of an error that Python cannot raise where it happens."""

        def hook(lost: Any) -> None:
            if isinstance(lost.exc_value, EndedBySignal):
                self._pending = lost.exc_value.number
            elif isinstance(lost.exc_value, KeyboardInterrupt):
                self._pending = signal.SIGINT
            else:
                others(lost)
                return
            os.write(writing, bytes([self._pending]))

        return hook

    def _nudge(self, reading: int) -> None:
        main_thread = threading.main_thread().ident
        assert main_thread is not None
        while True:
            for number in os.read(reading, 64):
                if number not in self._heard:
                    continue
                signal.siginterrupt(number, True)
                time.sleep(_BEAT)
                while not self._seen:
                    signal.pthread_kill(main_thread, _NUDGE)
                    time.sleep(_BEAT)
                self._seen = False


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORTING):
            return True
        frame = frame.f_back
    return False


def _leave(number: int, _frame: FrameType | None) -> None:
    status = _BY_SIGNAL + number
    with contextlib.suppress(OSError):
        os.write(2, f"contend: {_sentence(number)}\n".encode())
    os._exit(status)


def _announced(number: int) -> int:
    print(f"contend: {_sentence(number)}", file=sys.stderr)
    return _BY_SIGNAL + number


def _sentence(number: int) -> str:
    return "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"


def make_do_with_few_threads() -> None:
    """Tells libraries to start no threads as they load where this user can start only a few.

    OpenBLAS otherwise prints five lines and interrupts contend. The core finds out by itself.
    """
    wanted = _THREADS_A_PROCESSOR * (os.cpu_count() or 1)
    if _threads_left() < wanted and not _can_start(wanted):
        for name in _SINGLE:
            os.environ.setdefault(name, "1")


def _threads_left() -> float:
    """At least so many threads this user or container may start; rather too few than too many."""
    limits: list[float] = [
        limit
        for limit in (resource.getrlimit(resource.RLIMIT_NPROC)[0],)
        if limit != resource.RLIM_INFINITY
    ]
    # In a container the group's own file; elsewhere there is none at the top.
    with contextlib.suppress(OSError, ValueError), open("/sys/fs/cgroup/pids.max") as file:
        limits.append(int(file.read()))
    running = 0
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/loadavg") as file:
        running = int(file.read().split()[3].partition("/")[2])
    return min(limits, default=float("inf")) - running


def _can_start(count: int) -> bool:
    ends = threading.Event()
    threads = [threading.Thread(target=ends.wait, daemon=True) for _ in range(count)]
    started = []
    try:
        for thread in threads:
            thread.start()
            started.append(thread)
    except RuntimeError:
        return False
    finally:
        ends.set()
        for thread in started:
            thread.join()
    return True


def open_standard_streams() -> None:
    """Makes standard streams that a shell closed empty, before a file can take their number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            stream = os.fdopen(number, mode, encoding="utf-8")
            # Under both names, or whoever replaces the one would close the other's file.
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def outlive_readers() -> None:
    """Lets contend finish its work when the reader of its output goes away, as ``head -1`` does.

    Later output there is discarded; files are written, and the exit status says how the work
    went.
    """
    for name in ("stdout", "stderr"):
        stream: IO[str] = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.flush()
            setattr(sys, name, _outliving(stream))


def _outliving(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(_Outliving(stream.fileno(), "wb", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
    )


class _Outliving(io.FileIO):
    """A file whose reader may go away: then nothing is written any more, and nothing fails.

    Any other fault, such as a full disk, is reported once, and not again when Python ends.
    """

    def write(self, data: object, /) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError as error:
            # For programs that contend starts as well, and for what is still in buffers.
            with contextlib.suppress(OSError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, self.fileno())
                os.close(nowhere)
            if isinstance(error, BrokenPipeError):
                return memoryview(data).nbytes  # type: ignore[arg-type]
            name = "standard output" if self.fileno() == 1 else "standard error"
            raise OSError(error.errno, error.strerror, name) from None
