"""The keys and figures of a result's JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from contend.base.schema import plain
from json_reading import as_read


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


def test_only_four_keys_depend_on_time(make_simulation: Any) -> None:
    fast, slow = make_simulation(), make_simulation(elapsed_s=9.0, drawing_s=4.0, counting_s=5.0)
    first, second = plain(fast), plain(slow)
    assert [key for key in first if first[key] != second[key]] == [
        "elapsed_s",
        "drawing_s",
        "counting_s",
        "patterns_per_s",
    ]
