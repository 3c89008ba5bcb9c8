"""What a page brings along so that a network can be explored: its contents, an empty drawing.

The drawing has layers, one above the other, that the page's program fills.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
from bokeh.embed import json_item
from bokeh.layouts import row
from bokeh.models import (
    Circle,
    ColumnDataSource,
    GlyphRenderer,
    HoverTool,
    MultiLine,
    PanTool,
    Range1d,
    Rect,
    Scatter,
    TapTool,
    Text,
    WheelZoomTool,
)
from bokeh.plotting import figure
from bokeh.resources import INLINE
from matplotlib.colors import to_hex
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
from contend.report.fabric.network import arranged
from contend.report.fabric.painting import FRAME, LOADS
from contend.report.fabric.scene import (
    WIDTH,
    Label,
    Layer,
    Scene,
    fitting_labels,
    shortened,
    what_is_drawn,
)
from contend.report.page.explorable import Explorable, Followed, PartNames, View, Within
from contend.report.save import read_text
from contend.report.words import printable
from contend.routes import NO_PORT

_COLUMNS = {
    "boxes": ("x", "y", "width", "height", "tip"),
    "lines": ("xs", "ys", "colour", "width", "dash", "tip"),
    "cables": ("xs", "ys", "colour", "width", "dash", "tip"),
    "chosen-lines": ("xs", "ys", "width"),
    "switches": ("x", "y", "side", "colour", "tip"),
    "hosts": ("x", "y", "radius", "colour", "tip"),
    "chosen": ("x", "y", "side"),
    "marks": ("x", "y", "sign", "colour", "tip"),
    "texts": ("x", "y", "text", "angle", "across", "along", "colour", "size", "style"),
}
CHOSEN = "#F0A500"


def loads_colours(count: int = 64) -> list[str]:
    """Colours from the coolest channel to the hottest."""
    return [to_hex(LOADS(place / (count - 1))) for place in range(count)]


def drawing() -> dict[str, Any]:
    """Two panes beside each other, the second one hidden, as Bokeh embeds them."""
    ranges = Range1d(0, 1), Range1d(0, 1)
    panes = [_pane(number, *ranges) for number in range(2)]
    panes[1].visible = False
    item: dict[str, Any] = json_item(row(panes, sizing_mode="stretch_both"))
    return item


def _pane(number: int, across: Range1d, along: Range1d) -> Any:
    tools = [PanTool(), WheelZoomTool(zoom_on_axis=False), TapTool()]
    pane = figure(
        name=f"pane-{number}",
        x_range=across,
        y_range=along,
        tools=tools,
        active_scroll=tools[1],
        toolbar_location=None,
        sizing_mode="stretch_both",
        min_border=0,
        outline_line_color=None,
        lod_threshold=None,
    )
    pane.axis.visible = False
    pane.grid.visible = False
    sources = {
        kind: ColumnDataSource({column: [] for column in columns}, name=f"{kind}-{number}")
        for kind, columns in _COLUMNS.items()
    }
    line = {"line_color": "colour", "line_width": "width", "line_dash": "dash", "line_cap": "round"}
    under = {"line_color": CHOSEN, "line_width": "width", "line_cap": "round", "line_alpha": 0.5}
    square = {"width": "side", "height": "side"}
    frame = {"fill_color": "#FFFFFF", "line_color": FRAME, "line_width": 0.8}
    ring = {"fill_color": None, "line_color": CHOSEN, "line_width": 3}
    sign = {"marker": "sign", "size": 11, "line_color": "colour", "line_width": 2.5}
    text = {
        "text": "text",
        "angle": "angle",
        "text_align": "across",
        "text_baseline": "along",
        "text_color": "colour",
        "text_font_size": "size",
        "text_font_style": "style",
        "background_fill_color": "#FFFFFF",
        "background_fill_alpha": 0.7,
    }
    glyphs = {
        "lines": MultiLine(xs="xs", ys="ys", **line),
        "boxes": Rect(x="x", y="y", width="width", height="height", **frame),
        "chosen-lines": MultiLine(xs="xs", ys="ys", **under),
        "cables": MultiLine(xs="xs", ys="ys", **line),
        "switches": Rect(x="x", y="y", **square, fill_color="colour", line_color=None),
        "hosts": Circle(x="x", y="y", radius="radius", fill_color="colour", line_color=None),
        "chosen": Rect(x="x", y="y", **square, **ring),
        "marks": Scatter(x="x", y="y", **sign, fill_color=None),
        "texts": Text(x="x", y="y", **text),
    }
    drawn: dict[str, GlyphRenderer] = {
        kind: pane.add_glyph(
            sources[kind],
            glyph,
            nonselection_glyph=None,
            selection_glyph=None,
        )
        for kind, glyph in glyphs.items()
    }
    pointed = [drawn[kind] for kind in ("lines", "cables", "boxes", "switches", "hosts", "marks")]
    tools[2].renderers = pointed[:-1]
    pane.add_tools(HoverTool(renderers=pointed, tooltips="@tip", line_policy="interp"))
    return pane


_PROGRAM = ("network.js", "places.js", "canvas.js", "panel.js", "search.js", "explorer.js")


def exploring_scripts(explorable: Explorable) -> Iterator[str]:
    """Elements of a page: the network, its empty drawing, the library and our program."""
    drawn = json.dumps({"item": drawing(), "colours": loads_colours()}).replace("<", "\\u003c")
    yield f'<script type="text/plain" id="network">{contents(explorable)}</script>'
    yield f'<script type="application/json" id="drawn">{drawn}</script>'
    components = INLINE.clone(components=["bokeh"])
    yield from (f"<script>{text}</script>" for text in components.js_raw)
    yield f"<script>{''.join(map(read_text, _PROGRAM))}</script>"


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
        "jobsOn": [
            [channel, [[printable(job), heat] for job, heat in jobs.items()]]
            for channel, jobs in explorable.jobs_on.items()
        ],
        "servers": _servers(sound),
    }
    return b64encode(zlib.compress(msgspec.json.encode(everything), 6)).decode()


def _drawing(fabric: Fabric, within: Within | None = None) -> dict[str, Any]:
    """Where everything stands, by numbers of the whole."""
    drawn = what_is_drawn(fabric)
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
