"""Cables of different rates: each is emulated in proportion to its own."""

from __future__ import annotations

import numpy as np
import pytest

import contend
from contend.base.errors import UsageError
from contend.congestion import fair_share
from contend.fabric import Fabric
from contend.lab.emulation import bring_up
from contend.lab.emulation.headroom import connect, fit, pump
from contend.lab.emulation.layout import lay_out
from contend.lab.emulation.settings import Settings
from sample_fabrics import mixed_rates

_RATE = 2.5e6


def mixed() -> Fabric:
    """And one host whose port is half as fast."""
    fabric = mixed_rates()
    return fabric.replace(host_rate=np.where(np.arange(16) == 3, 2, 1).astype(np.uint16))


def test_every_channel_has_its_part_of_the_rate() -> None:
    fabric = mixed()
    layout = lay_out(fabric)
    assert sorted(set(layout.parts.tolist())) == [0.5, 1.0]
    assert (layout.slowest, layout.alike) == (0.5, False)
    assert layout.parts[2 * fabric.cables + 3] == 0.5
    assert Settings(_RATE).of(0.5).rate == _RATE / 2
    assert lay_out(contend.load("fig1", route="fig1")).alike


@pytest.mark.usefixtures("permitted")
def test_streams_get_what_max_min_shares_say_of_cables_of_two_rates() -> None:
    # Two hosts to two of another leaf over the slow spine, one over the fast one, one slow port.
    pairs = [(0, 5), (1, 7), (2, 4), (8, 3)]
    fabric = mixed()
    source, target = (list(ends) for ends in zip(*pairs, strict=True))
    share = fair_share(fabric, source, target)
    ports = np.array([1.0, 1.0, 1.0, 0.5])
    expected = (share * ports).tolist()
    assert sorted(expected) == [0.25, 0.25, 0.5, 1.0]
    with bring_up(fabric, _RATE, check=False) as network:
        settings, headroom = fit(network._spaces, network.settings)
        streams = connect(network._spaces, pairs)
        # As many bytes where the machine carries less.
        seconds = pump(streams, 2.0 * _RATE / settings.rate)
        for stream in streams:
            stream.close()
    rates = [stream.received / seconds / settings.rate for stream in streams]
    # What TCP makes of a cable, headers and slow start left out.
    assert rates[0] + rates[1] == pytest.approx(0.5, rel=0.15)
    assert rates[2:] == pytest.approx(expected[2:], rel=0.15)
    # A slow cable does not pass for a slow machine.
    assert headroom.moved > 0


@pytest.mark.usefixtures("permitted")
def test_a_rate_that_is_too_low_for_the_slowest_cable_is_refused() -> None:
    message = "at least 1 Mbit/s on the slowest cable, which carries 50 % of the fastest port"
    with pytest.raises(UsageError, match=message), bring_up(mixed(), 200_000.0):
        pass
