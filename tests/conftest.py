"""What all tests share."""

from __future__ import annotations

import os
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
