"""Options that stand above a plan."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import msgspec

from contend.errors import UsageError
from contend.study.measured.plan import Measure, MeasuredPlan
from contend.study.measured.read import check_plan

_OF_MEASURES = ("nodes", "ranks", "ranks_per_node", "algorithms", "bytes", "numbers", "doubles")


@dataclass(frozen=True)
class Changes:
    """What options say; None leaves the plan's. Names and meanings are those of a plan's keys.

    Attributes:
        nodes: in place of the plan's nodes, and of its ranks.
        ranks: in place of the plan's ranks, and of its nodes.
        only: names of the measurements to keep.
    """

    nodes: tuple[int, ...] | None = None
    ranks: tuple[int, ...] | None = None
    ranks_per_node: tuple[int, ...] | None = None
    algorithms: tuple[str, ...] | None = None
    bytes: tuple[str, ...] | None = None
    numbers: int | None = None
    doubles: tuple[str, ...] | None = None
    libraries: tuple[str, ...] | None = None
    launches: int | None = None
    budget_s: float | None = None
    precision: float | None = None
    repetitions: tuple[int, int] | None = None
    verify: bool | None = None
    seed: int | None = None
    conditions: str | None = None
    wire: str | None = None
    node_memory: str | None = None
    only: tuple[str, ...] | None = None


def changed(plan: MeasuredPlan, changes: Changes) -> MeasuredPlan:
    """The plan with other values, checked as a whole.

    Raises:
        UsageError: when a change fits no measurement of the plan.
        InputError: when the plan does not fit together any more.
    """
    given = {
        field.name: value
        for field in fields(changes)
        if (value := getattr(changes, field.name)) is not None
    }
    only = given.pop("only", None)
    measures = [m for m in plan.measures if only is None or m.name in only]
    for name in only or ():
        if name not in [measure.name for measure in plan.measures]:
            known = ", ".join(measure.name for measure in plan.measures)
            raise UsageError(f"--only: expected one of {known}, got {name}")
    of_measures = {key: given.pop(key) for key in _OF_MEASURES if key in given}
    for key in of_measures:
        if not any(_has(measure, key) for measure in measures):
            raise UsageError(f"no measurement of {plan.name} has {key} to change")
    made = msgspec.structs.replace(
        plan,
        measures=tuple(_changed(measure, of_measures) for measure in measures),
        references=tuple(
            one for one in plan.references if one.measure in [m.name for m in measures]
        ),
        tables=tuple(one for one in plan.tables if one.measure in [m.name for m in measures]),
        **given,
    )
    check_plan(made, plan.name)
    return made


def _changed(measure: Measure, values: dict[str, Any]) -> Measure:
    fitting = {key: value for key, value in values.items() if _has(measure, key)}
    # Nodes and ranks say the same in two ways.
    if "nodes" in values:
        fitting |= {"nodes": values["nodes"], "ranks": values.get("ranks", ())}
    elif "ranks" in values:
        fitting |= {"ranks": values["ranks"], "nodes": ()}
    return msgspec.structs.replace(measure, **fitting)


def _has(measure: Measure, key: str) -> bool:
    return key in ("nodes", "ranks") or bool(getattr(measure, key))
