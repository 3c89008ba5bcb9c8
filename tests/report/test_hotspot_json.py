"""What a program reads of a hot spot."""

from __future__ import annotations

from contend.congestion import hotspot
from contend.loading import load
from contend.report import hotspot_json
from json_reading import as_read


def test_the_pairs_are_named() -> None:
    """Uplink 1 of leaf 1 of the figure of 2008 leads to hosts 5, 9 and 13."""
    figure = load("fig1", route="fig1")
    spot = as_read(hotspot_json(hotspot(figure, 3, victim=(0, 4)), figure))
    assert spot["channel"] == 'switch "leaf 1" port 5 -> switch "top 1" port 1'
    assert spot["victim"] == ["1", "5"]
    assert sorted(target for _, target in spot["rivals"]) == ["13", "9"]
