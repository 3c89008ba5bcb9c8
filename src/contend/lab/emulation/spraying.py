"""The program by which an emulated switch sends every packet its own way.

It sees each packet before it is routed, counts those for each host, and puts a number made of
the count in place of the hash by which the kernel chooses among the equal ways of a route. The
multiples of the golden ratio, modulo 1, fall into any number of equal parts in turn and alike (Weyl
1916), so that every way has its part of the packets for each host at any time. They begin elsewhere
for each host and at each switch, so that first packets do not all take one way.
"""

from __future__ import annotations

import os

from contend.base.errors import MissingError
from contend.base.process import Instruction, load_classifier, make_counts

_LOOK_UP, _SET_HASH = 1, 48
# Where a frame has the address that it is for: behind 14 bytes of Ethernet and 16 of IPv4.
_ADDRESS_AT = 30
# 2^32 times what the golden ratio and the root of 2 have behind the point, as signed numbers.
_GOLDEN = 0x9E3779B1 - (1 << 32)
_ROOT = 0x6A09E667


def load_program(addresses: int, switch: int) -> int:
    """Loads the program of a switch; the file descriptor that keeps it.

    Args:
        addresses: of hosts, all below this number in their last 16 bits.
        switch: its number.

    Raises:
        MissingError: without the right to, or in a kernel that has none.
    """
    try:
        counts = make_counts(addresses)
        try:
            return load_classifier(_instructions(counts, switch))
        finally:
            os.close(counts)
    except OSError as error:
        raise MissingError(
            f"the kernel refused a BPF program, which spray needs: {error.strerror}"
        ) from error


def _instructions(counts: int, switch: int) -> tuple[Instruction, ...]:
    """The program.

    Args:
        counts: file descriptor of an array of a 32-bit number for each address.
        switch: its number.
    """
    return (
        (0xBF, 0x16, 0, 0),  # r6 = the packet
        (0x20, 0x00, 0, _ADDRESS_AT),  # r0 = the address that it is for
        (0x54, 0x00, 0, 0xFFFF),  # ... of which the last 16 bits
        (0x63, 0x0A, -4, 0),  # lie on the stack
        (0xBC, 0x07, 0, 0),  # r7 = the same and the switch, times the root of 2
        (0x04, 0x07, 0, switch << 8),
        (0x24, 0x07, 0, _ROOT),
        (0x18, 0x11, 0, counts),  # r1 = the counts
        (0x00, 0x00, 0, 0),
        (0xBF, 0xA2, 0, 0),  # r2 = where the address lies
        (0x07, 0x02, 0, -4),
        (0x85, 0x00, 0, _LOOK_UP),  # r0 = where its count lies
        (0x15, 0x00, 6, 0),  # none: let it pass
        (0xB4, 0x02, 0, 1),  # r2 = the count, which grows by 1
        (0xC3, 0x20, 0, 0x01),
        (0x24, 0x02, 0, _GOLDEN),  # r2 = its multiple of the golden ratio, and r7
        (0x0C, 0x72, 0, 0),
        (0xBF, 0x61, 0, 0),  # r1 = the packet
        (0x85, 0x00, 0, _SET_HASH),
        (0xB7, 0x00, 0, 0),  # let it pass
        (0x95, 0x00, 0, 0),
    )
