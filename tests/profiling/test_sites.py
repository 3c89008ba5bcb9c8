"""Places in a real program, compiled here: with lines, with symbols alone, and stripped."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from contend.profiling.sites import CodeLine, CodePlace, find_lines

# The return address that `where` tells is behind its call, in line 5 of its caller.
SOURCE = """\
#include <stdio.h>
__attribute__((noinline)) void where(void) { printf("%p\\n", __builtin_return_address(0)); }
KIND __attribute__((noinline)) void caller(void) {

  where();
  printf("%p\\n", (void *)caller);
}
int main(void) {
  caller();
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[4096];
  while (fgets(line, sizeof line, maps)) fputs(line, stdout);
  return 0;
}
"""


@pytest.fixture
def place(tmp_path: Path, require_program: Callable[[str], None]) -> Callable[..., CodePlace]:
    for program in ("cc", "addr2line", "nm", "strip"):
        require_program(program)

    def compiled(*flags: str, kind: str = "", strip: bool = False) -> CodePlace:
        (tmp_path / "source.c").write_text(SOURCE)
        program = tmp_path / "program"
        command = [
            "cc",
            *flags,
            f"-DKIND={kind}",
            "-O1",
            str(tmp_path / "source.c"),
            "-o",
            str(program),
        ]
        subprocess.run(command, check=True, cwd=tmp_path)
        if strip:
            subprocess.run(["strip", str(program)], check=True)
        done = subprocess.run([program], capture_output=True, text=True, check=True)
        address, _, *maps = done.stdout.splitlines()
        for line in maps:
            words = line.split()
            start, end = (int(word, 16) for word in words[0].split("-"))
            if "x" in words[1] and start <= int(address, 16) < end:
                return CodePlace(str(program), int(address, 16) - start + int(words[2], 16))
        raise AssertionError(done.stdout)

    return compiled


@pytest.mark.parametrize("flags", [("-g",), ("-g", "-no-pie"), ("-g", "-Wl,-z,separate-code")])
def test_lines_are_those_of_the_call(
    place: Callable[..., CodePlace], flags: tuple[str, ...]
) -> None:
    [line] = find_lines([place(*flags)])
    assert (line.symbol, Path(line.file).name, line.line) == ("caller", "source.c", 5)


def test_what_a_compiler_inlines_is_not_the_program(tmp_path: Path) -> None:
    """The call of what throws stands in a header of C++, and in the program where that is used."""
    source, program = tmp_path / "source.cpp", tmp_path / "source.so"
    source.write_text(
        "#include <vector>\nint last(std::vector<int>& of) {\n  return of.at(7);\n}\n"
    )
    command = ["c++", "-g", "-O2", "-shared", "-fPIC", source, "-o", program]
    subprocess.run(command, check=True, cwd=tmp_path)
    listed = subprocess.run(["objdump", "-d", program], capture_output=True, text=True, check=True)
    [call] = re.findall(r"([0-9a-f]+):.*call.*__throw_out_of_range_fmt", listed.stdout)
    [line] = find_lines([CodePlace(str(program), int(call, 16) + 1)])
    assert (Path(line.file).name, line.line) == ("source.cpp", 3)


def test_without_lines_symbol_and_offset(place: Callable[..., CodePlace]) -> None:
    [line] = find_lines([place()])
    assert line.line == 0
    symbol, _, offset = line.symbol.partition("+")
    assert symbol == "caller"
    assert 0 < int(offset, 16) < 64


@pytest.mark.parametrize(
    ("symbol", "shown"),
    [
        ("__pyx_pw_6mpi4py_3MPI_4Comm_135Alltoall", "mpi4py.MPI.Comm.Alltoall"),
        ("__pyx_f_6mpi4py_3MPI_PyMPI_bcast_p2p", "mpi4py.MPI.PyMPI_bcast_p2p"),
        ("__pyx_pw_3app_5solve", "app.solve"),
        ("__pyx_pw_135Alltoall", "__pyx_pw_135Alltoall"),
        ("__pyx_f_99999999999999999999app_x", "__pyx_f_99999999999999999999app_x"),
    ],
)
def test_names_of_cython_are_those_of_python(
    place: Callable[..., CodePlace], symbol: str, shown: str
) -> None:
    [line] = find_lines([place(f"-Dcaller={symbol}")])
    assert line.symbol.partition("+")[0] == shown


def test_stripped_programs_tell_what_they_share(place: Callable[..., CodePlace]) -> None:
    [line] = find_lines([place("-rdynamic", strip=True)])
    assert line.symbol.startswith("caller+")


def test_what_a_stripped_program_keeps_to_itself_has_no_name(
    place: Callable[..., CodePlace],
) -> None:
    """The nearest symbol is that of `where`, which ends before."""
    there = place("-rdynamic", kind="static", strip=True)
    assert find_lines([there]) == [CodeLine()]


def test_each_module_is_asked_once_and_order_stays(place: Callable[..., CodePlace]) -> None:
    there = place("-g")
    lines = find_lines([CodePlace("", 0), there, CodePlace("/nowhere", 16), there])
    assert [line.line for line in lines] == [0, 5, 0, 5]


def test_what_is_no_program_has_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"\x7fELF\x02" + bytes(range(200)))
    assert find_lines([CodePlace(str(path), 2**63)]) == [CodeLine()]
