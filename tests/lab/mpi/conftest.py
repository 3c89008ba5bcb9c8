from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of compiled probes of the test's own."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str, str], Path]:
    """`script("bin/mpicc", "exit 1")` makes a shell program below the test's folder."""

    def make(name: str, code: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{code}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    return make


@pytest.fixture(scope="session")
def mpich_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the PyPI wheel of MPICH, which may not share one with Open MPI's."""
    prefix = tmp_path_factory.mktemp("mpich")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--ignore-installed"]
    install += ["--only-binary", ":all:", "--prefix", str(prefix), "mpich"]
    if subprocess.run(install, capture_output=True, check=False).returncode != 0:
        pytest.skip("pip cannot install the wheel mpich")
    return prefix
