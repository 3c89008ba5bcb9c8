"""Libraries made ready to measure: their probes compiled, their launchers tried."""

from __future__ import annotations

import re
from pathlib import Path

from contend.errors import MissingError, ShortfallError, UsageError
from contend.measurement.observer import Observer
from contend.measurement.place import Place
from contend.measurement.shape import Shape
from contend.mpi import Candidate, Launch, Library, compile_probe
from contend.process import run_process

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
    observer.compiling(library, probe)
    candidate = Candidate(library.origin, Path(library.wrapper), environment=library.environment)
    try:
        return compile_probe(probe, candidate, library.reported, run_process, _COMPILE_LIMIT)
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
    told = _MET.search(ended.output)
    met = int(told[1]) if told else 0
    if met != shape.ranks:
        how = "each is alone" if met <= 1 else f"{met} of them find each other"
        raise UsageError(
            f"{launcher} starts {shape.ranks} ranks of {library.name} {library.version} and {how}: "
            "it belongs to another MPI library"
        )
