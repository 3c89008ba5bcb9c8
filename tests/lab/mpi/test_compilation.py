"""Units of probes are compiled once, however many probes share them."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from contend.base.errors import MissingError, ShortfallError
from contend.base.process import Finished
from contend.lab.mpi import Candidate, compilation, compile_probe
from contend.lab.mpi.compilation import Compiler, cache_folder, compile_units
from processes import finished

_SHARED = {"common/a.cpp": b"a", "common/a.hpp": b"", "compat/b.cpp": b"b"}
_ONE = {**_SHARED, "one/main.cpp": b"1", "one/own.hpp": b""}
_OTHER = {**_SHARED, "other/main.cpp": b"2"}


class _Wrapper:
    """Compiles nothing, but notes what it is asked for."""

    def __init__(self, status: int = 0) -> None:
        self.status = status
        self.compiled: list[str] = []

    def run(self, command: Sequence[str], environment: Mapping[str, str], limit: float) -> Finished:
        source = Path(command[command.index("-c") + 1]).read_text(encoding="utf-8")
        self.compiled.append(source.replace("#include", "").replace('"', "").strip())
        if self.status == 0:
            Path(command[command.index("-o") + 1]).touch()
        return Finished(self.status, errors=b"a.cpp:1: error: wrong")

    def take(self) -> list[str]:
        taken, self.compiled = sorted(self.compiled), []
        return taken


def _compile(sources: Mapping[str, bytes], wrapper: _Wrapper, folder: Path, key: str = "k") -> int:
    compiler = Compiler(["mpicc"], {}, wrapper.run, 1.0, key)
    folder.mkdir(exist_ok=True)
    return len(set(compile_units(sources, folder, folder / "kept", compiler)))


def test_a_second_probe_compiles_only_its_own(tmp_path: Path) -> None:
    wrapper = _Wrapper()
    assert _compile(_ONE, wrapper, tmp_path) == 3
    assert wrapper.take() == ["common/a.cpp", "compat/b.cpp", "one/main.cpp"]
    assert _compile(_OTHER, wrapper, tmp_path) == 3
    assert wrapper.take() == ["other/main.cpp"]
    assert _compile(_ONE, wrapper, tmp_path) == 3
    assert wrapper.take() == []


def test_what_a_unit_may_include_belongs_to_it(tmp_path: Path) -> None:
    wrapper = _Wrapper()
    _compile(_ONE, wrapper, tmp_path)
    wrapper.take()
    _compile({**_ONE, "one/own.hpp": b"new"}, wrapper, tmp_path)
    assert wrapper.take() == ["one/main.cpp"]
    _compile({**_ONE, "common/a.hpp": b"new"}, wrapper, tmp_path)
    assert wrapper.take() == ["common/a.cpp", "compat/b.cpp", "one/main.cpp"]
    _compile(_ONE, wrapper, tmp_path, key="another library")
    assert wrapper.take() == ["common/a.cpp", "compat/b.cpp", "one/main.cpp"]


def test_a_fault_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ShortfallError, match=r"^a probe does not compile: a.cpp:1: error: wrong$"):
        _compile(_ONE, _Wrapper(status=1), tmp_path)


def test_units_of_a_folder_are_compiled_a_few_together(tmp_path: Path) -> None:
    wrapper = _Wrapper()
    sources = {f"common/{number:02}.cpp": b"" for number in range(20)} | {"one/main.cpp": b""}
    together = _compile(sources, wrapper, tmp_path)
    taken = wrapper.take()
    assert len(taken) == together < 7
    assert sorted(" ".join(taken).split()) == sorted(sources)
    # Another number of units changes no batch but the last of the folder.
    _compile({**sources, "common/20.cpp": b""}, wrapper, tmp_path)
    assert len(wrapper.take()) == 1


class _Machine:
    """A wrapper that calls a compiler of some version, both as far as compiling a probe asks."""

    def __init__(self) -> None:
        self.version = "fakecc 12"
        self.compiled = 0
        self.told: list[str] = []

    def run(self, command: Sequence[str], environment: Mapping[str, str], limit: float) -> Finished:
        if command[1:] == ["-show"]:
            return Finished(0, b"sh -lmpi")
        if command[1:] == ["--version"]:
            return Finished(0, self.version.encode())
        self.compiled += 1
        Path(command[command.index("-o") + 1]).write_bytes(b"program")
        return Finished(0)

    def compile(self, wrapper: str = "/fake/mpicc") -> Path:
        candidate = Candidate("test", Path(wrapper))
        return compile_probe(
            "version",
            candidate,
            "Fake MPI 1",
            self.run,
            1.0,
            tell=lambda: self.told.append(wrapper),
        )


def test_compiling_is_told_when_it_is_done() -> None:
    machine = _Machine()
    machine.compile("/fake/mpicc")
    machine.compile("/fake/mpicc.other")
    assert machine.told == ["/fake/mpicc"]


def test_another_compiler_or_other_flags_compile_a_probe_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = _Machine()
    first = machine.compile()
    assert machine.compile() == first
    # Under another name it is the same library and compiler.
    assert machine.compile("/fake/mpicc.other") == first
    assert machine.compiled == 1
    machine.version = "fakecc 13"
    second = machine.compile()
    assert machine.compiled == 2
    monkeypatch.setattr(compilation, "_FLAGS", ("-O3",))
    third = machine.compile()
    assert machine.compiled == 3
    assert len({first, second, third}) == 3


def test_a_program_that_somebody_else_may_have_planted_is_not_taken() -> None:
    machine = _Machine()
    program = machine.compile()
    program.write_bytes(b"planted")
    program.chmod(0o777)
    assert machine.compile() == program
    assert (machine.compiled, program.read_bytes()) == (2, b"program")
    assert stat.S_IMODE(program.stat().st_mode) == 0o700
    if os.geteuid() == 0:
        program.write_bytes(b"planted")
        os.chown(program, 54_321, 54_321)
        assert machine.compile().read_bytes() == b"program"
        assert program.stat().st_uid == 0


def test_a_cache_of_somebody_elses_is_refused(cache: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give a folder away")
    folder = cache_folder(os.environ)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    os.chown(folder, 54_321, 54_321)
    with pytest.raises(MissingError, match=r"belongs to user 54321.*set XDG_CACHE_HOME to another"):
        _Machine().compile()


def test_a_user_without_a_home_is_told_what_to_set(tmp_path: Path) -> None:
    """Neither HOME nor an entry in the list of users, as where a container sets the number."""
    if os.geteuid() != 0:
        pytest.skip("only root may become another user")
    code = (
        "import os\nfrom contend import MissingError\n"
        "from contend.lab.mpi.compilation import cache_folder\n"
        "os.setuid(54_321)\n"
        "try:\n    cache_folder(os.environ)\nexcept MissingError as error:\n    print(error)"
    )
    environment = {
        name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")
    }
    ended = finished([sys.executable, "-c", code], env=environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == (
        "this user has no home folder to keep compiled probes in; set XDG_CACHE_HOME\n"
    )
