"""Messages of known size between all pairs of emulated hosts, as packets that nobody repeats."""

from __future__ import annotations

import socket
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from contend.fabric import Fabric
from contend.lab.emulation import Network

# Ethernet 14 B, IPv4 20 B, UDP 8 B.
HEADERS = 42
_PORT = 9
_PATIENCE = 20.0


def one_each(network: Network, payload: int) -> int:
    """Every host sends one packet to every other; how many arrived."""
    receivers = {
        host: network.within(host, lambda address=address: _bound(address))  # type: ignore[misc]
        for host, address in zip(network.hosts, network.addresses, strict=True)
    }
    arrived = 0
    try:
        address = dict(zip(network.hosts, network.addresses, strict=True))
        for source, target in permutations(network.hosts, 2):
            receivers[source].sendto(bytes(payload), (address[target], _PORT))
        for receiver in receivers.values():
            for _ in range(len(receivers) - 1):
                assert len(receiver.recv(2048)) == payload
                arrived += 1
    finally:
        for receiver in receivers.values():
            receiver.close()
    return arrived


def _bound(address: str) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.settimeout(_PATIENCE)
    made.bind((address, _PORT))
    return made


def counts_towards(fabric: Fabric, start: str, end: str, counts: NDArray[np.uint64]) -> list[int]:
    """Counts of the channels from switches to others, by how their names begin."""
    ends = [fabric.channel_ends(channel) for channel in range(2 * fabric.cables)]
    return [
        int(count)
        for (source, target), count in zip(ends, counts, strict=False)
        if source.startswith(f'switch "{start}') and target.startswith(f'switch "{end}')
    ]
