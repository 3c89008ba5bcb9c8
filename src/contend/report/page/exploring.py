"""What a page brings along so that a network can be explored on it.

Its drawing comes empty: layers, one above the other, that the page's program fills.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

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

from contend.report.fabric.painting import FRAME, LOADS
from contend.report.page.contents import contents
from contend.report.page.explorable import Explorable
from contend.report.page.html import read_text

_PROGRAM = ("network.js", "places.js", "canvas.js", "panel.js", "search.js", "explorer.js")
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


def exploring_scripts(explorable: Explorable) -> Iterator[str]:
    """Elements of a page: the network, its empty drawing, the library and our program."""
    drawn = json.dumps({"item": _drawing(), "colours": _loads_colours()}).replace("<", "\\u003c")
    yield f'<script type="text/plain" id="network">{contents(explorable)}</script>'
    yield f'<script type="application/json" id="drawn">{drawn}</script>'
    components = INLINE.clone(components=["bokeh"])
    yield from (f"<script>{text}</script>" for text in components.js_raw)
    yield f"<script>{''.join(map(read_text, _PROGRAM))}</script>"


def _loads_colours(count: int = 64) -> list[str]:
    """Colours from the coolest channel to the hottest."""
    return [to_hex(LOADS(place / (count - 1))) for place in range(count)]


def _drawing() -> dict[str, Any]:
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
