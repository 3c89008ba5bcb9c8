"""How cells are measured: libraries and launchers tried, probes compiled, memory looked at."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from contend.base.errors import MissingError, ShortfallError, UsageError
from contend.base.process import run_process
from contend.fabric import Fabric
from contend.lab.measurement.bisect import bisect_arguments, draw
from contend.lab.measurement.hotspot import hotspot_arguments
from contend.lab.measurement.memory import Fit, MemoryComparison, compare_memory
from contend.lab.measurement.place import Place, Shape, make_shapes
from contend.lab.measurement.question import MeasuredCell, arguments_of
from contend.lab.measurement.surroundings import library_name
from contend.lab.measurement.work import MeasuredWork
from contend.lab.mpi import (
    Candidate,
    Launch,
    Library,
    compile_probe,
    remove_left,
    select,
    stands_before,
)
from contend.lab.runs import (
    Run,
    Warned,
)
from contend.lab.session import RECORD, Observer
from contend.routes import tables_of
from contend.traffic.schedule import ROUTED, ROUTES, phases_by_routes, write_routes

_ALL = "all"


def phases_arguments(
    cell: MeasuredCell, shape: Shape, place: Place, folder: Path
) -> tuple[str, ...]:
    """What the probe is told of phases: the file that has them, if a schedule goes by routes.

    They are computed once for the run and kept in its folder, ``phases-RANKS-on-HOSTS.txt``; the
    probe's rank 0 hands each rank its own part. The routes are kept there too, for rules that may
    follow.

    Raises:
        UsageError: some rank's host is not in the fabric.
    """
    fabric = _with_tables(place)
    if fabric is None or not place.slots or not _goes_by_routes(cell):
        return ()
    path = folder / f"phases-{shape.ranks}-on-{len(shape.hosts)}.txt"
    if not path.exists():
        phases_by_routes(fabric, place.numbers_of(_host_of_rank(shape))).write(path)
    if not (folder / ROUTES).exists():
        write_routes(fabric, _host_names(fabric, place), folder / ROUTES)
    return (f"--phases={path.resolve()}",)


def check_routes(cell: MeasuredCell, shapes: Sequence[Shape], place: Place) -> None:
    """Refuses a schedule that goes by routes where nobody knows them, or not those of a host.

    Raises:
        UsageError: saying how to tell them.
    """
    asked = [name for name in _algorithms(cell) if name in ROUTED]
    fabric = _with_tables(place)
    if asked and fabric is None and place.fabric is not None:
        tables_of(place.fabric)
    if asked and fabric is None:
        raise UsageError(
            f"{asked[0]} depends on the routes: measure on emulated:FABRIC, or name the fabric of "
            "the hosts with --fabric"
        )
    if asked and not place.slots:
        raise UsageError(
            f"{asked[0]} depends on which hosts the ranks are on: name them with --on HOSTFILE"
        )
    if fabric is not None and _goes_by_routes(cell):
        for shape in shapes:
            place.numbers_of(_host_of_rank(shape))


def _with_tables(place: Place) -> Fabric | None:
    """The fabric of a place, where tables tell its routes: nobody knows those that a hash draws."""
    fabric = place.fabric
    return None if fabric is None or fabric.draws_routes else fabric


def _host_of_rank(shape: Shape) -> list[str]:
    return [host.name for host in shape.hosts for _ in range(host.ranks)]


def _host_names(fabric: Fabric, place: Place) -> list[str]:
    """Names of all hosts of a fabric: as the place's hosts are called, else without the adapter."""
    servers = [full.split()[0] for full in fabric.host_name]
    several = {name for name, count in Counter(servers).items() if count > 1}
    names = [
        full if server in several else server
        for full, server in zip(fabric.host_name, servers, strict=True)
    ]
    called = [name for name, _ in place.slots]
    # A host file may have others too; then its hosts are called as the fabric calls their servers.
    with suppress(UsageError):
        for number, name in zip(place.numbers_of(called), called, strict=True):
            names[number] = name
    return names


def _goes_by_routes(cell: MeasuredCell) -> bool:
    return any(name in (*ROUTED, _ALL) for name in _algorithms(cell))


def _algorithms(cell: MeasuredCell) -> list[str]:
    return cell.options["algorithm"].split(",") if cell.probe == "alltoall" else []


# Seconds for each unit of a probe's sources.
_COMPILE_LIMIT = 300.0
_LAUNCH_LIMIT = 60.0
_SMALLEST = "version"
_MET = re.compile(r"\bcontend met (\d+)")


def compiled(library: Library, probe: str, observer: Observer) -> Path:
    """A probe as a program of a library.

    Raises:
        MissingError: why it does not compile, or cannot be kept.
    """
    candidate = Candidate(library.origin, Path(library.wrapper), environment=library.environment)
    try:
        return compile_probe(
            probe,
            candidate,
            library.reported,
            run_process,
            _COMPILE_LIMIT,
            tell=lambda: observer.preparing(f"compiling {probe} with {library_name(library)}"),
        )
    except ShortfallError as error:
        raise MissingError(f"{library.wrapper}: {error}") from None


def check_launcher(library: Library, shape: Shape, place: Place, observer: Observer) -> None:
    """Starts ranks that only look for each other, before anything is measured.

    Raises:
        UsageError: they do not find each other: the launcher belongs to another library.
        MissingError: why they do not start.
    """
    program = compiled(library, _SMALLEST, observer)
    request = Launch(library, shape.ranks, ranks_per_host=shape.ranks_per_host, hosts=shape.hosts)
    ended = place.launch(request, program, [], limit=_LAUNCH_LIMIT, watch=lambda: None)
    launcher = place.launcher or library.launcher
    if ended.status != 0:
        raise MissingError(f"{launcher} does not start {shape}: {ended.why}")
    match = _MET.search(ended.output)
    met = int(match[1]) if match else 0
    if met != shape.ranks:
        how = "each is alone" if met <= 1 else f"only {met} of them find each other"
        raise UsageError(
            f"{launcher} starts {shape.ranks} ranks of {library_name(library)} and {how}: "
            "it belongs to another MPI library"
        )


@dataclass
class Measured:
    """Answers cells by measuring; see `lab.session.Method`."""

    place: Place
    """Where ranks run."""
    budget: float | None = None
    """Seconds that the session has, for the records of runs."""
    strict: bool = True
    """Whether a cell that does not fit hosts or memory is refused before anything is launched; else
    it is ERR, and of one some of whose points do not fit only those are."""
    libraries: dict[str, Library] = field(default_factory=dict)
    """Libraries that have been tried, by the names that cells have for them."""
    programs: dict[tuple[str, str], Path] = field(default_factory=dict)
    observer: Observer = field(default_factory=Observer)

    def open(self, cell: MeasuredCell, folder: Path) -> MeasuredWork:
        """A cell and what its run folder has of it; writes nothing."""
        run = Run.load(folder) if (folder / RECORD).exists() else None
        if run is not None and run.record.question not in ({}, cell.question()):
            raise UsageError(f"{folder}: the run here was asked for with other settings")
        return MeasuredWork(self, cell, folder, run)

    def title(self, cells: Sequence[MeasuredCell]) -> str:
        """``pingpong under Open MPI 4.1.4 and MPICH 4.0.2``."""
        probes = " and ".join(dict.fromkeys(cell.probe for cell in cells))
        libraries = [self.libraries[cell.mpi] for cell in cells if cell.mpi in self.libraries]
        under = " and ".join(dict.fromkeys(map(library_name, libraries)))
        return f"{probes} under {under}" if under else probes

    def prepare(self, cells: Sequence[MeasuredCell], observer: Observer) -> None:
        """Tries every library and launcher once, and compiles the probes."""
        # Also where nothing is launched any more.
        remove_left()
        for cell in cells:
            try:
                shapes = self.shapes(cell)
                if self.strict:
                    self._refuse(cell, shapes)
            except UsageError:
                if self.strict:
                    raise
        for mpi in dict.fromkeys(cell.mpi for cell in cells):
            self._try(mpi, [cell for cell in cells if cell.mpi == mpi], observer)
        for cell in cells:
            key = (cell.mpi, cell.probe)
            if key not in self.programs:
                self.programs[key] = compiled(self.libraries[cell.mpi], cell.probe, observer)

    def shapes(self, cell: MeasuredCell) -> tuple[Shape, ...]:
        """Ranks and hosts of every variant of a cell.

        Raises:
            UsageError: there are not enough hosts.
        """
        slots, alone = self.place.slots, self.place.alone
        return make_shapes(cell.ranks, cell.ranks_per_host, slots, alone=alone)

    def memory(self, cell: MeasuredCell, shape: Shape) -> MemoryComparison | None:
        """What a host's ranks need for their data beside what it has, where that is known."""
        return compare_memory(cell.memory, shape, self.place)

    def arguments(self, cell: MeasuredCell, shape: Shape, folder: Path) -> tuple[str, ...]:
        """What the probe is told of its own options, for a launch of some shape."""
        if cell.probe == "bisect":
            return bisect_arguments(cell, folder)
        if cell.probe == "hotspot":
            return hotspot_arguments(cell, self.place)
        phases = phases_arguments(cell, shape, self.place, folder)
        return (*arguments_of(cell.options), *phases)

    def warnings(self, cell: MeasuredCell) -> list[Warned]:
        """What is to be known of a cell's figures before there are any."""
        compared = [self.memory(cell, shape) for shape in self.shapes(cell)]
        near = [
            Warned("memory", one.nearness())
            for one in compared
            if one is not None and one.fit is Fit.NEAR
        ]
        return [*near, *(Warned("place", remark) for remark in self.place.remarks)]

    def _refuse(self, cell: MeasuredCell, shapes: Sequence[Shape]) -> None:
        """Raises where a cell cannot be measured here at all."""
        if cell.probe == "bisect":
            draw(cell)
        check_routes(cell, shapes, self.place)
        for shape in shapes:
            compared = self.memory(cell, shape)
            if compared is not None and compared.fit is Fit.EXCEEDS:
                raise MissingError(compared.refusal())

    def _try(self, mpi: str, cells: Sequence[MeasuredCell], observer: Observer) -> None:
        if mpi not in self.libraries:
            self.libraries[mpi] = taken = select(mpi or None, launched=bool(self.place.launcher))
            if not mpi and (hidden := stands_before(taken)) is not None:
                text = (
                    f"contend uses {library_name(taken)} from a Python package, which is first on "
                    f"PATH; for the one of {hidden} give --mpi {hidden}"
                )
                observer.warned(Warned("mpi", text))
        library = self.libraries[mpi]
        for other in self.libraries:
            file = self.libraries[other].file
            if other != mpi and self.strict and file and file == library.file:
                raise UsageError(f"{library_name(library)} is given twice")
        if self.place.launcher or not self.place.alone:
            for cell in cells:
                with contextlib.suppress(UsageError):
                    shape = self.shapes(cell)[0]
                    break
            else:
                return
            check_launcher(library, shape, self.place, observer)
