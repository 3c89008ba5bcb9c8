"""Gives a kind's mutated inputs to its reader, one after the other, and counts what comes of it."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import resource
import signal
import tempfile
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from campaign.kinds import Kind
from campaign.mutations import mutated
from campaign.reading import CommandFaultError, run_in_silence
from contend.base.errors import ContendError

MEMORY = 1 << 30
SECONDS = 20.0
_COMMAND_EVERY = 50
_LOOK_EVERY = 500
_ENCODINGS = ("utf-8", "ascii", "latin-1")


class TookTooLong(BaseException):
    """The reader did not come back; no handler of the reader may swallow it."""


@dataclass(frozen=True)
class Fault:
    """An input that contend did not bear."""

    kind: str
    seed: int
    number: int
    what: str

    def __str__(self) -> str:
        again = f"--kind {self.kind!r} --seed {self.seed} --only {self.number}"
        return f"{self.what}\n    python -m campaign {again}"


@dataclass
class Counts:
    """What came of a kind's inputs."""

    tried: int = 0
    accepted: int = 0
    refused: int = 0
    commands: int = 0
    faults: list[Fault] = field(default_factory=list)


def content_of(kind: Kind, seed: int, number: int) -> bytes:
    """A kind's input by its number: the same whenever it is asked for."""
    chance = random.Random(f"{kind.name}/{seed}/{number}")
    return mutated(list(kind.seeds), kind.own, chance)


def drive(kind: Kind, seed: int, first: int, count: int) -> Counts:
    """Tries so many inputs in a folder of their own, under a bound of memory and of time."""
    counts = Counts()
    here, temporary = os.getcwd(), tempfile.gettempdir()
    with tempfile.TemporaryDirectory(prefix="campaign-") as name, memory_bounded():
        folder = Path(name).resolve()
        os.chdir(folder)
        # What others leave there at the same time is no concern of this one.
        (folder / "temporary").mkdir()
        tempfile.tempdir = str(folder / "temporary")
        try:
            if kind.base is not None:
                kind.base(folder)
            (folder / kind.place).parent.mkdir(parents=True, exist_ok=True)
            (folder / kind.place).write_bytes(kind.seeds[0])
            before = _left(folder)
            for number in range(first, first + count):
                what = _try(kind, folder, seed, number, counts)
                if what:
                    counts.faults.append(Fault(kind.name, seed, number, what))
                looks = (number + 1) % _LOOK_EVERY == 0 or number == first + count - 1
                if looks and (more := _left(folder) - before):
                    left = f"{sum(more.values())} left behind: {list(more)[:3]}"
                    counts.faults.append(Fault(kind.name, seed, number, left))
                    before = _left(folder)
        finally:
            os.chdir(here)
            tempfile.tempdir = temporary
    return counts


@contextmanager
def memory_bounded() -> Iterator[None]:
    """Limits the address space to what is in use now and 1 GiB more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def time_bounded() -> Iterator[None]:
    def stop(signal_number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    previous = signal.signal(signal.SIGVTALRM, stop)
    # Time of this process, so that a busy machine makes no faults.
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


def _try(kind: Kind, folder: Path, seed: int, number: int, counts: Counts) -> str:
    """What was wrong with an input's treatment, "" for nothing."""
    content = content_of(kind, seed, number)
    path = folder / kind.place
    path.write_bytes(content)
    counts.tried += 1
    try:
        with time_bounded(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                kind.read(path)
                counts.accepted += 1
            except ContendError as error:
                counts.refused += 1
                if why := _unfit(kind, error, path):
                    return why
            if kind.command and number % _COMMAND_EVERY == 0:
                counts.commands += 1
                _command(kind, folder, zlib.crc32(content))
    except (Exception, TookTooLong, CommandFaultError) as error:
        return f"{type(error).__name__}: {str(error)[:300]!r} at {_place(error)}"
    return ""


def _unfit(kind: Kind, error: ContendError, path: Path) -> str:
    text = str(error)
    if len(text) > 500 or not text.isprintable() or not text:
        return f"not one line of 500 characters: {text[:600]!r}"
    if not kind.is_text and not any(part in text for part in (path.name, path.parent.name)):
        return f"names no file: {text!r}"
    return ""


def _command(kind: Kind, folder: Path, choice: int) -> None:
    path = folder if kind.command == ("report", "PATH") else folder / kind.place
    words = [word.replace("PATH", str(path)) for word in kind.command]
    run_in_silence(words, _ENCODINGS[choice % len(_ENCODINGS)])


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    places = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if "/contend/" in code.co_filename:
            places.append(f"{code.co_filename.rpartition('/contend/')[2]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return places[-1] if places else "the campaign"


def _left(folder: Path) -> Counter[str]:
    """Files, descriptors and processes that there are."""
    # An error that was caught may still hold what it was about.
    gc.collect()
    found: Counter[str] = Counter(_names(folder))
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found[f"descriptor of {os.readlink(f'/proc/self/fd/{number}').split(':')[0]}"] += 1
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    found.update(f"process {child}" for child in children)
    return found


def _names(folder: Path) -> Iterator[str]:
    here = str(folder)
    for place, _, files in os.walk(folder):
        # A study writes its results there; what is half written begins with a dot.
        own = place == here or place.startswith(f"{here}/temporary")
        yield from (f"{place}/{name}" for name in files if own or name[0] == ".")
