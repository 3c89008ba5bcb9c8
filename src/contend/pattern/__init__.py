"""Traffic patterns: rounds of simultaneous messages between ranks."""

from contend.pattern.pattern import Pattern
from contend.pattern.specification import FORMS, parse

__all__ = ["FORMS", "Pattern", "parse"]
