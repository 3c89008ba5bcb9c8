"""Destination-mod-k carries every shift of a full tree without congestion (Zahavi 2010)."""

from __future__ import annotations

import pytest

import contend

FULL_TREES = [
    "xgft:2;4,4;1,4",
    "xgft:3;4,4,4;1,4,4",
    # Two parents by two cables each, then four parents: parallel cables share what parents split.
    "xgft:3;4,2,4;1,2,4;1,2,1",
    # 44 leaves by 6 cables to each of two directors, two leaves to a line chip.
    "chic",
]


@pytest.mark.parametrize("spec", FULL_TREES)
def test_every_shift_of_all_hosts_in_order_has_congestion_one(spec: str) -> None:
    fabric = contend.load(spec, route="dmodk")
    result = contend.simulate(fabric, "shifts", placement="linear")
    assert result.max_congestion.tolist() == [1.0]
