"""Measurements from beginning to end: from what somebody wants to know to runs that say it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote

import msgspec

from contend.base.errors import Argument, InputError, MissingError, ShortfallError, UsageError
from contend.base.units import parse_rate, parse_size
from contend.lab.measurement.method import Measured
from contend.lab.measurement.place import Place, RealHosts
from contend.lab.measurement.question import (
    MeasuredCell,
    OptionValue,
    ask,
    fabric_of,
    options_of,
)
from contend.lab.measurement.standard import DEFAULT_BUDGET
from contend.lab.measurement.surroundings import library_name
from contend.lab.measurement.work import MeasuredWork
from contend.lab.mpi import Library, select
from contend.lab.runs import Run
from contend.lab.session import (
    MOST_LAUNCHES,
    RECORD,
    SESSION,
    Asked,
    Observer,
    Session,
    SessionRecord,
    new_folder,
    read_session,
    refuse_occupied,
)
from contend.traffic.placement import read_host_names

KIND = "measure"
_HOST_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def measure_each(
    libraries: Sequence[str | Library | None],
    probe: str,
    options: Mapping[str, OptionValue],
    *,
    ranks: tuple[int, ...],
    ranks_per_host: tuple[int, ...] = (),
    launches: int = 1,
    budget: float = DEFAULT_BUDGET,
    seed: int = 1,
    labels: Mapping[str, str] | None = None,
    wire: float | None = None,
    place: Place | None = None,
    folder: Path | None = None,
    observer: Observer | None = None,
) -> list[Run]:
    """Measures under one library, or under several in turns; all else is as of `measure`.

    Args:
        libraries: names, folders or wrappers, see `lab.mpi.select`; libraries that have been
            tried before; None for the first that is usable.
        probe: such as ``alltoall``.
        options: the probe's own.
        ranks: numbers of ranks, each measured.
        ranks_per_host: numbers on every host, each measured; empty leaves it to the hosts.
        launches: how often everything is launched.
        budget: seconds for all launches together.
        seed: of the order of launches and cells.
        labels: conditions that no program can see.
        wire: bytes per second that a host's port carries each way; None for what the place knows.
        place: where; None for this machine, or the hosts that a job of a batch system has.
        folder: of the run, or of the runs of several libraries.
        observer: is told what happens.

    Returns:
        A run for every library. Launches that failed are in their records.
    """
    if not 1 <= launches <= MOST_LAUNCHES:
        raise UsageError(f"expected 1 to {MOST_LAUNCHES:,} launches, got {launches:,}")
    if not 0 < budget < 1e9:
        raise UsageError(f"expected a budget above 0 s, got {budget:g} s")
    place = place or RealHosts()
    observer = observer or Observer()
    words = options_of(probe, options)
    if folder is not None:
        refuse_occupied(folder, "; give another folder, or go on with it by --resume")
    method = Measured(place, budget, observer=observer)
    cells = []
    for library in libraries:
        name = library.wrapper if isinstance(library, Library) else library or ""
        if isinstance(library, Library):
            method.libraries[name] = library
        cells.append(
            ask(
                probe,
                words,
                place,
                name,
                ranks=ranks,
                ranks_per_host=ranks_per_host,
                seed=seed,
                labels=labels,
                wire=wire,
            )
        )
    session = Session(
        KIND,
        cells,
        method,
        folder or new_folder(probe, datetime.now(UTC).date()),
        launches=launches,
        budget=budget,
        seed=seed,
        strict=True,
        observer=observer,
    )
    return _runs(session)


def resume(
    folder: Path,
    *,
    mpi: Sequence[str | Library] = (),
    launcher: str = "",
    place: Place | None = None,
    budget: float | None = None,
    observer: Observer | None = None,
) -> list[Run]:
    """Goes on with a measurement: what is complete is not measured again.

    No program that the folder names is run: the libraries are those that this machine itself finds
    by the names and versions that were measured, or those that are given.

    Args:
        folder: of the run, or of the runs of several libraries.
        mpi: libraries, where this machine does not find them by name.
        launcher: what it was launched with, where that was not the library's own.
        place: where it ran, where that was not this machine or its host file.
        budget: seconds for what is left; None for what it was for all.
        observer: is told what happens.

    Raises:
        UsageError: nothing is there to go on with, or something differs from what was asked.
        ContendError: as of `measure`.
    """
    observer = observer or Observer()
    if (folder / RECORD).is_file() and not (folder / SESSION).exists():
        raise UsageError(
            f"{folder} has no {SESSION}: resume the folder above it that has one; a run without "
            "any can only be reported"
        )
    record = read_session(folder)
    if record.kind != KIND:
        on = f"contend study PLAN --output {quote(str(folder))}"
        raise UsageError(f"{folder}: the study {record.kind} wrote this; go on with {on}")
    cells = [_cell(folder, asked.question) for asked in record.cells]
    first = cells[0]
    if first.launcher != (place.launcher if place is not None else launcher):
        before = f"{folder}: was launched with "
        if not first.launcher:
            raise UsageError(f"{before}the library's own launcher")
        raise UsageError(f"{before}{first.launcher!r}: give the same ", Argument("launcher"))
    if place is None:
        place = RealHosts(slots=first.hosts, launcher=launcher)
    _compare_places(folder, first, place)
    method = Measured(place, budget or record.budget_s, observer=observer)
    found = _libraries(folder, record, mpi, launched=bool(launcher))
    method.libraries = {cell.mpi: library for cell, library in zip(cells, found, strict=True)}
    session = Session(
        KIND,
        cells,
        method,
        folder,
        launches=record.launches,
        budget=budget or record.budget_s,
        seed=record.seed,
        retry=True,
        strict=True,
        observer=observer,
    )
    return _runs(session)


def _runs(session: Session[MeasuredCell]) -> list[Run]:
    """The runs that a session leaves; raises ShortfallError where nothing was measured."""
    works = session.run().works
    runs = [work.run for work in works if isinstance(work, MeasuredWork)]
    if all(run.samples.is_empty() for run in runs):
        failed = [launch.why for run in runs for launch in run.record.launches if launch.why]
        raise ShortfallError(f"nothing was measured: {(failed or ['no sample was written'])[0]}")
    return runs


def _cell(folder: Path, question: Mapping[str, object]) -> MeasuredCell:
    """A cell from what a folder keeps of it, every part of it looked at."""
    try:
        cell = msgspec.convert(question, MeasuredCell)
        options = options_of(cell.probe, cell.options)
    except (msgspec.ValidationError, UsageError) as error:
        raise InputError(str(folder), 0, "what contend asks of a probe", str(error)) from None
    names = [name for name, _ in cell.hosts]
    if bad := [name for name in names if not _HOST_NAME.fullmatch(name)]:
        raise InputError(str(folder), 0, "names of hosts", repr(bad[0]))
    if options != cell.options:
        raise InputError(str(folder), 0, "all options of a probe", "others")
    return cell


def _compare_places(folder: Path, cell: MeasuredCell, place: Place) -> None:
    """Refuses to go on in another place."""
    before: dict[str, object] = {**cell.place}
    now: dict[str, object] = {**place.asked}
    if not before and not now:
        before["hosts"] = [name for name, _ in cell.hosts]
        now["hosts"] = [name for name, _ in place.slots]
        before |= cell.fabric
        now |= fabric_of(place)
    for name in {**before, **now}:
        if before.get(name) != now.get(name):
            was = f"{name} {_words(before.get(name))}"
            raise UsageError(
                f"{folder}: was measured with {was}, not {_words(now.get(name))}; go on "
                "under the same conditions"
            )


def _words(value: object) -> str:
    return ", ".join(value) if isinstance(value, list) and value else str(value or "none")


def _libraries(
    folder: Path, record: SessionRecord, given: Sequence[str | Library], *, launched: bool
) -> list[Library]:
    """The libraries of a session's cells: given, or found by this machine's own search."""
    named = {
        library.wrapper if isinstance(library, Library) else library: library
        if isinstance(library, Library)
        else select(library, launched=launched)
        for library in given
    }
    return [
        _library_of_run(folder, Run.load(folder / asked.folder), named, launched=launched)
        if (folder / asked.folder / RECORD).exists()
        else _library_asked_for(folder, asked, named, launched=launched)
        for asked in record.cells
    ]


def _library_of_run(
    folder: Path, run: Run, named: Mapping[str, Library], *, launched: bool
) -> Library:
    """The library that a run was measured with."""
    before = run.record.library
    version = (before.name, before.version)
    library = next((one for one in named.values() if (one.name, one.version) == version), None)
    if library is None and not named:
        library = select(before.spec, launched=launched, by_name=True)
        if library.wrapper != before.wrapper:
            raise UsageError(
                f"{folder}: was measured with {before.wrapper}, and this machine finds "
                f"{library_name(library)} at {library.wrapper}: say which with ",
                Argument("mpi"),
            )
    if library is None:
        raise UsageError(
            f"{folder}: was measured with {before.name} {before.version}: name it with ",
            Argument("mpi"),
        )
    return library


def _library_asked_for(
    folder: Path, asked: Asked, named: Mapping[str, Library], *, launched: bool
) -> Library:
    """The library of a run that was interrupted before it began."""
    name = str(asked.question.get("mpi", ""))
    if name in named:
        return named[name]
    with contextlib.suppress(MissingError):
        if not named:
            return select(name or None, launched=launched, by_name=True)
    library = name or "any library"
    raise UsageError(f"{folder}: was asked for with {library}: name it with ", Argument("mpi"))


def measure(
    probe: str,
    *,
    ranks: int | Sequence[int],
    mpi: str | Library | None = None,
    hosts: str | Path | Sequence[str] | Place | None = None,
    ranks_per_host: int | Sequence[int] = (),
    launcher: str = "",
    launches: int = 1,
    budget: float = DEFAULT_BUDGET,
    seed: int = 1,
    labels: Mapping[str, str] | None = None,
    wire: float | str | None = None,
    memory: int | str | None = None,
    output: str | Path | None = None,
    progress: Observer | None = None,
    **options: OptionValue,
) -> Run:
    """Measures what communication gets, as ``contend measure`` does.

    Args:
        probe: ``alltoall``, ``sort``, ``pingpong``, ``bisect`` or ``hotspot``.
        ranks: number of ranks, or several that are measured in turns.
        mpi: the MPI library: a name such as ``openmpi`` or ``mpich-4``, a folder with
            ``bin/mpicc``, a wrapper, or what `lab.mpi.select` found; None for the first
            that is usable.
        hosts: a host file, names of hosts, or a place such as an emulated fabric; None for this
            machine, or the hosts of the job that this runs in.
        ranks_per_host: ranks on every host, or several numbers that are measured in turns.
        launcher: ``srun``, ``sbatch``, or the beginning of a command line; "" for the library's.
        launches: how often everything is launched.
        budget: seconds for all launches together.
        seed: of the order of launches and cells.
        labels: conditions that no program can see, such as ``{"flow control": "on"}``.
        wire: what a host's port carries: bytes per second, or a rate such as ``100Gbit``.
        memory: free memory of a host in bytes, or a size such as ``64GiB``; None to look.
        output: folder of the run; None for a new one in ``contend-runs``.
        progress: is told what happens.
        **options: the probe's own, such as ``algorithm="all"`` and ``bytes="1:1M"``: those of the
            command line, with ``_`` for ``-``.

    Returns:
        The run: its record, every sample of every rank, and the folder where they are kept.

    Raises:
        UsageError: for what does not fit together.
        MissingError: the machine lacks a library, a compiler, memory, a launcher, or room for
            samples.
        ShortfallError: no launch left a sample.
    """
    return measure_each(
        (mpi,),
        probe,
        options,
        ranks=_several(ranks),
        ranks_per_host=_several(ranks_per_host),
        launches=launches,
        budget=budget,
        seed=seed,
        labels=labels,
        wire=parse_rate(wire) if isinstance(wire, str) else wire,
        place=place_of(hosts, launcher, parse_size(memory) if isinstance(memory, str) else memory),
        folder=None if output is None else Path(output),
        observer=progress,
    )[0]


def place_of(
    hosts: str | Path | Sequence[str] | Place | None,
    launcher: str = "",
    memory: int | None = None,
) -> Place:
    """Where ranks run, by what Python says of it: a host file, names of hosts, a place, or None."""
    slots: Sequence[tuple[str, int | None]] = ()
    if isinstance(hosts, str | Path):
        slots = read_host_names(str(hosts))
    elif isinstance(hosts, Sequence):
        slots = tuple((name, None) for name in hosts)
    elif hosts is not None:
        return hosts
    return RealHosts(slots=slots, launcher=launcher, free_memory=memory)


def _several(numbers: int | Sequence[int]) -> tuple[int, ...]:
    return (numbers,) if isinstance(numbers, int) else tuple(numbers)
