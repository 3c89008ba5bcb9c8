from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from processes import CONTEND, finished

Contend = Callable[..., subprocess.CompletedProcess[str]]

COMMAND = (*CONTEND, "measure")


@pytest.fixture
def contend(tmp_path: Path, require_program: Callable[[str], str]) -> Contend:
    """`contend(*arguments)` runs the verb in a folder of the test's own."""
    require_program("mpicc.openmpi")
    require_program("mpicc.mpich")

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        ended = finished([*COMMAND, *arguments], env={**os.environ, **environment}, cwd=tmp_path)
        # Not what was asked for but the hour it was asked in: a machine's neighbours may be busy.
        ended.stderr = re.sub(r"contend: warning: the hypervisor kept .*\n", "", ended.stderr)
        return ended

    return run
