"""The pages of options and of lists: written from the code, and up to date."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

_REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
_INCLUDE = re.compile(r"^```\{include\} (\S+)\n:start-after: (.*)\n:end-before: (.*)\n```$", re.M)


def test_pages_are_what_the_code_says(reference_pages: ModuleType) -> None:
    for page, text in reference_pages.pages().items():
        assert page.read_text() == text, f"{page.name}: run tools/reference_pages.py"


def test_an_option_that_changes_would_show(reference_pages: ModuleType) -> None:
    options = (_REFERENCE / "options.md").read_text()
    for path, verb in reference_pages.verbs().items():
        told = options.partition(f"\n## {path}\n")[2].partition("\n## ")[0]
        names = {max(each.opts, key=len) for each in verb.params if each.name != "help"}
        assert {name for name in names if name.startswith("--") and f"`{name}" not in told} == set()


def test_what_pages_include_is_there() -> None:
    seen = 0
    for page in _REFERENCE.glob("*.md"):
        for name, start, end in _INCLUDE.findall(page.read_text()):
            text = (_REFERENCE / name).read_text()
            assert text.count(f"{start}\n") == text.count(f"{end}\n") == 1, f"{page.name}: {start}"
            seen += 1
    assert seen > 0
