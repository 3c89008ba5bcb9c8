"""Selene's compute fabric with swapped adapters, a dead leaf, and half of a rail's spines.

    python cases.py run        writes said.json, what contend says of each, in eight minutes
    python cases.py table      prints it as docs/validation/rails.md has it

CONTEND_SHARED_DATA names the folder with the dumps. The tables are those of OpenSM's minhop, mended
where switches have died. Where two adapters change places the subnet manager gives each the other's
routes, so that no table changes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import contend
from contend.fabric import Fabric, leaf_rails, structure

HERE = Path(__file__).parent
SERVER, LEAF, RAIL = "luna-0001", "MF0;LG01-01:MQM8700/U1", 1
NEXT, SAMPLES, SAMPLES_OF_FAILURES = 64, 100, 20
COLLECTIVES = (
    "all-reduce by rings",
    "all-reduce by double trees",
    "all-to-all without PXN",
    "all-to-all with PXN, within rails",
)


def selene(without: list[str], route: str | None = None) -> Fabric:
    """The fabric without some switches."""
    dump = str(Path(os.environ["CONTEND_SHARED_DATA"]) / "selene.compute")
    routes = None if route else f"{dump}.minhop.opensm-lfts.xz"
    return contend.load(f"{dump}.ibnetdiscover.xz", routes=routes, route=route, without=without)


def swapped(fabric: Fabric) -> Fabric:
    """The server's adapters of the first two rails at each other's ports."""
    one, other = (fabric.host_number(f"{SERVER} mlx5_{adapter}") for adapter in (0, 1))
    at = np.arange(fabric.hosts)
    at[[one, other]] = other, one
    columns = ("host_guid", "host_port_guid", "host_adapter_port", "host_system_guid")
    names = tuple(fabric.host_name[host] for host in at.tolist())
    return fabric.replace(host_name=names, **{name: getattr(fabric, name)[at] for name in columns})


def half_of_the_spines() -> list[str]:
    """Every second of the spines that only leaves of the rail are cabled to."""
    fabric = selene([])
    rail = leaf_rails(fabric)
    above: dict[int, set[int]] = {}
    for near, _, far, _ in fabric.cable_ends():
        for leaf, spine in ((near, far), (far, near)):
            if rail[leaf] >= 0:
                above.setdefault(spine, set()).add(int(rail[leaf]) + 1)
    own = sorted(fabric.switch_name[spine] for spine, rails in above.items() if rails == {RAIL})
    return own[::2]


STATES: dict[str, Callable[[str | None], Fabric]] = {
    "whole": lambda route: selene([], route),
    "two adapters swapped": lambda route: swapped(selene([], route)),
    "a leaf dead": lambda route: selene([LEAF], route),
    "half of a rail's spines": lambda route: selene(half_of_the_spines(), route),
}


def said_of(make: Callable[[str | None], Fabric]) -> dict[str, Any]:
    """What the commands say of one state."""
    fabric = make(None)
    shown, checked = structure(fabric), contend.check(fabric)
    failures = contend.failures(fabric, samples=SAMPLES_OF_FAILURES)
    jobs = contend.jobs(fabric, [], following=NEXT, samples=SAMPLES)
    assert jobs.next is not None
    cutting = [one for one in failures.alone if one.hosts]
    others = [one for one in failures.alone if not one.hosts]
    collectives = {}
    for engine in (None, "contend"):
        gpu = contend.collectives(fabric if engine is None else make(engine)).gpu
        assert gpu is not None
        collectives[engine or "minhop"] = {
            "servers": gpu.servers,
            **{one.name: one.share for one in gpu.collectives if one.name in COLLECTIVES},
            "limit": gpu.collectives[0].limit,
        }
    return {
        "show": {
            "hosts": fabric.hosts,
            "switches": fabric.switches,
            "servers": shown.hosts_per_server,
            "rails": [[rail.hosts, rail.leaves, rail.astray] for rail in shown.rails],
        },
        "check": {
            check.name: [check.summary, *check.details[:3]]
            for check in checked.checks
            if check.status.name != "OK"
        },
        "failures": {
            "random pairs": failures.bandwidth,
            "worst that cuts off": _failure(cutting[0]),
            "worst of the others": _failure(others[0]),
        },
        "collectives": collectives,
        "jobs": {
            "free": jobs.free,
            "alone": jobs.next.best.alone,
            "first free": jobs.next.first.alone,
        },
    }


def _failure(one: Any) -> dict[str, Any]:
    return {
        "what": one.parts,
        "hosts": one.hosts,
        "bandwidth": one.bandwidth,
        "servers": [[each.servers, each.lost, each.rails] for each in one.servers],
        "still get": None if one.still is None else [one.still.before, one.still.after],
    }


def _rails_of(state: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What `fabric show` and `fabric check` say."""
    shown, check = state["show"], state["check"]
    yield "`show`: switches, hosts", f"{shown['switches']}, {shown['hosts']:,}"
    yield "`show`: servers with 8 adapters", f"{shown['servers'].get('8', 0)}"
    hosts, leaves, astray = zip(*shown["rails"], strict=True)
    yield "`show`: adapters of rail 1, on leaves", f"{hosts[0]}, {leaves[0]}"
    yield "`show`: adapters on another rail's leaf", f"{sum(astray)}"
    yield "`check`: rails", check.get("rails", ["ok"])[0]
    yield "`check`: missing cables", check.get("missing cables", ["none"])[0].split()[0]


def _rates_of(state: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What the others say, in percent of what ports allow."""
    failures = state["failures"]
    yield "`failures`: random pairs now", f"{100 * failures['random pairs']:.1f} %"
    leaf = failures["worst that cuts off"]
    [[servers, lost, rails]] = leaf["servers"]
    before, after = leaf["still get"]
    hit = (
        f"{servers} servers lose {lost} of {rails} rails: {100 * before:.1f} → {100 * after:.1f} %"
    )
    yield "`failures`: the next leaf", hit
    yield (
        "`failures`: the next spine, random pairs",
        (f"{100 * failures['worst of the others']['bandwidth']:.1f} %"),
    )
    for engine, shares in state["collectives"].items():
        for name in COLLECTIVES:
            yield f"`predict`, {engine}: {name}", f"{100 * shares[name]:.1f} %"
    yield "`predict`: servers that take part", f"{state['collectives']['minhop']['servers']}"
    jobs = state["jobs"]
    yield f"`jobs`: the next job of {NEXT} servers", f"{100 * jobs['alone']:.1f} %"
    yield "`jobs`: on the first free servers", f"{100 * jobs['first free']:.1f} %"


def print_table(said: dict[str, dict[str, Any]]) -> None:
    """The table of the page, in Markdown."""
    print(f"| | {' | '.join(said)} |\n|---|{'--:|' * len(said)}")
    columns = [[*_rails_of(state), *_rates_of(state)] for state in said.values()]
    for row in zip(*columns, strict=True):
        print(f"| {row[0][0]} | {' | '.join(cell for _, cell in row)} |")


def main() -> None:
    """Runs what is not there yet, or prints what is."""
    path = HERE / "said.json"
    said = json.loads(path.read_text()) if path.exists() else {}
    if sys.argv[1] == "run":
        for name, make in STATES.items():
            if name not in said:
                said[name] = said_of(make)
                path.write_text(json.dumps(said, indent=1) + "\n")
    else:
        print_table(said)


if __name__ == "__main__":
    main()
