"""docs/reference/api.md is a notebook: its Python runs and shows what it says."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

import contend

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "api.md"
CELL = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)

Cell = tuple[str, str]


def cells_of(page: str) -> list[Cell]:
    """Every block of Python with the block of text right after it, "" where none stands there."""
    return [(match[1], match[2] or "") for match in CELL.finditer(page)]


def run_cell(code: str, names: dict[str, Any]) -> str:
    """What a notebook shows below a cell: what it prints, then its last expression or its error."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        try:
            exec(compile(tree, str(PAGE), "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), str(PAGE), "eval"), names)
                if value is not None:
                    print(repr(value))
        except contend.ContendError as error:
            print(f"{type(error).__name__}: {error}")
    return shown.getvalue()


@pytest.fixture
def quiet_drawing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures go nowhere, files into a folder of the test's own."""
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("quiet_drawing")
def test_the_page_shows_what_its_python_shows() -> None:
    names: dict[str, Any] = {}
    cells = cells_of(PAGE.read_text(encoding="utf-8"))
    assert len(cells) > 15
    for code, expected in cells:
        assert (code, run_cell(code, names)) == (code, expected)


def test_a_page_with_another_output_would_fail() -> None:
    page = "```python\n1 + 1\n```\n\n```text\n3\n```\n"
    [(code, expected)] = cells_of(page)
    assert run_cell(code, {}) == "2\n" != expected


def test_every_name_of_the_face_is_told_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    missing = [name for name in contend.__all__ if not re.search(rf"\b{name}\b", page)]
    assert missing == []
