"""The parts of probes that need no ranks; doctest's own tests, in units/."""

from __future__ import annotations

import subprocess
from pathlib import Path


def test_units(units: Path) -> None:
    ended = subprocess.run([units], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    assert "| 0 failed" in ended.stdout
