"""What is run and measured: MPI libraries, emulated fabrics, cells, probes, runs and studies."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from . import emulation, measurement, mpi, runs, session, studies
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
