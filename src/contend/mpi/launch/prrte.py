"""``mpirun`` of Open MPI 5, which is PRRTE's ``prterun``."""

from __future__ import annotations

from pathlib import Path

from contend.mpi.launch import openmpi
from contend.mpi.launch.form import Form, Options
from contend.mpi.launch.request import Launch


def options(launch: Launch, host_file: Path | None) -> Options:
    """The options of version 5: a mapping that is named replaces the policy of the environment."""
    words = openmpi.common_words(launch, host_file, ":oversubscribe")
    return Options(words, openmpi.settings(launch))


OPEN_MPI_5 = Form("mpirun of Open MPI 5", options, openmpi.host_file, openmpi.death)
