"""Packets that are sprayed: the kernel sends each over another of the shortest ways."""

from __future__ import annotations

import numpy as np
import pytest

import contend
from contend.base.errors import MissingError
from contend.base.process import bpf
from contend.fabric import Fabric
from contend.lab.emulation import bring_up, spaces
from contend.lab.emulation.headroom import connect, fit, pump
from contend.lab.emulation.layout import lay_out

from .messages_between import counts_towards, one_each

_RATE = 2.5e6


def sprayed(name: str) -> Fabric:
    return contend.load(name, route="spray")


def test_a_switch_may_use_every_cable_that_begins_a_shortest_way() -> None:
    hashed = lay_out(contend.load("xgft:2;2,2;1,2;1,2", route="ecmp"))
    layout = lay_out(sprayed("xgft:2;2,2;1,2;1,2"))
    assert layout.routes == hashed.routes
    assert (layout.sprayed, hashed.sprayed) == (True, False)
    assert (layout.way(0, 2).length, len(layout.way(0, 2).channels)) == (4, 10)


@pytest.mark.usefixtures("permitted")
@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("xgft:2;2,2;1,4", [("leaf 1", "top", 4)]),
        ("xgft:2;2,2;1,3;1,2", [("leaf 1", "top", 6)]),
        # Two choices one after the other, of two and of three.
        (
            "xgft:3;2,2,2;1,2,3",
            [("leaf 1", "middle", 2), ("middle 1", "top", 3), ("middle 2", "top", 3)],
        ),
    ],
)
def test_every_way_carries_its_part_of_a_stream(
    name: str, choices: list[tuple[str, str, int]]
) -> None:
    fabric = sprayed(name)
    last = fabric.hosts - 1
    with bring_up(fabric, _RATE, check=False) as network:
        before = network.counters()
        (stream,) = connect(network._spaces, [(0, last)])
        stream.left = 1_000_000
        pump([stream], 60.0)
        sent = network.counters() - before
        stream.close()
    assert stream.received == 1_000_000
    packets = int(sent.packets[2 * fabric.cables])
    assert packets >= 1_000_000 / 1448
    first, end, _ = choices[0]
    assert sum(counts_towards(fabric, first, end, sent.packets)) == packets
    for start, end, ways in choices:
        parts = counts_towards(fabric, start, end, sent.packets)
        assert len(parts) == ways
        # Multiples of the golden ratio: no part is more than a few packets from the others.
        assert max(parts) - min(parts) <= 6


@pytest.mark.usefixtures("permitted")
def test_one_message_for_every_pair_loads_channels_as_the_simulation_says() -> None:
    fabric = sprayed("xgft:2;4,4;1,2;1,2")
    with bring_up(fabric, _RATE, check=False) as network:
        assert one_each(network, 1000) == 16 * 15
        sent = network.counters()
    frame = contend.simulate(fabric, "alltoall", placement="linear", samples=1).to_frame("channels")
    loads = np.zeros(fabric.channels)
    loads[frame["channel"].to_numpy()] = frame["load"].to_numpy()
    # Four hosts of a leaf to twelve others, over four cables: exactly 12 on each.
    assert loads[: 2 * fabric.cables] == pytest.approx(12)
    leaves = [counts_towards(fabric, f"leaf {leaf}", "top", sent.packets) for leaf in (1, 2, 3, 4)]
    assert [sum(up) for up in leaves] == [48] * 4
    assert np.array(leaves) == pytest.approx(12, abs=5)
    np.testing.assert_array_equal(sent.packets[2 * fabric.cables :], 15)


@pytest.mark.usefixtures("permitted")
def test_streams_that_would_share_a_cable_have_their_wires() -> None:
    """By destination mod k hosts 0 and 1 would meet on the one cable to hosts 4 and 8."""
    fabric = sprayed("xgft:2;4,3;1,4")
    with bring_up(fabric, _RATE, check=False) as network:
        settings, headroom = fit(network._spaces, network.settings)
        streams = connect(network._spaces, [(0, 4), (1, 8)])
        seconds = pump(streams, 3.0 * _RATE / settings.rate)
        for stream in streams:
            stream.close()
    assert headroom.moved > 0
    rates = [stream.received / seconds / settings.rate for stream in streams]
    # Headers and slow start left out.
    assert rates == pytest.approx([1, 1], rel=0.2)


@pytest.mark.usefixtures("permitted")
def test_a_kernel_that_runs_no_such_program_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    # A function that no kernel has.
    monkeypatch.setattr(spaces, "_SET_HASH", 1 << 20)
    told = "the kernel refused a BPF program, which spray needs: Invalid argument"
    with (
        pytest.raises(MissingError, match=told),
        bring_up(sprayed("xgft:2;2,2;1,2"), _RATE, check=False),
    ):
        pass
    monkeypatch.setattr(bpf, "_CALL", {})
    with (
        pytest.raises(MissingError, match=r"which spray needs: no call for BPF on .* is known"),
        bring_up(sprayed("xgft:2;2,2;1,2"), _RATE, check=False),
    ):
        pass
