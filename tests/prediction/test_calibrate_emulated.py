"""A calibration that was really taken, and a prediction of what it has not seen."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from contend.cli.app import run
from contend.lab.runs import Run
from contend.prediction import load_calibration
from contend.profiling import ProgramProfile
from typed_commands import Typed

LATE = Path(__file__).parents[1] / "cli" / "late.c"


def test_a_calibration_on_a_crossbar_predicts_a_larger_one(
    tmp_path: Path,
    permitted: None,
    capsys: pytest.CaptureFixture[str],
    require_program: Callable[[str], str],
) -> None:
    wrapper = require_program("mpicc.openmpi")
    cables = ["--rate", "100Mbit", "--buffer", "4MB"]
    costs = tmp_path / "costs"
    where = ["--on", "emulated:crossbar:4", "--mpi", "openmpi-4"]
    assert run(["calibrate", *where, *cables, "--budget", "2min", "-o", str(costs)]) == 0
    calibration = load_calibration(costs)
    # Headers of Ethernet, IP and TCP: 1514 bytes carry 1448.
    stretch = calibration.between[-1].gap_per_byte_s.value * calibration.wire_Bps
    assert stretch == pytest.approx(1514 / 1448, rel=0.05)
    assert calibration.burst == 16_384
    what = ["-n", "6", "--algorithm", "shift", "--bytes", "256K"]
    emulated = ["--on", "emulated:crossbar:6", "--mpi", "openmpi-4", "--repetitions", "6:6"]
    emulated += ["--start", "clock"]
    assert run(["measure", "alltoall", *emulated, *what, *cables, "-o", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    # Less than the cables that were asked for, where this machine carries less.
    wire = Run.load(tmp_path / "run").record.wire_Bps
    assert wire is not None
    beside = ["--calibration", str(costs), "--measured", str(tmp_path / "run"), "--json", "-"]
    network = ["crossbar:6", "--rate", _words(wire), "--buffer", "4MB"]
    assert run(["predict", "alltoall", *network, *what, *beside]) == 0
    (cell,) = json.loads(capsys.readouterr().out)["cells"]
    # Far more than what is promised, but that the two are about the same thing.
    assert 0.5 < cell["ratio"] < 2
    # A program that was recorded here is told how long it takes with a tenth of the rate.
    program = tmp_path / "late"
    subprocess.run([wrapper, "-O1", str(LATE), "-o", str(program)], check=True)

    def profiled(rate: str) -> ProgramProfile:
        folder = tmp_path / f"profile-{rate}"
        place = ["--on", "emulated:crossbar:4", "--rate", rate, "--buffer", "4MB"]
        command = ["profile", "-n", "4", "--ranks-per-host", "1", "--mpi", "openmpi-4", *place]
        assert run([*command, "-o", str(folder), "--", str(program)]) == 0
        return ProgramProfile.load(folder)

    recorded, slow = profiled("100Mbit"), profiled("10Mbit")
    capsys.readouterr()
    assert slow.record.wire_Bps is not None
    network = ["crossbar:4", "--rate", _words(slow.record.wire_Bps)]
    elsewhere = [*network, "--calibration", str(costs), "--json", "-"]
    assert run(["predict", str(tmp_path / "profile-100Mbit"), *elsewhere]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["recorded_s"] == recorded.findings.within_s
    # The place is known, so that the model was held against the recording.
    assert found["modelled_s"] is not None
    assert found["cases"][0]["predicted_s"] == pytest.approx(slow.findings.within_s, rel=0.5)
    # Begun again, it has nothing left to measure.
    measured = {path: path.read_bytes() for path in sorted(costs.rglob("*.parquet"))}
    assert measured
    (costs / "calibration.json").unlink()
    assert run(["calibrate", *where, *cables, "--budget", "2min", "-o", str(costs)]) == 0
    assert {path: path.read_bytes() for path in sorted(costs.rglob("*.parquet"))} == measured
    again = load_calibration(costs)
    assert (again.between, again.within) == (calibration.between, calibration.within)


def _words(wire: float) -> str:
    return f"{8 * wire:.0f}bit/s"


def test_a_single_host_cannot_be_calibrated(typed: Typed) -> None:
    assert "expected two hosts at least" in typed("calibrate", status=2).err
