"""What is measured where nobody says otherwise: the options of every probe, and their values."""

from __future__ import annotations

from collections.abc import Mapping

from contend.traffic.schedule import RADIX, WIDTH

DEFAULT_BUDGET = 300.0
"""Seconds for all launches together."""

OF_ALL_PROBES: Mapping[str, str | None] = {
    "repetitions": "6:1000",
    "precision": "0.05",
    "warmups": "1",
    "verify": None,
}
"""Options of every probe and their own values; None for those that have none."""

STANDARD: Mapping[str, Mapping[str, str | None]] = {
    "alltoall": {
        "algorithm": "all",
        "bytes": "1:1M",
        "counts": "even",
        "start": "barrier",
        "batch": str(WIDTH),
        "in_flight": str(WIDTH),
        "radix": str(RADIX),
        "ranks_per_node": "0",
    },
    "sort": {
        "vectors": "1492992",
        "length": "8",
        "input": "built",
        "exchange": "library-v",
    },
    "pingpong": {
        "algorithm": "pingpong",
        "bytes": "1:1M",
        "pairs": "0-1",
        "inner": "1",
        "window": "64",
    },
    "bisect": {
        "patterns": "100",
        "pattern": "bisect",
        "two_way": None,
        "bytes": "1M",
        "packets": "10",
        "repeats": "1",
    },
    "hotspot": {
        "victim": "0:1",
        "rivals": None,
        "rivals_active": "0,1,2",
        "algorithm": "round-trip,stream",
        "bytes": "1:1M",
        "load_bytes": None,
        "lead": "0.05",
        "operations": "10",
        "window": "16",
    },
}
"""Every probe that can be measured, its options, and their values where nobody says others.

This is their one home: a probe is told all of them, so what is predicted from them is what runs.
"""
