"""All of a network that its page knows, as one packed text."""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
from matplotlib.path import Path
from numpy.typing import NDArray

from contend.fabric import (
    Fabric,
    capacities,
    count_rails,
    rails_of,
    server_names,
    servers_of,
    short_names,
    switch_groups,
)
from contend.report.fabric.drawn import what_is_drawn
from contend.report.fabric.network import arranged
from contend.report.fabric.scene import WIDTH, Label, Scene, fitting_labels, shortened
from contend.report.page.explorable import Explorable, Followed, Layer, PartNames, View, Within
from contend.report.words import printable
from contend.routes import NO_PORT

# Points of a bent line.
_BENDS = 9


def contents(explorable: Explorable) -> str:
    """What the page's program reads: JSON, deflated, in base64. Holds no names in the clear."""
    fabric = explorable.fabric
    apart = any(view.apart for view in explorable.views)
    several = any(view.missing for view in explorable.views)
    sound = _with_other_ports(fabric) if several else fabric
    everything = {
        "fabric": _fabric(fabric, sound, explorable.names or PartNames.of(fabric)),
        "drawing": None if apart else _drawing(sound),
        "views": [_view(view) for view in explorable.views],
        "beside": explorable.beside,
        "marks": [
            {"part": mark.part, "number": mark.number, "words": printable(mark.words)}
            | {"kind": mark.kind}
            for mark in explorable.marks
        ],
        "twins": list(explorable.twins),
        "costs": [[part, number, words] for (part, number), words in explorable.costs.items()],
        "hostsBy": _hosts_by(sound, explorable.jobs),
        "servers": _servers(sound),
    }
    return b64encode(zlib.compress(msgspec.json.encode(everything), 6)).decode()


def _drawing(fabric: Fabric, within: Within | None = None) -> dict[str, Any]:
    """Where everything stands, by numbers of the whole."""
    drawn = what_is_drawn(fabric, None, whole=True)
    scene = arranged(drawn, WIDTH - 0.15)
    groups = drawn.groups or switch_groups(fabric)
    number = groups.number
    level, idle, place, line_of = drawn.level, drawn.idle, scene.place, scene.line_of
    if within is not None:
        switches, whole = within.switches, within.whole
        number, level = (_spread(one, switches, whole.switches, -1) for one in (number, level))
        idle = _spread(idle, switches, whole.switches, fill=False)
        place = _spread(place, switches, whole.switches, np.nan)
        line_of = _spread(line_of, within.cables, whole.cables, -1)
    scene = replace(scene, place=place, line_of=line_of)
    return {
        "level": level.tolist(),
        "idle": np.flatnonzero(idle).tolist(),
        "groups": {"of": number.tolist(), "name": list(map(printable, groups.name))},
        "scene": _scene(fabric, scene, bundled=drawn.groups is not None),
    }


def _with_other_ports(fabric: Fabric) -> Fabric:
    """The same parts by ports that are used once: where states are joined, two have used some."""
    ends = np.concatenate([fabric.host_switch, fabric.cable_from, fabric.cable_to])
    used = np.bincount(ends, minlength=fabric.switches)
    order = np.argsort(ends, kind="stable")
    ports = np.empty(len(ends), dtype=np.uint16)
    ports[order] = 1 + np.arange(len(ends)) - np.repeat(np.cumsum(used) - used, used)
    host, near, far = np.split(ports, [fabric.hosts, fabric.hosts + fabric.cables])
    most = np.maximum(used, fabric.switch_ports).astype(np.uint16)
    columns = {"host_port": host, "cable_from_port": near, "cable_to_port": far}
    return fabric.replace(**columns, switch_ports=most)


def _spread(values: NDArray[Any], at: NDArray[np.int64], size: int, fill: float) -> NDArray[Any]:
    """Values of a part, in an array of the whole."""
    whole = np.full((size, *values.shape[1:]), fill, dtype=values.dtype)
    whole[at] = values
    return whole


def _hosts_by(fabric: Fabric, jobs: Sequence[str]) -> dict[str, list[str]]:
    """What hosts are coloured by, where there are several: jobs, rails, rates and planes."""
    by = {}
    if jobs:
        by["jobs"] = list(map(printable, jobs))
    if count_rails(fabric) > 1:
        rails = rails_of(fabric).tolist()
        by["rails"] = ["" if rail < 0 else f"rail {rail + 1}" for rail in rails]
    if len(np.unique(fabric.host_rate)) > 1:
        labels = [printable(label) or "unknown" for label in fabric.rates]
        by["rates of hosts"] = [labels[rate] for rate in fabric.host_rate.tolist()]
    part = fabric.switch_part[fabric.host_switch]
    if len(planes := np.unique(part)) > 1:
        by["planes"] = [f"plane {number + 1}" for number in np.searchsorted(planes, part).tolist()]
    return by


def _servers(fabric: Fabric) -> list[str]:
    """The server of every host, where some have several; "" for one with a single host."""
    names, hosts = server_names(fabric), np.bincount(server := servers_of(fabric))
    if hosts.max(initial=0) < 2:
        return []
    several = (hosts[server] > 1).tolist()
    return [printable(name) if more else "" for name, more in zip(names, several, strict=True)]


def packed(values: NDArray[Any]) -> dict[str, str]:
    """An array as a browser's typed arrays read it: its type and its bytes, lowest first."""
    kind = values.dtype.newbyteorder("<")
    return {kind.str[1:]: b64encode(np.ascontiguousarray(values, kind).tobytes()).decode()}


def _fabric(fabric: Fabric, sound: Fabric, names: PartNames) -> dict[str, Any]:
    capacity = capacities(sound)
    return {
        "name": printable(fabric.name),
        "host": list(map(printable, names.host)),
        "hostGuid": [f"{guid:016x}" if guid else "" for guid in fabric.host_guid.tolist()],
        "hostLid": packed(fabric.host_lid),
        "hostSwitch": packed(fabric.host_switch),
        "hostPort": packed(fabric.host_port),
        "hostRate": packed(fabric.host_rate),
        "hostCapacity": packed(capacity.host.astype(np.float32)),
        "switch": list(map(printable, names.switch)),
        "short": [shortened(name, 40) for name in names.short],
        "switchGuid": [f"{guid:016x}" if guid else "" for guid in fabric.switch_guid.tolist()],
        "switchLid": packed(fabric.switch_lid),
        "system": np.unique(fabric.switch_system_guid, return_inverse=True)[1].reshape(-1).tolist()
        if fabric.switch_system_guid.any()
        else [],
        "switchPorts": packed(fabric.switch_ports),
        "from": packed(fabric.cable_from),
        "fromPort": packed(fabric.cable_from_port),
        "to": packed(fabric.cable_to),
        "toPort": packed(fabric.cable_to_port),
        "rate": packed(fabric.cable_rate),
        "capacity": packed(capacity.cable.astype(np.float32)),
        "rates": list(map(printable, fabric.rates)),
    }


def _tables(routes: Followed) -> dict[str, Any]:
    told: dict[str, Any] = {"words": routes.words}
    if routes.ports is not None:
        # In a byte where that holds all, which the largest one stands for no port in.
        small = not np.any((routes.ports >= 0xFF) & (routes.ports != NO_PORT))
        least = np.minimum(routes.ports, 0xFF).astype(np.uint8)
        told["ports"] = packed(least if small else routes.ports)
    return told


def _scene(fabric: Fabric, scene: Scene, *, bundled: bool) -> dict[str, Any]:
    lines = [_points(line) for line in scene.lines]
    names = {shortened(name) for name in short_names(fabric)}
    labels = [
        label
        for label in fitting_labels(scene.labels, [])
        # PartNames of switches are written by the page, as large as there is room.
        if label.bold or label.text not in names
    ]
    return {
        "width": WIDTH,
        "height": float(scene.height),
        "side": float(scene.side),
        "place": packed(np.nan_to_num(scene.place, nan=-1e6).astype(np.float32).ravel()),
        "lines": lines,
        "lineOf": packed(scene.line_of.astype(np.int32)),
        "bundled": bundled,
        "boxes": [
            [*map(float, (box.x, box.y, box.width, box.height)), int(box.group)]
            for box in scene.boxes
        ],
        "labels": [_label(label) for label in labels],
    }


def _points(line: Path) -> list[list[float]]:
    """Where a line goes: x and y of its points, none where it is interrupted."""
    points = np.asarray(line.vertices, dtype=np.float64)
    if len(points) == 4:
        points = np.insert(points, 2, np.nan, axis=0)
    elif len(points) == 3:
        share = np.linspace(0, 1, _BENDS)[:, None]
        first, bend, last = points
        points = (1 - share) ** 2 * first + 2 * share * (1 - share) * bend + share**2 * last
    drawn: list[list[float]] = points.T.round(4).tolist()
    return drawn


def _label(label: Label) -> dict[str, Any]:
    return {
        "x": float(label.x),
        "y": float(label.y),
        "text": printable(label.text),
        "angle": float(np.deg2rad(label.rotation)),
        "across": label.across,
        "along": {"center": "middle"}.get(label.along, label.along),
        "colour": label.colour,
        "size": label.size,
        "bold": label.bold,
    }


def _view(view: View) -> dict[str, Any]:
    return {
        "name": printable(view.name),
        "words": printable(view.words),
        "tables": _tables(view.routes),
        "gone": [list(part) for part in view.gone],
        "missing": [list(part) for part in view.missing],
        "rate": None if view.rate is None else packed(view.rate),
        "drawing": None if view.apart is None else _drawing(*view.apart),
        "layers": {name: _layer(layer) for name, layer in view.layers.items()},
    }


def _layer(layer: Layer) -> dict[str, Any]:
    return {
        "unit": layer.unit,
        "port": layer.port,
        "load": packed(np.asarray(layer.load).astype(np.float32)),
        "heat": packed(layer.heat.astype(np.float32)),
    }
