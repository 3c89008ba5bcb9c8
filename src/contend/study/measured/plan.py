"""A plan of measurements: what is measured with how many ranks, and what is known elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct, field

from contend.measurement import VectorLength
from contend.study.measured.cell import Cell
from contend.study.measured.reference import Known, Reference
from contend.units import parse_sizes

Name = Annotated[str, Meta(min_length=1, max_length=80)]
Count = Annotated[int, Meta(ge=1)]
Probe = Literal["alltoall", "sort", "pingpong"]


class Measure(Struct, frozen=True, forbid_unknown_fields=True):
    """A probe over a grid of ranks, and what it measures there.

    Attributes:
        name: what it is called in tables and figures.
        probe: which program.
        nodes: numbers of nodes; this or `ranks`.
        ranks: numbers of ranks in all, spread over as many nodes as it takes.
        ranks_per_node: ranks on every node, each with all `nodes` or `ranks`.
        algorithms: schedules (alltoall), or kinds of messages (pingpong).
        bytes: message sizes or ranges of them (alltoall, pingpong).
        numbers: vectors that are sorted over all processes (sort).
        doubles: doubles in a vector, such as 512 or 512N (sort).
        inputs: kinds of input (sort).
    """

    name: Name
    probe: Probe
    nodes: tuple[Count, ...] = ()
    ranks: tuple[Count, ...] = ()
    ranks_per_node: Annotated[tuple[Count, ...], Meta(min_length=1)] = (1,)
    algorithms: tuple[Name, ...] = ()
    bytes: tuple[str | int, ...] = ()
    numbers: Count | None = None
    doubles: tuple[str, ...] = ()
    inputs: Annotated[tuple[Name, ...], Meta(min_length=1)] = ("built",)

    def grid(self) -> Iterator[tuple[int, int, int]]:
        """Nodes, ranks per node and ranks of every launch."""
        for each in self.ranks_per_node:
            for nodes in self.nodes:
                yield nodes, each, nodes * each
            for ranks in self.ranks:
                yield -(-ranks // each), min(each, ranks), ranks

    def sizes(self) -> tuple[int, ...]:
        """Bytes of all message sizes."""
        sizes = (size for item in self.bytes for size in parse_sizes(str(item)))
        return tuple(dict.fromkeys(sizes))

    def lengths(self) -> tuple[VectorLength, ...]:
        """All vector lengths."""
        return tuple(VectorLength.parse(text) for text in self.doubles)


class Row(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of a table of rates: a place in the grid, and an algorithm for each column."""

    label: Name
    ranks: Count
    ranks_per_node: Count
    bytes: str | int
    algorithms: tuple[Name, ...]


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of rates per rank, all libraries and sources side by side.

    Attributes:
        title: above it.
        measure: whose points it shows.
        columns: what the algorithms of the rows are called, in their order.
        rows: each with as many algorithms as there are columns.
        head: what the rows' labels are.
    """

    title: Name
    measure: str
    columns: Annotated[tuple[Name, ...], Meta(min_length=1)]
    rows: Annotated[tuple[Row, ...], Meta(min_length=1)] = field(name="row")
    head: str = ""


class Predict(Struct, frozen=True, forbid_unknown_fields=True):
    """What a prediction of memory shows when nothing else is asked for.

    Attributes:
        doubles: vector lengths.
        node_memory: bytes of a node.
    """

    doubles: tuple[str, ...]
    node_memory: str


class MeasuredPlan(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole study.

    Attributes:
        name: what it is called; its run folder, too.
        measures: in the order of tables and figures.
        title: what it is about.
        libraries: MPI libraries as ``--mpi`` takes them; none is the first usable one.
        launches: times that every cell is launched, one round after the other.
        budget_s: seconds that the whole study may measure, shared over its cells.
        precision: relative half-width of the median's interval at which a point is done.
        repetitions: fewest and most samples of a point.
        verify: whether every sample's data is checked and not only the first's.
        seed: of the order of cells and points, and of the probes' data.
        conditions: what programs cannot see, such as flow control on.
        wire: what one node's port carries, such as 1Gbit/s; drawn and compared with. None is the
            highest rate of a ping-pong of the plan between two hosts.
        node_memory: bytes of a node, such as 24GiB; None is what this machine has available.
        predict: what a prediction shows by itself; None is what the plan measures.
        tables: of rates, beside the usual ones.
        references: numbers known from elsewhere.
        notes: sentences that readers of the results must know.
    """

    name: Name
    measures: Annotated[tuple[Measure, ...], Meta(min_length=1)] = field(name="measure")
    title: str = ""
    libraries: tuple[Name, ...] = ()
    launches: Count = 1
    budget_s: Annotated[float, Meta(gt=0)] = 600.0
    precision: Annotated[float, Meta(gt=0, lt=1)] = 0.05
    repetitions: tuple[Count, Count] = (6, 1000)
    verify: bool = False
    seed: Annotated[int, Meta(ge=0)] = 1
    conditions: str = ""
    wire: str | None = None
    node_memory: str | None = None
    predict: Predict | None = None
    tables: tuple[Table, ...] = field(default=(), name="table")
    references: tuple[Reference, ...] = field(default=(), name="reference")
    notes: tuple[str, ...] = ()

    def cells(self) -> Iterator[Cell]:
        """All launches in the plan's own order; they run in another."""
        for launch in range(1, self.launches + 1):
            for measure in self.measures:
                for library in self.libraries or ("",):
                    yield from _cells(measure, library, launch, self.conditions)

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


def _cells(measure: Measure, library: str, launch: int, conditions: str) -> Iterator[Cell]:
    for nodes, each, ranks in measure.grid():
        common = Cell(measure.name, measure.probe, library, nodes, each, ranks, launch, conditions)
        if measure.probe != "sort":
            yield msgspec.structs.replace(
                common, algorithms=measure.algorithms, sizes=measure.sizes()
            )
            continue
        for length in measure.lengths():
            for kind in measure.inputs:
                yield msgspec.structs.replace(
                    common,
                    numbers=measure.numbers,
                    doubles=str(length),
                    vector=length.at(nodes),
                    input=kind,
                )
