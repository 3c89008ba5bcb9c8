"""What ``tools/bare.sh`` hides is found by a test that uses it without asking."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

BARE = Path(__file__).parents[2] / "tools" / "bare.sh"

# Each uses a program, a header or a library as if it were part of every machine.
PLANTED = """\
import subprocess
from pathlib import Path

def test_a_program():
    subprocess.run(["/usr/sbin/opensm", "--version"], check=True)

def test_a_compiler(tmp_path):
    source = tmp_path / "x.c"
    source.write_text("#include <mpi.h>\\nint main(void) { return MPI_Init(0, 0); }")
    subprocess.run(["mpicc", source, "-o", tmp_path / "x"], check=True)

def test_a_header(tmp_path):
    source = tmp_path / "x.cpp"
    source.write_text("#include <doctest/doctest.h>")
    subprocess.run(["c++", "-std=c++20", "-E", source, "-o", tmp_path / "x"], check=True)

def test_a_library():
    assert list(Path("/usr/lib").glob("*/libmpi.so*"))

def test_what_every_machine_has(tmp_path):
    source = tmp_path / "x.cpp"
    source.write_text("#include <vector>\\nint main() { return std::vector<int>{}.size(); }")
    subprocess.run(["c++", "-std=c++20", "-fopenmp", source, "-o", tmp_path / "x"], check=True)
    subprocess.run([tmp_path / "x"], check=True)
"""


def test_a_planted_dependency_fails_on_the_bare_machine_alone(
    tmp_path: Path, require_program: Callable[[str], str], permitted: None
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can hide programs")
    for program in ("opensm", "mpicc.openmpi", "apt-cache"):
        require_program(program)
    planted = tmp_path / "test_planted.py"
    planted.write_text(PLANTED, encoding="utf-8")
    tests = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", str(planted)]
    # Without the programs of this environment, such as a wheel's mpicc.
    own = str(Path(sys.executable).parent)
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if p != own)
    within = {"cwd": tmp_path, "capture_output": True, "text": True}
    within["env"] = {**os.environ, "PATH": path}
    installed = subprocess.run(tests, **within)
    assert "5 passed" in installed.stdout, installed.stdout
    bare = subprocess.run([str(BARE), *tests], **within)
    assert "4 failed, 1 passed" in bare.stdout, bare.stdout + bare.stderr
    assert "PASSED test_planted.py::test_what_every_machine_has" in bare.stdout
    # The command's status is its own, and the machine is as it was.
    assert bare.returncode == installed.returncode + 1 == 1
    assert Path("/usr/sbin/opensm").exists()


def test_where_it_cannot_be_done_it_says_so_in_one_line(
    require_program: Callable[[str], str],
) -> None:
    """For who is not root, it is root alone that may mount."""
    setpriv = require_program("setpriv")
    if os.geteuid() != 0:
        setpriv, other = "env", []
    else:
        # Who may read all, as root's folders may be where this is.
        other = ["--reuid", "54321", "--regid", "54321", "--clear-groups"]
        other += ["--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"]
    ended = subprocess.run([setpriv, *other, str(BARE), "true"], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "tools/bare.sh: only root can hide programs: run it as root\n"
