"""Simultaneous messages on their ways, one or several at once: the load and the share of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.routes import Ways

Shares = tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]
"""Of every message the load, whole unless messages split, the share by counting and the fair share,
shape [messages] each."""

# What parts of a message that should make 1 may lack or have too much.
_ROUNDING = 10


def shares_by_ways(
    ways: Ways,
    resolver: _core.Resolver,
    source: NDArray[np.uint32],
    target: NDArray[np.uint32],
    rates: NDArray[np.float64],
    drawing: int,
) -> Shares:
    """Load, share and fair share of every message, however routes spread them.

    Arguments but the first, what routes do, are as of `split_shares`.
    """
    where = (resolver, source, target)
    if Ways.SOLVED in ways:
        share, *_ = _core.IdealRounds(resolver, rates).solve(source, target, 0, False)
        return 1 / share, share, share
    if Ways.TOGETHER in ways:
        load, share = _core.split_congestion(*where, rates)
        return load, share, share
    if Ways.SPLIT in ways:
        return split_shares(*where, rates, drawing)
    pi, share, _ = _core.message_congestion(*where, rates, drawing)
    return pi, share, _core.fair_share(*where, rates, drawing)


def split_shares(
    resolver: _core.Resolver,
    source: NDArray[np.uint32],
    target: NDArray[np.uint32],
    rates: NDArray[np.float64],
    drawing: int,
) -> Shares:
    """Load, rate over load and max-min fair share of every message.

    A message has fixed parts on its ways and ends with the slowest, so all of them go on at the
    pace of the slowest. Fair shares are those of Bertsekas and Gallager (1992, section 6.5.2),
    where a message takes of each channel its part there.

    Args:
        resolver: routes that send messages over several ways.
        source: place of every message, shape [messages].
        target: likewise.
        rates: of every channel by place; none where all are alike.
        drawing: of the routes, where they are drawn.

    Returns:
        Largest load on a channel of the message, 0 from a place to itself; and both shares, of what
        the slower of the message's two ports carries, 1 from a place to itself; shape [messages].
    """
    between, places = resolver.switch_channels, resolver.places
    channels = between + 2 * places
    crossing = np.flatnonzero(source != target)
    start, end = (np.ascontiguousarray(ends[crossing]) for ends in (source, target))
    part = _parts(resolver, start, end, drawing)
    rate = rates if len(rates) else np.ones(channels)
    time = part / rate[:, np.newaxis]
    used = part > 0
    port = np.minimum(rate[between + start], rate[between + places + end])
    load = part.sum(axis=1)
    slowest = np.where(used, time.sum(axis=1)[:, np.newaxis], 0).max(axis=0, initial=0)
    found = (
        np.where(used, load[:, np.newaxis], 0).max(axis=0, initial=0),
        1 / (slowest * port),
        _filled(time) / port,
    )
    pi, share, fair = np.zeros(len(source)), np.ones(len(source)), np.ones(len(source))
    for every, of_crossing in zip((pi, share, fair), found, strict=True):
        every[crossing] = np.round(of_crossing, _ROUNDING)
    return pi, share, fair


def _parts(
    resolver: _core.Resolver, source: NDArray[np.uint32], target: NDArray[np.uint32], drawing: int
) -> NDArray[np.float64]:
    """The part of every message on every channel, shape [channels, messages]."""
    if resolver.splits:
        crossed, part = resolver.parts(source, target)
    else:
        crossed = resolver.routes(source, target, drawing)
        part = np.full(crossed.shape, 1 / resolver.unit)
    between, places = resolver.switch_channels, resolver.places
    parts = np.zeros((between + 2 * places, len(source)))
    message = np.arange(len(source))
    there = crossed < between
    rows = np.broadcast_to(message[:, np.newaxis], crossed.shape)
    np.add.at(parts, (crossed[there], rows[there]), part[there])
    parts[between + source, message] = 1
    parts[between + places + target, message] = 1
    return parts


def _filled(time: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rates by progressive filling, given the time that each message takes of each channel."""
    rate = np.zeros(time.shape[1])
    left = np.ones(len(time))
    growing = np.ones(len(rate), dtype=bool)
    while growing.any():
        taken = time[:, growing].sum(axis=1)
        crossed = taken > 0
        step = (left[crossed] / taken[crossed]).min()
        rate[growing] += step
        left -= step * taken
        full = crossed & (left <= 1e-9)
        growing &= ~(time[full] > 0).any(axis=0)
    return rate
