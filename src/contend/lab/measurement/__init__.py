"""One measurement: planned, launched within its budget, and kept as a run."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
