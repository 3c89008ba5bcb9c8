"""What the tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real fabrics; tests that need it are skipped where it is absent."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("CONTEND_SHARED_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no real fabrics in {folder}; set CONTEND_SHARED_DATA")
    return folder
