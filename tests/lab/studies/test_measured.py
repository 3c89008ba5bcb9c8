"""Measured studies over the engine: what is asked of hosts, refused, and stands beside what."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contend.base.errors import InputError
from contend.lab.studies import (
    Answer,
    MeasuredPlan,
    MeasuredStudy,
    Result,
    read_plan,
    run_measurements,
)
from fake_hosts import LIBRARY, FakeHosts


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "contend.lab.measurement.method.compile_probe",
        lambda probe, *_, **__: Path("/nowhere", probe),
    )


@pytest.fixture
def plan(grid_file: Path) -> MeasuredPlan:
    return read_plan(grid_file)


def go(plan: MeasuredPlan, place: FakeHosts | None = None, **options: Any) -> MeasuredStudy:
    libraries = dict.fromkeys(("", "a", "b"), LIBRARY)
    folder = Path(options.pop("out", "run"))
    return run_measurements(plan, folder, place or FakeHosts(), libraries=libraries, **options)


def answer_of(ended: MeasuredStudy, measure: str, *, each: int = 2) -> Answer:
    return next(
        answer
        for answer in ended.cells
        if (answer.cell.measure, answer.cell.ranks_per_host) == (measure, each)
    )


def has_failed(ended: MeasuredStudy) -> bool:
    return any(answer.failed for answer in ended.cells)


def sweep(plan: MeasuredPlan, **changes: Any) -> MeasuredPlan:
    return plan.changed(only=("sweep",), ranks_per_host=(1,), **changes)


def failure_of(ended: MeasuredStudy) -> tuple[tuple[str, str], list[Result]]:
    """Cause and reason of the only failure of the only cell, and its points."""
    (answer,) = ended.cells
    (failure,) = answer.failures(0).items()
    return failure


def result_of(results: list[Result], algorithm: str, size: int) -> Result:
    return next(r for r in results if (r.place.algorithm, r.place.bytes) == (algorithm, size))


def test_all_cells_end_in_the_plans_order(plan: MeasuredPlan) -> None:
    place = FakeHosts()
    ended = go(plan, place)
    assert [answer.cell for answer in ended.cells] == list(plan.cells())
    assert not has_failed(ended)
    assert ended.left == ()
    # m = 8 and m = 8N are the same on one host, and measured once.
    assert len(place.launches) == 5
    answer = answer_of(ended, "sweep", each=1)
    assert answer.library == "Test MPI 1.0"
    assert answer.seats == "4 groups of 1 rank on one host"
    assert answer.one_host
    folder = answer.measured.folder
    assert folder.parent == Path("run/runs")
    assert (folder / "samples.parquet").is_file()


def test_a_cell_of_many_launches_is_one_run(plan: MeasuredPlan) -> None:
    """Launch n takes n ms: all of them are in the figures of the point, and each has its own."""
    place = FakeHosts(seconds=lambda asked: 1e-3 * len(place.launches))
    ended = go(sweep(plan, launches=3), place)
    assert len(list(Path("run/runs").iterdir())) == 1
    assert [answer.launches for answer in ended.cells] == [(0, 1, 2)]
    result = result_of(ended.results, "shift", 1024)
    assert result.failures == (None, None, None)
    medians = map(np.median, result.summary.by_launch.values())
    assert [round(1e3 * float(median)) for median in medians] == [1, 2, 3]
    assert tuple(result.summary.by_launch) == (0, 1, 2)
    assert result.summary.used == 18
    assert result.rate == pytest.approx(3 * 1024 / (result.median_s or 0))


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 2},
        {"precision": 0.1},
        {"repetitions": (6, 7)},
        {"verify": True},
        {"bytes": ("64",)},
        {"mpi": ("a",)},
        {"wire": "2Gbit/s"},
    ],
)
def test_no_condition_shows_the_results_of_another(
    changes: dict[str, Any], plan: MeasuredPlan
) -> None:
    """Each of them decides figures, so each is part of the question."""
    slow, fast = FakeHosts(seconds=lambda asked: 1.0), FakeHosts(seconds=lambda asked: 1e-3)
    go(sweep(plan), slow)
    ended = go(sweep(plan).changed(**changes), fast)
    assert len(fast.launches) == 1
    assert all((result.median_s or 1) < 0.1 for result in ended.results)
    again = go(sweep(plan), fast)
    assert len(fast.launches) == 1
    assert all((result.median_s or 0) >= 1 for result in again.results)


@pytest.mark.parametrize(
    "asked",
    [
        {"fabric": "fig1", "rate": "10 Mbit/s", "buffer": "200000 B"},
        {"fabric": "fig1", "rate": "100 Mbit/s", "buffer": "1000 B"},
        {"fabric": "fig1", "rate": "100 Mbit/s", "buffer": "200000 B", "routes": "minhop"},
    ],
)
def test_no_network_shows_the_results_of_another(asked: dict[str, str], plan: MeasuredPlan) -> None:
    first = {"fabric": "fig1", "rate": "100 Mbit/s", "buffer": "200000 B"}
    hosts = [(f"n{number}", 1) for number in range(4)]
    before, now = FakeHosts(slots=hosts, asked=first), FakeHosts(slots=hosts, asked=asked)
    go(sweep(plan), before)
    go(sweep(plan), now)
    assert len(now.launches) == 1
    go(sweep(plan), before)
    assert len(before.launches) == 1


def test_a_study_goes_on_though_the_machine_carries_less_now(plan: MeasuredPlan) -> None:
    """A rate that the machine's load has lowered is a condition of the result alone."""
    hosts = [(f"n{number}", 1) for number in range(4)]
    asked = {"fabric": "fig1", "rate": "100 Mbit/s"}
    idle = FakeHosts(slots=hosts, asked=asked, wire=12.5e6, described="100 Mbit/s a cable")
    busy = dataclasses.replace(idle, wire=5e6, described="40 Mbit/s a cable", launches=[])
    go(sweep(plan), idle)
    ended = go(sweep(plan, launches=2), busy)
    assert len(busy.launches) == 1
    assert [answer.launches for answer in ended.cells] == [(0, 1)]


def test_other_labels_stand_beside_the_first(plan: MeasuredPlan) -> None:
    go(plan)
    ended = go(plan.changed(label=("flow control=off",)))
    assert len(ended.cells) == 12
    conditions = [answer.cell.conditions for answer in ended.cells[:2]]
    assert conditions == ["flow control off", "flow control on"]


def test_only_sizes_that_do_not_fit_are_refused(plan: MeasuredPlan) -> None:
    """4 ranks hold 2 · 4 · 4 KiB each: 128 KiB; of 2 KiB 64 KiB."""
    place = FakeHosts(free=100_000)
    ((cause, said), refused) = failure_of(go(sweep(plan), place))
    assert [result.place.bytes for result in refused] == [4096, 4096]
    assert cause == "memory"
    assert "131,072 bytes" in said
    assert {size for _, size in place.launches[0].points} == {16, 1024, 2048}


def test_what_cannot_fit_at_all_is_never_launched(plan: MeasuredPlan) -> None:
    """n = 64 vectors of 8 doubles, two arrays: 8 KiB; of 16 doubles, on two hosts, 16 KiB."""
    place = FakeHosts(free=10_000)
    ended = go(plan.changed(only=("sort",)), place)
    causes = {
        (answer.cell.hosts, str(answer.cell.length)): [cause for cause, _ in answer.failures(0)]
        for answer in ended.cells
    }
    assert causes == {(1, "8"): [], (1, "8N"): [], (2, "8"): [], (2, "8N"): ["memory"]}
    assert "16" not in {asked.options["m"] for asked in place.launches}


def test_hosts_of_a_cluster_are_compared_by_themselves(plan: MeasuredPlan) -> None:
    place = FakeHosts(slots=[(f"n{number}", 2) for number in range(4)], free=10_000)
    ended = go(plan.changed(only=("sort",)), place)
    assert not has_failed(ended)
    assert ended.cells[0].seats == "1 host of 2 ranks"
    assert not ended.cells[0].one_host


def test_not_enough_hosts(plan: MeasuredPlan) -> None:
    place = FakeHosts(slots=[("n0", 1), ("n1", 1), ("n2", 1)])
    ((cause, _), _) = failure_of(go(sweep(plan), place))
    assert cause == "hosts"
    assert place.launches == []


def test_a_spoilt_run_is_named(plan: MeasuredPlan) -> None:
    go(sweep(plan))
    (path,) = Path("run/runs").glob("*/run.json")
    record = json.loads(path.read_text())
    record["question"] = {"type": "measured", "probe": 3}
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match=r"run\.json: expected what was asked of a run"):
        go(sweep(plan, seed=2))


def test_limits_of_one_host_are_said(plan: MeasuredPlan) -> None:
    ended = go(plan)
    assert all(
        any("no network is measured" in text for text in answer.warnings)
        for answer in ended.cells
        if answer.cell.ranks > 1
    )
    hosts = FakeHosts(slots=[(f"n{number}", 2) for number in range(4)])
    texts = [text for answer in go(plan, hosts, out="hosts").cells for text in answer.warnings]
    assert not any("no network is measured" in text for text in texts)
