"""Cures: what can be done about congestion, each with what it is worth."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .each_engine import PRESENT, Engines, RoutedBy, engines
    from .each_failure import FabricFailure, Failures, failures
    from .growth import CableToLay, Growth, NewSwitch, OtherRoutes, extend
    from .improvement import Addition, Improvement, NewCable, improve
    from .network_changes import ComparedShare, NetworkChanges, Outcome, StateOfRoutes, diff
    from .phased_traffic import RankTraffic, sent_by
    from .purpose import ROUNDING, CollectiveGain, Purpose, check, gain_over
    from .rail_seats import PatternShares
    from .rules import LIBRARY, Rule, Rules, read_rules, write_rules
    from .running.judging import jobs
    from .running.next_job import NextJob, Seats
    from .running.result import Harm, Job, Jobs, SharedChannel
    from .schedules import Lesson, Lessons, Proof, learn, tune
    from .seats import BetterSeats, place
    from .servers import JobCost, PartsCost, ServersHit, StillGets, cost_of_parts
    from .tables import BetterTables, Gain, route, write_steps
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
