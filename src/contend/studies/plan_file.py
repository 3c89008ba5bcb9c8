"""Plans as files: those that come with contend, and those that users write."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from contend.errors import InputError, UsageError
from contend.files import read_toml, write_whole
from contend.measurement import MemoryPrediction, VectorLength
from contend.studies.measured_plan import MeasuredPlan
from contend.studies.plan import checked
from contend.studies.simulated_plan import SimulatedPlan
from contend.studies.verification_plan import VerificationPlan
from contend.units import nearest

_SHIPPED = Path(__file__).parent / "plans"
# The tables that only plans of one kind have.
_KINDS: dict[str, type[SimulatedPlan] | type[MeasuredPlan] | type[VerificationPlan]] = {
    "case": VerificationPlan,
    "measure": MeasuredPlan,
    "pattern": SimulatedPlan,
    "fabric": SimulatedPlan,
}


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


def published(length: VectorLength, prediction: MemoryPrediction) -> dict[str, float | None]:
    """Seconds that Mistry et al. 2015 published for a sort on the cluster tara, by source.

    None is an error there; a source that is missing published nothing for this run.
    """
    return {
        known.source: known.seconds
        for known in _mistry2015().known()
        if known.length == length
        and known.hosts == prediction.hosts
        and known.vectors == prediction.vectors
        and known.ranks_per_host == prediction.ranks_per_host
    }


@cache
def _mistry2015() -> MeasuredPlan:
    plan = read_plan(find_plan("mistry2015"))
    assert isinstance(plan, MeasuredPlan)
    return plan
