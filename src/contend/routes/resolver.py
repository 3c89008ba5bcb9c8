"""How the congestion rooms see routes: messages between hosts in, channels out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import UnreachableError, UsageError
from contend.fabric import Fabric

# A route table up to this size is looked up faster than the forwarding tables are walked, even when
# it has left the caches.
_LARGEST_TABLE = 256 << 20


def make_resolver(
    fabric: Fabric, hosts: NDArray[np.uint32], *, spread: bool = False, messages: float = np.inf
) -> _core.Resolver:
    """Prepares the routes between hosts: a route table where it is small, else table walks.

    Args:
        fabric: with routes.
        hosts: the hosts that take part, shape [places], each once.
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.
        messages: how many are expected; a table that costs more than it saves is not built.

    Raises:
        UsageError: when the fabric has no routes, or a host cannot be reached.
    """
    if fabric.routes is None:
        raise UsageError(f"{fabric.name} has no routes: give --routes FILE or --route ENGINE")
    ports = fabric.routes.ports
    addresses = (fabric.host_lid, fabric.host_lmc)
    without = hosts[fabric.host_lid[hosts] == 0]
    if len(without):
        name = fabric.host_name[int(without[0])]
        raise UsageError(
            f'host "{name}" has no address (LID) in the tables; leave it out with --hosts'
        )
    try:
        hops = _core.longest_route(fabric.core, ports, *addresses, hosts, spread)
        size = _core.tabled_bytes(fabric.core, *addresses, hosts, spread, hops)
        leaves = len(np.unique(fabric.host_switch[hosts]))
        tabled = size <= _LARGEST_TABLE and leaves * len(hosts) <= 4 * messages
        return _core.make_resolver(fabric.core, ports, *addresses, hosts, spread, tabled)
    except UnreachableError as error:
        raise UsageError(_sentence(fabric, error)) from None


def _sentence(fabric: Fabric, error: UnreachableError) -> str:
    target = f'host "{fabric.host_name[error.host]}" (LID {error.address})'
    start = f'switch "{fabric.switch_name[error.start]}"'
    end = f'switch "{fabric.switch_name[error.end]}"'
    return (
        f"{target} cannot be reached from {start}: {end} {error.why}; "
        "see contend fabric check, or leave hosts out with --hosts"
    )
