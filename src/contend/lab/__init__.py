"""What is run and measured: MPI libraries, emulated fabrics, cells, probes, runs and studies."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
