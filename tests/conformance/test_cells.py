"""Programs that real codes contain do the same with the recorder, the drop-in library, and both.

Each program's mode runs here under one library and in one other way than bare, by turns, so that
every program, library, way and schedule is met; ``make conformance`` runs all cells.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.cells import CASES, LIBRARIES, SCHEDULES, WAYS, Case, Cells, expected
from probe_programs import Mpi


def _turn(number: int, case: Case) -> tuple[str, str, str]:
    """Library, way and schedule of a case."""
    libraries = [name for name in LIBRARIES if name not in case.lacks]
    library = libraries[number % len(libraries)]
    way = WAYS[1 + number // 2 % 3]
    return library, way, SCHEDULES[number % len(SCHEDULES)]


TURNS = [(case, *_turn(number, case)) for number, case in enumerate(CASES)]


def test_turns_meet_everything() -> None:
    assert {library for _, library, _, _ in TURNS} == set(LIBRARIES)
    assert {way for _, _, way, _ in TURNS} == set(WAYS[1:])
    met = {schedule for case, _, way, schedule in TURNS if case.alltoalls and way != "recorded"}
    assert met == set(SCHEDULES)
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.fixture(scope="session")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Cells:
    return Cells(tmp_path_factory.mktemp("cells"))


@pytest.mark.parametrize(
    ("case", "library", "way", "schedule"),
    TURNS,
    ids=[f"{library}-{way}-{case.name.replace(' ', '-')}" for case, library, way, _ in TURNS],
)
def test_a_cell(
    request: pytest.FixtureRequest,
    require_program: Callable[[str], str],
    cells: Cells,
    case: Case,
    library: str,
    way: str,
    schedule: str,
) -> None:
    if library == "wheel":
        mpi = request.getfixturevalue("wheel")
    else:
        names = (f"mpicc.{library}", f"mpirun.{library}")
        mpi = Mpi(library, *map(require_program, names))
    if case.program.endswith(".F90"):
        require_program(f"mpifort.{library}")
    differs = cells.differs(case, mpi, way, schedule)
    if why := expected(case, library, way):
        assert differs, f"no longer differs, so take it from EXPECTED: {why}"
        pytest.xfail(why)
    assert not differs
