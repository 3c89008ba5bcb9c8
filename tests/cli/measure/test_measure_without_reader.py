"""A measurement goes on when nobody reads any more, as in ``contend measure ... | head -1``."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

from processes import CONTEND, finished


def test_all_launches_run_and_all_files_are_written(tmp_path: Path) -> None:
    measured = (
        f"{shlex.join(CONTEND)} measure alltoall -n 2 --algorithm library --bytes 1K --launches 3 "
        f"--budget 9s --output {tmp_path}/run --json {tmp_path}/hd.json --plot {tmp_path}/hd.svg"
    )
    ended = finished(
        ["bash", "-c", f"{measured} | head -1; exit ${{PIPESTATUS[0]}}"], env=dict(os.environ)
    )
    assert ended.returncode == 0, ended.stderr
    assert re.fullmatch(r"(contend: warning: the hypervisor kept .*\n)*", ended.stderr)
    assert ended.stdout.count("\n") == 1
    result = json.loads((tmp_path / "hd.json").read_text())
    run = json.loads((Path(result["run"]) / "run.json").read_text())
    assert [launch["status"] for launch in run["launches"]] == ["done"] * 3
    assert (tmp_path / "hd.svg").read_text().rstrip().endswith("</svg>")
