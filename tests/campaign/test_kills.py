"""A short slice of the campaign of kills; `make campaign` runs more of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

_KILLS = Path(__file__).with_name("kills.py")


@pytest.mark.parametrize("kind", ["measure", "emulate", "simulate", "full_disk"])
@pytest.mark.usefixtures("permitted")
def test_nothing_is_lost_and_nothing_is_left(
    kind: str, require_program: Callable[[str], str]
) -> None:
    for program in ("unshare", "mpicc.openmpi"):
        require_program(program)
    words = ["--only", kind, "--seed", "1", "--trials", "1"]
    ended = subprocess.run([sys.executable, str(_KILLS), *words], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert " 0 faults; " in ended.stdout


@pytest.mark.usefixtures("permitted")
def test_a_planted_fault_is_found(tmp_path: Path, require_program: Callable[[str], str]) -> None:
    """A contend that ends in a traceback and leaves a process is told of, with its seed."""
    require_program("unshare")
    planted = (
        "import subprocess, sys\n"
        "subprocess.Popen(['sleep', '600'], stdout=-3, start_new_session=True)\n"
        "raise RuntimeError('planted')"
    )
    code = (
        f"import sys\nsys.path.insert(0, {str(_KILLS.parent)!r})\nimport kills, trial, walled\n"
        # The process that is left would be waited for as long as one that is only slow.
        "walled.PATIENCE = 1.0\n"
        f"kills.CONTEND = trial.CONTEND = (sys.executable, '-c', {planted!r})\n"
        "sys.exit(kills.main())"
    )
    program = tmp_path / "planted.py"
    program.write_text(code, encoding="utf-8")
    words = ["--only", "closed_pipe", "--seed", "7", "--trials", "1"]
    ended = subprocess.run([sys.executable, str(program), *words], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "--seed 7 --trial 0 (closed_pipe): a traceback" in ended.stdout
