"""Congestion: patterns on routes, counted; messages in, usage and bandwidths out."""

from contend.congestion.drawn import DrawnPattern, draw_patterns, write_destinations
from contend.congestion.fair_share import fair_share, fluid_times
from contend.congestion.hotspot import HotSpot, hotspot
from contend.congestion.messages import MessageCongestion, message_congestion
from contend.congestion.prediction import predict
from contend.congestion.simulate import simulate
from contend.congestion.simulation import Simulation

__all__ = [
    "DrawnPattern",
    "HotSpot",
    "MessageCongestion",
    "Simulation",
    "draw_patterns",
    "fair_share",
    "fluid_times",
    "hotspot",
    "message_congestion",
    "predict",
    "simulate",
    "write_destinations",
]
