"""What a room shows: the names that its `__init__.py` imports for type checkers, loaded when used.

Each room says `__getattr__, __dir__, __all__ = shown(__name__, __file__)` where they do not look.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lazy_loader

Shown = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]


def homes(source: str) -> dict[str, list[str]]:
    """Names that the text of a face imports, by module; "" stands for modules of the room."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            found.setdefault(node.module or "", []).extend(alias.name for alias in node.names)
    return found


def shown(room: str, file: str) -> Shown:
    """`__getattr__`, `__dir__` and `__all__` of a room, whose names load when asked for."""
    names = homes(Path(file).read_text(encoding="utf-8"))
    made: Shown = lazy_loader.attach(room, names.pop("", ()), names)
    return made
