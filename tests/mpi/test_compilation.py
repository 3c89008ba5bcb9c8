"""Units of probes are compiled once, however many probes share them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from contend.errors import ShortfallError
from contend.mpi.compilation import Compiler, compile_units
from contend.process import Finished

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
