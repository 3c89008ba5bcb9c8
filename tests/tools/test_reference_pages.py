"""The pages of options and of lists: written from the code, and up to date."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

_REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
_PART = re.compile(r"^```\{generated\} (.*)\n```$", re.M)


def test_pages_are_what_the_code_says(reference_pages: ModuleType) -> None:
    for page, text in reference_pages.pages().items():
        assert page.read_text() == text, f"{page.name}: run tools/reference_pages.py"


def test_an_option_that_changes_would_show(reference_pages: ModuleType) -> None:
    options = (_REFERENCE / "options.md").read_text()
    for path, verb in reference_pages.verbs().items():
        told = options.partition(f"\n## {path}\n")[2].partition("\n## ")[0]
        names = {max(each.opts, key=len) for each in verb.params if each.name != "help"}
        assert {name for name in names if name.startswith("--") and f"`{name}" not in told} == set()


def test_what_pages_take_over_is_there() -> None:
    written = [(_REFERENCE / name).read_text() for name in ("options.md", "lists.md")]
    taken = [name for page in _REFERENCE.glob("*.md") for name in _PART.findall(page.read_text())]
    assert len(taken) > 30
    for name in taken:
        for line in (f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"):
            assert sum(text.count(line) for text in written) == 1, line
