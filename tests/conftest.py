"""What all tests share: real fabrics to read, and programs that the machine may lack."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of large real fabrics, which is not part of the checkout."""
    named = os.environ.get("CONTEND_SHARED_DATA")
    checkout = Path(__file__).resolve().parents[1]
    folder = Path(named) if named else checkout.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the folder of shared fabrics is absent (set CONTEND_SHARED_DATA to it)")
    return folder


@pytest.fixture(scope="session")
def require_program() -> Callable[[str], str]:
    """`require_program("opensm")` gives the program's path or skips the test."""

    def require(program: str) -> str:
        path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
        if path is None:
            pytest.skip(f"the program {program} is not installed")
        return path

    return require
