"""Which limit a measurement hit: the least times that limits allow, and what is proven by them."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .evidence import (
        Bound,
        Evidence,
        FailedEvidence,
        FastestRival,
        HotSpotEvidence,
        Limit,
        MeasuredEvidence,
        Memory,
        ProgramEvidence,
        PublishedEvidence,
        Stalled,
    )
    from .explaining import Explanation, explain
    from .judging import NOT_ENOUGH, ComparedBound, Reason, Verdict, compare, judge
    from .measured import Source
    from .network import KnownNetwork, least_times, seat
    from .profiled import ProfileSource
    from .published import published_evidence
    from .remedies import Remedy
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
