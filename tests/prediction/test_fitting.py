"""Calibrations: figures that are known come out of runs that were made of them."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest

from contend.base.errors import InputError, ShortfallError, UsageError
from contend.lab.runs import (
    Estimate,
    LaunchRecord,
    LibraryRecord,
    Run,
    RunRecord,
    median_interval,
)
from contend.prediction import (
    Calibration,
    Measurements,
    Parameter,
    SizeClass,
    fit,
    load_calibration,
    save_calibration,
)
from contend.prediction.fitting import _slope, courses
from contend.routes import load
from contend.traffic.schedule import Exchange, alltoall
from measured_runs import pingpong_run
from sample_files import Launch


def test_overhead_latency_and_gap_are_those_that_the_run_was_made_of(tmp_path: Path) -> None:
    calibration = fit(Measurements(pingpong_run(tmp_path / "run", count=200)))
    large = calibration.between[-1]
    # Streams: 0.2 us a message, 12.2 GB/s; ping-pongs: 1.5 us one way.
    assert large.overhead_s.value == pytest.approx(0.2e-6, rel=0.03)
    assert large.latency_s.value == pytest.approx(1.5e-6 - 2 * 0.2e-6, rel=0.05)
    assert large.gap_per_byte_s.value == pytest.approx(1 / 12.2e9, rel=0.03)
    assert large.gap_per_byte_s.low < large.gap_per_byte_s.value < large.gap_per_byte_s.high
    assert calibration.wire_Bps == 12.5e9
    assert [one.eager for one in calibration.between] == [True, False]


def test_an_overhead_is_no_more_than_half_of_a_trip(tmp_path: Path) -> None:
    """A stream whose ranks wait for turns takes 30 us a message, a trip 40 us."""
    between = fit(Measurements(_streams(tmp_path / "run", each=3e-5))).between
    assert between[0].overhead_s.value == pytest.approx(2e-5, rel=0.01)
    assert between[0].latency_s.value == pytest.approx(0, abs=1e-12)


def test_pieces_are_those_of_the_emulated_cables() -> None:
    """Ten packets fit a burst of 16 KiB, and five a twelfth of 100 kB."""
    calibration = msgspec.structs.replace(known(0), buffer=4e6)
    assert calibration.cables(6.25e6).piece == 10 * 1514
    assert calibration.cables(6.25e6, buffer=1e5).piece == 5 * 1514
    assert msgspec.structs.replace(calibration, burst=0.0).cables(6.25e6).piece == 0


def test_a_slope_is_as_uncertain_as_both_its_ends() -> None:
    """10 ± 1 and 12 ± 1 seconds, a byte apart: 2 ± √2, not 2 ± 8 %."""
    times = {("stream", 1): Estimate(10, 9, 11), ("stream", 2): Estimate(12, 11, 13)}
    slope = _slope(times, "stream", [1, 2], 0.0)
    assert (slope.low, slope.value, slope.high) == pytest.approx((2 - 2**0.5, 2, 2 + 2**0.5))


def test_the_interval_of_a_slope_holds_it_in_95_of_100() -> None:
    generator = np.random.default_rng(6)
    rounds, held = 600, 0
    for _ in range(rounds):
        times = {
            ("stream", size): median_interval((10 + 2e-3 * size) * generator.lognormal(0, 0.1, 25))
            for size in (1000, 4000)
        }
        slope = _slope(times, "stream", [1000, 4000], 0.0)
        held += slope.low <= 2e-3 <= slope.high
    assert held / rounds >= 0.95 - 3 * (0.95 * 0.05 / rounds) ** 0.5


def test_too_few_samples_are_no_calibration(tmp_path: Path) -> None:
    with pytest.raises(
        ShortfallError,
        match="has 5 samples, and an interval takes 6: calibrate on into the same folder",
    ):
        fit(Measurements(pingpong_run(tmp_path / "run", count=5)))


def test_streams_are_needed(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", RunRecord("pingpong", launches=(LaunchRecord(0, 2),)))
    launch = Launch(2, name="pingpong")
    launch.cell([1e-6] * 6, algorithm="pingpong", bytes=1, window=1, inner=1)
    launch.write(run.raw_path(0))
    with pytest.raises(ShortfallError, match="ping-pongs and streams of several sizes"):
        fit(Measurements(run.fold()))


def known(look: float, buffer: float = 0.0) -> Calibration:
    exact = Parameter.exactly
    one = {
        "latency_s": exact(2e-5),
        "overhead_s": exact(1e-5),
        "gap_s": exact(1e-5),
        "gap_per_byte_s": exact(1.05e-6 / 6.25),
    }
    classes = (
        SizeClass(up_to=65_472.0, eager=True, **one),
        SizeClass(up_to=None, eager=False, **one),
    )
    within = tuple(
        SizeClass(up_to=c.up_to, eager=c.eager, **{**one, "gap_per_byte_s": exact(1e-9)})
        for c in classes
    )
    return Calibration(
        wire_Bps=6.25e6,
        burst=16_384,
        between=classes,
        within=within,
        processors=2,
        patience_s=5e-4,
        look_every_s=exact(look),
        send_buffer=exact(buffer),
    )


def test_what_hosts_take_over_is_found_by_carrying_out_what_was_measured(tmp_path: Path) -> None:
    """A run made by the model with 0.8 ms and 250 kB gives those back, or as good ones."""
    # Ranks of the samples that tests make start a millionth of a second apart.
    truth = msgspec.structs.replace(
        known(8e-4, 2.5e5),
        scatter_per_rank_s=Parameter.exactly(2.5e-8),
    )
    record = RunRecord(
        "alltoall", library=LibraryRecord("Open MPI", "4.1.4"), launches=(LaunchRecord(0, 4),)
    )
    run = Run.create(tmp_path / "run", record)
    launch = Launch(4)
    fabric = load("crossbar:4", need_routes=True)
    for algorithm in ("shift", "shift-barrier"):
        for size in (32_768, 131_072, 524_288):
            schedule = alltoall(algorithm, Exchange(4, size))
            went = courses(truth, fabric, schedule, range(4), cables=truth.cables(6.25e6), draws=7)
            seconds = float(np.median([course.seconds for course in went]))
            launch.cell([seconds] * 6, algorithm=algorithm, bytes=size, counts="even")
    launch.write(run.raw_path(0))
    between = _streams(tmp_path / "between")
    calibration = fit(Measurements(between, exchanges=run.fold(), processors=2, burst=16_384))
    found = calibration.look_every_s, calibration.send_buffer
    for parameter, true in zip(found, (8e-4, 2.5e5), strict=True):
        assert parameter.low <= true <= parameter.high
    assert "% off these (geometric mean)" in calibration.remarks[-1]


def test_a_calibration_tells_of_medians_that_are_of_two_kinds(tmp_path: Path) -> None:
    calibration = fit(Measurements(_streams(tmp_path / "between", stalled=True)))
    (remark,) = (text for text in calibration.remarks if "two kinds" in text)
    assert calibration.doubts == (remark,)
    assert remark.startswith(
        "samples of 1 cell of the calibration are of two kinds: "
        "stream of 512 KiB between hosts (25 % near"
    )


def test_all_to_alls_of_several_samples_are_needed(tmp_path: Path) -> None:
    record = RunRecord("alltoall", launches=(LaunchRecord(0, 4),))
    run = Run.create(tmp_path / "run", record)
    launch = Launch(4).cell([1e-3] * 6, algorithm="linear", bytes=4096, counts="even")
    launch.write(run.raw_path(0))
    with pytest.raises(ShortfallError, match="all-to-alls by shift are needed"):
        fit(Measurements(_streams(tmp_path / "between"), exchanges=run.fold(), processors=2))


def _streams(folder: Path, each: float = 1e-5, *, stalled: bool = False) -> Run:
    """A ping-pong of 40 us, streams of 10 us and 1.05 times the bytes on a wire of 50 Mbit/s.

    Where it stalled, a quarter of the streams of 512 KiB took 5 s more.
    """
    record = RunRecord(
        "pingpong",
        library=LibraryRecord("Open MPI", "4.1.4"),
        launches=(LaunchRecord(0, 2),),
        wire_Bps=6.25e6,
    )
    run = Run.create(folder, record)
    launch = Launch(2, name="pingpong", hosts=["n0", "n1"])
    for size in (1, 1024, 16_384, 32_768, 524_288, 1_048_576):
        gap = 1.05 / 6.25e6 * size
        labels = {"bytes": size, "inner": 1}
        launch.cell([2 * (4e-5 + gap)] * 6, algorithm="pingpong", window=1, **labels)
        times = [8 * (each + gap) * (1 + 1e-4 * n) for n in range(12)]
        if stalled and size == 524_288:
            times = [time + (5.0 if n % 4 == 0 else 0.0) for n, time in enumerate(times)]
        launch.cell(times if stalled else times[:1] * 6, algorithm="stream", window=8, **labels)
    launch.write(run.raw_path(0))
    return run.fold()


def test_a_calibration_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    calibration = known(2.0)
    save_calibration(tmp_path / "calibration.json", calibration)
    assert load_calibration(tmp_path) == calibration
    assert load_calibration(tmp_path / "calibration.json") == calibration


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"wire_Bps": -1, "between": [], "within": []}',
        '{"wire_Bps": 1, "between": [], "within": []}',
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "calibration.json"
    file.write_text(content)
    with pytest.raises(InputError, match="a calibration"):
        load_calibration(file)


@pytest.mark.parametrize("end", ["value", "low", "high"])
def test_a_byte_takes_time_at_both_ends_of_its_interval(tmp_path: Path, end: str) -> None:
    """Predictions are made for both ends."""
    file = tmp_path / "calibration.json"
    save_calibration(file, known(2.0))
    content = json.loads(file.read_text())
    content["within"][-1]["gap_per_byte_s"][end] = 0.0
    file.write_text(json.dumps(content))
    with pytest.raises(InputError, match="a byte of the largest messages takes some time"):
        load_calibration(file)


def test_a_calibration_that_is_not_there_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contend calibrate makes one"):
        load_calibration(tmp_path / "nothing")


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    save_calibration(tmp_path / "c", msgspec.structs.replace(known(0), version=99))
    with pytest.raises(InputError, match="version"):
        load_calibration(tmp_path / "c")
