"""A process of its own that may take what docs/explanation/bounds.md promises, and no more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BYTES_ALWAYS, BYTES_FOR_EACH = 768 << 20, 64
SECONDS_ALWAYS, SECONDS_FOR_EACH = 10.0, 20e-6

_BOUNDED = """
import resource
{before}
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + {memory}
used = resource.getrusage(resource.RUSAGE_SELF)
seconds = int(used.ru_utime + used.ru_stime + {seconds})
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
{code}
"""


def run_within_bounds(before: str, code: str, largest: int, together: int | None = None) -> str:
    """What Python prints while it reads files of known sizes, in bytes and uncompressed.

    Args:
        before: imports and whatever else does not count.
        code: reads, and may take memory and time in proportion to the size.
        largest: size of one file, by which memory is bounded.
        together: size of all files, by which time is; None for one file.
    """
    bounded = _BOUNDED.format(
        before=before,
        code=code,
        memory=BYTES_ALWAYS + BYTES_FOR_EACH * largest,
        seconds=SECONDS_ALWAYS + SECONDS_FOR_EACH * (together or largest),
    )
    done = subprocess.run(
        [sys.executable, "-c", bounded],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-500:], done.stderr[-800:])
    return done.stdout
