"""What a program reads of a hot spot."""

from __future__ import annotations

from contend.congestion import hotspot
from contend.fabric import Fabric
from contend.report import hotspot_json


def test_names_and_numbers() -> None:
    """Uplink 1 of leaf 1 of the figure of 2008 leads to hosts 5, 9 and 13."""
    figure = Fabric.load("fig1", route="fig1")
    found = hotspot_json(hotspot(figure, 3, victim=(0, 4)), figure)
    assert found["victim"] == {"source": 0, "target": 4, "source_name": "1", "target_name": "5"}
    assert found["channel_name"] == 'switch "leaf 1" port 5 -> switch "top 1" port 1'
    assert found["asked"] == 3
    assert sorted(rival["target_name"] for rival in found["rivals"]) == ["13", "9"]
    assert [rival["shared_channels"] for rival in found["rivals"]] == [1, 1]
