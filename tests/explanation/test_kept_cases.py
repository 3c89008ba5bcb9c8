"""Runs that were constructed to hit a limit, kept as they were measured on two processors."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import contend
from contend.cli.app import run
from contend.explanation import Limit, Verdict
from contend.lab.emulation import identity
from contend.report.explanation import explanation_sentence, explanation_tables

KEPT = Path(__file__).parents[1] / "data" / "explained"


def verdict(name: str, start: str = "", folder: Path = KEPT) -> Verdict:
    explained = contend.explain(folder / name).cells
    (only,) = (v for v in explained if v.evidence.cell.startswith(start))
    return only


@pytest.mark.parametrize(
    ("name", "cell", "limits"),
    [
        # 16 hosts, a cable up from each leaf of four: 48 messages of 64 KiB at 50 Mbit/s.
        ("fabric", "", (Limit.FABRIC,)),
        # Two hosts and two cables up at each of eight leaves: 14 messages on a cable, 15 at a port.
        ("port-fabric", "", (Limit.FABRIC, Limit.PORT)),
        # Hosts with queues of 60 kB, into which fifteen messages of 16 KiB do not fit.
        ("host-queues", "linear, 16 KiB", (Limit.HOST_QUEUES,)),
        ("host-queues", "shift, 16 KiB", (Limit.PORT,)),
        # Switches with buffers of 60 kB, and hosts that drop nothing.
        ("time-outs", "linear, 64 KiB", (Limit.TIME_OUTS,)),
        ("time-outs", "shift, 64 KiB", (Limit.PORT,)),
        # Rank 1 was stopped for 20 ms again and again.
        ("imbalance", "", (Limit.IMBALANCE,)),
        # Ranks could map 900 MB, their arrays were 1.5 GB.
        ("memory", "", (Limit.MEMORY,)),
        ("hotspot", "stream beside 2 rivals", (Limit.FABRIC,)),
    ],
)
def test_what_was_constructed_is_said(name: str, cell: str, limits: tuple[Limit, ...]) -> None:
    assert verdict(name, cell).proven == limits


def test_of_ranks_that_are_last_equally_often_the_same_is_named() -> None:
    told = {str(contend.explain(KEPT / "host-queues").cells) for _ in range(4)}
    assert len(told) == 1


def test_the_emulated_fabric_is_made_again_from_its_name() -> None:
    bound = verdict("fabric").evidence.bound(Limit.FABRIC)
    assert bound.load == 48
    assert bound.seconds == pytest.approx(48 * 65536 / 6.25e6)
    assert len(bound.channels) == 4


@pytest.mark.parametrize("key", ["cables", "routes"])
def test_a_fabric_that_is_not_the_one_that_was_emulated_is_not_taken(
    key: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(KEPT / "fabric", tmp_path / "fabric")
    record = json.loads((folder / "run.json").read_text())
    record["question"]["place"][key] = "dmodk 0123456789ab"
    (folder / "run.json").write_text(json.dumps(record))
    explained = contend.explain(folder)
    assert explained.cells[0].evidence.bound(Limit.FABRIC) is None
    assert explained.cells[0].proven == ()
    assert "name them with --fabric" in explained.remarks[0]
    # One that is named is taken, with a remark.
    given = contend.explain(folder, fabric="xgft:2;4,4;1,1", route="dmodk")
    assert given.cells[0].proven == (Limit.FABRIC,)
    assert "with other cables or routes than" in given.remarks[0]


def test_nothing_is_said_of_channels_that_hashes_chose(tmp_path: Path) -> None:
    folder = shutil.copytree(KEPT / "fabric", tmp_path / "fabric")
    record = json.loads((folder / "run.json").read_text())
    hashed = contend.load(record["placement"].removeprefix("emulated:"), route="ecmp")
    record["question"]["place"]["routes"] = identity(hashed)["routes"]
    (folder / "run.json").write_text(json.dumps(record))
    explained = contend.explain(folder)
    assert explained.cells[0].evidence.bound(Limit.FABRIC) is None
    assert "which cables its messages shared is not known" in explained.remarks[0]


def test_remedies_repeat_the_measurement_with_what_helps() -> None:
    schedule, queue, *_ = contend.explain(KEPT / "host-queues").remedies
    place = (
        "contend measure alltoall -n 16 --on emulated:crossbar:16 --route minhop --rate 100Mbit/s "
        "--buffer 60000B"
    )
    assert schedule.command == f"{place} --host-queue 60000B --algorithm shift --bytes 16384"
    assert queue.command == f"{place} --host-queue 240000"
    assert "txqueuelen" in queue.advice
    schedule, buffer, *_ = contend.explain(KEPT / "time-outs").remedies
    assert schedule.command == f"{place} --algorithm shift --bytes 65536"
    assert buffer.command == f"{place.removesuffix(' --buffer 60000B')} --buffer 240000"


@pytest.mark.parametrize(
    "damage",
    [
        {"question": {"place": 3, "options": ["bytes"]}},
        {"question": {"type": "measured", "probe": "alltoall", "options": {}, "ranks": []}},
        {"placement": "emulated:"},
        {"wire_Bps": 1e-300},
        {"counters": {"drops": "many"}},
    ],
)
def test_damaged_records_end_in_no_traceback(
    damage: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(KEPT / "time-outs", tmp_path / "run")
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(record | damage))
    assert run(["explain", str(folder)]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err


def test_what_all_cells_share_stands_in_titles() -> None:
    """Two schedules at two sizes on 16 hosts, all between the same barriers."""
    explained = contend.explain(KEPT / "time-outs")
    cells, evidence, *_ = explanation_tables(explained)
    on = "16 ranks on 16 hosts, start barrier"
    assert (cells.title, evidence.title) == (f"{explained.name}, {on}", f"Evidence, {on}")
    assert {row[0] for row in cells.rows} == {
        f"{schedule}, {size} KiB" for schedule in ("linear", "shift") for size in (16, 64)
    }
    assert "(start barrier)" not in explanation_sentence(explained)
    assert all(on in verdict.evidence.cell for verdict in explained.cells)
