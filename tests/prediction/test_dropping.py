"""Where time-outs begin in all-to-alls over TCP, beside emulated fabrics and a published sweep."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import contend
from contend.base.errors import UsageError
from contend.prediction import TcpPrediction, TcpState
from contend.routes import load
from typed_commands import Typed

EMULATED = Path(__file__).parents[2] / "docs/evidence/collapse/cases.csv"


def cells(
    fabric: str, algorithms: str, sizes: str, route: str | None = None, **given: Any
) -> list[TcpPrediction]:
    found = contend.predict_tcp(
        load(fabric, route=route, need_routes=True),
        algorithms=algorithms,
        bytes=sizes,
        **{"rate": "1Gbit/s", **given},
    )
    return list(found.cells)


def test_32_hosts_of_one_switch_collapse_from_32_kib_on() -> None:
    # Kutzner 2005's sweep: 47 MB/s at 16 KiB and 4.4 at 32; emulated the same.
    given = {"buffer": "128KiB"}
    small, large = cells("crossbar:32", "linear", "16K,32K", **given)
    assert (small.state, small.drops.total) == (TcpState.HEALTHY, 0)
    assert large.state == TcpState.COLLAPSES
    assert large.drops.before_hosts == large.drops.total > 0
    assert large.first_drop.place == "before_hosts"
    assert large.interval_s[1] > 0.2
    for phased in cells("crossbar:32", "shift-barrier", "16K,32K,64K", **given):
        assert (phased.state, phased.drops.total) == (TcpState.HEALTHY, 0)


def test_the_buffer_that_is_enough_is_and_half_of_it_is_not() -> None:
    (cell,) = cells("crossbar:32", "linear", "32K", buffer="128KiB")
    assert cell.enough_buffer is not None
    (half,) = cells("crossbar:32", "linear", "32K", buffer=cell.enough_buffer // 2)
    (whole,) = cells("crossbar:32", "linear", "32K", buffer=cell.enough_buffer)
    assert half.timed_out > 0
    assert whole.timed_out == 0


def test_full_queues_of_hosts_cost_time_outs_and_a_linux_host_has_none() -> None:
    # Emulated, three calls each: 122 and 899 drops, all in hosts, 274 and 275 ms; with 1,000
    # packets no drop.
    given = {"rate": "100Mbit/s", "buffer": "200kB"}
    for cell in cells("fig1", "linear", "16K,32K", host_queue="200kB", **given):
        assert cell.state == TcpState.COLLAPSES
        assert cell.drops.in_hosts == cell.drops.total > 0
        assert cell.first_drop.place == "in_hosts"
        assert cell.interval_s[1] > 0.2
        assert cell.enough_buffer is None
    for cell in cells("fig1", "linear", "16K,32K", **given):
        assert (cell.state, cell.drops.total) == (TcpState.HEALTHY, 0)


def test_time_outs_begin_where_they_do_on_emulated_switches() -> None:
    """The first size with a call above 200 ms, by hosts and buffer: within a factor of two."""
    with EMULATED.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["eager_KiB"] == "64"]
    keys = ("hosts", "ranks_per_host", "buffer_KiB")
    for hosts, each, buffer in sorted({tuple(row[key] for key in keys) for row in rows}):
        case = [row for row in rows if tuple(row[key] for key in keys) == (hosts, each, buffer)]
        sizes = [int(row["block_KiB"]) for row in case]
        measured = min(int(r["block_KiB"]) for r in case if float(r["linear_slowest_ms"]) > 200)
        found = cells(
            f"crossbar:{hosts}",
            "linear",
            ",".join(f"{size}K" for size in sizes),
            buffer=f"{buffer}KiB",
            ranks_per_host=int(each),
        )
        foreseen = min(cell.bytes >> 10 for cell in found if cell.timed_out)
        assert 0.5 <= foreseen / measured <= 2
        assert all(cell.drops.before_hosts == cell.drops.total for cell in found)


@pytest.mark.parametrize(
    ("hosts", "first"),
    [
        (4, {64: 256, 128: None}),
        (8, {64: 64, 128: 256}),
        (16, {64: 32, 128: 64, 256: 256}),
    ],
)
def test_time_outs_begin_before_calls_collapse(hosts: int, first: dict[int, int | None]) -> None:
    """The first size in KiB that collapses by an independent prototype, by KiB of buffer.

    There calls collapse at most two sizes after the first one that waits for a time-out.
    """
    for buffer, size in first.items():
        found = cells(f"crossbar:{hosts}", "linear", "16K:256K", buffer=f"{buffer}KiB")
        begins = next((cell.bytes >> 10 for cell in found if cell.timed_out), None)
        if size is None:
            assert begins is None
        else:
            assert begins <= size <= 4 * begins


def test_queues_that_share_a_memory_take_what_others_leave() -> None:
    # One receiver's queue may have half of it, so that 256 KiB are as 128 KiB of its own.
    (own,) = cells("crossbar:32", "linear", "32K", buffer="128KiB")
    (little,) = cells("crossbar:32", "linear", "32K", shared_buffer="256KiB")
    (much,) = cells("crossbar:32", "linear", "32K", shared_buffer="64MiB")
    assert little.drops.total >= own.drops.total > 0
    assert little.fullest_queue <= 128 << 10
    assert much.drops.total == 0


def test_drops_between_switches_are_told_apart() -> None:
    # Four hosts a leaf share one cable up: its queue fills first.
    (cell,) = cells("xgft:2;4,4;1,1", "linear", "64K", buffer="64KiB")
    assert cell.drops.between_switches > cell.drops.before_hosts
    assert cell.first_drop.place == "between_switches"


def test_hashed_connections_meet_where_tables_keep_shifts_apart() -> None:
    """By d-mod-k no two messages of a shift share a cable; hashed, some do, in every phase."""
    given = {"buffer": "32KiB"}
    (apart,) = cells("xgft:2;8,4;1,8", "shift-barrier", "64K", route="dmodk", **given)
    assert (apart.state, apart.drops.total) == (TcpState.HEALTHY, 0)
    (hashed,) = cells("xgft:2;8,4;1,8", "shift-barrier", "64K", route="ecmp", **given)
    assert hashed.drops.between_switches > 0
    assert hashed.timed_out > 0
    # Where there is one way only, it is drawn.
    one_way = [
        cells("xgft:2;4,4;1,1", "linear", "64K", route=engine, **given)
        for engine in ("minhop", "ecmp")
    ]
    assert one_way[0] == one_way[1]
    every = {cell.algorithm for cell in cells("xgft:2;4,2;1,2", "all", "4K", route="ecmp", **given)}
    assert {"library", "linear", "shift"} <= every
    assert not any(name.startswith("routed") for name in every)


def test_what_the_library_chooses_is_as_where_it_is_asked_for() -> None:
    found = cells("crossbar:16", "library,linear,shift", "16K,64K", buffer="64KiB")
    assert [(cell.algorithm, cell.bytes >> 10) for cell in found] == [
        (name, size) for name in ("library", "linear", "shift") for size in (16, 64)
    ]
    assert found[3].state != TcpState.HEALTHY
    assert found[3].enough_buffer is not None
    for chosen, asked in zip(found[:2], found[2:4], strict=True):
        assert chosen.carried_out == "linear"
        assert replace(chosen, algorithm="linear") == asked
    # Each by itself finds the same.
    assert [found[3]] == cells("crossbar:16", "linear", "64K", buffer="64KiB")


def test_the_verdict_names_size_place_and_what_helps(typed: Typed) -> None:
    line, *_ = typed(
        "predict alltoall crossbar:32 --model tcp --rate 1Gbit --buffer 128KiB --bytes 32K "
        "-a linear,shift-barrier"
    ).out.splitlines()
    assert line.startswith("linear collapses from 32 KiB on over crossbar:32 at 1 Gbit/s:")
    assert "a switch's queue for a receiving host" in line
    assert "shift-barrier stays healthy" in line


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "give buffer"),
        ({"buffer": "1KiB"}, "a buffer of at least 1538 bytes, got 1024"),
        ({"buffer": "1MiB", "shared_buffer": "1MiB"}, "give one"),
        ({"buffer": "1MiB", "rto_min": 0.0}, "expected a time above 0"),
        ({"buffer": "1MiB", "host_queue": "1KiB"}, "a host's queue of at least 15380 bytes"),
    ],
)
def test_queues_that_make_no_sense_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        cells("crossbar:4", "linear", "4K", **given)


def test_options_of_tcp_go_with_its_model(typed: Typed) -> None:
    refused = typed("predict alltoall fig1 --host-queue 200kB", status=2)
    assert "--host-queue goes with --model tcp" in refused.err
