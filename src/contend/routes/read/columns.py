"""What a dump of forwarding tables says, before it is fitted to a fabric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TableColumns:
    """Forwarding tables in the dump's order of switches.

    Attributes:
        switch_guid: node GUID of every switch, shape [switches].
        ports: shape [switches, addresses], dtype uint16; 0 is the switch itself, 0xFFFF stands
            where the dump has no entry. Addresses are LIDs, up to the highest that the dump names.
        owner_guid: the port GUID that the dump names as the owner of a LID, a switch's for its own
            LID; 0 where it names none. Shape [addresses].
        notes: what the reader passed over and a person should know.
    """

    switch_guid: NDArray[np.uint64]
    ports: NDArray[np.uint16]
    owner_guid: NDArray[np.uint64]
    notes: tuple[str, ...] = ()
