from __future__ import annotations

import re
from pathlib import Path

from contend.fabric import catalogue, make

_PAGE = Path(__file__).parents[3] / "docs" / "reference" / "generators.md"
_ROW = re.compile(r"\| `([^`]+)` \| `([^`]+)` \| (\d+) \| (\d+) \| (\d+) \|")


def test_the_page_lists_every_family_with_the_right_counts() -> None:
    rows = _ROW.findall(_PAGE.read_text(encoding="utf-8"))
    assert {(form, example) for form, example, *_ in rows} == {
        (family.form, family.example) for family in catalogue()
    }
    for _, example, *counts in rows:
        fabric = make(example)
        told = [int(count) for count in counts]
        assert told == [fabric.hosts, fabric.switches, fabric.cables], example
