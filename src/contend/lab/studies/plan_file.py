"""Plans as files: those that come with contend, and those that users write."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from contend.base.errors import InputError, UsageError
from contend.base.files import read_toml, write_whole
from contend.base.units import nearest, parse_numbers, parse_seconds, parse_share
from contend.lab.measurement import VectorLength
from contend.lab.studies.measured_plan import MeasuredPlan
from contend.lab.studies.plan import StudyPlan, checked
from contend.lab.studies.simulated_plan import SimulatedPlan
from contend.lab.studies.verification import VerificationPlan

_SHIPPED = Path(__file__).parent / "plans"
# The tables that only plans of one kind have.
_KINDS: dict[str, type[SimulatedPlan] | type[MeasuredPlan] | type[VerificationPlan]] = {
    "case": VerificationPlan,
    "measure": MeasuredPlan,
    "pattern": SimulatedPlan,
    "fabric": SimulatedPlan,
}

# Options that may have several values: numbers, and words.
_NUMBERS = ("hosts", "ranks", "ranks_per_host")
_WORDS = ("only", "length", "algorithm", "bytes", "mpi")


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
    if not os.path.isfile(name):
        known = ", ".join(shipped_plans())
        hint = nearest(name, shipped_plans())
        raise UsageError(f"{name!r} is neither a file nor a study of contend's ({known}){hint}")
    return path


def read_plan(path: Path) -> SimulatedPlan | MeasuredPlan | VerificationPlan:
    """Reads and checks a plan, whatever its kind.

    Raises:
        InputError: naming the file and the key, when something is not what it should be.
    """
    content = read_toml(path)
    kind = next((kind for table, kind in _KINDS.items() if table in content), None)
    if kind is None:
        wanted = "[[measure]] or [[case]] tables, or [[fabric]] and [[pattern]] tables"
        raise InputError(str(path), 0, wanted, "none")
    plan = checked(str(path), content, kind)
    plan.check(str(path))
    return plan


def changed_plan(plan: StudyPlan, options: Mapping[str, Any]) -> StudyPlan:
    """A plan with what options say otherwise, as Python or the command line has them.

    Raises:
        UsageError: an option that such a plan has not, or a value that fits nothing of it.
        InputError: when the plan does not fit together any more.
    """
    plan.refuse_foreign(options)
    given = {name: _listed(name, value) for name, value in options.items() if value is not None}
    if isinstance(given.get("precision"), str):
        given["precision"] = parse_share(given["precision"])
    if "budget" in given:
        budget = given.pop("budget")
        given["budget_s"] = parse_seconds(budget) if isinstance(budget, str) else float(budget)
    assert isinstance(plan, SimulatedPlan | MeasuredPlan | VerificationPlan)
    return plan.changed(**given)


def _listed(name: str, value: Any) -> Any:
    """The value of an option that may have several as a tuple; of others as it is."""
    if name not in (*_NUMBERS, *_WORDS, "label", "case"):
        return value
    if isinstance(value, Mapping):
        return tuple(f"{key}={text}" for key, text in value.items())
    if isinstance(value, str) and name in _NUMBERS:
        return parse_numbers(value)
    if isinstance(value, str) and name in _WORDS:
        return tuple(word.strip() for word in value.split(","))
    values = (value,) if isinstance(value, str | int | VectorLength) else tuple(value)
    # A length that is a number needs its grammar to become one.
    return tuple(str(v) if name == "length" and isinstance(v, int) else v for v in values)


def copy_plan(name: str, folder: Path) -> list[Path]:
    """Copies a plan that comes with contend, and the files it names, for its user to change.

    Returns:
        The files that were written, the plan first.

    Raises:
        UsageError: there is no such plan, or a file of that name is there already.
    """
    if name not in shipped_plans():
        known = ", ".join(shipped_plans())
        raise UsageError(f"expected one of {known}, got {name}{nearest(name, shipped_plans())}")
    # Files beside a plan begin with its name.
    sources = [_SHIPPED / f"{name}.toml", *sorted(_SHIPPED.glob(f"{name}-*"))]
    targets = [folder / source.name for source in sources]
    for target in targets:
        if target.exists():
            raise UsageError(f"{target}: exists already")
    for source, target in zip(sources, targets, strict=True):
        write_whole(target, source.read_bytes())
    return targets
