"""How the user guide is built: `make docs`."""

from __future__ import annotations

from importlib import metadata

project = "contend"
project_copyright = "the authors of contend"
release = metadata.version("contend")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"

html_theme = "furo"
html_title = "contend"
