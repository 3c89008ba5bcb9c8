"""``make conformance``: every program, library and way of running it, as a table in Markdown.

Results are lines of JSON, written as they are made; what is there, of the same sources, is not run
again. Exits with 1 when a cell differs that is not expected to, or no longer differs where it is.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from conformance.cells import (
    ALL,
    CASES,
    LIBRARIES,
    SCHEDULES,
    SHOWN,
    TESTS,
    WAYS,
    Case,
    Cells,
    expected,
)
from contend.lab.mpi.search import packaged
from probe_programs import Mpi
from working_programs import unusable

Key = tuple[str, str, str, str]
# Of both ways round: what a program meets first is by the rules' name.
_BOTH = (ALL, "shift-barrier")
_SOURCES = tuple(f"src/contend/{name}" for name in ("preloaded", "schedules", "tracer", "tuned"))
_SOURCES += ("tests/conformance",)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("build/conformance.jsonl"))
    parser.add_argument("--only", default="", help="programs whose name has this in it")
    parser.add_argument("--library", choices=LIBRARIES, action="append")
    parser.add_argument("--quick", action="store_true", help="one set of rules for all schedules")
    parser.add_argument("--table", action="store_true", help="run nothing: print what is there")
    return parser.parse_args()


def main() -> int:
    """Returns 0 when every cell is as it should be."""
    given = _arguments()
    # As Ctrl-C, so that a program that runs is ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    mpis = {name: mpi for name, mpi in _libraries() if name in (given.library or LIBRARIES)}
    cases = [case for case in CASES if given.only in case.name]
    given.results.parent.mkdir(parents=True, exist_ok=True)
    done = _read(given.results)
    keys = {key: case for case in cases for key in _keys(case, list(mpis), given.quick)}
    if not given.table:
        _run({key: case for key, case in keys.items() if key not in done}, mpis, given.results)
        done = _read(given.results)
    wrong = list(_table(cases, {key: done[key] for key in keys if key in done}))
    print(*wrong, sep="\n")
    missing = len([key for key in keys if key not in done])
    print(f"\n{len(keys)} runs, {missing} missing, {len(wrong)} not as they should be")
    return 1 if wrong or missing else 0


def _libraries() -> Iterator[tuple[str, Mpi]]:
    for name in ("openmpi", "mpich"):
        mpi = Mpi(name, f"mpicc.{name}", f"mpirun.{name}")
        if not unusable(mpi.wrapper, mpi.launcher):
            yield name, mpi
    offered = packaged(dict(os.environ))
    if offered and offered[0].wrapper is not None:
        wrapper = offered[0].wrapper
        yield "wheel", Mpi("wheel", str(wrapper), str(wrapper.parent / "mpirun"))


def _keys(case: Case, libraries: list[str], quick: bool) -> Iterator[Key]:
    for library in libraries:
        for way in case.ways if library not in case.lacks else ():
            schedules: tuple[str, ...] = (ALL,)
            if case.alltoalls and not quick:
                schedules = {"drop-in": (ALL, *SCHEDULES), "both": _BOTH}.get(way, schedules)
            for schedule in schedules:
                yield case.name, library, way, schedule


def _run(keys: dict[Key, Case], mpis: dict[str, Mpi], results: Path) -> None:
    if results.is_file():
        # The next line must not go on with one that an interrupted run cut off.
        os.truncate(results, results.read_bytes().rfind(b"\n") + 1)
    with tempfile.TemporaryDirectory() as folder, results.open("a", encoding="utf-8") as out:
        cells = Cells(Path(folder))
        for number, (key, case) in enumerate(keys.items(), 1):
            _, library, way, schedule = key
            began = time.monotonic()
            differs = cells.differs(case, mpis[library], way, schedule)
            if differs:
                print(f"{number} of {len(keys)} {key}: {differs}", file=sys.stderr, flush=True)
            seconds = round(time.monotonic() - began, 2)
            line = {"key": key, "of": of_sources(), "differs": differs, "seconds": seconds}
            out.write(json.dumps(line) + "\n")
            out.flush()


@cache
def of_sources() -> str:
    """A digest of what results depend on."""
    digest = hashlib.sha256()
    for path in sorted(path for name in _SOURCES for path in (TESTS.parent / name).rglob("*.*")):
        if path.suffix in (".c", ".h", ".F90", ".py") and path.name != "__main__.py":
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _read(results: Path) -> dict[Key, str]:
    """What is there of these sources; the last line of an interrupted run may be cut."""
    done: dict[Key, str] = {}
    text = results.read_text("utf-8") if results.is_file() else ""
    for line in text.split("\n")[:-1]:
        found = json.loads(line)
        name, library, way, schedule = found["key"]
        if found["of"] == of_sources():
            done[name, library, way, schedule] = found["differs"]
    return done


def _table(cases: list[Case], done: dict[Key, str]) -> Iterator[str]:
    """Prints the table; yields what is not as it should be."""
    by_cell: defaultdict[Key, dict[str, str]] = defaultdict(dict)
    for (name, library, way, schedule), differs in done.items():
        by_cell[name, library, way, ""][schedule] = differs
    titles = [f"{SHOWN[library]} {way}" for library in LIBRARIES for way in WAYS]
    print("| program | ranks |", " | ".join(titles), "|")
    print("|---|---:|" + "---|" * len(titles))
    notes: list[str] = []
    for case in cases:
        words = []
        for library in LIBRARIES:
            for way in WAYS:
                cell = by_cell[case.name, library, way, ""]
                bad = {schedule: why for schedule, why in cell.items() if why}
                words.append(_word(case, library, cell, bad))
                for schedule, differs in bad.items():
                    if (why := expected(case, library, way)) and why in differs:
                        notes.append(f"- {case.name}, {SHOWN[library]}, {way}, {schedule}: {why}")
                    else:
                        yield f"- {case.name}, {SHOWN[library]}, {way}, {schedule}: {differs}"
                if cell and not bad and (why := expected(case, library, way)):
                    yield f"- {case.name}, {SHOWN[library]}, {way}: no longer differs: {why}"
        print(f"| {case.name} | {case.ranks} |", " | ".join(words), "|")
    print("\nKnown to differ:\n" if notes else "")
    print(*notes, sep="\n")


def _word(case: Case, library: str, cell: dict[str, str], bad: dict[str, str]) -> str:
    if library in case.lacks:
        return "-"
    if not cell:
        return ""
    good = len(cell) - len(bad)
    share = f"{good} of {len(cell)}"
    if bad:
        return f"**{share}**" if len(cell) > 1 else "**no**"
    return share if len(cell) > 1 else "yes"


if __name__ == "__main__":
    sys.exit(main())
