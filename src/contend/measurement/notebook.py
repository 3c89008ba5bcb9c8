"""`contend.measure`: a measurement from a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from contend.measurement.carry_out import measure_workload
from contend.measurement.conditions import DEFAULT_BUDGET, Conditions
from contend.measurement.observer import Observer
from contend.measurement.place import Place, RealHosts
from contend.measurement.workload import OptionValue, make_workload
from contend.mpi import Library
from contend.placement import read_host_names
from contend.runs import Run


def measure(
    probe: str,
    *,
    ranks: int | Sequence[int],
    library: str | Library | None = None,
    hosts: str | Path | None = None,
    ranks_per_host: int | Sequence[int] = (),
    launcher: str = "",
    launches: int = 1,
    budget: float = DEFAULT_BUDGET,
    seed: int = 1,
    labels: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    run_in: Place | None = None,
    progress: Observer | None = None,
    **options: OptionValue,
) -> Run:
    """Measures what communication gets on real hosts.

    Args:
        probe: ``alltoall``, ``sort`` or ``pingpong``.
        ranks: number of ranks, or several that are measured in turns.
        library: the MPI library: a name such as ``openmpi`` or ``mpich-4``, a folder with
            ``bin/mpicc``, a wrapper, or what `contend.mpi.select` found; None for the first
            that is usable.
        hosts: a host file; None for this machine, or the hosts of the job that this runs in.
        ranks_per_host: ranks on every host, or several numbers that are measured in turns.
        launcher: ``srun``, ``sbatch``, or the beginning of a command line; "" for the library's.
        launches: how often everything is launched.
        budget: seconds for all launches together.
        seed: of the order of launches and cells.
        labels: conditions that no program can see, such as ``{"flow control": "on"}``.
        folder: where the run is kept; None for a new folder in ``contend-runs``.
        run_in: another place than real hosts, such as an emulated fabric.
        progress: is told what happens.
        **options: the probe's own, such as ``algorithm="all"`` and ``bytes="1:1M"``; those of its
            ``--help``, with ``_`` for ``-``.

    Returns:
        The run: its record, every sample of every rank, and the folder where they are kept.

    Raises:
        UsageError: for what does not fit together.
        MissingError: the machine lacks a library, a compiler, memory, a launcher, or room for
            samples.
        ShortfallError: no launch left a sample.
    """
    if run_in is None:
        slots = () if hosts is None else read_host_names(str(hosts))
        run_in = RealHosts(slots=slots, launcher=launcher)
    conditions = Conditions(
        ranks=_several(ranks),
        ranks_per_host=_several(ranks_per_host),
        launches=launches,
        budget=budget,
        seed=seed,
        labels=labels or {},
    )
    return measure_workload(
        make_workload(probe, options),
        conditions,
        libraries=(library,),
        place=run_in,
        folder=None if folder is None else Path(folder),
        observer=progress,
    )[0]


def _several(numbers: int | Sequence[int]) -> tuple[int, ...]:
    return (numbers,) if isinstance(numbers, int) else tuple(numbers)
