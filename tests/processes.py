"""Processes that tests have started, as the kernel tells of them."""

from __future__ import annotations

from pathlib import Path


def state_of(process: int | str) -> str:
    """A letter, as of `ps`; "" where there is none, or none that runs: only its status is left."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
    return "" if state in "ZX" else state
