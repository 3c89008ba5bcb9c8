"""All-to-alls predicted on crossbars and trees, and held against runs."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest

from contend.base.errors import MissingError, ShortfallError
from contend.cli.app import run
from contend.prediction import (
    Calibration,
    PredictionConditions,
    beside_measured,
    predict_alltoall,
    save_calibration,
)
from contend.prediction.predicting import rounds_of
from contend.routes import load
from contend.traffic.schedule import (
    DIRECT,
    WAITS,
    Action,
    Exchange,
    Schedule,
    alltoall,
    messages_of,
    phases_by_routes,
    suited,
)
from measured_runs import alltoall_run
from typed_commands import Typed

WIRE = 1e6


def conditions(calibration: Calibration, fabric: str, **changes: float) -> PredictionConditions:
    network = load(fabric, need_routes=True)
    given = {"rate": WIRE, **changes}
    return PredictionConditions(network, range(network.hosts), calibration, **given)  # type: ignore[arg-type]


def test_a_crossbar_takes_g_times_the_bytes_of_a_port(calibration: Calibration) -> None:
    where = conditions(calibration, "crossbar:8")
    for algorithm in ("shift", "linear", "xor"):
        found = predict_alltoall(algorithm, Exchange(8, 10_000), where)
        assert found.predicted_s == pytest.approx(7 * 10_000 * 1.1e-6)
        assert found.counted_s == pytest.approx(7 * 10_000 * 1.1e-6)
        assert found.interval_s[0] == pytest.approx(0.9 * found.predicted_s)
        assert found.interval_s[1] == pytest.approx(1.1 * found.predicted_s)
        assert found.rate_Bps_per_rank == pytest.approx(1 / 1.1e-6)
        assert found.fullest_share == pytest.approx(1.0)


def test_another_rate_takes_another_time(calibration: Calibration) -> None:
    slow = predict_alltoall(
        "shift", Exchange(8, 10_000), conditions(calibration, "crossbar:8", rate=WIRE / 4)
    )
    assert slow.predicted_s == pytest.approx(4 * 7 * 10_000 * 1.1e-6)


def test_the_hottest_channel_of_a_prediction_needs_most_time(calibration: Calibration) -> None:
    """One of four uplinks at a tenth of the others' rate."""
    fabric = load("xgft:2;4,4;1,4", route="dmodk")
    rate = fabric.cable_rate.copy()
    rate[6] = len(fabric.rates)
    slow = fabric.replace(cable_rate=rate, rates=(*fabric.rates, "4xQDR"))
    where = PredictionConditions(slow, range(16), calibration, WIRE)
    found = predict_alltoall("shift", Exchange(16, 10_000), where)
    assert found.hottest in (12, 13)
    alike = PredictionConditions(fabric, range(16), calibration, WIRE)
    assert predict_alltoall("shift", Exchange(16, 10_000), alike).hottest not in (12, 13)


def test_rounds_count_the_load_of_their_fullest_channel(calibration: Calibration) -> None:
    """One cable between leaves of four: phase i crosses it min(i, 8 - i) times."""
    where = conditions(calibration, "xgft:2;4,2;1,1")
    found = predict_alltoall("shift-barrier", Exchange(8, 10_000), where)
    loads = sum(max(1, min(i, 8 - i)) for i in range(1, 8))
    assert found.counted_s == pytest.approx(loads * 10_000 * 1.1e-6)
    assert found.predicted_s == pytest.approx(found.counted_s)


def test_routed_rounds_count_one_block_each(calibration: Calibration) -> None:
    """No two messages of a phase share a channel, whether or not ranks sit phases out."""
    network = load("xgft:2;4,4;1,4", route="minhop")
    hosts = [2, 10, 0, 14, 6, 5, 3, 8, 7, 11, 15, 1, 12, 13, 9, 4]
    where = PredictionConditions(network, hosts, calibration, WIRE)
    phases = phases_by_routes(network, hosts)
    for algorithm in ("routed", "routed-barrier"):
        found = predict_alltoall(algorithm, Exchange(16, 10_000), where)
        assert found.counted_s == pytest.approx(len(phases) * 10_000 * 1.1e-6)
    assert found.predicted_s == pytest.approx(found.counted_s)
    shift = predict_alltoall("shift-barrier", Exchange(16, 10_000), where)
    assert shift.predicted_s > 1.5 * found.predicted_s


def test_more_than_a_buffer_holds_is_foretold(calibration: Calibration) -> None:
    where = conditions(calibration, "crossbar:8", buffer=60_000)
    linear = predict_alltoall("linear", Exchange(8, 10_000), where)
    assert (linear.piling.messages, linear.piling.bytes) == (7, 70_000)
    assert linear.collapses
    # 7 times 8,000 bytes fit, and one message at a time always does.
    assert not predict_alltoall("linear", Exchange(8, 8_000), where).collapses
    assert not predict_alltoall("shift", Exchange(8, 1_000_000), where).collapses
    unknown = conditions(calibration, "crossbar:8")
    assert predict_alltoall("linear", Exchange(8, 10_000), unknown).piling is None


def test_small_messages_on_crowded_processors_are_doubtful(calibration: Calibration) -> None:
    def crowded(processors: int, size: int) -> bool:
        late = msgspec.structs.replace(calibration.between[0], eager=False)
        eager = msgspec.structs.replace(calibration.between[0], up_to=1000.0)
        costs = msgspec.structs.replace(calibration, between=(eager, late), processors=processors)
        return predict_alltoall("shift", Exchange(8, size), conditions(costs, "crossbar:8")).crowded

    assert crowded(2, 1000)
    assert not crowded(2, 1001)
    assert not crowded(8, 1000)
    assert not crowded(0, 1000)


def test_the_library_s_own_goes_by_its_size(calibration: Calibration) -> None:
    where = conditions(calibration, "crossbar:16")
    found = predict_alltoall("library", Exchange(16, 4096), where)
    assert (found.algorithm, found.carried_out) == ("library", "linear")


def test_predictions_stand_beside_a_run_and_none_is_dropped(
    calibration: Calibration, tmp_path: Path
) -> None:
    measured = alltoall_run(
        tmp_path / "run",
        schedules=("linear", "library"),
        sizes=(4096, 65_536),
        # Predictions say nothing of ranks that start one after the other.
        behind_barrier=1.5,
    )
    where = conditions(calibration, "crossbar:16", buffer=200_000)
    predictions = [
        predict_alltoall(name, Exchange(16, size), where)
        for name in ("linear", "shift")
        for size in (4096, 65_536)
    ]
    comparison = beside_measured(predictions, measured)
    assert [(c.bytes, c.collapses) for c in comparison.cells] == [(4096, False), (65_536, True)]
    missing = [one.algorithm for one in comparison.predictions if one.measured is None]
    assert missing == ["shift", "shift"]
    assert len(comparison.foreseeable) == 1
    first = comparison.cells[0]
    assert first.measured.record.labels["start"] == "clock"
    assert first.ratio == first.predicted_s / first.measured.median.value
    with pytest.raises(ShortfallError, match="measured nothing of what is predicted"):
        beside_measured(predictions[2:], measured)


def test_the_command_says_its_verdict_first(
    calibration: Calibration, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    costs = tmp_path / "calibration.json"
    save_calibration(costs, calibration)
    alltoall_run(tmp_path / "run", schedules=("linear",), sizes=(4096, 65_536))
    command = ["predict", "alltoall", "crossbar:16", "--calibration", str(costs), "-n", "16"]
    more = ["--algorithm", "linear,shift", "--bytes", "4K,64K", "--buffer", "200kB"]
    files = ["--measured", str(tmp_path / "run"), "--plot", str(tmp_path / "predicted.svg")]
    assert run([*command, *more, *files, "--json", str(tmp_path / "out.json")]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("With 64 KiB shift is predicted to be fastest")
    assert "In 1 cell more may pile up" in printed
    assert "Predicted and measured" in printed
    apart = "he run's ports carry 944 Mbit/s, and the prediction is for 8 Mbit/s"
    assert f"T{apart}." in " ".join(printed.split())
    found = json.loads((tmp_path / "out.json").read_text())
    assert f"t{apart}" in found["remarks"]
    cells = {(cell["algorithm"], cell["bytes"]): cell for cell in found["cells"]}
    assert cells["linear", 65_536]["collapses"]
    assert cells["linear", 4096]["ratio"] > 0
    assert "ratio" not in cells["shift", 4096]
    assert "<svg" in (tmp_path / "predicted.svg").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-n", "99"], "--ranks: expected 2 to 16"),
        (["-n", "1"], "--ranks: expected 2 to 16"),
        (["--placement", "random"], "ranks need one here"),
        (["--algorithm", "nonsense"], "expected one of linear"),
        (["-n", "6", "--algorithm", "xor"], "power of two"),
    ],
)
def test_what_does_not_fit_is_one_line(
    calibration: Calibration,
    tmp_path: Path,
    typed: Typed,
    words: list[str],
    said: str,
) -> None:
    costs = tmp_path / "calibration.json"
    save_calibration(costs, calibration)
    command = ["predict", "alltoall", "crossbar:16", "--calibration", str(costs), "--bytes", "4K"]
    error = typed(*command, *words, status=2).err
    assert said in error
    assert error.count("\n") == 1


def _one_by_one(schedule: Schedule, *, phased: bool) -> list[list[tuple[int, int, float]]]:
    """The rounds of a schedule, found operation after operation."""
    rounds: dict[int, list[tuple[int, int, float]]] = {}
    for strand, (begin, end) in enumerate(pairwise(schedule.begin.tolist())):
        number, sent = 0, False
        for operation in range(begin, end):
            action, size = schedule.action[operation], float(schedule.amount[operation])
            if action == Action.SEND and size > 0:
                source = int(schedule.rank_of_strand[strand])
                target = int(schedule.rank_of_strand[schedule.peer[operation]])
                place = int(schedule.tag[operation]) if phased else number
                rounds.setdefault(place, []).append((source, target, size))
                sent = True
            elif action in WAITS and sent:
                number, sent = number + 1, False
    return [messages for _, messages in sorted(rounds.items())]


@pytest.mark.parametrize("size", [0, 1000])
@pytest.mark.parametrize("algorithm", suited(16))
def test_rounds_are_those_found_one_by_one(algorithm: str, size: int) -> None:
    phases = phases_by_routes(load("xgft:2;4,4;1,2", need_routes=True), range(16))
    host_of = np.repeat(np.arange(4), 4) if algorithm == "hierarchical" else np.arange(16)
    exchange = Exchange(16, size, hosts=host_of.tolist(), phases=phases)
    schedule = alltoall(algorithm, exchange)
    sent = int(np.count_nonzero(schedule.action == Action.SEND))
    assert sent <= messages_of(algorithm, exchange) <= 2 * sent
    for phased in {False, algorithm in DIRECT and algorithm != "inflight"}:
        found = rounds_of(schedule, phased=phased)
        columns = [list(zip(*(column.tolist() for column in one), strict=True)) for one in found]
        assert columns == _one_by_one(schedule, phased=phased)
        assert (len(found) == 0) == (size == 0)


def test_more_messages_than_memory_are_refused(calibration: Calibration) -> None:
    where = conditions(calibration, "xgft:2;256,256;1,1")
    for algorithm in ("linear", "inflight", "hierarchical"):
        with pytest.raises(MissingError, match="65,536 ranks has 4,294,901,760 messages, which ne"):
            predict_alltoall(algorithm, Exchange(1 << 16, 1000), where)
