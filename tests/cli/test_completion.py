"""What a shell offers while a line is typed; nothing is refused, and nothing slow is loaded."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from processes import finished

_RUN = "from contend.cli import main; main()"
# Prints the modules that were loaded, whatever ends the command.
_LOADED = (
    "import sys\nfrom contend.cli import main\ntry:\n    main()\n"
    "finally:\n    print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)\n"
)


def completed(words: list[str], code: str = _RUN) -> subprocess.CompletedProcess[str]:
    """What is offered for the last of the words of a line, which may be empty."""
    environment = {
        "_CONTEND_COMPLETE": "complete_bash",
        "COMP_WORDS": shlex.join(words[:-1]) + f" {words[-1]}",
        "COMP_CWORD": str(len(words) - 1),
    }
    return finished([sys.executable, "-c", code], env={**os.environ, **environment})


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        (["contend", "sim"], ["simulate"]),
        (["contend", "fabric", "c"], ["check", "convert"]),
        (["contend", "simulate", "fig1", "--pat"], ["--pattern"]),
        # A verb that need not be typed, for a profile that need not be there yet.
        (["contend", "predict", "absent", "--cal"], ["--calibration"]),
        (["contend", "predict", "al"], ["alltoall"]),
        # Behind a wrong option, and where a file that is read would be overwritten.
        (["contend", "simulate", "fig1", "--samples", "none", "--pat"], ["--pattern"]),
        (["contend", "simulate", __file__, "--json", __file__, "--pat"], ["--pattern"]),
        # The shell's own: names of files.
        (["contend", "simulate", "net"], []),
    ],
    ids=lambda value: " ".join(value)[:40],
)
def test_what_is_offered(line: list[str], offered: list[str]) -> None:
    done = completed(line)
    assert (done.stdout.split(), done.stderr, done.returncode) == (offered, "", 0)


@pytest.mark.parametrize("line", [["contend", "si"], ["contend", "simulate", "fig1", "--p"]])
def test_completing_loads_no_arrays(line: list[str]) -> None:
    done = completed(line, _LOADED)
    loaded = set(done.stderr.split())
    assert "typer" in loaded
    assert loaded & {"numpy", "scipy", "polars", "matplotlib", "bokeh"} == set()


def test_bash_completes_by_the_script(tmp_path: Path) -> None:
    program = tmp_path / "contend"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{_RUN}' \"$@\"\n")
    program.chmod(0o755)
    typed = (
        'eval "$(_CONTEND_COMPLETE=source_bash contend)" &&'
        "COMP_WORDS=(contend fabric dif) COMP_CWORD=2 && _contend_completion contend &&"
        'echo "${COMPREPLY[@]}"'
    )
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = finished(["bash", "--norc", "-c", typed], env={**os.environ, "PATH": path})
    assert (done.stdout, done.stderr) == ("diff\n", "")
