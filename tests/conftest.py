"""What tests of several packages need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with large real fabrics, beside the checkout; tests on it are skipped without it."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("CONTEND_SHARED_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no shared data in {folder}")
    return folder
