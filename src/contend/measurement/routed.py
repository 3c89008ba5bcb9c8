"""Phases of the all-to-alls that know the routes, handed to the probe as a file of its run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from contend.errors import UsageError
from contend.measurement.place import Place, Shape
from contend.measurement.question import MeasuredCell
from contend.schedule import ROUTED, phases_by_routes

_ALL = "all"


def phases_arguments(
    cell: MeasuredCell, shape: Shape, place: Place, folder: Path
) -> tuple[str, ...]:
    """What the probe is told of phases: the file that has them, if a schedule goes by routes.

    They are computed once for the run and kept in its folder, ``phases-RANKS-on-HOSTS.txt``; the
    probe's rank 0 hands each rank its own part.

    Raises:
        UsageError: some rank's host is not in the fabric.
    """
    if place.fabric is None or not place.slots or not _goes_by_routes(cell):
        return ()
    path = folder / f"phases-{shape.ranks}-on-{len(shape.hosts)}.txt"
    if not path.exists():
        phases_by_routes(place.fabric, place.numbers_of(_host_of_rank(shape))).write(path)
    return (f"--phases={path.resolve()}",)


def check_routes(cell: MeasuredCell, shapes: Sequence[Shape], place: Place) -> None:
    """Refuses a schedule that goes by routes where nobody knows them, or not those of a host.

    Raises:
        UsageError: saying how to tell them.
    """
    asked = [name for name in _algorithms(cell) if name in ROUTED]
    if asked and place.fabric is None:
        raise UsageError(
            f"{asked[0]} goes by the routes: measure on emulated:FABRIC, or name the fabric of the "
            "hosts with --fabric"
        )
    if asked and not place.slots:
        raise UsageError(f"{asked[0]} goes by the ranks' hosts: name them with --on HOSTFILE")
    if place.fabric is not None and _goes_by_routes(cell):
        for shape in shapes:
            place.numbers_of(_host_of_rank(shape))


def _host_of_rank(shape: Shape) -> list[str]:
    return [host.name for host in shape.hosts for _ in range(host.ranks)]


def _goes_by_routes(cell: MeasuredCell) -> bool:
    return any(name in (*ROUTED, _ALL) for name in _algorithms(cell))


def _algorithms(cell: MeasuredCell) -> list[str]:
    return cell.options["algorithm"].split(",") if cell.probe == "alltoall" else []
