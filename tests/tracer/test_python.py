"""Lines of Python programs, in which every call comes out of the same extension module."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

from conformance.cells import TESTS
from probe_programs import Mpi, library
from processes import finished
from tracer.conftest import PROGRAMS, Recorded, Run

Places = Counter[tuple[str, str]]
VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13")


def _places(recorded: Recorded, folder: Path) -> Places:
    """Calls of both ranks by routine and place."""
    assert recorded.ended.status == 0, recorded.ended.errors
    profile = recorded.profile(folder, "python")
    assert not profile.record.fortran
    places = profile.sites.select("site", "place")
    rows = profile.calls.join(places, on="site").select("routine", "place", "calls")
    told: Places = Counter()
    for routine, place, calls in rows.iter_rows():
        told[routine.removeprefix("MPI_").removesuffix("_c"), place] += calls
    return told


def _marked(path: Path) -> Places:
    """As the ends of a program's lines say, for two ranks."""
    return Counter(
        {
            (found[1], f"{path.name}:{number}"): 2 * int(found[2])
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if (found := re.search(r" # (\w+) (\d+)$", line))
        }
    )


def test_lines_of_mpi4py_s_callers(any_mpi: Mpi, run_recorded: Run, tmp_path: Path) -> None:
    """With the interpreter's lock and without, in threads, and where code is made and forgotten."""
    environment = any_mpi.variables(tmp_path)
    program = PROGRAMS / "places.py"
    recorded = run_recorded(any_mpi, 2, Path(sys.executable), program, environment=environment)
    made = Counter({("Barrier", f"<é漢😀 {line}>:{line + 1}"): 2 for line in range(3)})
    expected = made + _marked(program) + _marked(PROGRAMS / "place_of_import.py")
    told = _places(recorded, tmp_path / "p")
    assert {at: told[at] for at in expected} == expected
    # mpi4py ends MPI itself, when no line of the program runs any more.
    expected["Finalize", "the end of Python"] = 2
    routines = {routine for routine, _ in expected}
    assert {at for at in told if at[0] in routines} == {*expected}


def _installed() -> dict[str, Path]:
    """Interpreters by version; that of the tests is one of them."""
    code = "import sys; print(sys.executable)"
    found = {".".join(sys.version.split(".")[:2]): Path(sys.executable)}
    for version in VERSIONS:
        with suppress(OSError, subprocess.CalledProcessError):
            asked = finished([f"python{version}", "-c", code], check=True)
            found.setdefault(version, Path(asked.stdout.strip()))
    return found


def test_lines_of_ctypes_callers_in_every_version(
    openmpi: Mpi, run_recorded: Run, tmp_path: Path
) -> None:
    """Of those that are here; a machine needs no more than one."""
    program = TESTS / "conformance" / "programs" / "handle.py"
    file = library(openmpi.wrapper).file
    expected = {
        (routine, f"handle.py:{number}"): 2 * calls
        for routine, calls in (("Init", 1), ("Alltoall", 10), ("Allreduce", 1), ("Finalize", 1))
        for number, line in enumerate(program.read_text().splitlines(), 1)
        if f"library.MPI_{routine}(" in line
    }
    for version, interpreter in _installed().items():
        recorded = run_recorded(openmpi, 2, interpreter, program, file)
        told = _places(recorded, tmp_path / version)
        assert (version, {at: told[at] for at in expected}) == (version, expected)
