"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real fabrics beside the checkout, or a skipped test."""
    beside = Path(__file__).parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("CONTEND_SHARED_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"the real fabrics are not here: {folder}")
    return folder
