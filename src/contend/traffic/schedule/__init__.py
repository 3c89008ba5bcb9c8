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
    from .collectives import COLLECTIVES, LIBRARIES, choose
    from .course import (
        Cables,
        Costs,
        Course,
        DroppingQueues,
        MessageClass,
        StreamedCalls,
        carry_out,
        carry_streams,
    )
    from .direct import DIRECT, RADIX, ROUTED, WIDTH
    from .phases import ROUTES, Phases, phases_by_routes, write_routes
    from .schedule import WAITS, Action, Member, Operation, Schedule, Strand, all_members
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
