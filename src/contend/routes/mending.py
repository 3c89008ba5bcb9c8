"""Tables of a fabric that has lost cables or switches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.fabric import Fabric, Rest
from contend.routes.addresses import table_size, targets_of
from contend.routes.tables import NO_PORT, tables_of


def mended(whole: Fabric, rest: Rest) -> tuple[Fabric, NDArray[np.uint64]]:
    """What is left of a fabric, with its tables changed as little as lets all messages arrive.

    Routes that arrive stay as they are. Switches from which an address is not reached any more get
    the shortest way to one from which it is, by the port that fewest addresses use.

    Args:
        whole: the fabric before, with its tables.
        rest: what is left of it.

    Returns:
        The rest with tables, and the number of changed entries of each of its switches, shape
        [switches].

    Raises:
        UsageError: the whole fabric has no tables.
    """
    tables = tables_of(whole)
    size = table_size(rest.fabric)
    ports = np.full((rest.fabric.switches, size), NO_PORT, dtype=np.uint16)
    width = min(size, tables.addresses)
    ports[:, :width] = tables.ports[rest.switches, :width]
    new, changed = _core.mend(rest.fabric.core, targets_of(rest.fabric), ports)
    lane = None if tables.lane is None else tables.lane[:size]
    return rest.fabric.replace(routes=replace(tables, ports=new, lane=lane)), changed
