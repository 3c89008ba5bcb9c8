"""Schedules: what ranks do in which order, and carrying it out over time on a fabric."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .alltoalls import (
        ALGORITHMS,
        MEMBERS,
        Exchange,
        RankPlan,
        alltoall,
        messages_of,
        plan,
        suited,
    )
    from .choices import LIBRARIES, choose
    from .collectives import COLLECTIVES
    from .course import Cables, Costs, Course, MessageClass, carry_out
    from .direct import DIRECT, RADIX, ROUTED, WIDTH
    from .phases import ROUTES, Phases, phases_by_routes, write_routes
    from .schedule import WAITS, Action, Member, Operation, Schedule, Strand, all_members
    from .streams import DroppingQueues, StreamedCalls, carry_streams
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
