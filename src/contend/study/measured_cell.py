"""What is asked of one cell of a measured study: a launch of a probe at a place of the grid."""

from __future__ import annotations

from msgspec import Struct

from contend.study.plan import file_name
from contend.study.references import Coordinates


class GridCell(Struct, frozen=True, forbid_unknown_fields=True):
    """One launch of a probe at a place of the grid, and the points that it measures.

    Attributes:
        measure: name of the measurement.
        probe: which program.
        library: MPI library as ``--mpi`` takes it; "" is the first usable one.
        nodes: on how many hosts.
        ranks_per_node: ranks on every host; the last may have fewer.
        ranks: in all.
        launch: number of the launch, from 1.
        conditions: what programs cannot see.
        algorithms: schedules (alltoall).
        sizes: bytes of messages (alltoall, pingpong).
        numbers: vectors that are sorted (sort).
        doubles: doubles in a vector as the plan has them (sort).
        vector: doubles in a vector (sort).
        input: kind of input (sort).
    """

    measure: str
    probe: str
    library: str
    nodes: int
    ranks_per_node: int
    ranks: int
    launch: int
    conditions: str = ""
    algorithms: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    numbers: int | None = None
    doubles: str | None = None
    vector: int | None = None
    input: str | None = None

    @property
    def place(self) -> Coordinates:
        """Its place in the plan's grid, all points together."""
        return Coordinates(
            measure=self.measure,
            nodes=self.nodes,
            ranks=self.ranks,
            ranks_per_node=self.ranks_per_node,
            numbers=self.numbers,
            doubles=self.doubles,
        )

    def points(self) -> list[tuple[str | None, int | None]]:
        """Algorithm and bytes of everything that it measures; None where there are none."""
        algorithms: tuple[str | None, ...] = self.algorithms or (None,)
        sizes: tuple[int | None, ...] = self.sizes or (None,)
        return [(algorithm, size) for algorithm in algorithms for size in sizes]

    @property
    def label(self) -> str:
        """The cell for people."""
        said = [
            self.measure,
            self.library,
            f"{self.nodes} × {self.ranks_per_node}",
            f"m = {self.doubles}" if self.doubles else "",
            self.input if self.input not in (None, "built") else "",
            self.conditions,
            f"launch {self.launch}" if self.launch > 1 else "",
        ]
        return ", ".join(filter(None, said))

    @property
    def file_name(self) -> str:
        """The name of its files, without an ending; cells of a plan have different ones."""
        parts = [
            self.measure,
            self.library.rpartition("/")[2],
            f"{self.nodes}x{self.ranks_per_node}" + self._uneven(),
            self.doubles or "",
            self.input or "",
            self.conditions,
            str(self.launch),
        ]
        return ".".join(filter(None, (file_name(part) for part in parts)))

    def _uneven(self) -> str:
        return "" if self.ranks == self.nodes * self.ranks_per_node else f"-{self.ranks}"
