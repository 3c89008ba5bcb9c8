"""``contend tune`` and ``contend run`` from outside: verdict, files, and a program by them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import contend
from contend.cli.app import run
from contend.cure import Rule, Rules, read_rules, write_rules
from measured_runs import COLLAPSED, alltoall_run


def test_rules_are_learnt_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    some = ("library", "linear", "shift")
    alltoall_run(tmp_path / "run", launches=8, schedules=some, wire_Bps=50e6)
    rules, result = tmp_path / "rules", tmp_path / "result.json"
    arguments = ["tune", str(tmp_path / "run"), "-o", str(rules), "--json", str(result)]
    assert run(arguments) == 0
    printed = capsys.readouterr().out
    verdict = printed.splitlines()[0]
    assert verdict.startswith("With shift an all-to-all of 16 KiB blocks between 16 ranks takes ")
    told = json.loads(result.read_text())
    assert told["verdict"] == verdict
    changed = {cell["bytes"] for cell in told["cells"] if cell["schedule"] != "library"}
    assert set(COLLAPSED) <= changed
    assert len(read_rules(rules).rules) == told["rules"] > 0
    assert (rules / "openmpi.conf").is_file()
    # Ports of 50 MB/s carry less than the 118 that large blocks got.
    marked = {cell["bytes"]: cell["beyond_wire"] for cell in told["cells"]}
    assert (marked[256], marked[262144]) == (False, True)
    assert "beyond the wire" in printed


def test_python_learns_the_same_rules(tmp_path: Path) -> None:
    """From a run, its folder or several of them; the command writes what `contend.tune` writes."""
    measured = alltoall_run(tmp_path / "run", launches=8, schedules=("library", "shift"))
    assert run(["tune", str(tmp_path / "run"), "-o", str(tmp_path / "told")]) == 0
    for number, source in enumerate([measured, str(tmp_path / "run"), [tmp_path / "run"]]):
        lessons = contend.tune(source, output=tmp_path / str(number))
        assert {rule.schedule for rule in lessons.learnt.rules} == {"shift"}
        assert read_rules(tmp_path / str(number)) == read_rules(tmp_path / "told")
    with pytest.raises(contend.UsageError, match="no run is here"):
        contend.tune(tmp_path / "nothing")


def test_a_program_goes_by_the_rules(
    require_program: Callable[[str], str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mpirun = require_program("mpirun.openmpi")
    source = Path(__file__).parents[1] / "tuned" / "programs" / "sized.c"
    program = tmp_path / "sized"
    wrapper = require_program("mpicc.openmpi")
    subprocess.run([wrapper, "-w", str(source), "-o", str(program)], check=True)
    write_rules(Rules((Rule((3, 3), (1, 64), (0, 99), "shift"),)), tmp_path / "rules")
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("CONTEND_TUNED_REPORT", "1")
    command = [mpirun, "--oversubscribe", "-n", "3", str(program), "50"]
    assert run(["run", "--tuned", str(tmp_path / "rules"), "--", *command]) == 0
    told = capfd.readouterr()
    assert told.out.count("right") == 3
    assert "contend: 3 calls of all-to-alls carried, 0 passed on: shift 3" in told.err
    assert "no all-to-all followed the rules" not in told.err
    lost = [*command[:4], "env", "-u", "LD_PRELOAD", *command[4:]]
    assert run(["run", "--tuned", str(tmp_path / "rules"), "--", *lost]) == 0
    told = capfd.readouterr()
    assert told.out.count("right") == 3
    why = "the command takes LD_PRELOAD away: leave it as it is"
    assert f"contend: no all-to-all followed the rules: {why}\n" in told.err
    assert not list((tmp_path / "rules").glob("*.met"))
