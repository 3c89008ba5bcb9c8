"""Programs that tests start: contend's own, how one ended, and what the kernel tells of it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CONTEND = (sys.executable, "-c", "from contend.cli import main; main()")
"""The command line, which options follow."""


def finished(command: Sequence[str | Path], **settings: Any) -> subprocess.CompletedProcess[str]:
    """A command that had nothing to read, with its status and what it printed."""
    return subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600, **settings
    )


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
