"""Placement: which rank sits on which host."""

from contend.placement.placement import Placement
from contend.placement.specification import parse

__all__ = ["Placement", "parse"]
