"""Prints the network of the imaginary cluster Elbe as a net file for ibsim.

108 hosts on 6 leaf switches of 36 ports, 18 of them down, 18 up, 6 to each of 3 spine switches: a
two-level fat tree that would carry everything, were not two of its cables missing.
"""

from __future__ import annotations

LEAVES, SPINES, DOWN, UP_TO_EACH = 6, 3, 18, 6
LOGINS = 2
HOSTS = LEAVES * DOWN
# Taken out for repair: (leaf, its uplink), counted from 0.
MISSING = {(1, 8), (4, 13)}


def host_name(host: int) -> str:
    """elbe001 ... elbe106, then the login nodes."""
    compute = HOSTS - LOGINS
    name = f"elbe{host + 1:03}" if host < compute else f"elbe-login{host - compute + 1}"
    return f"{name} HCA-1"


def leaf_name(leaf: int) -> str:
    """elbe-leaf1 ... elbe-leaf6."""
    return f"elbe-leaf{leaf + 1}"


def spine_name(spine: int) -> str:
    """elbe-spine1 ... elbe-spine3."""
    return f"elbe-spine{spine + 1}"


def cable(port: int, peer: str, peer_port: int) -> str:
    """A cabled port; ibsim takes the rate from the comment."""
    return f'[{port}] "{peer}"[{peer_port}] # "{peer}" lid 0 4xQDR'


def switch(name: str, guid: int, cables: list[str]) -> None:
    """Prints a switch."""
    print(f"switchguid=0x{guid:x}", f'Switch 36 "{name}"', *cables, "", sep="\n")


uplinks = [
    (leaf, DOWN + 1 + up, up // UP_TO_EACH, 1 + UP_TO_EACH * leaf + up % UP_TO_EACH)
    for leaf in range(LEAVES)
    for up in range(SPINES * UP_TO_EACH)
    if (leaf, up) not in MISSING
]
for leaf in range(LEAVES):
    down = [cable(1 + place, host_name(DOWN * leaf + place), 1) for place in range(DOWN)]
    up = [cable(port, spine_name(s), there) for at, port, s, there in uplinks if at == leaf]
    switch(leaf_name(leaf), 0x2C90300A10000 + 0x40 * leaf, down + up)
for spine in range(SPINES):
    down = [cable(there, leaf_name(at), port) for at, port, s, there in uplinks if s == spine]
    switch(spine_name(spine), 0x2C90300B20000 + 0x40 * spine, down)
for host in range(HOSTS):
    print(f"caguid=0x{0x2C90300C30000 + 4 * host:x}", f'Ca 1 "{host_name(host)}"', sep="\n")
    print(cable(1, leaf_name(host // DOWN), 1 + host % DOWN), "", sep="\n")
