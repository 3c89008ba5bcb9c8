"""Congestion: patterns on routes, counted; messages in, usage and bandwidths out."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .all_ranks import Collective, Collectives, collectives
    from .drawing import (
        DrawnPattern,
        PatternSource,
        PlacementSource,
        draw_patterns,
        write_destinations,
    )
    from .fabric_summary import FabricSummary, show
    from .failures import FailureCost, FailureJudge
    from .gpus import GpuCollective, GpuCollectives, gpu_collectives
    from .hot_spots import HotSpot, hotspot
    from .jobs.messages import ALL_TO_ALLS, RAIL_PATTERNS, JobMessages
    from .jobs.side_by_side import Newcomer, PairLoss, SideBySide, judge_jobs
    from .messages import (
        MessageCongestion,
        channel_bytes,
        fair_share,
        fluid_times,
        message_congestion,
        message_shares,
    )
    from .packets.held_up import HeldMessage, Victim
    from .packets.jobs import JobHeldUp, PacketJobs, carry_jobs
    from .packets.model import CABLE_LATENCY_S, SWITCH_LATENCY_S, PacketModel, Queues
    from .packets.result import ChannelWaits, PacketSimulation
    from .packets.sampling import simulate_packets
    from .packets.schedules import CarriedSchedule, carry_schedule, packet_bytes
    from .processes import (
        Communicator,
        OtherProcessError,
        SimulationInterrupted,
        Workers,
        agree,
        core_threads,
        launched_communicator,
    )
    from .rates import LinkRates, Links, heat, hottest, link_rates
    from .seats import PhasedTraffic, SeatFigures, judge_seats, seat_ranks
    from .simulation.averages import (
        EACH_HOST,
        Average,
        EachHost,
        Judged,
        LoadedChannel,
        SampleMean,
        half_width,
    )
    from .simulation.channels import BesideCounters, ChannelUser, ChannelUsers, CountedChannel
    from .simulation.counting import simulate
    from .simulation.simulation import Simulation
    from .watching import JobLoads, Watched, WatchedChannel, watch
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
