from __future__ import annotations

import numpy as np
import pytest

from contend.fabric import Fabric, build


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    """Three servers of two adapters each, on a switch for the first ones and one for the others."""
    return build(
        "rails",
        host_name=["n1 a", "n1 b", "n2 a", "n2 b", "n10 a", "n10 b"],
        host_switch=np.array([0, 1, 0, 1, 0, 1]),
        host_port=np.arange(1, 7),
        switch_name=["left", "right"],
        switch_ports=8,
        cables=np.array([[0, 8, 1, 8]]),
    )
