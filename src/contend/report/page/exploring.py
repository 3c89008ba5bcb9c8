"""What a page brings along so that a network can be explored on it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bokeh.resources import INLINE

from contend.report.page.contents import contents
from contend.report.page.drawing import drawing, loads_colours
from contend.report.page.explorable import Explorable
from contend.report.page.html import read_text

_PROGRAM = ("network.js", "places.js", "canvas.js", "panel.js", "search.js", "explorer.js")


def exploring_scripts(explorable: Explorable) -> Iterator[str]:
    """Elements of a page: the network, its empty drawing, the library and our program."""
    drawn = json.dumps({"item": drawing(), "colours": loads_colours()}).replace("<", "\\u003c")
    yield f'<script type="text/plain" id="network">{contents(explorable)}</script>'
    yield f'<script type="application/json" id="drawn">{drawn}</script>'
    components = INLINE.clone(components=["bokeh"])
    yield from (f"<script>{text}</script>" for text in components.js_raw)
    yield f"<script>{''.join(map(read_text, _PROGRAM))}</script>"
