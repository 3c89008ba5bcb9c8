"""Reads plans of measurements from TOML files and checks that all fits together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from contend.errors import InputError, UsageError
from contend.study.measured.plan import Measure, MeasuredPlan
from contend.study.toml_file import read_as, read_toml
from contend.units import parse_rate, parse_size

# What every probe needs of its measurement, and what the others must not have.
_KEYS = {
    "alltoall": ("algorithms", "bytes"),
    "pingpong": ("algorithms", "bytes"),
    "sort": ("numbers", "doubles"),
}


def is_measured(path: Path) -> bool:
    """Whether a TOML file is a plan of measurements: it has [[measure]] tables.

    Raises:
        InputError: when it is no TOML.
    """
    return "measure" in read_toml(path)


def read_measured(path: Path) -> MeasuredPlan:
    """Reads and checks a plan.

    Raises:
        InputError: naming the file and the key, when something is not what it should be.
    """
    plan = read_as(path, MeasuredPlan)
    check_plan(plan, str(path))
    return plan


def check_plan(plan: MeasuredPlan, source: str) -> None:
    """Refuses a plan whose parts do not fit together, as a plan changed by options may not.

    Raises:
        InputError: naming `source` and the key.
    """
    _unique(source, "measure", (measure.name for measure in plan.measures))
    _unique(source, "library", plan.libraries)
    if plan.repetitions[0] > plan.repetitions[1]:
        raise InputError(source, 0, "repetitions [fewest, most]", str(list(plan.repetitions)))
    for number, measure in enumerate(plan.measures, start=1):
        _check_measure(source, f"[[measure]] number {number}", measure)
    _unique(source, "cell", (cell.file_name for cell in plan.cells()))
    if plan.wire is not None:
        with _at(source, "wire"):
            parse_rate(plan.wire)
    predicted = None if plan.predict is None else plan.predict.node_memory
    for memory in (plan.node_memory, predicted):
        if memory is not None:
            with _at(source, "node_memory"):
                parse_size(memory)
    _check_names(source, plan)


def _check_measure(source: str, place: str, measure: Measure) -> None:
    if bool(measure.nodes) == bool(measure.ranks):
        got = "both" if measure.nodes else "none"
        raise InputError(source, 0, f"either nodes or ranks in {place}", got)
    keys = sorted({key for keys in _KEYS.values() for key in keys})
    for key in keys:
        given, wanted = bool(getattr(measure, key)), key in _KEYS[measure.probe]
        if given != wanted:
            what = "a key" if wanted else "no key"
            got = "none" if wanted else f"one for {measure.probe}"
            raise InputError(source, 0, f"{what} {key} in {place}", got)
    for name, items in (("nodes", measure.nodes), ("ranks", measure.ranks)):
        _unique(source, f"of the {name} in {place}", map(str, items))
    _unique(source, f"algorithm in {place}", measure.algorithms)
    readers: tuple[Callable[[], object], ...] = (measure.sizes, measure.lengths)
    for read in readers:
        with _at(source, place):
            read()


def _check_names(source: str, plan: MeasuredPlan) -> None:
    """References and tables must name measurements; what they say must be numbers."""
    names = {measure.name for measure in plan.measures}
    for number, reference in enumerate(plan.references, start=1):
        place = f"[[reference]] number {number}"
        if reference.measure not in names:
            raise InputError(source, 0, f"a measure of the plan in {place}", reference.measure)
        try:
            list(reference.known())
        except UsageError as error:
            raise InputError(source, 0, f"numbers in {place}", str(error)) from None
        except ValueError:
            wanted = f"either a rate, or seconds for each of its nodes, in {place}"
            raise InputError(source, 0, wanted, "something else") from None
    for number, table in enumerate(plan.tables, start=1):
        place = f"[[table]] number {number}"
        if table.measure not in names:
            raise InputError(source, 0, f"a measure of the plan in {place}", table.measure)
        for row in table.rows:
            if len(row.algorithms) != len(table.columns):
                wanted = f"{len(table.columns)} algorithms in row {row.label} of {place}"
                raise InputError(source, 0, wanted, str(len(row.algorithms)))


@contextmanager
def _at(source: str, place: str) -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        expected, _, got = str(error).removeprefix("expected ").partition(", got ")
        raise InputError(source, 0, f"{expected} at {place}", got) from None


def _unique(source: str, what: str, names: Iterable[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(source, 0, f"every {what} once", f"{name} {count} times")
