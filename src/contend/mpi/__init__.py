"""The MPI libraries of this machine: found, tried, and told apart."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
