"""The house does not grow without a reason: `tools/sizes.toml` says how large each room may be."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "sizes.py"


@pytest.fixture
def sizes() -> Any:
    spec = importlib.util.spec_from_file_location("sizes", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_room_is_larger_than_it_may_be(sizes: Any) -> None:
    there, may = sizes.counted(), sizes.allowed()
    too_large = {
        f"{kind} of {room}": (lines, may[kind][room])
        for kind, rooms in there.items()
        for room, lines in rooms.items()
        if lines > may[kind][room]
    }
    assert too_large == {}, "make it smaller, or say in tools/sizes.toml what it grew for"


def test_a_newcomer_sees_few_rooms() -> None:
    package = SCRIPT.parents[1] / "src" / "contend"
    rooms = sorted(face.parent.name for face in package.glob("*/__init__.py"))
    assert len(rooms) <= 14, rooms


def test_every_raise_says_what_for() -> None:
    raised = tomllib.loads(SCRIPT.with_suffix(".toml").read_text("utf-8")).get("raised", [])
    assert all(len(reason.split()) >= 3 for *_, reason in raised)


def test_a_room_that_grows_is_found_and_one_that_shrinks_is_kept_small(
    sizes: Any, tmp_path: Path
) -> None:
    house = tmp_path / "house"
    for name, lines in {
        "src/contend/lab/runs/a.py": 3,
        "cpp/base/src/b.cpp": 2,
        "tests/c.py": 1,
    }.items():
        (house / name).parent.mkdir(parents=True)
        (house / name).write_text("x\n" * lines)
    there = sizes.counted(house)
    assert {kind: dict(rooms) for kind, rooms in there.items()} == {
        "python": {"lab": 3},
        "native": {"cpp/base": 2},
        "tests": {"beside rooms": 1},
        "files": {"lab": 1},
    }
    limits = tmp_path / "sizes.toml"
    lines = sizes.counted()["python"]["lab"]
    raised = 'raised = [\n  ["python", "lab", 5, "a good reason"],\n]\n'
    limits.write_text(f'{raised}[rooms.python]\n"lab" = {lines + 10}\n[rooms.native]\n')
    assert sizes.allowed(limits)["python"]["lab"] == lines + 15
    sizes.lower(limits)
    assert sizes.allowed(limits)["python"]["lab"] == lines
    assert "a good reason" in limits.read_text()
