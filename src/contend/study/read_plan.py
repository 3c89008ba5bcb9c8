"""Reads plans: those that come with contend, by name, and everybody's own, from TOML files."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from contend.errors import InputError, UsageError
from contend.study.plan import Plan

_SHIPPED = Path(__file__).parent / "plans"
_LARGEST_FILE = 1 << 20

_MISMATCH = re.compile(r"Expected `(.+?)`(?:, got `(.+?)`| (.+?))(?: - at `\$(.*)`)?")
_MISSING = re.compile(r"Object missing required field `(.+?)`(?: - at `\$(.*)`)?")
_UNKNOWN = re.compile(r"Object contains unknown field `(.+?)`(?: - at `\$(.*)`)?")
_TOML_LINE = re.compile(r"(.*) \(at line (\d+), column \d+\)")


def shipped_plans() -> tuple[str, ...]:
    """Names of the plans that come with contend."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob("*.toml")))


def find_plan(name: str) -> Path:
    """The file of a plan: one that comes with contend, or a TOML file.

    Raises:
        UsageError: when it is neither.
    """
    if name in shipped_plans():
        return _SHIPPED / f"{name}.toml"
    path = Path(name)
    if not path.is_file():
        known = ", ".join(shipped_plans())
        raise UsageError(f"{name}: no such file, nor one of contend's own studies ({known})")
    return path


def read_plan(path: Path) -> Plan:
    """Reads and checks a plan.

    Raises:
        InputError: naming the file and the key, when something is not what it should be.
    """
    source = str(path)
    if path.stat().st_size > _LARGEST_FILE:
        raise InputError(source, 0, "a plan below 1 MiB", f"{path.stat().st_size} bytes")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InputError(source, 0, "TOML in UTF-8", "another encoding") from None
    except tomllib.TOMLDecodeError as error:
        match = _TOML_LINE.fullmatch(str(error))
        line, what = (int(match[2]), match[1]) if match else (0, str(error))
        raise InputError(source, line, "TOML", what) from None
    try:
        plan = msgspec.convert(content, Plan)
    except msgspec.ValidationError as error:
        raise _explained(source, str(error)) from None
    _check_names(source, plan)
    _check_references(source, plan)
    return plan


def _explained(source: str, message: str) -> InputError:
    """What msgspec says of a wrong value, with the key as the file's author wrote it."""
    if match := _MISSING.fullmatch(message):
        return InputError(source, 0, f"a key {match[1]} in {_place(match[2])}", "none")
    if match := _UNKNOWN.fullmatch(message):
        return InputError(source, 0, f"only known keys in {_place(match[2])}", match[1])
    if match := _MISMATCH.fullmatch(message):
        expected = f"{match[1]} {match[3]}" if match[3] else match[1]
        return InputError(source, 0, f"{expected} at {_place(match[4])}", match[2] or "another")
    return InputError(source, 0, "a plan", message)


def _place(path: str | None) -> str:
    """``.fabric[0].samples`` as ``samples of [[fabric]] number 1``."""
    if not path:
        return "the plan"
    if match := re.fullmatch(r"\.(\w+)\[(\d+)\](?:\.(.+))?", path):
        table = f"[[{match[1]}]] number {int(match[2]) + 1}"
        return f"{match[3]} of {table}" if match[3] else table
    return path.lstrip(".")


def _check_names(source: str, plan: Plan) -> None:
    _unique(source, "fabric", (fabric.name for fabric in plan.fabrics))
    _unique(source, "pattern", (pattern.name for pattern in plan.patterns))
    for fabric in plan.fabrics:
        _unique(source, f"engine of {fabric.name}", plan.engines_of(fabric))
    fabrics = {fabric.name for fabric in plan.fabrics}
    for pattern in plan.patterns:
        for name in pattern.fabrics or ():
            if name not in fabrics:
                raise InputError(source, 0, f"fabrics of pattern {pattern.name} by name", name)


def _check_references(source: str, plan: Plan) -> None:
    cells = {(cell.fabric.name, cell.pattern.name) for cell in plan.cells()}
    routed = {(cell.fabric.name, cell.engine) for cell in plan.cells()}
    for number, reference in enumerate(plan.references, start=1):
        place = f"[[reference]] number {number}"
        if (reference.fabric, reference.pattern) not in cells:
            got = f"{reference.pattern} on {reference.fabric}"
            raise InputError(source, 0, f"a pattern and a fabric of the plan in {place}", got)
        if reference.engine is not None and (reference.fabric, reference.engine) not in routed:
            raise InputError(source, 0, f"an engine of that fabric in {place}", reference.engine)


def _unique(source: str, what: str, names: Iterable[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(source, 0, f"every {what} once", f"{name} {count} times")
