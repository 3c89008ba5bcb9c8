"""One message for every pair: what crosses each channel is what the simulation says."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import contend
from contend.lab.emulation import bring_up
from contend.lab.emulation.headroom import connect, pump

from .messages_between import HEADERS, one_each

pytestmark = pytest.mark.usefixtures("permitted")

_PAYLOAD = 1000
_RATE = 12.5e6
FABRICS = [
    "fig1",
    "xgft:2;4,4;1,4",
    # Two cables side by side between switches.
    "xgft:2;3,2;1,2;1,2",
    "random:8,3,2,7",
]


def _loads(fabric: contend.Fabric, hosts: str | None = None) -> NDArray[np.float64]:
    """Messages that cross every channel when every pair sends one, as simulated."""
    simulated = contend.simulate(fabric, "alltoall", placement="linear", hosts=hosts)
    loads = np.zeros(fabric.channels)
    frame = simulated.to_frame("channels")
    loads[frame["channel"].to_numpy()] = frame["load"].to_numpy()
    return loads


@pytest.mark.parametrize("source", FABRICS)
def test_packets_and_bytes_are_the_simulated_loads(source: str) -> None:
    # Packets of a channel = simulated load; bytes = load x (payload + headers). Exactly.
    fabric = contend.load(source, need_routes=True)
    with bring_up(fabric, _RATE, check=False) as network:
        before = network.counters()
        assert one_each(network, _PAYLOAD) == fabric.hosts * (fabric.hosts - 1)
        sent = network.counters() - before
    loads = _loads(fabric)
    assert sent.channel.tolist() == list(range(fabric.channels))
    np.testing.assert_array_equal(sent.packets, loads)
    np.testing.assert_array_equal(sent.bytes, loads * (_PAYLOAD + HEADERS))
    assert sent.drops.sum() == 0


def test_chosen_hosts_use_the_channels_they_use_in_the_whole() -> None:
    fabric = contend.load("fig1", need_routes=True)
    chosen = [0, 4, 9, 13]
    with bring_up(fabric, _RATE, hosts=chosen, check=False) as network:
        assert one_each(network, _PAYLOAD) == 12
        sent = network.counters()
    loads = _loads(fabric, hosts="1,5,10,14")
    np.testing.assert_array_equal(sent.packets, loads[sent.channel])


def test_a_tcp_transfer_costs_its_headers_on_every_channel_of_its_route() -> None:
    # 1 MB in packets of 1448 B of data, each with 66 B of headers (Ethernet, IP, TCP with time
    # stamps): 1.0456 bytes on the wire for each of data. No channel drops anything.
    size = 1_000_000
    fabric = contend.load("fig1", need_routes=True)
    with bring_up(fabric, _RATE, check=False) as network:
        before = network.counters()
        (stream,) = connect(network._spaces, [(0, 8)])
        stream.left = size
        pump([stream], 30)
        stream.close()
        sent = network.counters() - before
    assert stream.received == size
    crossed = [channel for channel in sent.of(fabric).channels if channel.bytes > size]
    assert [channel.source for channel in crossed] == [
        'switch "leaf 1" port 5',
        'switch "top 1" port 5',
        'host "1"',
        'switch "leaf 3" port 1',
    ]
    carried = [channel.bytes for channel in crossed]
    np.testing.assert_allclose(carried, size * 1514 / 1448, rtol=0.02)
