"""How the user guide is built: `make docs`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx

from contend.cli.app import command

project = "contend"
project_copyright = "the authors of contend"
release = metadata.version("contend")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
autodoc_default_options = {"exclude-members": "__init__"}
autodoc_member_order = "bysource"
autodoc_typehints = "description"

html_theme = "furo"
html_title = "contend"


def _manual_pages() -> list[tuple[str, str, str, list[str], int]]:
    """A page of `man` for each page of a command in the reference, and one for all of them."""
    index = (Path(__file__).parent / "reference" / "index.md").read_text(encoding="utf-8")
    _, _, commands = index.partition(":caption: Commands\n")
    pages = commands.partition("```")[0].split()[2:]
    lines = {"-".join(words): line for words, line in _lines(command()) if line}
    lines["study-measured"] = "Carry out a plan of measurements."
    told = [(f"reference/{page}", f"contend-{page}", lines[page]) for page in pages]
    told.append(("reference/options", "contend", "what a network gives to a communication"))
    return [(page, name, line.rstrip("."), [], 1) for page, name, line in told]


def _lines(group: Any, *words: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The line of help of every command and of every group of commands."""
    for name, below in group.commands.items():
        yield (*words, name), below.help
        if hasattr(below, "commands"):
            yield from _lines(below, *words, name)


man_pages = _manual_pages()


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


def as_manual(app: Sphinx, page: nodes.document, name: str) -> None:
    """A page as `man` shows pages: options are a list, and words that lead elsewhere are words."""
    if app.builder.name != "man":
        return
    for reference in list(page.findall(nodes.reference)):
        if not reference.get("refuri", "").startswith("http"):
            reference.parent.replace(reference, reference.children)
    for table in list(page.findall(nodes.table)):
        head, *rows = [list(row.children) for row in table.findall(nodes.row)]
        if head[0].astext() in ("option", "argument"):
            table.parent.replace(table, _listed(rows))


def _listed(rows: list[list[nodes.Node]]) -> nodes.definition_list:
    """Rows of a term, its meaning and perhaps its default."""
    entries = nodes.definition_list()
    for term, meaning, *default in rows:
        told = nodes.definition("", *meaning.children)
        if default and default[0].astext():
            told += nodes.paragraph("", "", nodes.Text("Default: "), *default[0][0].children)
        name = nodes.term("", "", *term[0].children)
        entries += nodes.definition_list_item("", name, told)
    return entries


def setup(app: Sphinx) -> None:
    """Adds the directive, and what pages of `man` need."""
    app.add_directive("generated", Generated)
    app.connect("doctree-resolved", as_manual)
