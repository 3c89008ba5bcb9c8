"""contend: how much of a network's rated bandwidth will this communication get?"""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .base.errors import ContendError, InputError, MissingError, ShortfallError, UsageError
    from .congestion import (
        BesideCounters,
        ChannelUsers,
        Collectives,
        DrawnPattern,
        HotSpot,
        MessageCongestion,
        Simulation,
        SimulationInterrupted,
        Watched,
        collectives,
        draw_patterns,
        fair_share,
        fluid_times,
        hotspot,
        message_congestion,
        message_shares,
        show,
        simulate,
        simulate_packets,
        watch,
        write_destinations,
    )
    from .cure import (
        Jobs,
        check,
        diff,
        engines,
        extend,
        failures,
        improve,
        jobs,
        place,
        route,
        tune,
    )
    from .explanation import Explanation, explain
    from .fabric import Carried, Fabric, carried
    from .interactive import Profile, profile
    from .lab import emulation
    from .lab.emulation import Emulation, emulate
    from .lab.machine import Diagnosis, doctor
    from .lab.measurement import measure
    from .lab.runs import Run
    from .lab.studies import MeasuredStudy, PredictedMemory, SimulatedStudy, VerifiedStudy, study
    from .prediction import Predictions, calibrate, predict, predict_packets, predict_tcp
    from .routes import ForwardingTables
    from .routes.loading import LoadedFabric, load
    from .traffic import pattern, placement
    from .traffic.pattern import Pattern
    from .traffic.placement import Placement
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
