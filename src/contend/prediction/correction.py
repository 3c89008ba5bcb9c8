"""What the model is off by where a program was recorded, and what that corrects elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from contend.fabric import Fabric
from contend.prediction.calibration import Calibration, Parameter
from contend.prediction.conditions import PredictionConditions, where_recorded
from contend.prediction.fitting import drawn_start
from contend.prediction.program import ProfiledProgram, program_of
from contend.profiling import ProgramProfile
from contend.schedule import Course, carry_out

_LONGEST_LOOK_S = 0.02
_HALVINGS = 12


@dataclass(frozen=True)
class Correction:
    """What makes the model take the recorded time where the program was recorded.

    Attributes:
        look_every_s: how often a rank that waits looks; None for what the calibration says.
        factor: of all times.
    """

    look_every_s: float | None = None
    factor: float = 1.0

    def of(self, where: PredictionConditions) -> PredictionConditions:
        """A place where ranks look so often."""
        if self.look_every_s is None:
            return where
        look = Parameter.exactly(self.look_every_s)
        calibration = msgspec.structs.replace(where.calibration, look_every_s=look)
        return replace(where, calibration=calibration)


@dataclass(frozen=True, eq=False)
class Recorded:
    """A program as it was recorded, and what the model is off by there.

    Attributes:
        program: its schedule.
        seconds: of the run as recorded, see `contend.profiling.ProfileFindings.within_s`.
        modelled: seconds that the model gives the part of it that events were kept of, where it
            was recorded; None where that is not known.
        corrections: the first is taken, and how far the others are from it is part of the
            uncertainty.
        profile: that it was read from; None where its schedule was made otherwise.
    """

    program: ProfiledProgram
    seconds: float
    modelled: float | None = None
    corrections: tuple[Correction, ...] = (Correction(),)
    profile: ProgramProfile | None = None

    @property
    def kept(self) -> float:
        """Seconds of the run that events were kept of."""
        return min(self.seconds, self.program.until)

    @property
    def off(self) -> float:
        """What part of a time is corrected where it was recorded; half of that may be elsewhere."""
        return abs(self.corrections[-1].factor - 1.0) / 2

    @property
    def factor(self) -> float:
        """What the model's seconds are multiplied by, once it is corrected.

        What no events were kept of is taken to be as much slower or faster elsewhere.
        """
        return self.corrections[0].factor * self.seconds / self.kept


def record_of(
    profile: ProgramProfile, calibration: Calibration, fabric: Fabric | str | None = None
) -> Recorded:
    """A profiled program and what the model is off by in its own recording.

    Args:
        profile: of the program.
        calibration: what messages cost where it was recorded.
        fabric: where that was, or as it is given to `contend.load`; None for what the profile says
            of an emulated one.

    Raises:
        ContendError: as of `program_of` and `where_recorded`.
    """
    program = program_of(profile, calibration.copy_per_byte_s)
    program = replace(program, remarks=(*program.remarks, *calibration.doubts))
    where = where_recorded(profile, calibration, fabric)
    return replace(held_against(program, profile.findings.within_s, where), profile=profile)


def held_against(
    program: ProfiledProgram, seconds: float, where: PredictionConditions | None
) -> Recorded:
    """The model held against a recording.

    Where ranks share processors, how soon one that waits gets its turn depends on what the others
    do meanwhile: how often it looks is then taken from the recording.

    Args:
        program: its schedule.
        seconds: of the run, as recorded.
        where: it was recorded; None where that is not known.
    """
    if where is None:
        return Recorded(program, seconds)
    kept = min(seconds, program.until)
    modelled = carried_out(program, where).seconds
    corrections = [Correction(factor=kept / modelled)]
    if where.calibration.processors:
        corrections.insert(0, _fitted(program, where, kept))
    return Recorded(program, seconds, modelled, tuple(corrections))


def _fitted(program: ProfiledProgram, where: PredictionConditions, seconds: float) -> Correction:
    """How often ranks look for the program to take so long; a factor for what that leaves."""
    low, high = 0.0, _LONGEST_LOOK_S
    for _ in range(_HALVINGS):
        look = (low + high) / 2
        modelled = carried_out(program, Correction(look).of(where)).seconds
        low, high = (look, high) if modelled < seconds else (low, look)
    return Correction(look, seconds / modelled)


def carried_out(
    program: ProfiledProgram,
    where: PredictionConditions,
    rates: NDArray[np.float64] | None = None,
    draw: int | None = None,
) -> Course:
    """How a program goes somewhere.

    Args:
        program: its schedule.
        where: fabric, hosts and costs.
        rates: bytes per second of every channel, shape [channels]; None for that of `where`.
        draw: number of a draw by which ranks begin later than recorded; None for as recorded.
    """
    cables, start = where.cables, program.start
    if rates is not None:
        cables = replace(cables, rate=rates, peak=max(cables.peak, float(rates.max())))
    if draw is not None:
        start = start + drawn_start(where.calibration, program.schedule, len(start), draw)
    costs = where.calibration.costs()
    return carry_out(where.fabric, program.schedule, where.hosts, cables, costs, start=start)
