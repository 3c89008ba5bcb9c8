"""A command's run on an emulated fabric as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from contend.emulate import Network, Traffic


def emulate_json(
    network: Network, command: Sequence[str], status: int, traffic: Traffic
) -> dict[str, Any]:
    """The result of ``contend emulate --json``; rates are bytes per second.

    Args:
        network: that was up.
        command: that ran.
        status: its exit status.
        traffic: what it sent.
    """
    fabric, headroom = network.fabric, network.headroom
    return {
        "fabric": {
            "name": fabric.name,
            "hosts": len(network.hosts),
            "switches": network.switches,
            "channels": len(traffic.channel),
        },
        "engine": "" if fabric.routes is None else fabric.routes.engine,
        "settings": dataclasses.asdict(network.settings),
        "headroom": None if headroom is None else dataclasses.asdict(headroom),
        "hosts": [
            {"name": fabric.host_name[host], "label": label, "address": address}
            for host, label, address in zip(
                network.numbers, network.hosts, network.addresses, strict=True
            )
        ],
        "command": list(command),
        "status": status,
        "traffic": traffic.json(fabric),
    }
