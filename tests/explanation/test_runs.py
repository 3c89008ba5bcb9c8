"""Runs: those with samples that a test chooses, and kept ones."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import contend
from contend.base.errors import UsageError
from contend.explanation import Explanation, Limit, Verdict
from contend.lab.runs import LaunchRecord, PointError, Run, RunRecord, write_record
from measured_runs import COLLAPSED, alltoall_run
from sample_files import Launch

KEPT = Path(__file__).parents[1] / "data" / "kept"
WIRE = 1e6


def run_of(
    folder: Path,
    cells: dict[tuple[str, int], Any],
    *,
    hosts: list[str] | None = None,
    late: dict[tuple[str, int], list[int]] | None = None,
    oversubscribed: bool = False,
    **changes: Any,
) -> Run:
    """A run of an all-to-all with these results, by schedule and size; a rank on every host."""
    hosts = ["n0", "n1", "n2", "n3"] if hosts is None else hosts
    settings: dict[str, Any] = {"probe": "alltoall", "wire_Bps": WIRE}
    ranks = len(hosts)
    record = RunRecord(**{**settings, **changes}, launches=(LaunchRecord(0, ranks),))
    run = Run.create(folder, record)
    launch = Launch(ranks, hosts=hosts, oversubscribed=oversubscribed)
    for (schedule, size), results in cells.items():
        launch.cell(
            np.asarray(results),
            late=(late or {}).get((schedule, size), ()),
            algorithm=schedule,
            bytes=size,
            counts="even",
        )
    launch.write(run.raw_path(0))
    return run.fold()


def around(seconds: float, count: int = 12) -> np.ndarray:
    return seconds * np.linspace(0.99, 1.01, count)


def verdict(explained: Explanation, start: str) -> Verdict:
    (only,) = (v for v in explained.cells if v.evidence.cell.startswith(start))
    return only


def test_port_overhead_and_what_lies_between(tmp_path: Path) -> None:
    # 10 ms and three messages at 1 MB/s: 1 byte, 4 kB (12 ms), 8 kB (24 ms), 64 kB (192 ms).
    sizes = (1, 4000, 8000, 64000)
    cells = {("shift", size): around(0.01 + 3 * size / WIRE) for size in sizes}
    explained = contend.explain(run_of(tmp_path / "run", cells))
    limits = {v.evidence.bytes: v.proven for v in explained.cells}
    assert limits == {
        1: (Limit.OVERHEAD,),
        # 22 ms: half is the port, and a little less than half the overhead.
        4000: (Limit.PORT,),
        8000: (Limit.PORT,),
        64000: (Limit.PORT,),
    }
    assert verdict(explained, "shift, 62.5 KiB").limits[0].ratio == pytest.approx(202 / 192, 0.01)


def test_overhead_is_shared_processors_where_ranks_share_them(tmp_path: Path) -> None:
    cells = {("shift", size): around(0.01) for size in (1, 16, 64)}
    explained = contend.explain(run_of(tmp_path / "run", cells, oversubscribed=True))
    assert {v.proven for v in explained.cells} == {(Limit.PROCESSORS,)}
    # Four ranks on hosts of two processors each: the launch says itself that they are shared.
    assert "ranks on a processor" in explained.cells[0].limits[0].why


def test_the_tree_of_a_given_fabric_is_named(tmp_path: Path) -> None:
    fabric = contend.load("xgft:2;4,4;1,1", route="dmodk")
    # 48 messages of 1 kB over one cable take 48 ms, 15 through a port 15 ms.
    run = run_of(tmp_path / "run", {("linear", 1000): around(0.05)}, hosts=list(fabric.host_name))
    explained = contend.explain(run, fabric=fabric)
    assert explained.cells[0].proven == (Limit.FABRIC,)
    bound = explained.cells[0].limits[0].bound
    assert bound.load == 48
    assert 'switch "leaf 1" port 5 -> switch "top 1" port 1' in bound.channels
    assert explained.remedies[0].limit is Limit.FABRIC
    # Without the fabric nothing is known of its cables.
    assert contend.explain(run).cells[0].proven == ()
    # What tune makes a rule of is told here too: the same cables are used better.
    both = {("linear", 1000): around(0.09), ("shift", 1000): around(0.05)}
    run = run_of(tmp_path / "both", both, hosts=list(fabric.host_name))
    (first, *_) = contend.explain(run, fabric=fabric).remedies
    assert (first.limit, first.saves_s) == (Limit.FABRIC, pytest.approx(0.04))
    assert first.advice.startswith("Shift was 1.8 times faster than linear")


def test_a_better_engine_is_the_remedy(tmp_path: Path) -> None:
    good = contend.load("xgft:2;4,4;1,4", route="dmodk")
    # All destinations by the first top switch: 48 messages over one cable.
    ports = good.routes.ports.copy()
    leaves = np.unique(good.host_switch)
    for leaf in leaves:
        away = good.host_lid[good.host_switch != leaf]
        ports[leaf, away] = 5
    bad = good.replace(routes=contend.ForwardingTables(ports, engine=""))
    run = run_of(tmp_path / "run", {("linear", 1000): around(0.05)}, hosts=list(good.host_name))
    (remedy,) = contend.explain(run, fabric=bad).remedies
    assert "carry 12 messages" in remedy.advice
    assert "instead of 48" in remedy.advice
    assert "--route dmodk" in remedy.command
    # Switches of Ethernet take no tables.
    (remedy,) = contend.explain(run, fabric=bad.replace(rates=("", "100GbE"))).remedies
    assert remedy.advice.startswith("Hosts under fewer leaves, or more cables beside switch")


def test_collapses_of_2005_are_time_outs_and_what_avoids_them_is_named(tmp_path: Path) -> None:
    explained = contend.explain(alltoall_run(tmp_path / "run"))
    stalled = {
        (v.evidence.schedule, v.evidence.bytes)
        for v in explained.cells
        if Limit.TIME_OUTS in v.proven
    }
    assert stalled == {(name, size) for name in ("library", "linear") for size in COLLAPSED}
    (remedy, *_) = explained.remedies
    assert remedy.limit is Limit.TIME_OUTS
    assert "--algorithm pairwise" in remedy.command
    # From 64 KiB on all others wait for the port.
    assert verdict(explained, "pairwise, 1 MiB").proven == (Limit.PORT,)


def test_a_rank_that_enters_late_is_imbalance(tmp_path: Path) -> None:
    # The last rank enters 20 ms into every sample of 100 ms: no limit; half of it is one.
    run = run_of(tmp_path / "run", {("linear", 1): around(0.1)}, late={("linear", 1): [*range(12)]})
    (only,) = contend.explain(run).cells
    bound = only.evidence.bound(Limit.IMBALANCE)
    assert only.evidence.ratio(bound) == pytest.approx(5, 0.01)
    assert "rank 3 on n3 in 100 % of samples" in bound.of
    assert only.proven == ()


def test_failures_of_memory_are_memory(tmp_path: Path) -> None:
    errors = (
        PointError("memory", "the data need 4 GiB", None, "linear", 1 << 20),
        PointError("crash", "a rank crashed", None, "linear", 1 << 21),
        PointError("unsuited", "not for 3 ranks", None, "xor", 1 << 20),
    )
    run = run_of(tmp_path / "run", {("linear", 64): around(1e-3)}, errors=errors)
    explained = contend.explain(run.folder)
    failed = [v for v in explained.cells if v.evidence.failed]
    assert [v.proven for v in failed] == [(Limit.MEMORY,), ()]


def test_memory_is_what_contend_predicts_against_what_the_host_has(tmp_path: Path) -> None:
    # Two arrays of p blocks on each of four ranks of a host: 2 · 4 · 4 · 1000 bytes.
    run = run_of(tmp_path / "run", {("shift", 1000): around(1.0)}, hosts=["n0"] * 4)
    (only,) = contend.explain(run, memory=64_000).cells
    assert only.evidence.memory.needed == 32_000
    assert only.evidence.memory.share == 0.5
    assert contend.explain(run).cells[0].evidence.memory is None
    # It counts where the run itself knows it.
    write_record(run.folder / "run.json", RunRecord(**{**_fields(run.record), "memory": 40_000}))
    kept = contend.explain(run.folder).cells[0].evidence.memory
    assert kept.share == 0.8


def _fields(record: RunRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__}


def test_a_wire_that_is_not_known_is_asked_for(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", {("shift", 1000): around(1.0)}, wire_Bps=None)
    explained = contend.explain(run)
    assert explained.remarks == ("The rate of the hosts' ports is not known: give it with --wire.",)
    # Three messages at 8 kbit/s take 3 s: twice as fast as that disproves the wire.
    assert contend.explain(run, wire="8kbit/s").cells[0].proven == ()
    assert contend.explain(run, wire="32kbit/s").cells[0].proven == (Limit.PORT,)


def test_a_kept_emulation_knows_its_fabric(tmp_path: Path) -> None:
    explained = contend.explain(KEPT / "hotspot")
    assert explained.remarks == ()
    beside = verdict(explained, "stream beside 1 rival, 64 KiB")
    # Two pairs of 16 times 64 KiB at 20 MB/s: 104.9 ms, and it took 111.4.
    assert beside.proven == (Limit.FABRIC,)
    assert beside.limits[0].ratio == pytest.approx(1.062, abs=0.0005)
    assert beside.limits[0].bound is not None
    assert beside.limits[0].bound.channels == ('switch "leaf 1" port 5 -> switch "top 1" port 1',)
    # Whose question is not kept asks for it.
    folder = Path(shutil.copytree(KEPT / "hotspot", tmp_path / "run"))
    record = Run.load(folder).record
    write_record(folder / "run.json", msgspec.structs.replace(record, question={}))
    asking = contend.explain(folder)
    assert "name them with --fabric" in asking.remarks[0]
    assert verdict(asking, "stream beside 1 rival, 64 KiB").proven == (Limit.FABRIC,)


def test_bisect_patterns_of_a_kept_emulation() -> None:
    (only,) = contend.explain(KEPT / "bisect-emulated", fabric="fig1").cells
    port = only.evidence.bound(Limit.PORT)
    # Five packets of 20 KiB at 12.5 MB/s.
    assert port.seconds == pytest.approx(5 * 20480 / 12.5e6)
    assert only.proven == (Limit.PORT,)


@pytest.mark.parametrize("name", ["alltoall", "sort", "pingpong", "bisect", "two-libraries"])
def test_kept_runs_of_one_host_name_no_network(name: str) -> None:
    explained = contend.explain(KEPT / name)
    assert explained.cells
    for verdict in explained.cells:
        assert not {Limit.PORT, Limit.FABRIC, Limit.TIME_OUTS} & set(verdict.proven)
        assert verdict.evidence.network_s == 0


def test_routes_need_a_fabric_and_a_run_a_place(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="routes belong to a fabric"):
        contend.explain(KEPT / "sort", route="minhop")
    with pytest.raises(UsageError, match="no run is here"):
        contend.explain(tmp_path)


def test_what_was_not_measured_is_refused(tmp_path: Path) -> None:
    simulated = Run.create(tmp_path / "run", RunRecord("simulate"))
    with pytest.raises(UsageError, match="expected a measured run, got one of simulate"):
        contend.explain(simulated)


def test_a_run_that_no_launch_could_begin_tells_why(tmp_path: Path) -> None:
    question = {"type": "measured", "probe": "sort", "options": {}, "ranks": [8]}
    errors = (PointError("memory", "the arrays need 30 GiB"),)
    run = Run.create(tmp_path / "run", RunRecord("sort", question=question, errors=errors))
    (only,) = contend.explain(run).cells
    assert only.proven == (Limit.MEMORY,)
    assert only.evidence.ranks == 8
