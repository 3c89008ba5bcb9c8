"""Counts lines of the house by room; `tools/sizes.toml` says how many each may have.

Usage: tools/sizes.py prints what there is beside what may be. tools/sizes.py --lower writes the
counts of rooms that have become smaller: numbers go down by themselves, never up.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

HOUSE = Path(__file__).parents[1]
LIMITS = HOUSE / "tools" / "sizes.toml"
# Generated, so nobody reads it.
_MADE = "_core.pyi"
_KINDS = {"python": (".py", ".pyi"), "native": (".c", ".h", ".cpp", ".hpp")}


def counted(house: Path = HOUSE) -> dict[str, Counter[str]]:
    """Lines of Python, of C and C++ (cpp's own tests too), and of tests; files of Python."""
    lines: dict[str, Counter[str]] = {kind: Counter() for kind in (*_KINDS, "tests", "files")}
    for top in ("src/contend", "cpp", "tests"):
        for file in sorted((house / top).rglob("*")):
            inner = file.relative_to(house / top).parts
            if file.suffix not in sum(_KINDS.values(), ()) or file.name == _MADE:
                continue
            if top == "tests" and inner[0] == "data":
                continue
            room = inner[0] if len(inner) > 1 else "beside rooms"
            kind = next(name for name, suffixes in _KINDS.items() if file.suffix in suffixes)
            if top == "tests":
                kind = "tests"
            name = f"cpp/{room}" if top == "cpp" else room
            lines[kind][name] += len(file.read_text(encoding="utf-8").splitlines())
            if kind == "python":
                lines["files"][room] += 1
    return lines


def allowed(limits: Path = LIMITS) -> dict[str, Counter[str]]:
    """The same as it may be: what was there, and what was added with a reason since."""
    told = tomllib.loads(limits.read_text(encoding="utf-8"))
    may = {kind: Counter(rooms) for kind, rooms in told["rooms"].items()}
    for kind, room, lines, _ in told.get("raised", ()):
        may[kind][room] += lines
    return may


def lower(limits: Path = LIMITS) -> None:
    """Writes the counts of rooms that have become smaller, and of those that are gone."""
    there, may, kind = counted(), allowed(limits), ""
    kept = []
    for line in limits.read_text(encoding="utf-8").splitlines():
        if head := re.fullmatch(r"\[rooms\.(\w+)\]", line):
            kind = head[1]
        elif kind and (row := re.fullmatch(r'"([^"]+)" = (\d+)', line)):
            less = min(there[kind][row[1]] - may[kind][row[1]], 0)
            line = f'"{row[1]}" = {int(row[2]) + less}'
        kept.append(line)
    limits.write_text("\n".join((*kept, "")), encoding="utf-8")


def main(words: list[str]) -> int:
    """Prints every room; 1 where one is too large."""
    if words == ["--lower"]:
        lower()
    there, may = counted(), allowed()
    too_large = False
    for kind, rooms in there.items():
        print(f"{kind}: {rooms.total():,} of {may[kind].total():,}")
        for room in sorted(rooms | may[kind]):
            over = rooms[room] > may[kind][room]
            too_large |= over
            print(f"  {room:20} {rooms[room]:7,} of {may[kind][room]:7,}{'  too large' * over}")
    return int(too_large)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
