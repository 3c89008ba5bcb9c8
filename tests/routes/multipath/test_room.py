"""Next hops that no machine holds are refused before the memory is gone."""

from __future__ import annotations

import numpy as np
import pytest

from contend.errors import MissingError
from contend.fabric import Fabric, make
from contend.routes import compute, make_resolver


def resolve(fabric: Fabric, memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prepares the routes of all hosts on a machine with so many bytes."""
    sizes = {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": memory}
    with monkeypatch.context() as patch:
        patch.setattr("os.sysconf", sizes.__getitem__)
        hosts = np.arange(fabric.hosts, dtype=np.uint32)
        make_resolver(fabric, hosts, draws=True, several=True, together=True, solved=True)


@pytest.mark.parametrize(
    ("engine", "each"), [("ecmp", 4), ("adaptive", 4), ("spray", 8), ("valiant", 12), ("ugal", 12)]
)
def test_next_hops_need_some_bytes_for_every_two_switches(
    engine: str, each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fabric = compute(make("slimfly:5"), engine)
    size = each * 50 * 50
    resolve(fabric, size, monkeypatch)
    with pytest.raises(MissingError, match=f"of {engine} on slimfly:5 need .*; fewer hosts need"):
        resolve(fabric, size - 1, monkeypatch)


@pytest.mark.parametrize(
    ("spec", "instead"),
    [
        ("fattree3:8", "minhop, dmodk, ecmp and spray need none on such a tree$"),
        ("dragonfly:2,4,2", "ecmp and spray need none on such a dragonfly$"),
        ("torus:3x4", "dor and ecmp need none on such a grid$"),
    ],
)
def test_the_refusal_names_engines_that_need_none(
    spec: str, instead: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingError, match=instead):
        resolve(compute(make(spec), "adaptive"), 1, monkeypatch)


def test_routes_by_a_formula_need_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve(compute(make("fattree3:8"), "ecmp"), 1, monkeypatch)
