"""``contend doctor`` and ``mpi``: what contend can do on this machine, and its MPI libraries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import contend
from contend import report
from contend.base.errors import MissingError
from contend.base.progress import shown_progress
from contend.cli.options.outputs import TextOutputs
from contend.cli.options.shared import MPI
from contend.lab import mpi as mpis

if TYPE_CHECKING:
    from contend.lab.mpi import Libraries


def doctor(outputs: TextOutputs) -> None:
    """Show what contend can do on this machine, and what to install for the rest.

    Tries everything the way the other commands do: compiles a small probe and starts two ranks of
    it, emulates a network of four hosts for a moment, asks Slurm for its jobs. Leaves nothing
    behind. The exit status is 0 whatever is missing.

    Example: contend doctor --json machine.json
    """
    outputs.deliver(contend.doctor().document())


PrefixOption = Annotated[
    list[Path] | None,
    MPI(": a folder with bin/mpicc, or a compiler wrapper, which is then listed too.", many=True),
]


def mpi(outputs: TextOutputs, prefixes: PrefixOption = None) -> None:
    """List the MPI libraries of this machine; exit status 3 when none is usable.

    Looks at PATH, Debian's alternatives, environment modules and the Python packages openmpi and
    mpich. Each library compiles a small probe and starts two ranks of it.

    Example: contend mpi --mpi /opt/openmpi-5.0
    """
    libraries = _examined(prefixes or [])
    outputs.deliver(report.mpi_document(libraries))
    if not libraries.usable:
        raise MissingError(f"no usable MPI library; {mpis.TO_INSTALL}")


def _examined(prefixes: list[Path]) -> Libraries:
    candidates = mpis.find(prefixes)
    libraries = []
    with shown_progress(True, "trying MPI libraries", "libraries") as tell:
        for done, candidate in enumerate(candidates):
            tell(done, len(candidates))
            libraries.append(mpis.examine(candidate))
    return mpis.Libraries(tuple(mpis.merge(libraries)))
