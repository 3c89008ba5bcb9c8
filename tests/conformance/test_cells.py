"""Programs that real codes contain do the same with the recorder, the drop-in library, and both.

Each program's mode runs here under one library and in one other way than bare, by turns, so that
every program, library, way and schedule is met. Modes that are themes of one program share a start;
``make conformance`` runs all cells, each by itself.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conformance import __main__ as table
from conformance.cells import ALL, CASES, LIBRARIES, SCHEDULES, WAYS, Case, Cells, expected
from probe_programs import Mpi

# Programs that take one theme after the other.
_OF_THEMES = {f"{name}.c" for name in ("messages", "collectives", "communicators", "errors")}


def _sharing_starts(cases: Iterable[Case]) -> Iterator[Case]:
    """Of themes of one program that differ in nothing else one case."""
    modes: dict[str, list[str]] = {}
    first: dict[str, Case] = {}
    for case in cases:
        shares = case.program in _OF_THEMES and not case.fails
        alike = repr(replace(case, mode="" if shares else case.mode, many=()))
        mode = case.mode.replace("{many}", str(*case.many)) if shares else case.mode
        modes.setdefault(alike, []).append(mode)
        first.setdefault(alike, case)
    for alike, case in first.items():
        yield replace(case, mode=" ".join(modes[alike])) if len(modes[alike]) > 1 else case


def _turns(cases: Iterable[Case]) -> Iterator[tuple[Case, str, str, str]]:
    """Cases with a library, a way and a schedule; the next schedule follows one that carries.

    All-to-alls of every form, drawn at random, are carried, by rules that reach every schedule.
    """
    schedules = 0
    for number, case in enumerate(cases):
        libraries = [name for name in LIBRARIES if name not in case.lacks]
        library, way = libraries[number % len(libraries)], WAYS[1 + number // 2 % 3]
        if case.program.startswith("tuned/"):
            yield case, library, WAYS[2 + number % 2], ALL
            continue
        yield case, library, way, SCHEDULES[schedules]
        if case.alltoalls and way != "recorded":
            schedules = (schedules + 1) % len(SCHEDULES)


# Those that hang or die are tested with the recorder.
COMPARED = list(_sharing_starts(case.smaller for case in CASES if not case.told))
TURNS = list(_turns(COMPARED))


def test_turns_meet_everything() -> None:
    assert {library for _, library, _, _ in TURNS} == set(LIBRARIES)
    assert {way for _, _, way, _ in TURNS} == set(WAYS[1:])
    met = {schedule for case, _, way, schedule in TURNS if case.alltoalls and way != "recorded"}
    assert met == {ALL, *SCHEDULES}
    assert len({case.name for case in CASES}) == len(CASES)


def test_whoever_ends_the_campaign_ends_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that is hung would take a processor for ever."""
    number = tmp_path / "number"
    hung = f"echo $$ >{number}; kill -INT $PPID; exec sleep 600"
    monkeypatch.setattr(Cells, "_words", lambda *_: ["sh", "-c", hung])
    (place := tmp_path / "place").mkdir()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            Cells(tmp_path)._run(CASES[0], Mpi("none", "none", "none"), "bare", ALL, place)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not Path(f"/proc/{number.read_text().strip()}").exists()


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
        assert why in differs
        pytest.xfail(why)
    assert not differs


def test_a_run_goes_on_and_the_table_tells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what is there nothing runs again: lines of other sources, and a cut one, are not there."""
    results = tmp_path / "results.jsonl"

    def line(way: str, differs: str, of: str = table.of_sources()) -> str:
        key = ["wrapped plain", "openmpi", way, "all"]
        return json.dumps({"key": key, "of": of, "differs": differs, "seconds": 1.0}) + "\n"

    def run(*lines: str) -> tuple[int, str]:
        results.write_text("".join(lines))
        monkeypatch.setattr("sys.argv", ["conformance", "--table", "--quick", *words])
        return table.main(), capsys.readouterr().out

    monkeypatch.setattr(table, "_libraries", lambda: [("openmpi", Mpi("openmpi", "", ""))])
    words = ["--results", str(results), "--only", "wrapped plain"]
    lines = [line(way, "") for way in WAYS]
    assert run(*lines)[0] == 0
    status, text = run(*lines[:3], line("both", "", "older"), lines[3][:-9])
    assert status == 1
    assert "4 runs, 1 missing, 0 not as they should be" in text
    status, text = run(*lines[:3], line("both", "exit status 9, bare 0"))
    assert status == 1
    assert "| wrapped plain | 2 | yes | yes | yes | **no** |" in text
    assert "- wrapped plain, Open MPI 4.1, both, all: exit status 9, bare 0" in text
