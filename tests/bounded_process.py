"""A process of its own that may take what docs/explanation/bounds.md promises, and no more."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from processes import finished

BYTES_ALWAYS, BYTES_FOR_EACH = 768 << 20, 64
SECONDS_ALWAYS, SECONDS_FOR_EACH = 10.0, 20e-6

_BOUNDED = """
import resource, time
{before}
pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()

def bound(size):
    memory = pages + {memory} + {memory_for_each} * size
    seconds = int(time.process_time() + {seconds} + {seconds_for_each} * size) + 1
    resource.setrlimit(resource.RLIMIT_AS, (memory, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))

{code}
"""
_EACH = """
from contend.base.errors import ContendError
for path, size in {files!r}.items():
    bound(size)
    try:
        print(path, "read", {read})
    except ContendError as error:
        assert len(str(error)) and "\\n" not in str(error)[:500], error
        print(path, "refused", error)
"""


def read_within_bounds(read: str, files: Mapping[str, int], before: str = "") -> list[str]:
    """What reading files comes to, one after the other in one process: "read ..." or "refused ...".

    Args:
        read: what reads the file at `path`, as an expression.
        files: their sizes in bytes, uncompressed; each bounds memory and time.
        before: imports and whatever else does not count.
    """
    told = run_within_bounds(
        f"import contend\n{before}", _EACH.format(files=dict(files), read=read)
    )
    lines = [line.partition(" ") for line in told.splitlines()]
    assert [path for path, _, _ in lines] == list(files)
    return [outcome for _, _, outcome in lines]


def run_within_bounds(before: str, code: str) -> str:
    """What Python prints; by `bound(size)` the code takes no more than a file of that size may."""
    bounded = _BOUNDED.format(
        before=before,
        code=code,
        memory=BYTES_ALWAYS,
        memory_for_each=BYTES_FOR_EACH,
        seconds=SECONDS_ALWAYS,
        seconds_for_each=SECONDS_FOR_EACH,
    )
    done = finished(
        [sys.executable, "-c", bounded],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-500:], done.stderr[-800:])
    return done.stdout
