from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Contend = Callable[..., subprocess.CompletedProcess[str]]

COMMAND = (sys.executable, "-c", "from contend.cli import main; main()", "measure")


@pytest.fixture
def contend(tmp_path: Path, require_program: Callable[[str], str]) -> Contend:
    """`contend(*arguments)` runs the verb in a folder of the test's own."""
    require_program("mpicc.openmpi")
    require_program("mpicc.mpich")

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        ended = subprocess.run(
            [*COMMAND, *arguments],
            capture_output=True,
            text=True,
            timeout=600,
            env={**os.environ, **environment},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
        )
        # Not what was asked for but the hour it was asked in: a machine's neighbours may be busy.
        ended.stderr = re.sub(r"contend: warning: the hypervisor kept .*\n", "", ended.stderr)
        return ended

    return run
