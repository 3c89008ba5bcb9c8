"""What links carry: whether they differ, and the rate of every channel where they do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.errors import UsageError
from contend.fabric import Fabric
from contend.units import rate_of

_ALIKE = np.zeros(0, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class LinkRates:
    """The rates of the cables between switches and of those to the hosts that take part.

    Attributes:
        links: number of them by rate label, the fastest first; ``""`` where it is not known; empty
            where another rate was given.
        by_place: bytes per second of every channel: between switches, then injection and ejection
            by place; empty where all are counted alike.
        port: bytes per second of the hosts' ports where these are alike, in bytes per second; None
            where they differ or are not known.
    """

    links: dict[str, int]
    by_place: NDArray[np.float64]
    port: float | None

    @property
    def mixed(self) -> bool:
        """Whether links have different rates, as far as they are known."""
        return len({rate_of(label) for label in self.links if label}) > 1


def link_rates(
    fabric: Fabric,
    hosts: NDArray[np.integer],
    *,
    rate: float | None = None,
    equal: bool = False,
) -> LinkRates:
    """The rates of a fabric's links, by place.

    Where a rate is not known all links are counted alike: nothing says how much they differ. Cables
    from a switch to itself lead nowhere and do not count.

    Args:
        fabric: whose links.
        hosts: host of every place, shape [places].
        rate: bytes per second of every link instead of its own.
        equal: count all links alike, whatever they carry.

    Raises:
        UsageError: a rate that is not above 0.
    """
    if rate is not None:
        if not rate > 0:
            raise UsageError(f"expected a rate above 0, got {rate}")
        return LinkRates({}, _ALIKE, rate)
    across = fabric.cable_from != fabric.cable_to
    used = np.concatenate([fabric.cable_rate[across], fabric.host_rate[hosts]])
    labels = Counter(fabric.rates[index] for index in used.tolist())
    order = sorted(labels, key=lambda label: (-(rate_of(label) or 0.0), label))
    links = {label: labels[label] for label in order}
    each = np.array([rate_of(label) or 0.0 for label in fabric.rates])
    rates, ports = np.unique(each[used]), np.unique(each[fabric.host_rate[hosts]])
    if len(rates) == 0 or rates[0] == 0 or (equal and len(rates) > 1):
        return LinkRates(links, _ALIKE, None)
    port = float(ports[0]) if len(ports) == 1 else None
    if len(rates) == 1:
        return LinkRates(links, _ALIKE, port)
    host = each[fabric.host_rate[hosts]]
    # A cable from a switch to itself may have no known rate; no message crosses it.
    cable = np.where(across, each[fabric.cable_rate], rates[-1])
    return LinkRates(links, np.concatenate([np.repeat(cable, 2), host, host]), port)
