"""Study folders that version 0.1.0 left are shown as they were, and nothing is measured again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from contend.errors import InputError
from contend.runs import Run
from contend.study import (
    MeasuredPlan,
    Plan,
    Site,
    gather,
    read_plan,
    run_measurements,
    run_simulations,
)
from contend.study.plan import checked
from fake_hosts import LIBRARY, FakeHosts

DATA = Path(__file__).parents[1] / "data" / "first_version"


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    shutil.copytree(DATA / request.param, tmp_path / request.param)
    return tmp_path / str(request.param)


def plan_of(folder: Path) -> MeasuredPlan:
    """The plan as it last ran, in the keys of its time."""

    def without_null(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {key: value for key, value in pairs if value is not None}

    text = (folder / "plan.json").read_text()
    content = json.loads(text, object_pairs_hook=without_null)
    return checked("plan.json", content, MeasuredPlan)


@pytest.mark.parametrize("folder", ["kutzner", "mistry"], indirect=True)
def test_a_measured_study_is_shown(folder: Path) -> None:
    plan = plan_of(folder)
    place = FakeHosts()
    libraries = dict.fromkeys(plan.mpi or ("",), LIBRARY)
    ended = run_measurements(plan, folder, Site(place), libraries=libraries)
    assert place.launches == []
    kept = [json.loads(path.read_text()) for path in (folder / "cells").glob("*.json")]
    assert len(ended.records) == len(kept) == len(list(plan.cells()))
    for result in gather(ended.answers):
        assert len(result.points) == plan.launches
        if result.failure is None:
            assert result.summary is not None
            # All samples of all launches: each was a run of its own.
            assert result.summary.n == sum(point.samples + point.late for point in result.points)
            assert result.summary.numbers == tuple(range(1, plan.launches + 1))


@pytest.mark.parametrize("folder", ["mistry"], indirect=True)
def test_other_questions_are_measured_beside_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "contend.measurement.method.compile_probe", lambda probe, *_, **__: Path(probe)
    )
    plan = plan_of(folder).changed(seed=77)
    place = FakeHosts()
    libraries = dict.fromkeys(plan.mpi or ("",), LIBRARY)
    ended = run_measurements(plan, folder, Site(place), libraries=libraries)
    assert place.launches
    assert {record.library for record in ended.records} == {"Test MPI 1.0"}


@pytest.mark.parametrize("folder", ["mistry"], indirect=True)
@pytest.mark.parametrize("runs", ["../elsewhere", "/etc"])
def test_runs_elsewhere_are_refused(folder: Path, runs: str) -> None:
    path = next((folder / "cells").glob("*.json"))
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "runs": [runs]}))
    with pytest.raises(InputError, match="runs within the study's folder"):
        run_measurements(plan_of(folder), folder, Site(FakeHosts()))


@pytest.mark.parametrize("folder", ["mistry"], indirect=True)
@pytest.mark.parametrize("content", [b"", b"{}", b'{"cell": 3}', b"\xff", b"[" * 100_000])
def test_a_damaged_cell_is_named(folder: Path, content: bytes) -> None:
    next((folder / "cells").glob("*.json")).write_bytes(content)
    with pytest.raises(InputError, match="expected a cell of a measured study"):
        run_measurements(plan_of(folder), folder, Site(FakeHosts()))


@pytest.mark.parametrize("folder", ["simulated"], indirect=True)
def test_a_simulated_study_is_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = read_plan(DATA / "small.toml")
    assert isinstance(plan, Plan)
    monkeypatch.setattr("contend.study.simulated.simulate", None)
    outcomes = run_simulations(plan, folder, beside=DATA)
    assert [outcome.record.status for outcome in outcomes] == ["done"] * len(list(plan.cells()))
    assert all(outcome.path.parent == folder / "cells" for outcome in outcomes)
    means = [outcome.simulation().effective_bandwidth for outcome in outcomes]
    assert means == [o.record.averages["effective_bandwidth"].mean for o in outcomes]


@pytest.mark.parametrize("name", ["kutzner", "mistry", "verification"])
def test_runs_within_can_be_read(name: str) -> None:
    paths = list((DATA / name).rglob("run.json"))
    assert paths
    assert all(Run.load(path.parent).record.version == 1 for path in paths)
