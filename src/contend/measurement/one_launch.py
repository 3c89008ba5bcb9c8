"""One launch of a probe: started, watched, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec

from contend.errors import ContendError, MissingError, UsageError
from contend.measurement.look import Look
from contend.measurement.place import Place
from contend.measurement.series import Series
from contend.measurement.step import Step
from contend.measurement.workload import Workload
from contend.mpi import Death, Ended, Launch
from contend.runs import LaunchRecord, RanksFrame

# What probes exit with; see the page of any probe's --help.
_BAD_ARGUMENTS = 2
_CANNOT_WRITE = 3


@dataclass(frozen=True)
class Outcome:
    """How a launch ended.

    Attributes:
        record: for the run.
        fatal: why no other launch can do better; None when one may.
        waited: seconds in the queue of a batch system.
    """

    record: LaunchRecord
    fatal: ContendError | None = None
    waited: float = 0.0


def request_for(step: Step, series: Series) -> Launch:
    """What is asked of the launcher."""
    return Launch(
        series.library,
        step.shape.ranks,
        ranks_per_host=step.shape.ranks_per_host,
        hosts=step.shape.hosts,
        scratch=series.run.folder,
    )


def launch_once(
    step: Step,
    series: Series,
    workload: Workload,
    place: Place,
    look: Look,
    *,
    seconds: float,
    limit: float,
    now: Callable[[], datetime],
) -> Outcome:
    """Starts a probe and waits for its end.

    An interruption ends it, is kept in the run, and goes on to the caller.

    Args:
        step: ranks, hosts and the order of cells.
        series: whose library and run.
        workload: what the probe is to do.
        place: where.
        look: watches its file of samples.
        seconds: the probe's own budget.
        limit: seconds after which it is ended.
        now: the time of day.
    """
    output = series.run.raw_path(step.number).resolve()
    words = [*workload.arguments, "--output", str(output)]
    words += ["--budget", f"{seconds:.3f}", "--seed", str(step.seed)]
    record = LaunchRecord(
        number=step.number,
        ranks=step.shape.ranks,
        ranks_per_host=step.shape.ranks_per_host,
        started=now().isoformat(timespec="seconds"),
        status="interrupted",
        why="contend was interrupted",
    )
    # Already now: whatever becomes of contend or the disk, the run knows of this launch.
    series.keep(record)
    began = time.monotonic()
    try:
        ended = place.launch(
            request_for(step, series), series.program, words, limit=limit, watch=look
        )
        if ended.status is not None:
            look.now()
    except ContendError as error:
        return Outcome(_changed(record, began, status="failed", why=str(error)), error)
    except BaseException:
        series.keep(_changed(record, began))
        raise
    status, why = _told(ended, look, limit)
    record = _changed(record, began, status=status, why=why, command=ended.command)
    return Outcome(record, _fatal(ended), ended.waited)


def _changed(record: LaunchRecord, began: float, **changed: object) -> LaunchRecord:
    elapsed = round(time.monotonic() - began, 3)
    made: LaunchRecord = msgspec.structs.replace(record, elapsed_s=elapsed, **changed)
    return made


def _told(ended: Ended, look: Look, limit: float) -> tuple[str, str]:
    """A word and a line for how a launch ended."""
    if ended.status == 0:
        return "done", ""
    if ended.status is None:
        return "timeout", f"did not end within {limit:.3g} s and was ended"
    if ended.said:
        return "failed", ended.said
    if ended.death is not None:
        return "killed", _killed(ended.death, look)
    return "failed", ended.why


def _killed(death: Death, look: Look) -> str:
    """Who died, which this machine's kernel may know where the launcher does not."""
    known, ranks = _known(death, look.ranks), look.ranks
    first = None if death.first or known.rank is None else look.first_ended
    if ranks is None or first is None or first == known.rank:
        return str(known)
    where = f"process {ranks.pid[first]} on {ranks.host[first]}"
    told = f"the launcher tells that rank {known.rank} was ended by SIGKILL"
    return f"rank {first} ({where}) ended before the others; {told}"


def _known(death: Death, ranks: RanksFrame | None) -> Death:
    """A death with rank and process, of which launchers often tell only one."""
    if ranks is None:
        return death
    if death.rank is None and death.pid in ranks.pid:
        return replace(death, rank=ranks.pid.index(death.pid))
    if death.rank is not None and not death.pid and death.rank < len(ranks.pid):
        return replace(death, pid=ranks.pid[death.rank])
    return death


def _fatal(ended: Ended) -> ContendError | None:
    """What the probe says that every other launch would say too."""
    if ended.said and ended.status == _BAD_ARGUMENTS:
        return UsageError(ended.said)
    if ended.said and ended.status == _CANNOT_WRITE:
        return MissingError(ended.said)
    return None
