"""The keys and figures of a result's JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contend.base.schema import plain
from json_reading import as_read


def test_every_key_that_scripts_rely_on(make_simulation: Any) -> None:
    result = as_read(make_simulation().document().content())
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
    # Two cables between two and two hosts.
    assert (result["rated_bisection"], result["rated_bisection_exact"]) == (1, True)
    assert result["random_pairs_bound"] == 1
    assert result["verdict"].startswith("Random pairs get 55.0 % of a link's rate")


def test_hottest_channels_are_named_and_used(make_simulation: Any) -> None:
    hottest = as_read(plain(make_simulation()))["hottest_channels"]
    # Channel 1 is cable 0 from its far end; channel 3 carries nothing.
    assert hottest[0] == {
        "channel": 1,
        "name": 'switch "ri[red]ght" port 3 -> switch "left" port 3',
        "messages_per_round": 2.5,
        "heat": 2.5,
        "rate": "4xHDR",
    }
    assert 3 not in [entry["channel"] for entry in hottest]
    loads = [entry["messages_per_round"] for entry in hottest]
    assert loads == sorted(loads, reverse=True)


def test_hottest_channels_need_most_time(make_simulation: Any) -> None:
    """Channel 0 has a fifth of channel 1's messages, and a tenth of its rate: twice the heat."""
    relative = np.ones(12)
    relative[0] = 0.1
    simulation = make_simulation(relative_rates=relative, heat_unit="4xHDR")
    result = as_read(plain(simulation))
    first, second = result["hottest_channels"][:2]
    assert (first["channel"], first["messages_per_round"], first["heat"]) == (0, 0.5, 5)
    assert (second["channel"], second["messages_per_round"], second["heat"]) == (1, 2.5, 2.5)
    assert (result["heat_unit"], result["heat_assumes"]) == ("4xHDR", [])


def test_it_encodes(make_simulation: Any) -> None:
    result = as_read(plain(make_simulation(patterns_exist=2**62)))
    assert result["patterns_exist"] == 2**62


def test_a_single_sample_has_no_interval(make_simulation: Any) -> None:
    one = {"samples": 1, "bandwidth": np.array([0.5])}
    assert make_simulation(**one).effective_bandwidth.ci95 is None


def test_only_four_keys_depend_on_time(make_simulation: Any) -> None:
    fast, slow = make_simulation(), make_simulation(elapsed_s=9.0, drawing_s=4.0, counting_s=5.0)
    first, second = plain(fast), plain(slow)
    assert [key for key in first if first[key] != second[key]] == [
        "elapsed_s",
        "drawing_s",
        "counting_s",
        "patterns_per_s",
    ]
