"""What the model is off by where a program was recorded, and what that corrects elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.schema import PythonOnly, Seconds, told
from contend.fabric import Fabric
from contend.prediction.calibration import Calibration, Parameter
from contend.prediction.conditions import PredictionConditions, where_recorded
from contend.prediction.fitting import drawn_start
from contend.prediction.program import ProfiledProgram, program_of
from contend.profiling import ProgramProfile
from contend.traffic.schedule import Course, carry_out

_LONGEST_LOOK_S = 0.02
_HALVINGS = 12


@dataclass(frozen=True)
class Correction:
    """What makes the model take the recorded time where the program was recorded."""

    look_every_s: float | None = None
    """How often a rank that waits looks; None for what the calibration says."""
    factor: float = 1.0
    """Factor of all times."""

    def of(self, where: PredictionConditions) -> PredictionConditions:
        """A place where ranks look so often."""
        if self.look_every_s is None:
            return where
        look = Parameter.exactly(self.look_every_s)
        calibration = msgspec.structs.replace(where.calibration, look_every_s=look)
        return replace(where, calibration=calibration)


@dataclass(frozen=True, eq=False)
class Recorded:
    """A program as it was recorded, and what the model is off by there."""

    program: PythonOnly[ProfiledProgram]
    """Its schedule."""
    recorded_s: Seconds
    """Run time as recorded, from when all ranks have left MPI_Init to MPI_Finalize."""
    modelled_s: Seconds | None = None
    """What the model predicts for the part of it that events were kept of, where it was recorded;
    null where that is not known."""
    corrections: PythonOnly[tuple[Correction, ...]] = (Correction(),)
    """Corrections, of which the first is taken; how far the others are from it is part of the
    uncertainty."""
    from_profile: PythonOnly[ProgramProfile | None] = None
    """Profile that it was read from; None where its schedule was made otherwise."""

    @property
    def recording(self) -> ProgramProfile:
        """What was recorded.

        Raises:
            UsageError: the schedule was not read from a profile.
        """
        if self.from_profile is None:
            raise UsageError("this program was predicted without a profile to show beside it")
        return self.from_profile

    @told
    def profile(self) -> str:
        """Folder of the profile."""
        return str(self.recording.folder)

    @told
    def command(self) -> tuple[str, ...]:
        """Command that was recorded."""
        return tuple(self.recording.record.command)

    @told
    def ranks(self) -> int:
        """Number of ranks."""
        return self.recording.size

    @told
    def kept_s(self) -> Seconds:
        """The part of the run time that events were kept of."""
        return min(self.recorded_s, self.program.until)

    @told
    def look_every_s(self) -> Seconds | None:
        """How often waiting ranks poll, taken from the recording; null for the calibration's."""
        return self.corrections[0].look_every_s

    @told
    def remarks(self) -> tuple[str, ...]:
        """Remarks that a reader must know."""
        return self.program.remarks

    @property
    def off(self) -> float:
        """What part of a time is corrected where it was recorded; half of that may be elsewhere."""
        return abs(self.corrections[-1].factor - 1.0) / 2

    @property
    def factor(self) -> float:
        """What the model's seconds are multiplied by, once it is corrected.

        What no events were kept of is taken to be as much slower or faster elsewhere.
        """
        return self.corrections[0].factor * self.recorded_s / self.kept_s


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
    return replace(held_against(program, profile.findings.within_s, where), from_profile=profile)


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
    modelled = program.run_s(carried_out(program, where))
    corrections = [Correction(factor=kept / modelled)]
    if where.calibration.processors:
        corrections.insert(0, _fitted(program, where, kept))
    return Recorded(program, seconds, modelled, tuple(corrections))


def _fitted(program: ProfiledProgram, where: PredictionConditions, seconds: float) -> Correction:
    """How often ranks look for the program to take so long; a factor for what that leaves."""
    low, high = 0.0, _LONGEST_LOOK_S
    for _ in range(_HALVINGS):
        look = (low + high) / 2
        modelled = program.run_s(carried_out(program, Correction(look).of(where)))
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
