"""The keys and figures of a result's JSON."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from contend.fabric.fabric import Fabric
from contend.report.json import bisect_patterns, simulation_json


def test_every_key_that_scripts_rely_on(make_simulation: Any, duo: Fabric) -> None:
    result = simulation_json(make_simulation(), duo, rated=0.5)
    assert {k: result["fabric"][k] for k in ("hosts", "switches", "channels")} == {
        "hosts": 4,
        "switches": 2,
        "channels": 12,
    }
    assert (result["pattern"], result["samples"], result["seed"]) == ("bisect", 4, 7)
    effective = result["effective_bandwidth"]
    assert effective["mean"] == pytest.approx(0.55)
    low, high = effective["ci95"]
    assert low < 0.55 < high
    # 1/π of the mean π 2, 2, 4, 4 is 1/2, 1/2, 1/4, 1/4.
    assert effective["of_mean_congestion"] == pytest.approx(3 / 8)
    assert result["congestion"] == {"histogram": {"1": 0.6, "2": 0.3, "4": 0.1}, "max": 4}
    assert result["rounds"]["mean_max"] == pytest.approx(7.5)
    assert result["rounds"]["mean_mean"] == pytest.approx(3)
    assert result["elapsed_s"] == 0.5
    assert result["patterns_per_s"] == pytest.approx(8)
    assert result["rated_bisection"] == 0.5


def test_hottest_channels_are_named_and_used(make_simulation: Any, duo: Fabric) -> None:
    hottest = simulation_json(make_simulation(), duo)["hottest_channels"]
    # Channel 1 is cable 0 from its far end; channel 3 carries nothing.
    assert hottest[0] == {
        "channel": 1,
        "name": 'switch "ri[red]ght" port 3 -> switch "left" port 3',
        "messages_per_round": 2.5,
    }
    assert 3 not in [entry["channel"] for entry in hottest]
    loads = [entry["messages_per_round"] for entry in hottest]
    assert loads == sorted(loads, reverse=True)


def test_it_encodes(make_simulation: Any, duo: Fabric) -> None:
    result = simulation_json(make_simulation(ranks=4391), duo)
    assert msgspec.json.decode(msgspec.json.encode(result)) == result
    # C(4391, 2195) * 2196! / 1! = 4391! / 2195!: one rank of the odd number is left out.
    exist = (math.lgamma(4392) - math.lgamma(2196)) / math.log(10)
    assert result["patterns_exist"] == {"count": None, "log10": pytest.approx(exist)}


def test_no_time_no_rate(make_simulation: Any, duo: Fabric) -> None:
    assert simulation_json(make_simulation(elapsed_s=0.0), duo)["patterns_per_s"] is None


@pytest.mark.parametrize(("ranks", "exist"), [(2, 2), (3, 6), (4, 12), (16, 518_918_400)])
def test_bisect_patterns_that_exist(ranks: int, exist: int) -> None:
    assert bisect_patterns(ranks) == exist


def test_other_patterns_are_not_counted(make_simulation: Any, duo: Fabric) -> None:
    assert simulation_json(make_simulation(pattern="tree"), duo)["patterns_exist"] is None
