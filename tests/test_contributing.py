"""The map in CONTRIBUTING is the house as it stands, and its order that of the layers."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
CONTRIBUTING = (CHECKOUT / "CONTRIBUTING.md").read_text()
# Rooms by floors, as the table has them.
FLOORS = [
    re.findall(r"`([\w/]+)`", row) for row in re.findall(r"^\| (`.*?) \|", CONTRIBUTING, re.M)
]
ROOMS = {room for floor in FLOORS for room in floor}
# Named below the table: they are beside the floors.
ASIDE = {
    *("cpp/bench", "cpp/fuzz"),
    *(f"src/contend/{name}" for name in ("probes", "schedules", "tracer", "tuned")),
}


def test_every_room_in_the_map_is_there() -> None:
    for room in ROOMS | ASIDE:
        folder = CHECKOUT / room
        assert folder.is_dir() or folder.with_suffix(".py").is_file(), room
        assert f"`{room}`" in CONTRIBUTING


def test_every_room_is_in_the_map() -> None:
    package = CHECKOUT / "src" / "contend"
    there = {f"src/contend/{path.parent.name}" for path in package.glob("*/__init__.py")}
    there |= {f"src/contend/{path.stem}" for path in package.glob("[!_]*.py")}
    there |= {f"cpp/{path.parent.name}" for path in (CHECKOUT / "cpp").glob("*/include")}
    assert there - {"cpp/bind"} == ROOMS - {"cpp/bind"}


def test_floors_are_the_layers_that_imports_obey() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
    [layers] = [
        contract["layers"]
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers" and "containers" not in contract
    ]
    floors = [
        {room.removeprefix("src/contend/") for room in floor}
        for floor in FLOORS
        if floor[0].startswith("src/")
    ]
    upwards = [
        {room.strip().removeprefix("contend.") for room in layer.split("|")}
        for layer in layers[::-1]
    ]
    assert floors == upwards


def test_files_that_are_named_are_there() -> None:
    for name in re.findall(
        r"`((?:docs|tools|src|tests|cpp)/[\w/.]+\.(?:py|md|sh|toml))`", CONTRIBUTING
    ):
        assert (CHECKOUT / name).is_file(), name


def test_a_public_class_name_occurs_once() -> None:
    """One name, one thing: whoever reads a name in any room knows what is meant."""
    places: dict[str, list[str]] = {}
    for path in sorted((CHECKOUT / "src" / "contend").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(CHECKOUT)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}
