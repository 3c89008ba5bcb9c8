"""The page of JSON keys: written from the structs, complete, and up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

_TOOL = Path(__file__).parents[2] / "tools" / "json_page.py"


@pytest.fixture(scope="module")
def json_page() -> ModuleType:
    described = importlib.util.spec_from_file_location("json_page", _TOOL)
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


def test_the_page_is_what_the_structs_say(json_page: ModuleType) -> None:
    written = json_page.PAGE.read_text()
    assert written == json_page.page(), "run tools/json_page.py"


def test_every_key_has_a_meaning(json_page: ModuleType) -> None:
    structs = {
        struct
        for roots in json_page.COMMANDS.values()
        for root in roots
        for struct in json_page.with_nested(root)
        if struct.__name__.endswith("Json")
    }
    assert len(structs) > 30
    for struct in structs:
        keys = {attribute for _, attribute, *_ in json_page.fields_of(struct)}
        assert keys == set(json_page.meanings(struct)), struct.__name__


def test_no_two_structs_share_a_heading(json_page: ModuleType) -> None:
    headings = [line for line in json_page.page().splitlines() if line.startswith("### ")]
    assert len(headings) == len(set(headings))
