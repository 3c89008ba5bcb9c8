"""No module imports itself by way of others, imports inside functions included.

Names that are imported from a room count as imports of the module that defines them; imports for
type checkers only do not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import contend
from contend.base import faces

_ROOT = Path(contend.__file__).parent


def modules() -> dict[str, Path]:
    """Every module of Python by its name."""
    return {
        ".".join(("contend", *path.relative_to(_ROOT).with_suffix("").parts)): path
        for path in sorted(_ROOT.rglob("*.py"))
        if path.name != "__init__.py"
    }


def homes() -> dict[str, str]:
    """The module that defines each name that a room shows, by room and name."""
    found = {}
    for face in _ROOT.rglob("__init__.py"):
        room = ".".join(("contend", *face.parent.relative_to(_ROOT).parts))
        for module, names in faces.homes(face.read_text()).items():
            found |= {f"{room}.{name}": f"{room}.{module}" for name in names if module}
    return found


def imported(node: ast.AST) -> Iterator[str]:
    """What a piece of code imports when it runs: modules, and names of modules."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
        yield node.module
    for child in ast.iter_child_nodes(node):
        yield from imported(child)


def circles(sources: dict[str, str], shown: dict[str, str]) -> list[set[str]]:
    """Groups of modules that import each other."""
    number = {name: at for at, name in enumerate(sources)}
    edges = set()
    for name, source in sources.items():
        for target in imported(ast.parse(source)):
            # A face may show what another face shows.
            while target in shown and target not in number:
                target = shown[target]
            if target in number and target != name:
                edges.add((number[name], number[target]))
    tails, heads = np.array(sorted(edges)).reshape(-1, 2).T
    graph = coo_array((np.ones(len(edges)), (tails, heads)), shape=(len(number),) * 2)
    _, group = connected_components(graph, directed=True, connection="strong")
    groups = [{name for name in number if group[number[name]] == part} for part in set(group)]
    return [members for members in groups if len(members) > 1]


@pytest.mark.parametrize(
    "late",
    [
        "def load():\n    from contend.above.door import enter",
        "def load():\n    import contend.above.door",
        "def load():\n    from contend.above import enter",
    ],
)
def test_a_late_import_makes_a_circle(late: str) -> None:
    sources = {"contend.below.base": late, "contend.above.door": "import contend.below.base"}
    shown = {"contend.above.enter": "contend.above.door"}
    assert circles(sources, shown) == [{"contend.below.base", "contend.above.door"}]
    quiet = "if TYPE_CHECKING:\n    from contend.above import enter"
    assert circles({**sources, "contend.below.base": quiet}, shown) == []


def test_nothing_that_a_room_shows_has_the_name_of_a_module_there() -> None:
    """Loading such a module would put it in the place of what it shows."""
    assert sorted(homes().keys() & modules().keys()) == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    sources = {name: path.read_text() for name, path in modules().items()}
    assert circles(sources, homes()) == []
