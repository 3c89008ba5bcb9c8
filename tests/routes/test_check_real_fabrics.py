"""Real fabrics with tables that a real subnet manager computed: the checks, and its engine."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contend.fabric import Fabric, Status, bisection, make, structure
from contend.routes import check, compute, load


@cache
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


@pytest.mark.parametrize("which", ["storage", "compute"])
def test_minhop_is_opensms(shared_data: Path, which: str) -> None:
    """Aggregation nodes take part in the balance, though contend counts no traffic of theirs."""
    fabric = _load(shared_data, which)
    nothing = np.zeros(len(fabric.other_lid), dtype=np.uint8)
    changed: dict[str, Any] = {"host_name": (*fabric.host_name, *fabric.other_name)}
    for name in fabric.__dataclass_fields__.keys() - changed.keys():
        kind, _, column = name.partition("_")
        if kind == "host":
            own = getattr(fabric, name)
            like = "guid" if column == "port_guid" else column
            more = getattr(fabric, f"other_{like}", nothing)
            changed[name] = np.concatenate([own, more.astype(own.dtype)])
        elif kind == "other":
            changed[name] = getattr(make("fig1"), name)
    again = compute(fabric.replace(**changed, routes=None), "minhop")
    assert np.array_equal(again.tables.ports, fabric.tables.ports)
