"""Calibrations from beginning to end: a session of small measurements, and what they come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import msgspec

from contend.base.errors import ShortfallError, UsageError
from contend.base.units import format_link_speed, parse_size
from contend.lab.emulation import EmulatedHosts
from contend.lab.measurement import (
    DEFAULT_BUDGET,
    Measured,
    MeasuredCell,
    MeasuredWork,
    OptionValue,
    Place,
    ask,
    place_of,
)
from contend.lab.mpi import this_machine
from contend.lab.runs import Run
from contend.lab.session import (
    SESSION,
    Observer,
    Session,
    new_folder,
    read_session,
    refuse_occupied,
)
from contend.prediction.calibration import FILE, Calibration, save_calibration
from contend.prediction.fitting import Measurements, fit

KIND = "calibrate"
_RANKS = 4
_BETWEEN: Mapping[str, OptionValue] = {
    "algorithm": "pingpong,stream",
    "bytes": "1,1K,16K,32K,256K,512K,1M",
    "window": 8,
}
_WITHIN: Mapping[str, OptionValue] = {
    "algorithm": "pingpong,stream",
    "bytes": "1,1K,16K,32K,256K,1M",
    "window": 8,
}
_EXCHANGES: Mapping[str, OptionValue] = {
    "algorithm": "shift,shift-barrier",
    "bytes": "4K:512K",
    # The model is of ranks that begin at one instant.
    "start": "clock",
}


def calibrate(
    hosts: str | Path | Sequence[str] | Place | None = None,
    *,
    mpi: str | None = None,
    launcher: str = "",
    budget: float = DEFAULT_BUDGET,
    seed: int = 1,
    output: str | Path | None = None,
    progress: Observer | None = None,
) -> Calibration:
    """Takes the LogGP parameters of a place under a library from measurements.

    It measures ping-pongs and streams between two hosts, the same within one, and where ranks share
    a machine all-to-alls of four of them.

    Args:
        hosts: a host file, names of hosts of one leaf switch, or an emulated fabric; None for this
            machine, or the hosts of the job that this runs in.
        mpi: the MPI library; see `contend.measure`.
        launcher: see `contend.measure`.
        budget: seconds for all of it.
        seed: of the order of cells.
        output: folder of the runs and of ``calibration.json``; None for a new one in
            ``contend-runs``. What another calibration of the same place has left there is not
            measured again.
        progress: is told what happens.

    Returns:
        What messages cost; `contend.Profile.predict` takes it, or its folder.

    Raises:
        UsageError: for what does not fit together, or a place of a single host.
        MissingError: the machine lacks a library, a compiler, memory or a launcher.
        ShortfallError: something that it needs was not measured.
    """
    place = place_of(hosts, launcher)
    if place.alone:
        raise UsageError(
            "calibrate: expected two hosts at least: name them with --on HOSTFILE, or --on "
            "emulated:crossbar:4"
        )
    folder = None if output is None else Path(output)
    if folder is not None and not _is_calibration(folder):
        refuse_occupied(folder)
    folder = folder or new_folder(KIND, datetime.now(UTC).date())
    emulated = isinstance(place, EmulatedHosts)
    method = Measured(place, budget, observer=progress or Observer())
    session = Session(
        KIND,
        _cells(place, mpi or "", seed, exchanges=emulated),
        method,
        folder,
        budget=budget,
        seed=seed,
        below="runs",
        observer=progress or Observer(),
    )
    runs = [work.run for work in session.run().works if isinstance(work, MeasuredWork)]
    if len(runs) < len(session.cells):
        raise ShortfallError(
            f"{folder}: {len(runs)} of {len(session.cells)} measurements were made: the same "
            "command goes on with them"
        )
    for run in runs:
        if run.samples.is_empty():
            failed = [launch.why for launch in run.record.launches if launch.why]
            raise ShortfallError(f"{run.folder}: {(failed or ['nothing was measured'])[0]}")
    calibration = _fitted(runs, place, emulated=emulated)
    save_calibration(folder / FILE, calibration)
    return calibration


def _is_calibration(folder: Path) -> bool:
    """Whether a calibration has been begun in a folder."""
    return (folder / SESSION).is_file() and read_session(folder).kind == KIND


def _cells(place: Place, mpi: str, seed: int, *, exchanges: bool) -> Sequence[MeasuredCell]:
    hosts = len(place.slots)
    ranks = min(_RANKS, hosts) if exchanges else 2
    if exchanges and hosts < _RANKS:
        raise UsageError(f"calibrate: expected {_RANKS} emulated hosts, got {hosts}")

    def asked(
        probe: str, options: Mapping[str, OptionValue], ranks: int, each: int
    ) -> MeasuredCell:
        return ask(probe, options, place, mpi, ranks=(ranks,), ranks_per_host=(each,), seed=seed)

    cells = [asked("pingpong", _BETWEEN, ranks, 1), asked("pingpong", _WITHIN, 2, 2)]
    return [*cells, asked("alltoall", _EXCHANGES, ranks, 1)] if exchanges else cells


def _fitted(runs: Sequence[Run], place: Place, *, emulated: bool) -> Calibration:
    between, within, *exchanges = runs
    asked = place.asked
    calibration = fit(
        Measurements(
            between=between,
            within=within,
            exchanges=exchanges[0] if exchanges else None,
            processors=this_machine().cpus if emulated else 0,
            burst=_bytes(asked.get("burst", "0")),
            buffer=_bytes(asked["buffer"]) if "buffer" in asked else None,
        )
    )
    wire = format_link_speed(calibration.wire_Bps)
    return msgspec.structs.replace(
        calibration,
        contend=version("contend"),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        place=place.described or f"hosts with ports of {wire}",
        remarks=(*calibration.remarks, *place.remarks),
    )


def _bytes(words: str) -> int:
    return parse_size(words.removesuffix(" B"))
