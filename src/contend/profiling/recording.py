"""Runs a program whose ranks are recorded, and merges what they left, however it ended."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO

import msgspec

from contend.base.errors import InputError, ShortfallError, UsageError
from contend.base.process import FirstEnded, ancestors, is_gone, maps_file, run_foreground
from contend.base.units import format_bytes
from contend.lab.emulation import drops_of
from contend.lab.measurement import Place, RealHosts, Shape, ready_command
from contend.lab.mpi import Preloaded, lost_on_the_way, record, this_machine
from contend.lab.session import NoRoomError, hold, new_folder
from contend.profiling.folder import (
    PROFILE,
    RECORDS,
    UNRECORDED,
    FirstGone,
    ProfileRecord,
    beside,
    is_profile,
    read_other_library,
    read_profile_record,
    record_files,
    write_profile_record,
    write_seen,
)
from contend.profiling.gathering import Progress
from contend.profiling.merging import merge
from contend.profiling.profile import ProgramProfile
from contend.profiling.record_file import read_header

# As in the recorder.
_USUAL = 16 << 20
# After the command's end, for threads that wait for what ended before it.
_TOLD_WITHIN_S = 1.0
NAME = "profile"
"""What folders begin with that nobody named."""


@dataclass(frozen=True)
class RecordedJob:
    """A program and where its ranks run."""

    words: tuple[str, ...]
    """Command; where `shape` is None it starts its ranks by itself."""
    shape: Shape | None = None
    """Ranks that contend starts."""
    place: Place | None = None
    """Where contend starts them."""
    mpi: str | None = None
    """MPI library: a name, a folder or a wrapper; None: that of the command, or where contend
    starts the ranks, the first usable one."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Conditions that no program can see."""
    memory: int | None = None
    """Bytes that the record of a rank may take; None for the usual ones."""


@dataclass(frozen=True)
class RecordingOutcome:
    """How a recorded program ended."""

    status: int | None
    """Exit status of the command; None when contend was interrupted."""
    profile: ProgramProfile | None = None
    """Profile of the first MPI program; None when no rank left a record."""
    others: tuple[ProgramProfile, ...] = ()
    """Profiles of the other programs that the command started."""
    why: str = ""
    """Why there is no profile; "" when there is one."""
    interruption: BaseException | None = None
    """What ended contend in between, to be raised again."""


def run_recorded(
    job: RecordedJob,
    folder: Path | None = None,
    *,
    output: IO[str] | None = None,
    progress: Progress = lambda done, total: None,
) -> RecordingOutcome:
    """Runs a job and merges what its ranks left, also when it or contend was interrupted.

    Args:
        job: what to run.
        folder: of the profile; None for a new one in ``contend-runs``.
        output: where the command's standard output goes; None for this process's own.
        progress: is told how many of how many records are merged.

    Raises:
        UsageError: for what does not fit together, or a folder that has a profile already.
        MissingError: the command, its MPI library, a compiler or room on the disk is missing.
    """
    folder = folder or new_folder(NAME, datetime.now(UTC).date())
    if shutil.which(job.words[0]) is None:
        raise UsageError(f"{job.words[0]}: no such program")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder}: is not empty; a profile needs a new folder")
    with hold(folder), _no_room_told(folder):
        records = folder.resolve() / RECORDS
        with _ready(job, records) as (command, environment):
            place = job.place or RealHosts()
            begun = ProfileRecord(
                job.words,
                created=datetime.now(UTC).isoformat(timespec="seconds"),
                contend=version("contend"),
                labels=dict(job.labels),
                place=place.described,
                asked=dict(place.asked),
                wire_Bps=place.wire,
                machine=platform.node(),
                cpus=this_machine().cpus,
            )
            write_profile_record(folder, begun)
            started = time.monotonic()
            ends = RankEnds(folder)
            status, interruption = _run(command, environment, output, records, ends)
            elapsed = time.monotonic() - started
            ended_unix = time.time()
        if not record_files(folder):
            why = _silence(job, status, records)
            shutil.rmtree(records)
            (folder / PROFILE).unlink()
            return RecordingOutcome(status, why=why, interruption=interruption)
        counters = place.counters()
        ended = msgspec.structs.replace(
            begun,
            elapsed_s=elapsed,
            ended_unix=ended_unix,
            status=status,
            first_gone=ends.first(),
            drops=counters.get("drops"),
            drops_by_place=drops_of(counters),
        )
        write_profile_record(folder, ended)
        try:
            merged = merge(folder, progress=progress)
        except ShortfallError as error:
            return RecordingOutcome(status, why=str(error), interruption=interruption)
    folders = [beside(folder, other.folder) for other in merged.others]
    others = tuple(ProgramProfile.load(other) for other in folders if is_profile(other))
    return RecordingOutcome(status, ProgramProfile.load(folder), others, interruption=interruption)


def load_profile(folder: Path, *, progress: Progress = lambda done, total: None) -> ProgramProfile:
    """Reads a profile; one whose merge was interrupted is merged first.

    Raises:
        UsageError: no profile is there, or its program still runs.
        InputError: it is damaged, or of a newer version.
        ShortfallError: no rank left a record that can be read.
        MissingError: there is no room for a merge on the disk.
    """
    known = read_profile_record(folder)
    unmerged = (folder / RECORDS).is_dir() and not known.left
    if not known.merged or unmerged:
        with hold(folder), _no_room_told(folder):
            _check_ended(folder)
            merge(folder, progress=progress)
    return ProgramProfile.load(folder)


def _check_ended(folder: Path) -> None:
    """Ranks may go on where contend alone was killed; a merge would take their records away.

    Raises:
        UsageError: one is running on this machine.
    """
    for path in record_files(folder):
        with suppress(InputError):
            process = int(read_header(path)["pid"])
            if maps_file(process, path):
                raise UsageError(
                    f"{folder}: its program still runs, such as process {process}: end it first"
                )


def _run(
    command: Sequence[str],
    environment: Mapping[str, str],
    output: IO[str] | None,
    records: Path,
    ends: RankEnds,
) -> tuple[int | None, BaseException | None]:
    """The command's exit status, or what ended contend in between."""

    def watch() -> None:
        write_seen(records, time.time())
        ends.look()

    try:
        return run_foreground(command, environment, output=output, watch=watch), None
    except (KeyboardInterrupt, SystemExit) as interruption:
        # The command has ended by now; what was recorded until then is kept.
        return None, interruption


class RankEnds:
    """Which rank of this machine ended first, as launchers end the others then.

    What started a rank is watched too: a rank that ends after that did not end by itself. Where a
    rank is elsewhere, or several ended before anybody looked, nobody knows which was the first.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ranks: dict[Path, int] = {}
        self._watched: list[FirstEnded] = []
        self._gone: list[FirstGone] = []
        self._doubtful = False
        self._looked = 0
        self._complete = True

    def look(self) -> None:
        """Watches the ranks that have come since, as soon as they have all signed in."""
        changed = (self._folder / RECORDS).stat().st_mtime_ns
        if changed == self._looked and self._complete:
            return
        self._complete, self._looked = changed == self._looked, changed
        new: list[int] = []
        gone: list[FirstGone] = []
        for path in record_files(self._folder):
            if path in self._ranks:
                continue
            with suppress(InputError):
                header = read_header(path)
                process = int(header["pid"])
                if maps_file(process, path):
                    self._ranks[path] = process
                    new += [process, *ancestors(process)]
                elif header["host"] == platform.node().encode() and is_gone(process):
                    self._ranks[path] = process
                    gone.append(FirstGone(path.name, time.time()))
        # While all others are there, one that is not was the first.
        self._doubtful |= bool(gone) and (len(gone) > 1 or any(one.pid() for one in self._watched))
        self._gone += gone
        if new:
            self._watched.append(FirstEnded(dict.fromkeys(new)))

    def first(self) -> FirstGone | None:
        """The rank that ended before all others that were watched with it, and their launcher."""
        if self._doubtful or {*record_files(self._folder)} != {*self._ranks}:
            return None
        record_of = {process: path.name for path, process in self._ranks.items()}
        gone = (
            FirstGone(record_of[process], one.ended_unix or 0.0)
            for one in self._watched
            if (process := one.pid(_TOLD_WITHIN_S)) in record_of
        )
        return min([*self._gone, *gone], key=lambda one: one.unix, default=None)


@contextmanager
def _ready(job: RecordedJob, records: Path) -> Iterator[tuple[list[str], Mapping[str, str]]]:
    """The whole command line and environment of a job whose ranks are recorded."""

    def load(mpi: str | None) -> Preloaded:
        return record(job.words, records, job.memory, mpi)

    with ExitStack() as stack:
        try:
            command = ready_command(job.words, load, job.mpi, job.shape, job.place)
            made = stack.enter_context(command)
        except BaseException:
            shutil.rmtree(records, ignore_errors=True)
            raise
        yield made


def _silence(job: RecordedJob, status: int | None, records: Path) -> str:
    """Why there may be no record, in one line."""
    if (file := read_other_library(records)) is not None:
        return (
            f"{job.words[0]} left no record: its ranks loaded {file}, and the recorder is for "
            "another MPI library; name theirs with --mpi"
        )
    for note in sorted(records.glob(f"{UNRECORDED}*")):
        return f"{job.words[0]} left no record: {_refusal(note, records, job.memory)}"
    lost = lost_on_the_way(job.words, ("LD_PRELOAD", "CONTEND_PROFILE"))
    if lost:
        return f"{job.words[0]} left no record: {lost}"
    if status:
        return f"{job.words[0]} ended with {status} before any rank had left a record"
    return (
        f"{job.words[0]} left no record: no MPI program started, it uses another library (name it "
        "with --mpi), or its ranks lack the variables LD_PRELOAD and CONTEND_PROFILE of this "
        "command"
    )


def _refusal(note: Path, records: Path, memory: int | None) -> str:
    """Why ranks have no record, and what helps, by the name of the word that they left."""
    number = note.name.removeprefix(UNRECORDED)
    error = int(number) if number.isdecimal() else 0
    size = f"a record of {format_bytes(memory or _USUAL)}"
    least = "a smaller --record"
    if error == errno.EFBIG:
        return f"{size} is more than ulimit -f lets ranks write: raise that, or take {least}"
    if error in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"no room for {size} of each rank in {records.parent}: use another --output, or {least}"
        )
    if error == errno.ENOMEM:
        return f"no memory for {size} in ranks, as with ulimit -v: raise that, or take {least}"
    where = note.read_text(errors="replace").strip() or records
    return f"ranks cannot write {where}: {os.strerror(error)}"


@contextmanager
def _no_room_told(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if NoRoomError.is_meant(error):
            raise NoRoomError.of(folder, error) from error
        raise
