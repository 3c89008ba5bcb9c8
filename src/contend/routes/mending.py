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
    targets, ports = mendable(rest.fabric, tables.ports[rest.switches])
    new, changed = _core.mend(rest.fabric.core, targets, ports)
    lane = None if tables.lane is None else tables.lane[: ports.shape[1]]
    return rest.fabric.replace(routes=replace(tables, ports=new, lane=lane)), changed


def mendable(
    fabric: Fabric, ports: NDArray[np.uint16] | None = None
) -> tuple[_core.Targets, NDArray[np.uint16]]:
    """What the core needs to mend tables of a fabric.

    Args:
        fabric: whose addresses.
        ports: of its switches, shape [switches, any number of addresses]; None: its own tables.

    Returns:
        Its addresses, and tables with a column for each of them, shape [switches, addresses].

    Raises:
        UsageError: the fabric has no tables, and none are given.
    """
    if ports is None:
        ports = tables_of(fabric).ports
    fitted = np.full((fabric.switches, table_size(fabric)), NO_PORT, dtype=np.uint16)
    width = min(fitted.shape[1], ports.shape[1])
    fitted[:, :width] = ports[:, :width]
    return targets_of(fabric), fitted
