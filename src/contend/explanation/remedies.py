"""Remedies, and the commands that they name: other routes, other hosts, longer queues."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from shlex import join, quote
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import ContendError, UsageError
from contend.base.schema import Seconds
from contend.base.units import format_bytes, parse_size
from contend.explanation.evidence import Limit
from contend.fabric import Fabric, is_generator
from contend.routes import compute, hashes
from contend.traffic.placement import parse

MOST_HOSTS = 4096
"""Of a fabric whose routes are computed to see what they would save."""
_OWN = "contend"

Found = TypeVar("Found")


@dataclass(frozen=True)
class Remedy:
    """What helps against a limit."""

    limit: Limit
    """Limit that was hit."""
    advice: str
    """Advice, a sentence."""
    command: str = ""
    """Command that does it or tries it; "" where there is none."""
    saves_s: Seconds | None = None
    """Seconds that it is predicted to save, of a program's run or of one measured operation; null
    where nobody knows."""


def by_saving(advised: Iterable[Remedy]) -> tuple[Remedy, ...]:
    """Remedies by what they are predicted to save; the others follow as they are."""
    return tuple(sorted(advised, key=lambda remedy: -(remedy.saves_s or 0.0)))


def tried_engines(fabric: Fabric) -> tuple[str, ...]:
    """Engines that are tried on the ranks' hosts; none on Ethernet, which takes no tables."""
    return () if hashes(fabric) else ("dmodk", "updn", "minhop", "contend")


def by_engines(fabric: Fabric, judged: Callable[[Fabric], Found]) -> dict[str, Found]:
    """What is said of a fabric with the routes of each engine that can route it."""
    found = {}
    for engine in tried_engines(fabric):
        try:
            found[engine] = judged(compute(fabric, engine))
        except ContendError:
            continue
    return found


def named(fabric: Fabric) -> str:
    """The words that load a fabric in a command."""
    return join(fabric.command_line[0] or (fabric.name,))


def none_better(fabric: Fabric) -> str:
    """That no engine does, before what helps instead; "" where none was tried."""
    tried = tried_engines(fabric)
    return f"None of {', '.join(tried)} routes this better; " if tried else ""


def routed_by(engine: str, fabric: Fabric) -> str:
    """The command that makes the tables of an engine, or shows what they are worth."""
    if engine == _OWN:
        return f"contend route {named(fabric)} -o better.lfts"
    return f"contend fabric check {named(fabric)} --route {engine}"


def fewer_leaves(fabric: Fabric, hosts: NDArray[np.integer]) -> str:
    """The command that lists as many hosts on the fewest leaves; for cables where these are."""
    count = len(np.unique(hosts))
    most = int(np.bincount(fabric.host_switch).max())
    for leaves in range(-(-count // most), len(np.unique(fabric.host_switch[hosts]))):
        placement = "same-leaf" if leaves == 1 else f"leaves:{leaves}"
        try:
            parse(placement, fabric, ranks=count)
        except UsageError:
            continue
        return f"contend fabric hosts {named(fabric)} -n {count} --placement {placement}"
    return f"contend fabric improve {named(fabric)}"


def emulation(
    name: str, fabric: Fabric | None, asked: Mapping[str, str], options: str
) -> list[str]:
    """Fabric, routes and cables as they were asked for, but for what the options change.

    Args:
        name: such as ``emulated:fig1``.
        fabric: as it was loaded; None for what nobody knows any more.
        asked: of the place (`EmulatedHosts.asked`).
        options: of the command beside these.
    """
    network, engine = name.removeprefix("emulated:"), asked.get("routes", "").rpartition(" ")[0]
    loaded, routes = ((), ()) if fabric is None else fabric.command_line
    if (made := is_generator(network)) or not loaded:
        loaded = (network if made else "FABRIC",)
        routes = ("--route", engine) if engine else () if made else ("--routes", "FILE")
    known = {
        **dict(zip(routes[::2], routes[1::2], strict=True)),
        "--rate": asked.get("rate", ""),
        "--buffer": asked.get("buffer", ""),
        "--host-queue": asked.get("host_queue", ""),
        "--rto-min": asked.get("rto_min", ""),
    }
    if "--route" in options.split():
        known.pop("--routes", None)
    # A host's queue is told in packets as it is by default.
    given = ((option, text) for option, text in known.items() if text and "packets" not in text)
    words = (
        f"{option} {quote(text if option == '--routes' else text.replace(' ', ''))}"
        for option, text in given
    )
    place, *more = loaded
    return [
        f"--on {quote(f'emulated:{place}')}",
        *map(quote, more),
        *(word for word in words if word.split()[0] not in options.split()),
    ]


def longer_queue(limit: Limit, asked: Mapping[str, str] | None) -> tuple[str, str]:
    """How queues that drop packets are made longer, and the options that show it.

    Args:
        limit: which queues drop.
        asked: of an emulated place (`EmulatedHosts.asked`); None for real hosts.
    """
    of_hosts = limit is Limit.HOST_QUEUES
    if asked is None:
        return (
            "Flow control or larger buffers in the switches keep packets from being dropped; label "
            "runs with and without.",
            '--label "flow control=on"',
        )
    option = "--host-queue" if of_hosts else "--buffer"
    try:
        size = parse_size(asked.get("host_queue" if of_hosts else "buffer", ""))
    except UsageError:
        size = None
    held = "" if size is None else f": they hold {format_bytes(size)} here"
    if of_hosts:
        text = (
            f"Longer queues in the hosts drop less{held}, and 1,000 packets on most Linux hosts "
            "(ip link set DEVICE txqueuelen 1000; tc -s qdisc counts what they drop)."
        )
    else:
        text = f"Larger buffers drop less{held}."
    return text, f"{option} SIZE" if size is None else f"{option} {4 * size}"
