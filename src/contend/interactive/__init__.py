"""contend in a notebook: profiles of programs, recorded with a progress bar, drawn, predicted."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from contend.base.errors import ShortfallError
from contend.base.units import parse_rate, parse_size
from contend.fabric import Fabric
from contend.lab.measurement import Place, make_shapes, place_of
from contend.prediction import (
    Calibration,
    Elsewhere,
    conditions_of,
    costs_of,
    predict_program,
    record_of,
)
from contend.profiling import ProgramProfile as KeptProfile
from contend.profiling import RecordedJob, load_profile, run_recorded


class Profile(KeptProfile):
    """A profile that a notebook loads, and of which it predicts how long its program takes."""

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Reads a profile; one whose merge was interrupted is merged first.

        Raises:
            UsageError: no profile is there, or its program still runs.
            InputError: it is damaged, or of a newer version.
            ShortfallError: no rank left a record that can be read.
        """
        kept = load_profile(Path(folder))
        return cls(kept.folder, kept.record)

    def predict(
        self,
        fabric: Fabric,
        calibration: str | Path | Calibration | None = None,
        *,
        placement: str | None = None,
        ranks_per_host: int | None = None,
        rate: float | str | None = None,
        buffer: int | str | None = None,
        recorded_on: str | None = None,
    ) -> Elsewhere:
        """Predicts how long the program takes elsewhere, as ``contend predict PROFILE`` does.

        Args:
            fabric: where it is to run, with routes.
            calibration: what `contend.calibrate` returned, or the folder or the file that it left;
                None for usual costs, which `remarks` of the result's calibration state.
            placement: which rank runs on which host; None for the hosts that the profile names if
                the fabric has them all, and otherwise for ``linear``.
            ranks_per_host: that share a host; None for as many as were recorded.
            rate: bytes per second of every cable, or words such as ``100Gbit/s``; None for the
                calibration's, or without one the fabric's own.
            buffer: bytes that wait for a channel at most; None for the calibration's.
            recorded_on: fabric on which it was recorded; None for what is known of emulated ones.

        Returns:
            Run time with its interval, the bounds, the dearest cables, and calls by routine.

        Raises:
            UsageError: for what does not fit together.
            ShortfallError: a rank left no record or no events.
        """
        if isinstance(calibration, Calibration):
            costs = calibration
        else:
            path = None if calibration is None else Path(calibration)
            costs = costs_of(path, self.record.library)
        where = conditions_of(
            self,
            fabric,
            costs,
            placement=placement,
            ranks_per_host=ranks_per_host,
            rate=parse_rate(rate) if isinstance(rate, str) else rate,
            buffer=parse_size(buffer) if isinstance(buffer, str) else buffer,
        )
        return predict_program(record_of(self, costs, recorded_on), where)


def profile(
    command: str | Sequence[str],
    *,
    ranks: int | None = None,
    mpi: str | None = None,
    hosts: str | Path | Sequence[str] | Place | None = None,
    ranks_per_host: int | None = None,
    labels: Mapping[str, str] | None = None,
    record: int | str | None = None,
    output: str | Path | None = None,
) -> Profile:
    """Records what an MPI program communicates, as ``contend profile`` does.

    Args:
        command: what starts the program, as words or as a line; with `ranks` the program itself.
        ranks: how many contend starts; None where the command starts them.
        mpi: the MPI library; see `contend.measure`. None: that of the command.
        hosts: where ranks run; see `contend.measure`.
        ranks_per_host: on every host.
        labels: conditions that no program can see.
        record: bytes that the record of a rank may take, or a size such as ``64MiB``.
        output: folder of the profile; None for a new one in ``contend-runs``.

    Raises:
        UsageError: for what does not fit together.
        MissingError: the machine lacks a library, a compiler, or room.
        ShortfallError: no rank left a record.
    """
    words = shlex.split(command) if isinstance(command, str) else list(command)
    place = shape = None
    if ranks is not None:
        place = place_of(hosts)
        each = () if ranks_per_host is None else (ranks_per_host,)
        [shape] = make_shapes((ranks,), each, place.slots, alone=place.alone)
    job = RecordedJob(
        tuple(words),
        shape=shape,
        place=place,
        mpi=mpi,
        labels=labels or {},
        memory=parse_size(record) if isinstance(record, str) else record,
    )
    outcome = run_recorded(job, None if output is None else Path(output))
    if outcome.interruption is not None:
        raise outcome.interruption
    if outcome.profile is None:
        raise ShortfallError(outcome.why)
    return Profile(outcome.profile.folder, outcome.profile.record)
