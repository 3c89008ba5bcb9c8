from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from probe_programs import PROBES, SCHEDULES, Mpi, compile_strictly, link, probe

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def pingpong(any_mpi: Mpi) -> Path:
    return probe(any_mpi, "pingpong")


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("probes")


@pytest.fixture(scope="session")
def common(openmpi: Mpi, build: Path) -> list[Path]:
    """Objects of all that probes share."""
    shared = ("common", "compat", "io", "timing")
    sources = sorted(unit for folder in shared for unit in (PROBES / folder).glob("*.cpp"))
    return compile_strictly(openmpi.wrapper, sources, build)


@pytest.fixture(scope="session")
def alltoall_objects(openmpi: Mpi, build: Path) -> list[Path]:
    """Objects of the all-to-all, which the sort has too."""
    sources = sorted([*(PROBES / "alltoall").glob("*.cpp"), *SCHEDULES.glob("*.c")])
    return compile_strictly(openmpi.wrapper, sources, build)


@pytest.fixture(scope="session")
def trial(openmpi: Mpi, common: list[Path], build: Path) -> Path:
    """The probe that goes wrong on purpose."""
    own = compile_strictly(openmpi.wrapper, [HERE / "trial" / "main.cpp"], build)
    return link(openmpi.wrapper, [*common, *own], build / "trial")


@pytest.fixture(scope="session")
def doctest() -> None:
    """Skips where the framework of the C++ tests is not installed."""
    command = ["c++", "-E", "-x", "c++", "-", "-o", os.devnull]
    ended = subprocess.run(command, input=b"#include <doctest/doctest.h>", capture_output=True)
    if ended.returncode != 0:
        pytest.skip("the C++ test framework doctest is not installed")


@pytest.fixture(scope="session")
def units(doctest: None, openmpi: Mpi, common: list[Path], build: Path) -> Path:
    """The program of doctest's tests."""
    sources = [*sorted((HERE / "units").glob("*.cpp")), PROBES / "pingpong" / "messages.cpp"]
    own = compile_strictly(openmpi.wrapper, sources, build)
    return link(openmpi.wrapper, [*common, *own], build / "units")


@pytest.fixture(scope="session")
def clock_shim(build: Path, require_program: Callable[[str], str]) -> Path:
    """A library to preload, which makes the clock drift."""
    made = build / "clock_shim.so"
    source = HERE / "clock_shim.c"
    cc = require_program("cc")
    subprocess.run([cc, "-O2", "-shared", "-fPIC", source, "-o", made, "-ldl"], check=True)
    return made
