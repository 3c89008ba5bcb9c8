"""Congestion: patterns on routes, counted; messages in, usage and bandwidths out."""

from contend.congestion.messages import MessageCongestion, message_congestion
from contend.congestion.simulate import simulate
from contend.congestion.simulation import Simulation

__all__ = ["MessageCongestion", "Simulation", "message_congestion", "simulate"]
