"""Refuses what hosts cannot hold, before anything is started."""

from __future__ import annotations

from contend.errors import MissingError
from contend.measurement.place import Place
from contend.measurement.shape import Shape
from contend.measurement.sort_memory import NEAR
from contend.measurement.workload import Workload
from contend.runs import Warned
from contend.units import counted, format_bytes


def check_memory(workload: Workload, shape: Shape, place: Place) -> Warned | None:
    """Compares what a host's ranks need for their data with what the host has.

    Returns:
        A warning when it comes near.

    Raises:
        MissingError: when it exceeds the host's memory; says both figures.
    """
    known = place.memory(shape)
    if workload.memory is None or known is None:
        return None
    together, free = known
    needed = workload.memory(shape.ranks, together)
    said = (
        f"{shape}: the data of {counted(together, 'rank')} on a host is {needed:,} bytes "
        f"({format_bytes(needed)}), and {format_bytes(free)} are free there"
    )
    if needed > free:
        raise MissingError(f"{said}: take smaller messages or fewer ranks per host")
    if needed >= NEAR * free:
        return Warned("memory", f"{said}: the library's buffers may not fit beside them")
    return None
