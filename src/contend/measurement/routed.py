"""Phases of the all-to-alls that know the routes, handed to the probe as a file of its run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from contend.errors import UsageError
from contend.fabric import Fabric
from contend.measurement.place import Place, Shape
from contend.measurement.question import MeasuredCell
from contend.routes import tables_of
from contend.schedule import ROUTED, ROUTES, phases_by_routes, write_routes

_ALL = "all"


def phases_arguments(
    cell: MeasuredCell, shape: Shape, place: Place, folder: Path
) -> tuple[str, ...]:
    """What the probe is told of phases: the file that has them, if a schedule goes by routes.

    They are computed once for the run and kept in its folder, ``phases-RANKS-on-HOSTS.txt``; the
    probe's rank 0 hands each rank its own part. The routes are kept there too, for rules that may
    follow.

    Raises:
        UsageError: some rank's host is not in the fabric.
    """
    fabric = _with_tables(place)
    if fabric is None or not place.slots or not _goes_by_routes(cell):
        return ()
    path = folder / f"phases-{shape.ranks}-on-{len(shape.hosts)}.txt"
    if not path.exists():
        phases_by_routes(fabric, place.numbers_of(_host_of_rank(shape))).write(path)
    if not (folder / ROUTES).exists():
        write_routes(fabric, _host_names(fabric, place), folder / ROUTES)
    return (f"--phases={path.resolve()}",)


def check_routes(cell: MeasuredCell, shapes: Sequence[Shape], place: Place) -> None:
    """Refuses a schedule that goes by routes where nobody knows them, or not those of a host.

    Raises:
        UsageError: saying how to tell them.
    """
    asked = [name for name in _algorithms(cell) if name in ROUTED]
    fabric = _with_tables(place)
    if asked and fabric is None and place.fabric is not None:
        tables_of(place.fabric)
    if asked and fabric is None:
        raise UsageError(
            f"{asked[0]} goes by the routes: measure on emulated:FABRIC, or name the fabric of the "
            "hosts with --fabric"
        )
    if asked and not place.slots:
        raise UsageError(f"{asked[0]} goes by the ranks' hosts: name them with --on HOSTFILE")
    if fabric is not None and _goes_by_routes(cell):
        for shape in shapes:
            place.numbers_of(_host_of_rank(shape))


def _with_tables(place: Place) -> Fabric | None:
    """The fabric of a place, where tables tell its routes: nobody knows those that a hash draws."""
    fabric = place.fabric
    return None if fabric is None or fabric.draws_routes else fabric


def _host_of_rank(shape: Shape) -> list[str]:
    return [host.name for host in shape.hosts for _ in range(host.ranks)]


def _host_names(fabric: Fabric, place: Place) -> list[str]:
    """Names of all hosts of a fabric: as the place's hosts are called, else without the adapter."""
    servers = [full.split()[0] for full in fabric.host_name]
    several = {name for name, count in Counter(servers).items() if count > 1}
    names = [
        full if server in several else server
        for full, server in zip(fabric.host_name, servers, strict=True)
    ]
    called = [name for name, _ in place.slots]
    # A host file may have others too; then its hosts are called as the fabric calls their servers.
    with suppress(UsageError):
        for number, name in zip(place.numbers_of(called), called, strict=True):
            names[number] = name
    return names


def _goes_by_routes(cell: MeasuredCell) -> bool:
    return any(name in (*ROUTED, _ALL) for name in _algorithms(cell))


def _algorithms(cell: MeasuredCell) -> list[str]:
    return cell.options["algorithm"].split(",") if cell.probe == "alltoall" else []
