"""A plan of measurements: what is measured on how many ranks, and what is known elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta, Struct, field

from contend.base.errors import InputError, UsageError
from contend.lab.studies.grid import GridCell, Known, Published
from contend.lab.studies.plan import (
    Count,
    Length,
    Name,
    Precision,
    Rate,
    Size,
    Sizes,
    StudyPlan,
    Text,
    at_key,
    changed_by,
    check_each_once,
    check_only,
)

Probe = Literal["alltoall", "sort", "pingpong"]

# What every probe needs of its measurement, and what the others must not have.
_KEYS: dict[str, tuple[str, ...]] = {
    "alltoall": ("algorithm", "bytes"),
    "pingpong": ("algorithm", "bytes"),
    "sort": ("vectors", "length"),
}
_OF_MEASURES = ("hosts", "ranks", "ranks_per_host", "algorithm", "bytes", "vectors", "length")

_OF_PLANS = (
    "only", "mpi", "launches", "budget", "precision", "verify", "seed", "label", "wire", "memory",
    "predict",
)  # fmt: skip


class Measure(Struct, frozen=True, forbid_unknown_fields=True):
    """A probe over a grid of ranks, and what it measures there."""

    name: Name
    """What it is called in tables and figures."""
    probe: Probe
    """Which program."""
    hosts: tuple[Count, ...] = ()
    """Numbers of hosts; this or `ranks`."""
    ranks: tuple[Count, ...] = ()
    """Numbers of ranks in all, spread over as many hosts as it takes."""
    ranks_per_host: Annotated[tuple[Count, ...], Meta(min_length=1)] = (1,)
    """Ranks on every host, each with all `hosts` or `ranks`."""
    algorithm: tuple[Name, ...] = ()
    """Schedules (alltoall), or kinds of messages (pingpong)."""
    bytes: Sizes = ()
    """Message sizes or ranges of them (alltoall, pingpong)."""
    vectors: Count | None = None
    """Vectors that are sorted over all ranks (sort)."""
    length: tuple[Length, ...] = ()
    """Length of a vector in doubles, such as 512, or 512N for 512 times the hosts (sort)."""
    input: Annotated[tuple[Name, ...], Meta(min_length=1)] = ("built",)
    """Kinds of input (sort)."""

    def grid(self) -> Iterator[tuple[int, int, int]]:
        """Hosts, ranks per host and ranks of every launch."""
        for each in self.ranks_per_host:
            for hosts in self.hosts:
                yield hosts, each, hosts * each
            for ranks in self.ranks:
                yield -(-ranks // each), min(each, ranks), ranks


class TableRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of a table of rates: a place in the grid, and an algorithm for each column."""

    label: Name
    ranks: Count
    ranks_per_host: Count
    bytes: Size
    algorithms: tuple[Name, ...]


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of rates per rank, all libraries and sources side by side."""

    title: Name
    """Title above it."""
    measure: Text
    """Measurement whose points it shows."""
    columns: Annotated[tuple[Name, ...], Meta(min_length=1)]
    """What the algorithms of the rows are called, in their order."""
    rows: Annotated[tuple[TableRow, ...], Meta(min_length=1)] = field(name="row")
    """Rows, each with as many algorithms as there are columns."""
    head: Text = ""
    """What the rows' labels are."""


class Predict(Struct, frozen=True, forbid_unknown_fields=True):
    """What a prediction of memory shows when nothing else is asked for."""

    length: tuple[Length, ...]
    """Vector lengths."""
    memory: Size
    """Bytes of a host."""


class MeasuredPlan(StudyPlan, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole study of measurements."""

    kind: ClassVar[str] = "measured"
    takes: ClassVar[frozenset[str]] = frozenset((*_OF_MEASURES, *_OF_PLANS))
    places: ClassVar[frozenset[str]] = frozenset(
        (
            "on",
            "routes",
            "route",
            "rate",
            "buffer",
            "host_queue",
            "rto_min",
            "placement",
            "launcher",
        )
    )

    measures: Annotated[tuple[Measure, ...], Meta(min_length=1)] = field(name="measure")
    """Measurements in the order of tables and figures."""
    mpi: tuple[Name, ...] = ()
    """MPI libraries as ``--mpi`` takes them; none is the first usable one."""
    launches: Annotated[int, Meta(ge=1, le=10_000)] = 1
    """Times that every cell is launched, one round after the other."""
    budget_s: Annotated[float, Meta(gt=0, lt=1e9)] = 600.0
    """Seconds that the whole study may measure, shared over its cells."""
    precision: Precision = 0.05
    """Relative half-width of the median's interval at which a point is done."""
    repetitions: tuple[Count, Count] = (6, 1000)
    """Fewest and most samples of a point."""
    verify: bool = False
    """Whether every sample's data is checked and not only the first's."""
    label: Text | tuple[Text, ...] = ()
    """Conditions that programs cannot see, such as ``flow control=on``."""
    wire: Rate | None = None
    """What one host's port carries, such as 1Gbit/s; drawn and compared with. None is the highest
    rate of a ping-pong of the plan between two hosts."""
    memory: Size | None = None
    """Bytes of a host, such as 24GiB; None is what this machine has available."""
    predict: Predict | None = None
    """What a prediction shows by itself; None is what the plan measures."""
    tables: tuple[Table, ...] = field(default=(), name="table")
    """Tables of rates, beside the usual ones."""
    references: tuple[Published, ...] = field(default=(), name="reference")
    """Numbers known from elsewhere."""

    @property
    def labels(self) -> dict[str, str]:
        """Conditions by name; one that has no value holds."""
        texts = (self.label,) if isinstance(self.label, str) else self.label
        pairs = (text.partition("=") for text in texts if text)
        return {name.strip(): value.strip() for name, _, value in pairs}

    @property
    def conditions(self) -> str:
        """All conditions for people: ``flow control on``."""
        return ", ".join(f"{name} {value}".strip() for name, value in self.labels.items())

    def cells(self) -> Iterator[GridCell]:
        """All cells in the plan's own order; they run in another, and `launches` times."""
        for measure in self.measures:
            for library in self.mpi or ("",):
                yield from _cells(measure, library, self.conditions)

    def known(self, measure: str | None = None) -> list[Known]:
        """Every number known from elsewhere, of one measurement or all."""
        return [
            known
            for reference in self.references
            if measure in (None, reference.measure)
            for known in reference.known()
        ]

    def measure(self, name: str) -> Measure:
        """A measurement by its name."""
        return next(measure for measure in self.measures if measure.name == name)

    def changed(self, *, only: tuple[str, ...] | None = None, **values: Any) -> MeasuredPlan:
        """The plan with other values, checked as a whole.

        Args:
            only: names of the measurements to keep.
            values: for keys of the plan, and of all its measurements that have such a key. Either
                of `hosts` and `ranks` takes the place of both.

        Raises:
            UsageError: when a value fits no measurement of the plan.
            InputError: when the plan does not fit together any more.
        """
        check_only(only, [measure.name for measure in self.measures])
        kept = [measure for measure in self.measures if only is None or measure.name in only]
        of_measures = {key: values.pop(key) for key in _OF_MEASURES if key in values}
        for key in of_measures:
            if not any(_has(measure, key) for measure in kept):
                name = key.replace("_", "-")
                raise UsageError(f"--{name}: no measurement of {self.name} takes it")
        names = [measure.name for measure in kept]
        plan = msgspec.structs.replace(
            changed_by(self.name, self, values),
            measures=tuple(_changed(self.name, measure, of_measures) for measure in kept),
            references=tuple(r for r in self.references if r.measure in names),
            tables=tuple(table for table in self.tables if table.measure in names),
        )
        plan.check(self.name)
        return plan

    def check(self, source: str) -> None:
        """Refuses a plan whose parts do not fit together, as one changed by options may not.

        Raises:
            InputError: naming `source` and the key.
        """
        super().check(source)
        check_each_once(source, "measure", (measure.name for measure in self.measures))
        check_each_once(source, "library", self.mpi)
        if self.repetitions[0] > self.repetitions[1]:
            raise InputError(source, 0, "repetitions [fewest, most]", str(list(self.repetitions)))
        for number, measure in enumerate(self.measures, start=1):
            _check_measure(source, f"[[measure]] number {number}", measure)
        check_each_once(source, "cell", (cell.label for cell in self.cells()))
        predicted = None if self.predict is None else self.predict.memory
        if 0 in (self.memory, predicted):
            raise InputError(source, 0, "a size above 0 at memory", "0")
        self._check_references(source)
        self._check_tables(source)

    def _check_references(self, source: str) -> None:
        """References must name measurements; what they say must be numbers."""
        names = [measure.name for measure in self.measures]
        for number, reference in enumerate(self.references, start=1):
            place = f"[[reference]] number {number}"
            if reference.measure not in names:
                raise InputError(source, 0, f"a measure of the plan in {place}", reference.measure)
            with at_key(source, place):
                list(reference.known())

    def _check_tables(self, source: str) -> None:
        """Tables must name measurements, and have an algorithm for every column."""
        names = [measure.name for measure in self.measures]
        for number, table in enumerate(self.tables, start=1):
            place = f"[[table]] number {number}"
            if table.measure not in names:
                raise InputError(source, 0, f"a measure of the plan in {place}", table.measure)
            for row in table.rows:
                if len(row.algorithms) != len(table.columns):
                    wanted = f"{len(table.columns)} algorithms in row {row.label} of {place}"
                    raise InputError(source, 0, wanted, str(len(row.algorithms)))


def _cells(measure: Measure, library: str, conditions: str) -> Iterator[GridCell]:
    for hosts, each, ranks in measure.grid():
        for length in measure.length or (None,):
            for kind in measure.input if measure.probe == "sort" else (None,):
                yield GridCell(
                    measure=measure.name,
                    probe=measure.probe,
                    library=library,
                    hosts=hosts,
                    ranks_per_host=each,
                    ranks=ranks,
                    conditions=conditions,
                    algorithms=measure.algorithm,
                    sizes=measure.bytes,
                    vectors=measure.vectors,
                    length=length,
                    input=kind,
                )


def _changed(source: str, measure: Measure, values: dict[str, Any]) -> Measure:
    fitting = {key: value for key, value in values.items() if _has(measure, key)}
    # Hosts and ranks say the same in two ways.
    if "hosts" in values:
        fitting |= {"hosts": values["hosts"], "ranks": values.get("ranks", ())}
    elif "ranks" in values:
        fitting |= {"ranks": values["ranks"], "hosts": ()}
    return changed_by(source, measure, fitting)


def _has(measure: Measure, key: str) -> bool:
    return key in ("hosts", "ranks") or bool(getattr(measure, key))


def _check_measure(source: str, place: str, measure: Measure) -> None:
    if bool(measure.hosts) == bool(measure.ranks):
        got = "both" if measure.hosts else "none"
        raise InputError(source, 0, f"either hosts or ranks in {place}", got)
    for key in sorted({key for keys in _KEYS.values() for key in keys}):
        given, wanted = bool(getattr(measure, key)), key in _KEYS[measure.probe]
        if given != wanted:
            what = "a key" if wanted else "no key"
            got = "none" if wanted else f"one for {measure.probe}"
            raise InputError(source, 0, f"{what} {key} in {place}", got)
    for name, items in (("hosts", measure.hosts), ("ranks", measure.ranks)):
        check_each_once(source, f"number of {name} in {place}", map(str, items))
    check_each_once(source, f"length in {place}", map(str, measure.length))
    check_each_once(source, f"algorithm in {place}", measure.algorithm)
