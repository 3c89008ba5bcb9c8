"""All-to-alls carried out packet by packet, where queues lose none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import contend
from contend.base.errors import UsageError
from contend.cli.app import run
from contend.congestion import PacketModel, Queues, carry_schedule
from contend.prediction import PacketPrediction, PacketPredictions
from contend.prediction.calibration import COPY_PER_BYTE
from contend.routes import load
from contend.traffic.schedule import Exchange, alltoall

RATE = 12.5e9
Cell: TypeAlias = Sequence[PacketPrediction]
OVERHEAD = 0.3e-6
# Of a switch, a cable and a word; on the last cable nobody waits for anything.
LATENCY = 130e-9 + 20e-9 + 2 * 64 / 12.5e9


def cells(fabric: str, algorithms: str, sizes: str, **given: Any) -> list[Cell]:
    found = contend.predict_packets(
        load(fabric, route=given.pop("route", "minhop"), need_routes=True),
        algorithms=algorithms,
        bytes=sizes,
        **{"rate": "100Gbit/s", **given},
    )
    return by_schedule(found)


def by_schedule(found: PacketPredictions) -> list[Cell]:
    """What becomes of every schedule, by kind of queues."""
    kinds = len({each.queues for each in found.cells})
    return [found.cells[at : at + kinds] for at in range(0, len(found.cells), kinds)]


def seconds(cell: Cell) -> list[float]:
    return [each.predicted_s or 0.0 for each in cell]


@pytest.mark.parametrize("size", [32 << 10, 1 << 20])
def test_one_switch_gives_ports_whole_and_barriers_cost_their_own_time(size: int) -> None:
    ranks = 16
    plain, apart = cells(f"crossbar:{ranks}", "shift,shift-barrier", f"{size}")
    bound = (ranks - 1) * size / RATE
    for each in plain:
        assert each.predicted_s is not None
        # A rank copies its own block before it sends, and of a large one asks in every phase.
        beside = each.predicted_s - COPY_PER_BYTE * size - bound
        words = 1 if size < 64 << 10 else 3
        assert beside == pytest.approx(15 * (OVERHEAD + words * LATENCY), rel=0.05)
        assert each.share == pytest.approx(bound / each.predicted_s)
        assert each.blocked_channel is None
    # Between 15 phases 14 barriers of four words each, which packets hardly delay.
    fewest = 14 * 4 * (OVERHEAD + LATENCY)
    for with_barriers, without in zip(seconds(apart), seconds(plain), strict=True):
        assert with_barriers - without == pytest.approx(fewest, rel=0.05)


def test_barriers_keep_phases_of_routed_messages_from_meeting() -> None:
    fabric = load("demo/elbe.ibnetdiscover", routes="demo/elbe.lfts", need_routes=True)
    found = contend.predict_packets(fabric, algorithms="routed,routed-barrier", bytes="256K")
    plain, apart = by_schedule(found)
    assert max(seconds(apart)) < 0.9 * min(seconds(plain))
    assert all(each.blocked_share == 0 for each in apart)
    assert all(each.fullest_share > 0.85 for each in apart)


def test_an_all_to_all_at_once_is_as_counted_with_queues_for_every_way_out() -> None:
    fabric = load("demo/elbe.ibnetdiscover", routes="demo/elbe.lfts", need_routes=True)
    cell = contend.predict_packets(fabric, algorithms="linear", bytes="256K").cells
    counted = contend.simulate(fabric, "alltoall", placement="linear").judged_share
    fifo, voq = (each.share for each in cell)
    assert fifo is not None
    assert voq == pytest.approx(counted, abs=0.02)
    assert fifo < counted - 0.05


def test_starts_that_are_drawn_spread_and_cost_time() -> None:
    at_once, little, much = cells("crossbar:8", "linear", "64K", skew="0,20us,200us")
    assert [cell[0].skew_s for cell in (at_once, little, much)] == [0, 20e-6, 200e-6]
    assert at_once[0].interval_s == (seconds(at_once)[0],) * 2
    low, high = little[0].interval_s or (0.0, 0.0)
    assert seconds(at_once)[0] < low < seconds(little)[0] < high < seconds(much)[0]
    # Whoever begins last has all of its own still to send.
    assert min(seconds(much)) > 150e-6 + 7 * (64 << 10) / RATE


def test_a_ring_locks_up(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    told = ["--bytes", "256K", "-a", "shift", "--queues", "fifo", "--json", str(out)]
    assert run(["predict", "alltoall", "ring:8", "--route", "minhop", "--model", "packets", *told])
    printed = capsys.readouterr()
    assert printed.out.startswith("ring:8 locks up: no end comes of shift.")
    assert "8 channels wait for each other" in printed.err
    (queued,) = json.loads(out.read_text())["cells"]
    assert len(queued["circle"]) == 8
    assert queued["predicted_s"] is None
    assert queued["share"] is None


@pytest.mark.parametrize(
    ("fabric", "engine"),
    [
        ("xgft:2;4,4;1,4", "ecmp"),
        ("xgft:2;4,4;1,4", "spray"),
        ("xgft:2;4,4;1,4", "adaptive"),
        ("dragonfly:2,4,2", "valiant"),
        ("dragonfly:2,4,2", "ugal"),
    ],
)
def test_every_kind_of_routes_carries_all(fabric: str, engine: str) -> None:
    (cell,) = cells(fabric, "linear", "16K", route=engine)
    assert all(0.2 < (each.share or 0) < 1 for each in cell)


def test_blocks_are_cut_into_equal_packets() -> None:
    (cell,) = cells("crossbar:4", "linear", "5000")
    assert cell[0].packet_bytes == 2500
    (cell,) = cells("crossbar:4", "linear", "100")
    assert cell[0].packet_bytes == 100


def test_the_same_again_and_on_any_queues_alone() -> None:
    fabric = load("xgft:2;4,4;1,2", route="minhop", need_routes=True)
    schedule = alltoall("linear", Exchange(16, 1 << 16))

    carried = [
        carry_schedule(
            fabric,
            schedule,
            range(16),
            PacketModel.of(queues),
            np.full(fabric.channels, RATE),
            starts=np.zeros((1, 16)),
            eager=1 << 16,
        )
        for queues in (list(Queues), ["fifo"], ["voq"])
    ]
    both, fifo, voq = ([one.seconds.tolist() for one in each] for each in carried)
    assert both == [*fifo, *voq]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"skew": "-1us"}, "expected a time such as"),
        ({"skew": -1.0}, "expected no time below 0"),
        ({"buffer": "1KiB"}, "expected room for a packet"),
        ({"queues": ["lifo"]}, "expected fifo or voq"),
    ],
)
def test_what_does_not_fit(given: dict[str, Any], error: str) -> None:
    with pytest.raises(UsageError, match=error):
        cells("crossbar:4", "linear", "4K", **given)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--skew", "1us"], "--skew goes with --model packets"),
        (["--mtu", "4KiB", "--model", "tcp"], "--mtu goes with --model packets"),
        (["--rto-min", "1s", "--model", "packets"], "--rto-min goes with --model tcp"),
        (["--model", "packets", "--measured", "."], "--measured goes with --model times"),
        (["--model", "packets", "--skew", "soon"], "--skew: expected a time"),
    ],
)
def test_options_of_other_models(
    options: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["predict", "alltoall", "crossbar:4", "--route", "minhop", *options]) == 2
    assert error in capsys.readouterr().err
