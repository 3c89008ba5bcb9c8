"""The tools, which are no package, as modules."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

_TOOLS = Path(__file__).parents[2] / "tools"


def _tool(name: str) -> ModuleType:
    described = importlib.util.spec_from_file_location(name, _TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def json_page() -> ModuleType:
    return _tool("json_page")


@pytest.fixture(scope="module")
def reference_pages() -> ModuleType:
    return _tool("reference_pages")
