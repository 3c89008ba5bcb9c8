"""What links carry: the rate of every channel, and how hot a load makes channels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.base.schema import Rate
from contend.base.units import (
    level_of,
    parse_rate,
    parse_seconds,
    rate_of,
    rates_by_kind,
    times_by_kind,
    valued,
)
from contend.fabric import Fabric, cables_within_reach, switch_levels

_ALIKE = np.zeros(0, dtype=np.float64)


@dataclass(frozen=True)
class Links:
    """Links of one rate."""

    rate: str
    """Label of the rate, such as ``4xHDR``; "" if it is not known."""
    rate_Bps: Rate | None
    """Bytes per second each way after line coding; null if they are not known."""
    links: int
    """Number of cables to the hosts that take part, and between switches that these can reach."""


@dataclass(frozen=True, eq=False)
class LinkRates:
    """Rates of cables to the hosts that take part, and of those between switches they can reach."""

    links: tuple[Links, ...]
    """Those of every rate, the fastest first; empty where another rate was given."""
    by_place: NDArray[np.float64]
    """Bytes per second of every channel: between switches, then injection and ejection by place;
    empty where all are counted alike."""
    port: float | None
    """Bytes per second of the hosts' ports where these are alike; None where they are not known."""
    relative: NDArray[np.float64] = field(default_factory=lambda: _ALIKE)
    """Rate of every channel of the fabric, as a multiple of the fastest of these hosts' ports,
    shape [channels]; empty where all are alike. A link of unknown rate has that of most of its
    kind."""
    unit: str = ""
    """Label of that port's rate; "" where all are alike."""
    assumed: tuple[str, ...] = ()
    """Labels of the rates that links of unknown rate were taken for in `relative`."""

    def seconds_per_byte(
        self, congestion: NDArray[Any], time: NDArray[Any], cables: int
    ) -> NDArray[np.float64] | None:
        """What messages take for a byte; None where no rate is known.

        Args:
            congestion: largest number of messages on any of their channels.
            time: the same by rates, in units of `_core.MEAN_UNIT` of what the fastest port takes.
            cables: of the fabric.
        """
        if len(self.by_place):
            fastest = self.by_place[2 * cables :].max()
            return np.asarray(time * _core.MEAN_UNIT / fastest)
        return None if self.port is None else congestion / self.port

    def heat(self, load: NDArray[Any]) -> NDArray[np.float64]:
        """How long channels need for what they carry; see `heat`."""
        return heat(load, self.relative)


def heat(load: NDArray[Any], relative: NDArray[np.float64]) -> NDArray[np.float64]:
    """How long channels need for what they carry: load over rate.

    The hottest channel is the one that needs most time. Heat is in units of what one message (or
    route, or byte) takes at a host's port, so that it is the load itself where links are alike.

    Args:
        load: messages, routes or bytes of every channel, or of those between switches.
        relative: `LinkRates.relative`.

    Returns:
        As many as `load` has.
    """
    carried = np.asarray(load, dtype=np.float64)
    return carried / relative[: len(carried)] if len(relative) else carried


def hottest(heats: NDArray[np.float64], count: int) -> list[int]:
    """The `count` channels with most heat, the hottest first; those without any never."""
    order = np.argsort(-heats, kind="stable")[:count]
    return [int(channel) for channel in order if heats[channel] > 0]


def rated(fabric: Fabric, rate: float | str | None) -> tuple[Fabric, float | None]:
    """A fabric with the rates that somebody says its links have.

    Args:
        fabric: whose links.
        rate: bytes per second of every link, or words such as ``4xNDR``; or the rates of kinds of
            cables, ``hosts=400GbE,switches=800GbE``, of which later ones count: to hosts, between
            switches, and ``level3=1.6Tbit/s`` up to switches of a level, leaves being level 1.

    Returns:
        The fabric, and the bytes per second of every link, which are not asked of the fabric then;
        None where these are its own or those of kinds.

    Raises:
        UsageError: these are no rates, or there is no such cable.
    """
    if not isinstance(rate, str) or "=" not in rate:
        return fabric, valued(rate, parse_rate)
    labels = [*fabric.rates]
    host, cable = fabric.host_rate.copy(), fabric.cable_rate.copy()
    for kind, label in rates_by_kind(rate):
        number = labels.index(label) if label in labels else len(labels)
        labels += [label] if number == len(labels) else []
        if kind == "hosts":
            host[:] = number
        else:
            cable[_cables_of_kind(fabric, kind, f"rate {kind}={label}")] = number
    return fabric.replace(rates=tuple(labels), host_rate=host, cable_rate=cable), None


def _cables_of_kind(fabric: Fabric, kind: str, given: str) -> NDArray[np.bool_]:
    """Which cables between switches are of a kind, shape [cables].

    Raises:
        UsageError: none, which was `given` something.
    """
    level = switch_levels(fabric)
    upper = np.maximum(level[fabric.cable_from], level[fabric.cable_to])
    meant = np.ones(fabric.cables, bool) if kind == "switches" else upper == level_of(kind)
    if not meant.any():
        raise UsageError(f"{given}: {fabric.name} has no such cable")
    return np.asarray(meant)


def cable_seconds(
    fabric: Fabric, hosts: NDArray[np.integer], latency: float | str, usual: float
) -> NDArray[np.float64]:
    """How long bits take along the cable of every channel, by place as `LinkRates.by_place`.

    Args:
        fabric: with the cables.
        hosts: host of every place, shape [places].
        latency: seconds, or times in words, of all cables or by kind as of `rated`.
        usual: seconds on those that `latency` does not name.

    Raises:
        UsageError: these are no times, or there is no such cable.
    """
    named = isinstance(latency, str) and "=" in latency
    host = usual if named else valued(latency, parse_seconds)
    assert host is not None
    cable = np.full(fabric.cables, host)
    for kind, word in times_by_kind(str(latency)) if named else []:
        if kind == "hosts":
            host = parse_seconds(word)
        else:
            meant = _cables_of_kind(fabric, kind, f"cable latency {kind}={word}")
            cable[meant] = parse_seconds(word)
    seconds = np.concatenate([np.repeat(cable, 2), np.full(2 * len(hosts), host)])
    if not (seconds >= 0).all():
        raise UsageError(f"cable latency: expected no time below 0, got {latency}")
    return seconds


def link_rates(
    fabric: Fabric,
    hosts: NDArray[np.integer] | None = None,
    *,
    rate: float | None = None,
    equal: bool = False,
) -> LinkRates:
    """The rates of a fabric's links, by place.

    Where a rate is not known messages count all links alike: nothing says how much they differ.
    Cables that none of these hosts can reach do not count, nor do those from a switch to itself.

    Args:
        fabric: whose links.
        hosts: host of every place, shape [places]; None: all in the fabric's order.
        rate: bytes per second of every link instead of its own.
        equal: count all links alike, whatever they carry.

    Raises:
        UsageError: a rate that is not above 0.
    """
    if rate is not None:
        if not rate > 0:
            raise UsageError(f"expected a rate above 0, got {rate}")
        return LinkRates((), _ALIKE, rate)
    places = np.arange(fabric.hosts) if hosts is None else hosts
    within = cables_within_reach(fabric, places)
    used = np.concatenate([fabric.cable_rate[within], fabric.host_rate[places]])
    count = np.bincount(used, minlength=len(fabric.rates)).tolist()
    labels: Counter[str] = Counter()
    for label, links_of_it in zip(fabric.rates, count, strict=True):
        if links_of_it:
            labels[label] += links_of_it
    order = sorted(labels, key=lambda label: (-(rate_of(label) or 0.0), label))
    links = tuple(Links(label, rate_of(label), labels[label]) for label in order)
    each = np.array([rate_of(label) or 0.0 for label in fabric.rates])
    rates, ports = np.unique(each[used]), np.unique(each[fabric.host_rate[places]])
    if len(rates) == 0 or (equal and len(rates) > 1):
        return LinkRates(links, _ALIKE, None)
    if rates[0] == 0:
        return LinkRates(links, _ALIKE, None, *_relative(fabric, places, within, each))
    port = float(ports[0]) if len(ports) == 1 else None
    if len(rates) == 1:
        return LinkRates(links, _ALIKE, port)
    host = each[fabric.host_rate[places]]
    # Of other cables no rate may be known; no message crosses them.
    cable = np.where(within, each[fabric.cable_rate], rates[-1])
    by_place = np.concatenate([np.repeat(cable, 2), host, host])
    return LinkRates(links, by_place, port, *_relative(fabric, places, within, each))


def _relative(
    fabric: Fabric,
    places: NDArray[np.integer],
    within: NDArray[np.bool_],
    each: NDArray[np.float64],
) -> tuple[NDArray[np.float64], str, tuple[str, ...]]:
    """Rates as multiples of the fastest port, that port's, and what unknown ones were taken for."""
    kinds = fabric.cable_rate[within], fabric.host_rate[places]
    common = [_most_common(kind, each) for kind in kinds]
    known = [rate for rate in common if rate is not None]
    if not known:
        return _ALIKE, "", ()
    # Where no link of a kind has a known rate, those of the other kind tell.
    of_cables, of_hosts = (known[0] if rate is None else rate for rate in common)
    cable = np.where(each[fabric.cable_rate] > 0, fabric.cable_rate, of_cables)
    host = np.where(each[fabric.host_rate] > 0, fabric.host_rate, of_hosts)
    if len(np.unique(each[np.concatenate([cable[within], host[places]])])) == 1:
        return _ALIKE, "", ()
    assumed = [
        fabric.rates[rate]
        for rate, kind in zip((of_cables, of_hosts), kinds, strict=True)
        if not each[kind].all()
    ]
    unit = max(host[places].tolist(), key=lambda index: each[index], default=of_hosts)
    relative = np.concatenate([np.repeat(each[cable], 2), each[host], each[host]]) / each[unit]
    return relative, fabric.rates[unit], tuple(dict.fromkeys(assumed))


def _most_common(rates: NDArray[np.integer], each: NDArray[np.float64]) -> int | None:
    """The known rate that most links have, of several the fastest; None where none is known."""
    counts = Counter(rates.tolist())
    known = [index for index in counts if each[index] > 0]
    return max(known, key=lambda index: (counts[index], each[index]), default=None)
