"""Several threads at a time, watched by the thread sanitizer: neither library has a race.

The MPI libraries are not compiled for the sanitizer, so that nothing is said of them.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conformance.cells import TESTS, rules_of
from contend.cure import write_rules
from probe_programs import Ended, Mpi

SOURCES = TESTS.parent / "src" / "contend"
LIBRARIES = ("tracer", "tuned")
_WATCHED = ("-g", "-w", "-fsanitize=thread")
_FLAGS = ("-std=gnu11", "-fPIC", "-fvisibility=hidden")
# The loader must see who asks for a symbol, as it does in what users load.
_JUMPING = ("-O1", "-foptimize-sibling-calls")

Make = Callable[[Mpi], Path]


@pytest.fixture(scope="module")
def watching(tmp_path_factory: pytest.TempPathFactory) -> Sequence[str]:
    """What a watched program is started by; skips where there is no sanitizer."""
    folder = tmp_path_factory.mktemp("nothing")
    (folder / "nothing.c").write_text("int main(void) { return 0; }\n")
    if not _ends(folder, "cc", "-fsanitize=thread", "nothing.c", "-o", "nothing"):
        pytest.skip("the compiler has no thread sanitizer")
    # It finds no place for itself where the kernel spreads a program's memory too widely.
    for before in ((), ("setarch", "-R")):
        if _ends(folder, *before, "./nothing"):
            return before
    pytest.skip("the thread sanitizer does not run on this machine")


def _ends(folder: Path, *words: str) -> bool:
    try:
        return subprocess.run(words, cwd=folder, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def compile_unit(mpi: Mpi, library: str, unit: Path, made: Path) -> None:
    flags = [*_WATCHED, *_FLAGS, *(_JUMPING if unit.name == "entries.c" else ())]
    near = [f"-I{SOURCES / folder}" for folder in ("preloaded", "schedules", library)]
    subprocess.run([mpi.wrapper, *flags, *near, "-c", str(unit), "-o", str(made)], check=True)


def link(mpi: Mpi, objects: Sequence[Path], made: Path) -> Path:
    words = [*map(str, objects), "-o", str(made), "-lpthread", "-ldl"]
    subprocess.run([mpi.wrapper, *_WATCHED, "-shared", *words], check=True)
    return made


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """`make(mpi)`: a folder with the program and a folder of objects for each library, once."""
    made: dict[str, Path] = {}

    def build(mpi: Mpi) -> Path:
        if mpi.name in made:
            return made[mpi.name]
        folder = made[mpi.name] = tmp_path_factory.mktemp("watched")
        units = []
        for library in LIBRARIES:
            (folder / library).mkdir()
            rooms = (SOURCES / room for room in ("preloaded", "schedules", library))
            units += [(library, unit) for room in rooms for unit in sorted(room.glob("*.c"))]

        def compile_one(of: tuple[str, Path]) -> None:
            compile_unit(mpi, *of, folder / of[0] / f"{of[1].stem}.o")

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(compile_one, units))
        program = [str(TESTS / "conformance/programs/threads.c"), "-o", str(folder / "program")]
        subprocess.run([mpi.wrapper, *_WATCHED, *program, "-lpthread"], check=True)
        return folder

    return build


def run(
    mpi: Mpi, watching: Sequence[str], program: Path, loaded: Sequence[Path], folder: Path
) -> Ended:
    """Two ranks with libraries; the launcher goes without."""
    (folder / "records").mkdir()
    write_rules(rules_of("shift"), folder / "rules")
    variables = {
        # What a library does that is not watched is no race, and brings nothing into an order.
        # A rank ends at the first race: what goes on with a list out of order may never end.
        "TSAN_OPTIONS": "ignore_noninstrumented_modules=1 halt_on_error=1",
        # Libraries' own hooks into memory, and places in it, do not go with the sanitizer's.
        "UCX_MEM_MMAP_HOOK_MODE": "none",
        "PMIX_MCA_gds": "hash",
        "LD_PRELOAD": ":".join(map(str, loaded)),
        "CONTEND_PROFILE": str(folder / "records"),
        "CONTEND_TUNED": str(folder / "rules"),
        "CONTEND_TUNED_REPORT": "1",
    }
    assigned = [f"{name}={value}" for name, value in variables.items()]
    return mpi.run_command([mpi.launcher, "-n", "2", *watching, "env", *assigned, str(program)])


def test_neither_library_has_a_race(
    any_mpi: Mpi, watching: Sequence[str], make: Make, tmp_path: Path
) -> None:
    built = make(any_mpi)
    objects = {library: sorted((built / library).iterdir()) for library in LIBRARIES}
    loaded = [link(any_mpi, objects[library], tmp_path / f"{library}.so") for library in LIBRARIES]
    ended = run(any_mpi, watching, built / "program", loaded, tmp_path)
    assert "ThreadSanitizer" not in ended.errors, ended.errors[:6000]
    assert ended.status == 0, ended.errors
    assert ended.output.count("done") == 2
    assert re.search(r"contend: \d+ calls of all-to-alls carried", ended.errors)
    assert len(list((tmp_path / "records").glob("*.record"))) == 2


@pytest.mark.parametrize(
    ("library", "unit", "lock"),
    [
        ("tracer", "requests.c", ("contend_lock();", "contend_unlock();")),
        ("tuned", "operations.c", ("pthread_mutex_lock(&lock);", "pthread_mutex_unlock(&lock);")),
    ],
)
def test_a_lock_that_is_missing_is_found(
    openmpi: Mpi,
    watching: Sequence[str],
    make: Make,
    tmp_path: Path,
    library: str,
    unit: str,
    lock: tuple[str, str],
) -> None:
    built = make(openmpi)
    text = (SOURCES / library / unit).read_text("utf-8")
    for call in lock:
        assert call in text
        text = text.replace(call, "")
    (tmp_path / unit).write_text(text, "utf-8")
    faulty = tmp_path / "faulty.o"
    compile_unit(openmpi, library, tmp_path / unit, faulty)
    name = f"{Path(unit).stem}.o"
    objects = [*(one for one in (built / library).iterdir() if one.name != name), faulty]
    loaded = link(openmpi, objects, tmp_path / "library.so")
    # Now and then the threads of a run do not meet.
    for _ in range(5):
        ended = run(openmpi, watching, built / "program", [loaded], tmp_path)
        if "WARNING: ThreadSanitizer: data race" in ended.errors:
            break
    else:
        pytest.fail("no race is found without the lock")
    assert unit in ended.errors
