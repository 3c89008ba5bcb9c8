"""Schedules of all-to-alls that send every block straight to its rank, as the core lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from contend import _core

WIDTH, RADIX = _core.SCHEDULE_WIDTH, _core.SCHEDULE_RADIX
"""Messages each way at a time, and bruck's base, where nobody says otherwise."""


@dataclass(frozen=True)
class Direct:
    """A schedule in which every block goes straight to the rank that it is for."""

    number: int
    """Number in the core."""
    name: str
    """Name in commands, rules and runs."""
    summary: str
    """What it does, in a line."""
    option: str
    """What it depends on, as the probe calls it; "" for nothing."""
    paired: bool
    """Whether a phase is one message each way at most."""
    barriers: bool
    """Whether there is a barrier between phases."""
    power_of_two: bool
    """Whether the number of ranks must be one."""


DIRECT: Mapping[str, Direct] = {
    row[0]: Direct(number, *row) for number, row in enumerate(_core.list_schedules())
}
"""By their names: those that the drop-in library carries."""
ROUTED = tuple(name for name, direct in DIRECT.items() if direct.option == "phases")
"""Those that follow phases made from the routes, see `traffic.schedule.phases_by_routes`."""
