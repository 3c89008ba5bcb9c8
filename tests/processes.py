"""Processes that tests have started: as the kernel tells of them, and what they complain of."""

from __future__ import annotations

import re
from pathlib import Path


def state_of(process: int | str) -> str:
    """A letter, as of `ps`; "" where there is none, or none that runs: only its status is left."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
    return "" if state in "ZX" else state


def complaints(stderr: str) -> str:
    """Standard error without the lines that say how far a command is, or how long it will take."""
    how_far = re.compile(r"[^:]+: (\d[\d,]*/[\d,?]+ \w+|\d+ %|about \d)")
    return "".join(line for line in stderr.splitlines(keepends=True) if not how_far.match(line))
