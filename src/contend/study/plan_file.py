"""Reads plans of simulations from TOML files and checks that their names fit together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from contend.errors import InputError
from contend.study.plan import Plan
from contend.study.toml_file import read_as


def read_plan(path: Path) -> Plan:
    """Reads and checks a plan.

    Raises:
        InputError: naming the file and the key, when something is not what it should be.
    """
    source = str(path)
    plan = read_as(path, Plan)
    _check_names(source, plan)
    _check_references(source, plan)
    return plan


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
