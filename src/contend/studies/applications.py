"""What congestion costs an application, by the shares of its run time that each pattern takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct, field

from contend.studies.plan import Count, Name, Text

_Percent = Annotated[float, Meta(gt=0, le=100)]


class ApplicationPart(Struct, frozen=True, forbid_unknown_fields=True):
    """Communication of an application that goes by one pattern.

    Attributes:
        routine: what the application calls.
        percent: its share of the communication's time.
        pattern: name of the pattern of the plan that it counts as; "" leaves it out.
        run_time_percent: its share of the run time, where the source says it otherwise than by the
            product of the two shares.
    """

    routine: Name
    percent: _Percent
    pattern: Text = ""
    run_time_percent: _Percent | None = None


class PrintedTime(Struct, frozen=True, forbid_unknown_fields=True):
    """What the source says of an application on a fabric.

    Attributes:
        fabric: name of a fabric of the plan.
        percent: run time with full bandwidth, in per cent of today's.
    """

    fabric: Text
    percent: _Percent


class Application(Struct, frozen=True, forbid_unknown_fields=True):
    """A recorded application.

    Attributes:
        name: what it is called in tables.
        source: whose record it is.
        ranks: of the recorded run.
        seconds: of the recorded run.
        percent: share of the run time that is communication.
        parts: of the communication.
        rest: name of the pattern that communication outside all parts counts as; "" leaves it out.
        printed: what the source prints.
    """

    name: Name
    source: Name
    ranks: Count
    seconds: Annotated[float, Meta(gt=0)]
    percent: _Percent
    parts: Annotated[tuple[ApplicationPart, ...], Meta(min_length=1)] = field(name="part")
    rest: Text = ""
    printed: tuple[PrintedTime, ...] = ()

    def patterns(self) -> set[str]:
        """Names of the patterns that its communication counts as."""
        return {name for name in (self.rest, *(part.pattern for part in self.parts)) if name}

    def shares(self) -> dict[str, float]:
        """Fractions of the run time by the patterns that they count as."""
        shares = dict.fromkeys(sorted(self.patterns()), 0.0)
        left = self.percent
        for part in self.parts:
            percent = part.run_time_percent or self.percent * part.percent / 100
            left -= percent
            if part.pattern:
                shares[part.pattern] += percent / 100
        if self.rest:
            shares[self.rest] += max(0.0, left) / 100
        return shares

    def run_time(self, bandwidths: Mapping[str, float]) -> float:
        """Run time if every pattern had full bandwidth, as a fraction of today's.

        Each share of the run time shrinks by the bandwidth that its pattern gets today: 1 minus the
        sum of share * (1 - bandwidth). (Hoefler, Schneider, Lumsdaine 2008, section 5.2.)

        Args:
            bandwidths: effective bandwidths of all its patterns, as fractions of full bandwidth.
        """
        return 1 - sum(
            share * (1 - min(1.0, bandwidths[name])) for name, share in self.shares().items()
        )
