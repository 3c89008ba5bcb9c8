"""MPI: the libraries of this machine, probes compiled with them, and ranks that launchers start."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
