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
    ports = fitted_ports(rest.fabric, tables.ports[rest.switches])
    new, changed = _core.mend(rest.fabric.core, targets_of(rest.fabric), ports)
    lane = None if tables.lane is None else tables.lane[: ports.shape[1]]
    return rest.fabric.replace(routes=replace(tables, ports=new, lane=lane)), changed


def fitted_ports(fabric: Fabric, ports: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Tables with a column for every address that a fabric has, as the core mends them.

    Args:
        fabric: whose addresses.
        ports: of its switches, shape [switches, any number of addresses].

    Returns:
        Shape [switches, addresses]; no port for what `ports` did not have.
    """
    fitted = np.full((fabric.switches, table_size(fabric)), NO_PORT, dtype=np.uint16)
    width = min(fitted.shape[1], ports.shape[1])
    fitted[:, :width] = ports[:, :width]
    return fitted
