"""The checks on real fabrics with tables that a real subnet manager computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from contend.fabric import Fabric, Status, bisection, structure
from contend.loading import load
from contend.routes import check


def _load(folder: Path, which: str) -> Fabric:
    return load(
        str(folder / f"selene.{which}.ibnetdiscover.xz"),
        routes=str(folder / f"selene.{which}.minhop.opensm-lfts.xz"),
    )


def test_compute_fabric(shared_data: Path) -> None:
    fabric = _load(shared_data, "compute")
    found = structure(fabric)
    # Servers with eight adapters; a chain of two management switches above the top level.
    assert found.hosts_per_server == {1: 11, 8: 458}
    assert [level.switches for level in found.levels] == [203, 321, 140]
    assert found.idle_switches == 2
    assert bisection(fabric).share == pytest.approx(0.996, abs=0.005)
    report = check(fabric)
    status = {item.name: item.status for item in report.checks}
    assert report.passed
    assert report.routes is not None
    assert report.routes.delivered == 3675 * 3674
    # minhop does not care for deadlock, and here it would need to.
    assert status["deadlock"] == Status.WARNING
    assert not check(fabric, lanes=False).passed


def test_storage_fabric(shared_data: Path) -> None:
    fabric = _load(shared_data, "storage")
    assert structure(fabric).hosts_per_server == {1: 11, 2: 618}
    report = check(fabric)
    status = {item.name: item.status for item in report.checks}
    assert report.passed
    # Whole groups of its second level send all they have up one or two cables.
    assert status["balance"] == Status.WARNING
    assert status["deadlock"] == Status.OK
