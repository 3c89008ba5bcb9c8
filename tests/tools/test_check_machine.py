"""What a machine lacks to build contend is said in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "check_machine.sh"


def check(**environment: str) -> tuple[int, str]:
    """Exit status and what was said."""
    environment = {**os.environ, "PYTHON": sys.executable, **environment}
    done = subprocess.run([str(SCRIPT)], env=environment, capture_output=True, text=True)
    assert done.stdout == ""
    return done.returncode, done.stderr


def program(path: Path, script: str) -> str:
    """A stand-in for a program."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_machine_that_built_this_lacks_nothing() -> None:
    assert check() == (0, "")


@pytest.mark.parametrize(
    ("environment", "line"),
    [
        (
            {"PYTHON": "no-python"},
            "contend: no-python not found: install Python 3.11 or newer (Debian: python3), "
            "or set PYTHON\n",
        ),
        (
            {"CXX": "no-compiler"},
            "contend: no-compiler not found: install a C++20 compiler (Debian: g++), or set CXX\n",
        ),
        (
            {"CXX": "false"},
            "contend: false does not compile C++20: install GCC 11 or Clang 14 or newer, "
            "or set CXX\n",
        ),
    ],
)
def test_what_is_missing_is_named(environment: dict[str, str], line: str) -> None:
    assert check(**environment) == (3, line)


def test_old_python(tmp_path: Path) -> None:
    """The stand-in says its version when asked to print it, and fails every comparison."""
    old = program(tmp_path / "python3", 'case "$2" in *print*) echo 3.9 ;; *) exit 1 ;; esac')
    expected = f"contend: Python 3.11 or newer is needed, {old} is 3.9: set PYTHON to a newer one\n"
    assert check(PYTHON=old) == (3, expected)


@pytest.mark.parametrize(
    ("lacking", "line"),
    [
        ("ensurepip", "cannot make virtual environments: install them (Debian: python3-venv)"),
        ("Python.h", "are missing: install them (Debian: python3-dev)"),
    ],
)
def test_parts_of_python_that_distributions_split_off(
    tmp_path: Path, lacking: str, line: str
) -> None:
    python = program(
        tmp_path / "python3",
        f'case "$2" in *{lacking}*) exit 1 ;; esac\nexec {sys.executable} "$@"',
    )
    status, said = check(PYTHON=python)
    assert status == 3
    assert said.endswith(f"{line}\n")
    assert said.count("\n") == 1


def test_compiler_without_openmp(tmp_path: Path) -> None:
    real = os.environ.get("CXX", "c++")
    compiler = program(
        tmp_path / "compiler", f'case "$*" in *-fopenmp*) exit 1 ;; esac\nexec {real} "$@"'
    )
    status, said = check(CXX=compiler)
    assert status == 3
    assert "does not compile OpenMP" in said
