"""A calibration that is easy to calculate with."""

from __future__ import annotations

import pytest

from contend.prediction import Calibration, Parameter, SizeClass

WIRE = 1e6


@pytest.fixture
def calibration() -> Calibration:
    """Messages that cost nothing but 1.1 bytes on the wire for each of theirs, within 10 %."""
    nothing = Parameter.exactly(0.0)
    one = SizeClass(
        up_to=None,
        eager=True,
        latency_s=nothing,
        overhead_s=nothing,
        gap_s=nothing,
        gap_per_byte_s=Parameter(1.1e-6, 0.99e-6, 1.21e-6),
    )
    return Calibration(library="Open MPI 4.1.4", wire_Bps=WIRE, between=(one,), within=(one,))
