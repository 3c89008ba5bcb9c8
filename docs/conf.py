"""How the user guide is built: `make docs`."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx

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


class Generated(Directive):
    """A part of what tools/reference_pages.py writes, which stands between two comments there."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The part's nodes."""
        reference = Path(__file__).parent / "reference"
        name = self.arguments[0]
        for page in ("options.md", "lists.md"):
            text = (reference / page).read_text(encoding="utf-8")
            _, begin, rest = text.partition(f"<!-- {name} -->\n")
            if begin:
                part, _, _ = rest.partition(f"<!-- end of {name} -->")
                node = nodes.Element()
                self.state.nested_parse(StringList(part.splitlines(), source=page), 0, node)
                return node.children
        raise self.error(f"tools/reference_pages.py writes nothing that is called {name}")


def setup(app: Sphinx) -> None:
    """Adds the directive."""
    app.add_directive("generated", Generated)
