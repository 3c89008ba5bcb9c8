"""``contend explain``: the verdict first, then tables; JSON and Markdown."""

from __future__ import annotations

from pathlib import Path

import pytest

from contend.cli.app import run
from measured_runs import alltoall_run
from typed_commands import Typed


def test_the_first_line_is_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "mistry2015"]) == 0
    printed = capsys.readouterr().out
    first = printed.splitlines()[0]
    assert first.startswith("Memory limits m = 810N (poster) on 36 hosts and m = 1024N (poster)")
    assert "(the data alone do not explain that m = 810N (poster) on 36 hosts failed)" in first
    assert "the injection port limits m = 512 (paper) on 3 hosts to 18 hosts" in first
    assert "1.64 s   1.16 s (1.41)" in printed
    assert "24 GiB (75 %); the data alone do not explain that it failed" in " ".join(
        printed.split()
    )
    assert "contend study mistry2015 --ranks-per-host 1" in printed


def test_time_outs_lead_in_2005(typed: Typed) -> None:
    printed = typed("explain kutzner2005")
    assert printed.out.startswith("Time-outs from full buffers limit ring with barrier")


def test_markdown_and_what_is_not_proven(tmp_path: Path, typed: Typed) -> None:
    alltoall_run(tmp_path / "run", launches=1, sizes=(1 << 20,), schedules=("linear",), slower=3.0)
    text = typed("explain", tmp_path / "run", "--markdown", "-").out
    assert text.startswith("Not proven: no limit explains half of the time; the nearest bound")
    assert "| not proven |" in text
