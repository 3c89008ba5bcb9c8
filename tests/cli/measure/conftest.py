from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(probe_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Probes are compiled once for all tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(probe_cache))
    return probe_cache
