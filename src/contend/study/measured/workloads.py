"""What a probe is asked to do for a cell."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from contend.measurement import OptionValue, Workload, make_workload
from contend.study.measured.attempts import PointName
from contend.study.measured.cell import Cell
from contend.study.measured.record import Terms


@contextmanager
def workload_of(
    cell: Cell, points: Sequence[PointName], terms: Terms, *, alone: bool
) -> Iterator[Workload]:
    """A workload for some points of a cell, while a file of theirs is there where it takes one.

    Args:
        cell: the launch.
        points: of the cell; where they are not all, a file lists them for the probe.
        terms: how.
        alone: whether nodes are groups of ranks on this machine, which a probe is told.
    """
    options = options_of(cell, points, alone=alone)
    options |= {
        "repetitions": f"{terms.repetitions[0]}:{terms.repetitions[1]}",
        "precision": terms.precision,
        "verify": terms.verify,
    }
    if len(points) == len(cell.points()):
        yield make_workload(cell.probe, options)
        return
    with tempfile.TemporaryDirectory(prefix="contend-cells-") as folder:
        file = Path(folder) / "cells"
        file.write_text("".join(f"{_line(point)}\n" for point in points), encoding="utf-8")
        yield make_workload(cell.probe, options | {"cells": str(file)})


def options_of(cell: Cell, points: Sequence[PointName], *, alone: bool) -> dict[str, OptionValue]:
    """The probe's own options for some points of a cell, by their names."""
    if cell.probe == "sort":
        return {"vectors": cell.numbers, "length": cell.vector, "input": cell.input}
    sizes = [size for size in cell.sizes if any(size == point[1] for point in points)]
    algorithms = [name for name in cell.algorithms if any(name == point[0] for point in points)]
    if cell.probe == "pingpong":
        return {"algorithm": algorithms, "bytes": sizes}
    return {
        "algorithm": algorithms,
        "bytes": sizes,
        # Schedules that go by nodes are told of groups; elsewhere they look for themselves.
        "ranks_per_node": cell.ranks_per_node if alone else None,
    }


def host_bytes(cell: Cell, point: PointName, *, shared: bool) -> int:
    """Bytes of a host that the data of a point needs.

    Args:
        cell: the launch.
        point: one of its points.
        shared: whether all nodes share one host.
    """
    asked = make_workload(cell.probe, options_of(cell, [point], alone=False))
    if asked.memory is None:
        return 0
    return asked.memory(cell.ranks, cell.ranks if shared else cell.ranks_per_node)


def _line(point: PointName) -> str:
    return " ".join(str(word) for word in point if word is not None)
