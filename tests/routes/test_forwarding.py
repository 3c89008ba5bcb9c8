"""Forwarding tables as the fabric holds them."""

from __future__ import annotations

import numpy as np
import pytest

from contend.routes import NO_PORT, ForwardingTables


def test_shape_and_engine() -> None:
    tables = ForwardingTables(np.full((2, 5), NO_PORT), engine="minhop")
    assert (tables.switches, tables.addresses, tables.engine) == (2, 5, "minhop")
    assert tables.ports.dtype == np.uint16
    assert tables.ports[1, 4] == NO_PORT


def test_rows_lie_together_and_cannot_be_written() -> None:
    tables = ForwardingTables(np.asfortranarray(np.arange(6, dtype=np.uint16).reshape(2, 3)))
    assert tables.ports.flags.c_contiguous
    assert tables.ports.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ValueError, match="read-only"):
        tables.ports[0, 0] = 1
